// The verdict on each class as text. The engine rates calls and judges classes by their roles.
import { count, digits, percent, rate, time } from "./format.js";

const CAUSES = {
  queue_full: "a full queue", early_random: "early random drops", early_forced: "early forced drops", policed: "a policer",
  no_route: "a missing route", no_class: "a policy without a class for it", lost: "the wire", too_big: "an MTU", shared_memory: "a full shared memory", port_memory: "the memory limit of a port",
  headroom: "too little headroom",
};

// The percentage from which on the packets that are still in the network are mentioned.
const UNSEEN_PERCENT = 10;

const mean = (group, column) => group[column]?.mean ?? null;

// Returns the verdict on each class. `calls` has the rating of calls and the fitness of each class; it is empty
// until the engine answers.
export function verdicts(summary, judging, calls = []) {
  const seconds = summary.duration_s - summary.warmup_s;
  const call = (name) => calls.find((rated) => rated.class === name);
  return summary.classes.map((group) => ({ name: group.class, ...verdict(group, seconds, judging, call(group.class)) }));
}

// Returns the figure that decides against a class, and its bound, as text.
function reason({ words, unit, figure, bound, is_least: isLeast }) {
  const shown = (value) => (unit === "s" ? time(value) : unit === "b/s" ? rate(value) : unit === "%" ? `${digits(value)} %` : digits(value));
  return `${words} ${shown(figure.mean)} ${isLeast ? "<" : ">"} ${shown(bound)}`;
}

// Returns the engine's answer whether a class is fit for its role: in a few words, and with its rating or the
// reasons.
function fitness(call, roles, loss) {
  if (!call?.fitness) return {};
  const { role, answer, compared } = call.fitness;
  const whole = roles[role];
  if (answer === null) return { more: [`${whole}: not known, ${call.remark || "too few packets arrived"}`] };
  const isRated = role === "voice" && call.r !== null;
  const reasons = isRated
    ? [`R ${call.r.toFixed(1)}, MOS ${call.mos.toFixed(2)}: ${call.category}; ${time(call.mouth_to_ear_s)} from mouth to ear`]
    : compared.filter((comparison) => comparison.answer === "unfit").map(reason);
  // On the line, a rate has no name, because its unit is sufficient.
  const [first] = compared.filter((comparison) => comparison.answer === "unfit").map((comparison) => reason(comparison.unit === "b/s" ? { ...comparison, words: "" } : comparison).trim());
  // The line shows the figure that decides the verdict; the details show the fitness.
  const why = isRated ? `R ${call.r.toFixed(0)}, ${loss}` : first ?? loss;
  // The bound of losses depends on the role, so the line names the role for which the class is fit.
  const aside = answer === "fit" && !isRated ? `(${whole})` : "";
  return { tone: { fit: "good", unfit: "bad" }[answer], head: `${answer}: ${why}`, aside, more: [`${answer} for ${whole}${reasons.length ? ` (${reasons.join(", ")})` : ""}`] };
}

// Returns the verdict on a class: a tone, a line, and sentences with the details.
function verdict(group, seconds, judging, call) {
  const offered = mean(group, "offered_packets") ?? 0;
  const [delivered, dropped] = [mean(group, "delivered_packets") ?? 0, mean(group, "dropped_packets") ?? 0];
  if (!offered) return { tone: "none", line: "idle", more: ["No packet was sent in the measured time"] };
  if (!delivered && !dropped) return { tone: "fair", line: "nothing arrived", more: [`All ${count(offered)} packets are queued or in transit at the end`] };
  const lost = percent(mean(group, "dropped_percent"));
  const [sent, got] = [(8 * mean(group, "offered_bytes")) / seconds, mean(group, "throughput_bps")];
  const loss = dropped ? `${lost} lost` : "no losses";
  const { tone = "fair", head = `${rate(got)}, ${loss}`, aside = "", more } = fitness(call, judging.roles, loss);
  const rest = [`${rate(got)} of ${rate(sent)} get through`, dropped ? `${lost} lost, most by ${cause(group)}` : "no losses"];
  if (delivered) rest.push(`half arrive within ${time(mean(group, "delay_p50_s"))}, 99 % within ${time(mean(group, "delay_p99_s"))}`);
  const unseen = (100 * (mean(group, "in_network_packets") ?? 0)) / offered;
  if (unseen >= UNSEEN_PERCENT) rest.push(`${digits(unseen)} % queued or in transit at the end`);
  return { isLossless: !dropped, tone, line: head, aside, more: [...rest, ...(more ?? [])] };
}

// The minimum size of a queue, packets, that the guarantee ignores: an inferred network has such queues around the
// router.
const AMPLE_PACKETS = 1e6;
const isAmple = ({ limit }) => Number(/^(\d+) packets/.exec(limit ?? "")?.[1] ?? 0) >= AMPLE_PACKETS;

// Returns the guarantee of network calculus for a class and its queue, for all traffic within its contract; an empty
// text if there is no bound.
export function guarantee({ queues, classes }, name) {
  const passed = queues.filter((queue) => queue.classes.includes(name));
  const own = passed.filter((queue) => !isAmple(queue));
  const rates = own.map((queue) => queue.guaranteed_bps);
  const isPart = own.length < passed.length;
  const waits = own.map((queue) => queue.delay_s);
  const within = waits.length && waits.every((wait) => wait !== null) ? waits.reduce((sum, wait) => sum + wait, 0) : null;
  const delay = isPart ? within : classes.find((entry) => entry.class === name)?.delay_s ?? null;
  const parts = [];
  if (rates.length && rates.every((value) => value !== null)) parts.push(`${rate(Math.min(...rates))} to its queue`);
  if (delay !== null) parts.push(`delivered packets take at most ${time(delay)}${isPart ? " in the router" : ""}`);
  return parts.length ? `guaranteed: ${parts.join("; ")}` : "";
}

function cause(group) {
  const counted = Object.keys(CAUSES).map((name) => [name, mean(group, `dropped_${name}`) ?? 0]);
  return CAUSES[counted.sort(([, a], [, b]) => b - a)[0][0]];
}
