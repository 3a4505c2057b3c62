// The view of forwarders: the packets that wait in each queue, their rates and losses, and the counters.
import { Charts } from "../charts.js";
import { rolesOf } from "../colors.js";
import { count } from "../format.js";
import { $, element, isDark, legend, onTheme, options, palette, soon, status } from "../page.js";
import { portOf } from "../port.js";
import { Scene } from "../scene.js";
import { counters, leftOut } from "./panel.js";

// The minimum number of seconds between the two instants of a rate, and the maximum number of stored
// instants.
const LEAST_S = 0.9, MOST = 4001;
const VALUES = {
  throughput: (before, now, seconds) => (8 * (now.sent_bytes - before.sent_bytes)) / seconds,
  loss: (before, now) => (now.arrived > before.arrived ? (lost(now) - lost(before)) / (now.arrived - before.arrived) : null),
};
const lost = ({ dropped }) => Object.values(dropped).reduce((a, b) => a + b, 0);

// The charts of one port: a line for each of its queues.
class Port {
  constructor(view) {
    this.view = view;
  }
  get started() {
    const { started, frames } = this.view;
    return { ...started, duration: started.duration ?? Math.max(10, frames.at(-1)?.at ?? 0) };
  }
  lines(kind) {
    const { frames, number, started } = this.view;
    const queueAt = (frame, index) => frame.ports[number]?.[index];
    const names = started.ports[number].queues;
    if (kind === "queue") return names.map((name, index) => ({ name, index, data: frames.map((frame) => [frame.at, queueAt(frame, index)?.waiting ?? null]) }));
    return names.map((name, index) => {
      const data = [];
      let before;
      for (const frame of frames) {
        const now = queueAt(frame, index);
        if (!now || (before && frame.at - before.at < LEAST_S)) continue;
        // Counters restart from 0 at the end of the warm-up.
        if (before && now.arrived >= before.now.arrived) data.push([frame.at, VALUES[kind](before.now, now, frame.at - before.at)]);
        before = { at: frame.at, now };
      }
      return { name, index, data };
    });
  }
}

// Returns a port whose queues are its only known property.
function plain(port, from, to) {
  const queues = port.queues.map((name) => ({ name, group: "", limit: NaN, manager: "", share: "" }));
  const wire = port.rate && !port.rate.startsWith("0") ? port.rate : "without a rate";
  return { name: port.name, from, to, policy: "", queues, scheduler: "scheduler", ring: "", slots: 1, rate: wire, bits: NaN, conditioners: [] };
}

export class Forwarding {
  constructor() {
    this.scene = new Scene($("scene"), $("tip"), palette, isDark);
    this.scene.words = (way) => `${this.scene.port.queues[way.queue].name}: ${count(this.scene.waiting[way.queue])} packets wait`;
    this.refresh = soon(() => this.draw());
    this.charts = new Charts($("charts"), palette, isDark, () => {});
    this.frames = [];
    this.number = null;
    $("ports").addEventListener("change", ({ target }) => this.show(Number(target.value)));
    $("next-port").addEventListener("click", () => this.started && this.show((this.number + 1) % this.started.ports.length));
    onTheme(() => this.started && this.show(this.number));
  }

  begin() {
    this.frames = [];
  }

  take({ started, state, frames, doubts, left_out: left = 0, done }) {
    if (started) this.start(started);
    if (frames) {
      this.frames.push(...frames);
      while (this.frames.length > MOST) this.frames = this.frames.filter((_, place, all) => (all.length - 1 - place) % 2 === 0);
      leftOut(left);
    }
    if (!this.started) return;
    if (state) $("progress").value = state.fraction;
    $("progress").hidden = this.started.duration === null;
    if (!this.isDone && this.frames.length) status(`running for ${this.frames.at(-1).at.toFixed(1)} s`);
    if (doubts) $("verdicts").replaceChildren(...doubts.doubts.map((text) => element("li", text, "fair")));
    if (done && !this.isDone) {
      this.isDone = true;
      status(done.words);
      document.documentElement.dataset.ran = "1";
    }
    this.refresh();
  }

  start(started) {
    this.started = started;
    $("name").textContent = started.name;
    const ranked = started.ports.map((port, number) => ({ number, queues: port.queues.length })).sort((a, b) => b.queues - a.queues || a.number - b.number);
    this.show(started.ports[this.number] ? this.number : ranked[0]?.number ?? 0);
  }

  show(number) {
    const port = this.started.ports[number];
    if (!port) return;
    this.number = number;
    options($("ports"), this.started.ports.map(({ name }) => name), number);
    const [from, to] = port.name.split("->");
    this.roles = rolesOf(port.queues);
    this.scene.load(this.described(port) ?? plain(port, from, to), port.queues, [], port.queues.map((name) => this.roles[name]));
    legend(port.queues, this.roles);
    this.refresh();
  }

  // The description of a port in the scenario; a bridge has none.
  described(port) {
    const links = this.started.resolved?.links ?? [];
    const ends = links.flatMap(({ between: [a, b] }) => [`${a}->${b}`, `${b}->${a}`]);
    const number = ends.indexOf(port.name);
    if (number < 0) return null;
    const found = portOf({ resolved: this.started.resolved, queues: this.started.queues, ports: ends.map((name) => ({ name })) }, number);
    if (found.queues.length !== port.queues.length) return null;
    return { ...found, queues: found.queues.map((queue, place) => ({ ...queue, name: port.queues[place] })) };
  }

  draw() {
    const last = this.frames.at(-1);
    if (!last || this.number === null) return;
    const now = last.ports[this.number] ?? [];
    const names = this.started.ports[this.number].queues;
    let next = 0;
    this.scene.packets = { ways: now.flatMap(({ waiting }, queue) => Array.from({ length: waiting }, () => ({ number: next++, queue, class: queue, length: 1000, arrived: 0 }))) };
    this.scene.draw(1, 0);
    const causes = ({ dropped }) => Object.entries(dropped).map(([cause, packets]) => `${cause} ${count(packets)}`).join(", ");
    counters(["queue", "arrived", "sent", "dropped", "marked", "why dropped"], now.map((queue, index) => [names[index], queue.arrived, queue.sent, lost(queue), queue.marked, causes(queue)]));
    this.charts.draw(new Port(this), null, { colors: this.roles, queueColors: this.roles, probe: 0 });
  }
}
