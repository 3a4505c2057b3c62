// The values of charts of counters: differences between two instants.

// The maximum number of stored instants. When there are more, every second instant is discarded, so lines
// have fewer points but are still correct.
const MOST = 4001;
// The approximate number of points of a line over the whole run.
const POINTS = 160;

export class Counted {
  constructor(started) {
    Object.assign(this, { started, frames: [] });
  }

  add(frames) {
    for (const frame of frames) if (!(frame.at <= this.last?.at)) this.frames.push(frame);
    while (this.frames.length > MOST) this.frames = this.frames.filter((_, place, all) => (all.length - 1 - place) % 2 === 0);
  }
  get last() {
    return this.frames.at(-1);
  }

  // Returns pairs of frames after the warm-up that are far enough apart to compute a rate.
  steps() {
    const least = this.started.duration === null ? 0.9 : this.started.duration / POINTS;
    const found = [];
    let before;
    for (const frame of this.frames) {
      if (frame.at < this.started.warmup) continue;
      if (before && frame.at - before.at < least) continue;
      if (before) found.push([before, frame]);
      before = frame;
    }
    return found;
  }

  lines(kind, probe) {
    return kind === "queue" ? this.queues(probe) : this.classes(kind, probe);
  }
  queues(probe) {
    const names = this.started.ports.find(({ name }) => name === this.started.probes[probe])?.queues ?? [];
    return names.map((name, index) => ({ name, index, data: this.frames.map(({ at, queues }) => [at, queues[probe]?.[index] ?? null]) }));
  }
  classes(kind) {
    const steps = this.steps();
    return this.started.classes.map((name, index) => ({
      name, index, data: steps.map(([before, frame]) => [frame.at, VALUES[kind](before.classes[index], frame.classes[index], frame.at - before.at)]),
    }));
  }
}

const part = (some, all) => (all > 0 ? some / all : null);
// The counters of a class: bytes received, packets offered, delivered and dropped, and the sum of delays.
const VALUES = {
  throughput: (before, now, seconds) => (8 * (now[0] - before[0])) / seconds,
  delay: (before, now) => part(now[4] - before[4], now[2] - before[2]),
  loss: (before, now) => part(now[3] - before[3], now[3] - before[3] + now[2] - before[2]),
};
