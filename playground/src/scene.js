// Draws a port on a canvas, with its packets at an instant.
import { count, rate, time } from "./format.js";
import { clipped, halves } from "./room.js";
import { shortened } from "./short.js";

const FONT = 'Inter, "Helvetica Neue", Arial, "Liberation Sans", sans-serif';
// The time for which a packet is drawn as arriving, as leaving and as falling, seconds of real time.
const IN_S = 0.45, OUT_S = 0.5, FALL_S = 1.1;
// The font of vertical names along a box, the font size of queue names, and the space between a name and the
// number of waiting packets.
const SIDEWAYS = `600 12px ${FONT}`, NAME_SIZE = 12.5, APART = 10;
const REASONS = {
  "queue-full": "its queue was full", "early-random": "random early detection dropped it",
  "early-forced": "the average queue was above the maximum threshold", policed: "a policer dropped it",
  "no-route": "there is no route", "no-class": "no class matches it", lost: "it was lost on the wire", "too-big": "it exceeds the MTU",
  "shared-memory": "the shared memory had no free space for its queue", "port-memory": "the queues of its port had reached the limit of the port",
  headroom: "the memory for arriving packets of its priority had no room",
};

export class Scene {
  constructor(canvas, tip, palette, isDark) {
    Object.assign(this, { canvas, tip, palette, isDark, ways: [], places: new Map(), seen: [], at: 0, speed: 0.01, drawn: 0 });
    this.context = canvas.getContext("2d");
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("pointermove", (event) => this.touch(event));
    canvas.addEventListener("pointerdown", (event) => this.touch(event));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.places.clear();
    this.draw(this.at, 0);
  }

  load(port, classes, causes, colors) {
    // Until the packets of this run are loaded, the packets of the previous run are drawn if the port has the
    // same queues.
    if (port.name !== this.port?.name || port.queues.length !== this.port.queues.length) this.ways = [];
    Object.assign(this, { port, classes, causes, colors });
    const names = port.queues.map(({ name }) => name).join(", ");
    this.canvas.setAttribute("aria-label", `The port from ${port.from} to ${port.to} with its queues ${names} and their packets; the step buttons describe each event`);
    // Each queue has a lane; the page scrolls if there are many.
    this.canvas.style.height = `${Math.max(340, 96 + port.queues.length * 92)}px`;
    this.places.clear();
    this.resize();
  }
  set packets({ ways }) {
    this.ways = ways;
  }

  color(role) {
    return this.palette[role][this.isDark() ? 1 : 0];
  }
  variable(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  layout() {
    const { width, height, port } = this;
    const isNarrow = width < 560;
    const [left, wire, ring, scheduler] = isNarrow ? [8, 42, 42, 26] : [10, 84, 76, 40];
    const classifier = isNarrow ? { x: left + 20, width: 22 } : { x: left + 50, width: 34 };
    const lanes = { x: classifier.x + classifier.width + (isNarrow ? 10 : 24) };
    lanes.right = width - wire - ring - scheduler - (isNarrow ? 24 : 48);
    const step = Math.min(128, (height - 64) / port.queues.length);
    const top = 40 + (height - 64 - step * port.queues.length) / 2;
    const rows = port.queues.map((_, index) => top + step * index + 22);
    const middle = top + (step * port.queues.length) / 2;
    const laneHeight = Math.min(50, step - 44);
    return {
      isNarrow, left, classifier, lanes, rows, laneHeight, middle, top, bottom: top + step * port.queues.length,
      scheduler: { x: lanes.right + (isNarrow ? 7 : 16), width: scheduler },
      ring: { x: lanes.right + scheduler + (isNarrow ? 14 : 32), width: ring },
      wire: { x: lanes.right + scheduler + ring + (isNarrow ? 18 : 38), right: width - 6 },
    };
  }

  // Draws the instant `at`, `elapsed` seconds after the last drawing. If `elapsed` is 0, packets jump to
  // their places.
  draw(at, elapsed) {
    if (!this.port || !this.width) return;
    this.at = at;
    const { context } = this;
    const layout = this.layout();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const targets = this.targets(at, layout);
    this.frame(layout, targets);
    this.move(targets, elapsed);
    this.seen = targets;
    this.drawn = targets.length;
  }

  // The place of each packet that is visible at `at`.
  targets(at, layout) {
    const lead = IN_S * this.speed, out = OUT_S * this.speed, fall = FALL_S * this.speed;
    const waiting = this.port.queues.map(() => 0);
    const found = [];
    let inRing = 0;
    for (const way of this.ways) {
      if (way.arrived - lead > at) break;
      const end = way.dropped === undefined ? (way.ends ?? Infinity) + out : way.dropped + fall;
      if (end < at) continue;
      const target = { way, kind: "", x: 0, y: 0, fade: 1 };
      const row = layout.rows[way.queue] ?? layout.middle;
      if (at < way.arrived) {
        target.kind = "arriving";
        target.x = layout.left + (1 - (way.arrived - at) / lead) * (layout.classifier.x - layout.left);
        target.y = layout.middle;
      } else if (way.dropped !== undefined && at >= way.dropped) {
        const part = (at - way.dropped) / fall;
        target.kind = "dropped";
        target.x = way.starts !== undefined ? layout.wire.x + 20 : way.queue === undefined ? layout.classifier.x + 8 : (layout.classifier.x + layout.classifier.width + layout.lanes.x) / 2;
        target.y = (way.queue === undefined ? layout.middle : row + layout.laneHeight / 2) + part * part * 46 + 14;
        target.fade = 1 - part ** 3;
      } else if (way.dequeued === undefined || at < way.dequeued) {
        target.kind = "waiting";
        target.rank = waiting[way.queue ?? 0]++;
        target.y = row + layout.laneHeight / 2;
      } else if (at < way.starts) {
        target.kind = "ring";
        inRing += 1;
        target.rank = inRing;
        target.y = layout.middle;
      } else if (at < way.ends) {
        target.kind = "wire";
        target.part = (at - way.starts) / (way.ends - way.starts);
        target.x = layout.wire.x;
        target.y = layout.middle;
      } else {
        target.kind = "gone";
        target.fade = 1 - (at - way.ends) / out;
        target.x = layout.wire.right + 30;
        target.y = layout.middle;
      }
      found.push(target);
    }
    this.place(found, waiting, layout);
    return found;
  }

  // Sets the places of packets. Waiting packets begin at the head of their lane and are closer if there are many.
  place(found, waiting, layout) {
    const room = layout.lanes.right - layout.lanes.x - 12;
    const pitch = waiting.map((held, queue) => {
      const most = this.port.queues[queue].limit;
      return Math.min(13, room / Math.max(held, Math.min(Number.isNaN(most) ? 0 : most, 100), 1));
    });
    this.waiting = waiting;
    for (const target of found) {
      const { way } = target;
      target.width = Math.max(2.2, Math.min(10, (pitch[way.queue ?? 0] ?? 10) - 1.2));
      target.height = Math.max(9, layout.laneHeight * Math.min(1, 0.32 + way.length / 2200) - 6);
      if (target.kind === "waiting") target.x = layout.lanes.right - 8 - (target.rank + 0.5) * pitch[way.queue ?? 0];
      else target.width = Math.max(target.width, 7);
      if (target.kind === "ring") {
        const slot = Math.min(12, (layout.ring.width - 8) / Math.max(this.port.slots, 1));
        target.x = layout.ring.x + layout.ring.width - 6 - (target.rank - 0.5) * slot;
        target.width = Math.max(2, Math.min(9, slot - 1.5));
      }
      if (target.kind === "wire") {
        const length = layout.wire.right - layout.wire.x;
        target.x = layout.wire.x + target.part * length;
      }
    }
  }

  frame(layout, targets) {
    const { context, port } = this;
    const ink = this.variable("--ink"), muted = this.variable("--muted"), line = this.variable("--line"), card = this.variable("--card");
    const small = layout.isNarrow ? 10 : 11.5;
    const text = (words, x, y, { size = small, align = "left", color = muted, bold = false, most } = {}) => {
      context.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
      context.textAlign = align;
      context.fillStyle = color;
      context.fillText(clipped(context, words, most), x, y);
    };
    const box = (x, y, width, height, radius = 8) => {
      context.beginPath();
      context.roundRect(x, y, width, height, radius);
      context.fillStyle = card;
      context.fill();
      context.strokeStyle = line;
      context.lineWidth = 1.25;
      context.stroke();
    };
    const path = (...points) => {
      context.beginPath();
      points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.strokeStyle = line;
      context.lineWidth = 1.5;
      context.stroke();
    };
    const { classifier, lanes, scheduler, ring, wire, middle } = layout;
    const part = layout.isNarrow ? 0.65 : 0.4;
    text(`${port.from} → ${port.to}`, 10, 18, { size: 14, bold: true, color: ink, most: this.width * part });
    const about = [!layout.isNarrow && port.policy && `policy ${port.policy}`, `wire ${port.rate}`].filter(Boolean).join(" · ");
    text(about, this.width - 8, 18, { align: "right", most: this.width * (0.95 - part) });
    path([layout.left, middle], [classifier.x, middle]);
    for (const y of layout.rows) {
      const center = y + layout.laneHeight / 2;
      path([classifier.x + classifier.width, center], [lanes.x, center]);
      path([lanes.right, center], [scheduler.x, center]);
    }
    path([scheduler.x + scheduler.width, middle], [ring.x, middle]);
    path([ring.x + ring.width, middle], [wire.right, middle]);
    const stages = port.conditioners.length ? "conditioners, classifier" : "classifier";
    const upright = ({ x, width }, words) => {
      context.font = SIDEWAYS;
      const tall = Math.max(layout.bottom - layout.top, context.measureText(words).width + 32) - 16;
      box(x, middle - tall / 2, width, tall);
      this.sideways(words, x + width / 2, middle, ink);
    };
    upright(classifier, stages);
    const names = this.names(layout.lanes.right - layout.lanes.x, small);
    port.queues.forEach((queue, index) => this.lane({ ...queue, label: names[index] }, index, layout, text, { ink, line, small }));
    upright(scheduler, port.scheduler);
    box(ring.x, middle - 20, ring.width, 40, 6);
    text("ring", ring.x + ring.width / 2, middle - 27, { align: "center", color: ink, bold: true });
    text(port.ring, ring.x + ring.width / 2, middle + 35, { align: "center", most: ring.width + 16 });
    text("wire", (wire.x + wire.right) / 2, middle - 27, { align: "center", color: ink, bold: true });
    const sent = targets.find(({ kind }) => kind === "wire");
    if (sent) {
      context.beginPath();
      context.moveTo(wire.x, middle);
      context.lineTo(sent.x, middle);
      context.strokeStyle = this.color(this.role(sent.way));
      context.lineWidth = 5;
      context.globalAlpha = 0.45;
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  lane(queue, index, layout, text, { ink, line, small }) {
    const { context } = this;
    const y = layout.rows[index], { x, right } = layout.lanes, height = layout.laneHeight;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(right, y);
    context.lineTo(right, y + height);
    context.lineTo(x, y + height);
    context.fillStyle = this.variable("--paper");
    context.fill();
    context.strokeStyle = this.variable("--muted");
    context.lineWidth = 1.4;
    context.stroke();
    const held = this.waiting[index] ?? 0;
    const room = right - x;
    text(queue.label, x, y - 6, { color: ink, bold: true, size: NAME_SIZE });
    const left = room - context.measureText(queue.label).width - APART;
    const number = waitingWords(held, queue.limit);
    context.font = `400 ${small}px ${FONT}`;
    const long = `${number} waiting`;
    text(context.measureText(long).width <= left ? long : number, right, y - 6, { align: "right" });
    const about = [queue.group, queue.share, queue.manager].filter(Boolean).join(" · ");
    context.font = `400 ${small}px ${FONT}`;
    halves(context, about, room).forEach((line, row) => text(line, x, y + height + 14 + row * (small + 1.5), { most: room }));
    context.strokeStyle = line;
  }

  // The names of the queues, cut to the width of their lanes without the numbers of waiting packets.
  names(room, small) {
    const { context, port } = this;
    if (this.named?.port !== port || this.named.room !== room) {
      context.font = `400 ${small}px ${FONT}`;
      const numbers = port.queues.map(({ limit }) => context.measureText(waitingWords(Number.isNaN(limit) ? 99_999 : limit, limit)).width);
      const most = room - Math.max(...numbers) - APART;
      context.font = `600 ${NAME_SIZE}px ${FONT}`;
      const labels = shortened(port.queues.map(({ name }) => name), (text) => context.measureText(text).width <= most);
      this.named = { port, room, labels };
    }
    return this.named.labels;
  }

  sideways(words, x, y, color) {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate(-Math.PI / 2);
    context.font = SIDEWAYS;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = color;
    context.fillText(words, 0, 0);
    context.restore();
  }

  role(way) {
    return this.colors[way.class] ?? "queue";
  }

  move(targets, elapsed) {
    const { context } = this;
    const ease = elapsed > 0 ? 1 - Math.exp(-elapsed * 16) : 1;
    const places = new Map();
    const bad = this.variable("--bad");
    for (const target of targets) {
      const id = target.way.number;
      const before = this.places.get(id) ?? { x: target.x, y: target.y };
      // A packet on the wire is drawn at the position of its bits. Any other packet moves smoothly to its
      // place.
      const isExact = target.kind === "wire" || target.kind === "arriving";
      const x = isExact ? target.x : before.x + (target.x - before.x) * ease;
      const y = target.kind === "dropped" ? target.y : before.y + (target.y - before.y) * ease;
      places.set(id, { x, y });
      Object.assign(target, { drawnX: x, drawnY: y });
      const { width, height } = target;
      context.globalAlpha = Math.max(0, target.fade);
      context.fillStyle = this.color(this.role(target.way));
      context.beginPath();
      context.roundRect(x - width / 2, y - height / 2, width, height, Math.min(2.5, width / 2));
      context.fill();
      if (target.way.marked && target.kind !== "dropped") {
        context.fillStyle = this.color("yellow");
        context.fillRect(x - width / 2, y - height / 2, width, 3);
      }
      if (target.kind === "dropped") {
        context.strokeStyle = bad;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x - 6, y - 6);
        context.lineTo(x + 6, y + 6);
        context.moveTo(x + 6, y - 6);
        context.lineTo(x - 6, y + 6);
        context.stroke();
      }
    }
    context.globalAlpha = 1;
    this.places = places;
  }

  // The description of a packet.
  words(way, at = this.at) {
    const name = this.classes[way.class] ?? "a fragment";
    const head = `${name}, packet ${way.number}, ${count(way.length)} B`;
    const queue = this.port.queues[way.queue]?.name;
    if (way.dropped !== undefined && at >= way.dropped) {
      return `${head}: dropped${queue ? ` at ${queue}` : ""}, ${REASONS[this.causes[way.cause]] ?? this.causes[way.cause]}`;
    }
    if (at < way.arrived) return `${head}: arrives`;
    const waited = (way.dequeued === undefined ? at : Math.min(at, way.dequeued)) - way.arrived;
    if (way.dequeued === undefined || at < way.dequeued) return `${head}: in ${queue ?? "the queue"} for ${time(waited)}`;
    if (at < way.starts) return `${head}: in the ring, waited ${time(waited)}`;
    return `${head}: ${at < way.ends ? "on the wire" : "sent"}, waited ${time(way.starts - way.arrived)}, sent at ${rate((way.length * 8) / (way.ends - way.starts))}`;
  }

  touch(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const near = (target) => Math.hypot(Math.max(0, Math.abs(target.drawnX - x) - target.width / 2), Math.max(0, Math.abs(target.drawnY - y) - target.height / 2));
    const reach = event.pointerType === "touch" ? 18 : 6;
    let best;
    for (const target of this.seen) {
      const distance = near(target) - (target.kind === "dropped" ? 4 : 0);
      if (distance <= reach && (!best || distance < best.distance)) best = { target, distance };
    }
    this.tip.hidden = !best;
    if (!best) return;
    this.tip.textContent = this.words(best.target.way);
    this.tip.style.left = `${Math.min(Math.max(8, x + 12), this.width - 240)}px`;
    this.tip.style.top = `${Math.max(4, y - 44)}px`;
  }
}

const waitingWords = (held, limit) => `${count(held)}${Number.isNaN(limit) ? "" : ` of ${count(limit)}`}`;
