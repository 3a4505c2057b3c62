// The verdict on each class in words. The bounds of uses are Python's, which judges results; calls are rated by the engine.
import { count, digits, percent, rate, time } from "./format.js";

const CAUSES = {
  queue_full: "a full queue", early_random: "early random drops", early_forced: "early forced drops", policed: "a policer",
  no_route: "a missing route", no_class: "a policy without a class for it", lost: "the wire", too_big: "an MTU",
};

const mean = (group, column) => group[column]?.mean ?? null;

// `calls` are the ratings of telephony by class, once the engine has told them.
export function verdicts(summary, judging, calls = []) {
  const seconds = summary.duration_s - summary.warmup_s;
  const call = (name) => calls.find((one) => one.class === name);
  return summary.classes.map((group) => ({ name: group.class, ...verdict(group, seconds, judging, call(group.class)) }));
}

// A call through the class: its words, and whether R is high enough; nothing where it cannot be told.
function telephony(call, leastR) {
  if (!call) return [];
  if (call.r === null) return call.remark ? [{ words: `telephony (${call.remark})`, isFit: null }] : [];
  const rated = `telephony (R ${call.r.toFixed(1)}, MOS ${call.mos.toFixed(2)}: ${call.category}; ${time(call.mouth_to_ear_s)} from mouth to ear)`;
  return [{ words: rated, isFit: call.r >= leastR }];
}

function verdict(group, seconds, judging, call) {
  const offered = mean(group, "offered_packets") ?? 0;
  const [delivered, dropped] = [mean(group, "delivered_packets") ?? 0, mean(group, "dropped_packets") ?? 0];
  if (!offered) return { tone: "none", text: "idle: no packet was sent in the measured time" };
  if (!delivered && !dropped) return { tone: "fair", text: `nothing arrived: all ${count(offered)} packets are queued or on their way at the end` };
  const loss = delivered ? mean(group, "dropped_percent") : 100;
  const [sent, got] = [(8 * mean(group, "offered_bytes")) / seconds, mean(group, "throughput_bps")];
  const parts = [`${rate(got)} of ${rate(sent)} get through`];
  if (dropped) parts.push(`${percent(loss)} lost, most by ${cause(group)}`);
  else parts.push("no losses");
  if (delivered) parts.push(`half arrive within ${time(mean(group, "delay_p50_s"))}, 99 % within ${time(mean(group, "delay_p99_s"))}`);
  const fit = judging.uses.map((use) => ({ use, unmet: unmet(use, group, loss) }));
  const calls = delivered ? telephony(call, judging.least_r) : [];
  const rated = (isFit) => calls.filter((one) => one.isFit === isFit).map((one) => one.words);
  const good = [...rated(true), ...fit.filter((one) => one.unmet?.length === 0).map((one) => one.use.words)];
  const bad = [...rated(false), ...fit.filter((one) => one.unmet?.length).map((one) => `${one.use.words} (${one.unmet.join(", ")})`)];
  if (good.length) parts.push(`fit for ${listed(good)}`);
  if (bad.length) parts.push(`unfit for ${listed(bad)}`);
  parts.push(...rated(null).map((words) => `cannot be told: ${words}`));
  return { isLossless: !dropped, tone: !bad.length ? "good" : good.length ? "fair" : "bad", text: `${parts.join("; ")}.` };
}

// What network calculus guarantees a class and the queue it waits in, whatever the traffic does within its contract; nothing where it has no bound.
export function guarantee({ queues, classes }, name) {
  const rates = queues.filter((queue) => queue.classes.includes(name)).map((queue) => queue.guaranteed_bps);
  const delay = classes.find((one) => one.class === name)?.delay_s ?? null;
  const parts = [];
  if (rates.length && rates.every((one) => one !== null)) parts.push(`${rate(Math.min(...rates))} to its queue`);
  if (delay !== null) parts.push(`no packet that arrives takes more than ${time(delay)}`);
  return parts.length ? `guaranteed: ${parts.join("; ")}` : "";
}

function cause(group) {
  const counted = Object.keys(CAUSES).map((name) => [name, mean(group, `dropped_${name}`) ?? 0]);
  return CAUSES[counted.sort(([, a], [, b]) => b - a)[0][0]];
}

function unmet(use, group, loss) {
  const values = use.bounds.map(({ column }) => (column === "loss" ? loss : mean(group, column)));
  const exceeded = use.bounds.filter((bound, index) => values[index] !== null && values[index] > bound.greatest)
    .map(({ words, greatest, unit }) => `${words} > ${unit === "%" ? `${digits(greatest)} %` : time(greatest)}`);
  return exceeded.length || values.every((value) => value !== null) ? exceeded : null;
}

const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0]);
