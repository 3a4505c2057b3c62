// The controls of the displayed time: play, pause, step, scrub. The worker sends packets, one span at a time.
import { clock, time } from "./format.js";
import { $ } from "./page.js";
import { eventsOf, waysOf } from "./ways.js";

const SPEEDS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const ENOUGH = 3000;
// The default speed, packets per second, and the bytes of such a packet.
const A_SECOND = 9, BYTES = 900;

export class Player {
  constructor(scene, client, { say, onTime }) {
    Object.assign(this, { scene, client, say, onTime, at: 0, place: null, isPlaying: false, span: null, duration: 1 });
    this.frames = [];
    $("play").addEventListener("click", () => this.toggle());
    $("forward").addEventListener("click", () => this.step(1));
    $("back").addEventListener("click", () => this.step(-1));
    $("drop").addEventListener("click", () => this.step(1, (way, at) => way.dropped === at));
    $("time").addEventListener("input", ({ target }) => this.seek(Number(target.value)));
    $("speed").append(...SPEEDS.map((speed, index) => new Option(speed === 1 ? "real time" : `1 : ${Math.round(1 / speed).toLocaleString("en-US")}`, index)));
    $("speed").addEventListener("change", ({ target }) => { this.speed = Number(target.value); });
    addEventListener("keydown", (event) => this.key(event));
  }

  get speed() {
    return SPEEDS[this.place ?? 5];
  }
  set speed(place) {
    this.place = place;
    $("speed").value = String(place);
    this.scene.speed = this.speed;
  }

  // Sets the instant and the speed that a link contains.
  begin(at, place) {
    if (Number.isFinite(at)) this.at = at;
    if (SPEEDS[place]) this.speed = place;
  }

  // Loads another port or another run.
  load(number, duration, port) {
    Object.assign(this, { number, duration, span: null });
    if (this.place === null) {
      const wanted = A_SECOND / (port.bits / 8 / BYTES);
      this.speed = SPEEDS.findLastIndex((speed, index) => index === 0 || speed <= wanted * 1.3);
    }
    this.scene.speed = this.speed;
    if (this.at === 0 || this.at > duration) this.at = Math.min(duration, 2);
    $("time").max = String(duration);
    this.mark();
    this.fetch(this.at, true);
  }

  async fetch(from, jumps = false) {
    const mine = (this.asked = (this.asked ?? 0) + 1);
    this.isFetching = true;
    const lead = 2 * this.speed;
    const question = { ask: "packets", port: this.number, from: Math.max(0, from - lead), until: Math.min(this.duration, from + Math.max(20 * this.speed, 0.02)), enough: ENOUGH };
    try {
      const { value, columns } = await this.client.ask(question);
      if (mine !== this.asked) return;
      this.span = { ...value, ways: waysOf(columns) };
      this.scene.packets = this.span;
      if (jumps) this.scene.places.clear();
      this.show(0);
    } catch (error) {
      if (mine === this.asked) this.say(error.message);
    } finally {
      if (mine === this.asked) this.isFetching = false;
    }
  }

  covers(at) {
    return this.span && at >= this.span.from && (at <= this.span.until || this.span.until >= this.duration);
  }

  seek(at) {
    this.at = Math.min(Math.max(0, at), this.duration);
    this.scene.places.clear();
    if (this.covers(this.at)) this.show(0);
    else this.fetch(this.at, true);
    this.mark();
  }

  toggle(isPlaying = !this.isPlaying) {
    this.isPlaying = isPlaying;
    $("play").textContent = isPlaying ? "Pause" : "Play";
    $("play").setAttribute("aria-pressed", String(isPlaying));
    if (isPlaying && this.at >= this.duration) this.seek(0);
  }

  // Moves to the next or the previous packet event.
  async step(direction, isMeant = () => true) {
    this.toggle(false);
    for (let tries = 0; tries < 40; tries += 1) {
      const found = this.neighbor(direction, isMeant);
      if (found) {
        this.at = found.at;
        this.show(0.08);
        this.mark();
        this.say(`${time(found.at)}: ${this.scene.words(found.way, found.at)}`);
        $("happens").textContent = this.scene.words(found.way, found.at);
        return;
      }
      const next = direction > 0 ? this.span?.until ?? this.at : (this.span?.from ?? this.at) - 10 * this.speed;
      if (next >= this.duration || (direction < 0 && !(this.span?.from > 0))) break;
      await this.fetch(Math.max(0, next));
    }
    this.say("There are no more events at this port.");
  }

  neighbor(direction, isMeant) {
    let best;
    for (const way of this.span?.ways ?? []) {
      for (const at of eventsOf(way)) {
        const isBeyond = direction > 0 ? at > this.at + 1e-12 : at < this.at - 1e-12;
        if (!isBeyond || at < this.span.from || at > this.span.until || !isMeant(way, at)) continue;
        if (!best || (direction > 0 ? at < best.at : at > best.at)) best = { at, way };
      }
    }
    return best;
  }

  key(event) {
    const isTyping = event.target.closest("input, select, textarea, button, summary, .cm-editor, [role=tab]");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { " ": () => this.toggle(), ".": () => this.step(1), ",": () => this.step(-1), d: () => $("drop").click() }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // Updates the drawing and the clock.
  show(elapsed) {
    this.scene.draw(this.at, elapsed);
    const decimals = Math.min(6, Math.max(2, Math.ceil(-Math.log10(this.speed)) + 1));
    $("clock").textContent = clock(this.at, decimals);
  }

  mark() {
    $("time").value = String(this.at);
    $("time").setAttribute("aria-valuetext", time(this.at));
    this.onTime();
  }

  // Advances the displayed instant, at most to the end of the loaded packets. Returns whether the instant has
  // changed.
  move(elapsed) {
    if (!this.isPlaying) return false;
    const next = this.at + elapsed * this.speed;
    const end = this.span.until;
    if (!this.isFetching && next > end - 3 * this.speed && end < this.duration) this.fetch(Math.max(this.at, end - 3 * this.speed));
    this.at = Math.min(next, end);
    if (this.at >= this.duration) this.toggle(false);
    return true;
  }

  loop() {
    let last = performance.now();
    let marked = last;
    const frame = (now) => {
      const elapsed = Math.min(0.1, (now - last) / 1000);
      this.frames.push(now - last);
      if (this.frames.length > 240) this.frames.shift();
      last = now;
      if (this.span && this.move(elapsed) && now - marked > 250) {
        marked = now;
        this.mark();
      }
      this.show(elapsed);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    globalThis.perhopPlayer = this; // for tests
  }
}
