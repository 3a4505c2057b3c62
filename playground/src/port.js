// The properties of a port for the drawing: its queues, scheduler, ring and wire, from the resolved scenario.
import { rate } from "./format.js";

const SCHEDULERS = {
  fifo: "FIFO", priority: "strict priority", wrr: "WRR", drr: "DRR", scfq: "SCFQ", wfq: "WFQ", "wf2q-plus": "WF²Q+",
  "three-parameter": "minimum and excess", cbq: "CBQ", hfsc: "HFSC", htb: "HTB",
  "guarantee-excess": "guarantee and excess",
};
const kindOf = (config) => (typeof config === "string" ? config : Object.keys(config ?? {})[0]);
const words = (config) => Object.entries(config ?? {}).filter(([, value]) => value !== null && value !== undefined && typeof value !== "object")
  .map(([key, value]) => `${key} ${value}`).join(", ");
const bits = (text) => {
  const found = /^([\d.]+)\s*([kMG]?)b\/s$/.exec(text ?? "");
  return found ? Number(found[1]) * { "": 1, k: 1e3, M: 1e6, G: 1e9 }[found[2]] : NaN;
};

// The group and the share of every class by its name in results; the engine describes the contents and drops
// of a queue.
function shares(queueing, prefix = "", group = "") {
  return new Map(queueing.classes.flatMap((config) => {
    const name = `${prefix}${config.name}`;
    if (config.queueing) return [...shares(config.queueing, `${name}/`, `${name}: ${schedulerOf(config.queueing)}${shaped(config)}`)];
    const share = [words(config.share), shaped(config).slice(2), config.police ? `policed ${words(config.police)}` : ""].filter(Boolean);
    return [[name, { group, share: share.join(", ") }]];
  }));
}

// The queues of a port with their descriptions, which are the same as in `perhop draw`.
export function described(queues, port, queueing) {
  const known = queueing ? shares(queueing) : new Map();
  return queues.filter((queue) => queue.port === port).map(({ queue, limit_packets: limit, lines }) => ({
    name: queue, group: known.get(queue)?.group ?? "", share: known.get(queue)?.share ?? "", limit: limit ?? NaN,
    manager: lines.map((line) => line.text).join("; "),
  }));
}
const shaped = (config) => (config.shape ? `, shaped ${config.shape.rate ?? ""}` : "");
const schedulerOf = (queueing) => SCHEDULERS[kindOf(queueing.scheduler)] ?? kindOf(queueing.scheduler);

export function portOf(started, number) {
  const { resolved, ports } = started;
  const link = resolved.links[Math.floor(number / 2)];
  const [from, to] = number % 2 ? [...link.between].reverse() : link.between;
  const near = link.interfaces?.[from] ?? {};
  const policy = resolved.policies?.[near.output] ?? {};
  const queues = described(started.queues, ports[number].name, policy.queueing);
  const ring = near.ring ?? { packets: 1 };
  const ringWords = ring.packets ? `${ring.packets} ${ring.packets === 1 ? "packet" : "packets"}` : `${ring.particles?.count} particles`;
  const into = resolved.links.flatMap((link) => link.between.includes(from) ? [resolved.policies?.[link.interfaces?.[from]?.input]] : []);
  const stages = [...into, policy].flatMap((applied) => applied?.conditioners ?? []);
  const wire = near.rate ?? link.rate;
  return {
    number, from, to, name: ports[number].name, policy: near.output ?? "", queues,
    scheduler: policy.queueing ? schedulerOf(policy.queueing) : "FIFO",
    ring: ringWords, slots: ring.packets ?? ring.particles?.count ?? 1, rate: rate(bits(wire)), bits: bits(wire),
    conditioners: stages.map((stage, place) => ({ name: stage.name ?? `stage ${place + 1}`, meter: kindOf(stage.meter) ?? "" })),
  };
}

// The port to show first: the port with most queues, otherwise the port of the slowest link.
export function firstPort(started) {
  const isHost = (name) => name in started.resolved.hosts;
  const ranked = started.ports.map((_, number) => portOf(started, number))
    .filter((port) => !isHost(port.from))
    .sort((a, b) => Boolean(b.policy) - Boolean(a.policy) || b.queues.length - a.queues.length || a.bits - b.bits || a.number - b.number);
  return ranked[0]?.number ?? 0;
}
