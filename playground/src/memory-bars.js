// The packet memory at an instant: a bar for the shared part, and one for each queue with its limits.
import { count, percent } from "./format.js";
import { $, chip, element } from "./page.js";

// Descriptions of the causes of drops in a packet memory, and the marks for them in the chart.
export const CAUSES = {
  "queue-full": { words: "threshold", symbol: "triangle" },
  "shared-memory": { words: "shared memory", symbol: "diamond" },
  "port-memory": { words: "limit of the port", symbol: "rect" },
  policed: { words: "policer", symbol: "roundRect" },
};
export const causeOf = (name) => CAUSES[name] ?? { words: name.replaceAll("-", " "), symbol: "circle" };

// Returns the name of a queue without its outer classes. If several ports are drawn, the name of the port
// precedes it.
export const label = ({ port, queue }, several) => {
  const own = queue.name.split("/").at(-1);
  return several ? `${port.name.split("->").at(-1)}${port.queues.length > 1 ? `: ${own}` : ""}` : own;
};

const part = (name, from, width, scale) => {
  const box = element("i", "", name);
  Object.assign(box.style, { left: `${(100 * from) / scale}%`, width: `${Math.min(100, (100 * width) / scale)}%` });
  return box;
};

// Draws the bars at the sample with the number `sample`. `drops` are the drops of the whole span.
export function fill({ layout, lines, drops, sample, pool }) {
  const shared = (line) => Math.max(0, line.units[sample] - line.queue.reserved);
  const held = lines.map(shared);
  const track = element("span", "", "track pool");
  let from = 0;
  lines.forEach(({ color }, index) => {
    const box = part("fill", from, held[index], layout.pool_units);
    box.style.background = color;
    track.append(box);
    from += held[index];
  });
  const used = percent((100 * pool) / layout.pool_units);
  $("memory-pool").replaceChildren(
    element("b", "Shared by all ports"), track,
    element("span", `${count(pool)} of ${count(layout.pool_units)} units of ${layout.unit_bytes} bytes (${used})`, "numbers"),
  );
  // All queues have one scale, so that their bars can be compared.
  const most = ({ queue }) => Math.min(queue.most.at(-1) ?? Infinity, layout.pool_units + queue.reserved);
  const scale = Math.max(1, ...lines.map(most));
  $("memory-queues").replaceChildren(...lines.map((line, index) => row(line, index, { drops, sample, scale, most: most(line) })));
}

function row(line, index, { drops, sample, scale, most }) {
  const { role, name, color, queue } = line;
  const units = line.units[sample];
  const item = element("li");
  const head = element("b", name);
  head.prepend(chip(role));
  const track = element("span", "", "track");
  track.append(part("limit", 0, most, scale));
  if (queue.reserved) track.append(part("reserved", 0, queue.reserved, scale));
  const box = part("fill", 0, units, scale);
  box.style.background = color;
  track.append(box, ...queue.most.map((limit) => part("tick", Math.min(limit, scale), 0, scale)));
  const own = drops.filter((drop) => drop.line === index);
  const words = [`${count(units)} of ${count(most)} units`];
  if (queue.reserved) words.push(`${count(queue.reserved)} reserved`);
  if (queue.most.length > 1) words.push(`thresholds ${queue.most.map((limit) => count(limit)).join(", ")}`);
  item.append(head, track, element("span", words.join("; "), "numbers"));
  const causes = [...new Set(own.map(({ cause }) => cause))];
  const lost = causes.map((cause) => {
    const packets = own.filter((drop) => drop.cause === cause).reduce((sum, drop) => sum + drop.packets, 0);
    return `${count(packets)} dropped: ${causeOf(cause).words}`;
  });
  if (lost.length) item.append(element("span", lost.join("; "), "lost"));
  return item;
}
