// The player of a run in another process. It shows the current instant of the run, and its controls control
// the run. If a user selects an earlier instant, the player stops following the run, and the page plays the
// past at its own speed.
import { $ } from "../page.js";
import { Player } from "../player.js";

const SPEEDS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500];
// The speed at which packets are shown if the speed of the run is not limited.
const UNHURRIED = 0.01;
const words = (speed) => (speed === Infinity ? "max" : `${speed}x`);
const numberOf = (text) => (text === "max" ? Infinity : Number.parseFloat(text));

export class Follower extends Player {
  constructor(scene, client, hooks) {
    super(scene, client, hooks);
    Object.assign(this, { isFollowing: true, isDone: false, reached: 0, run: { speed: Infinity, paused: false }, own: UNHURRIED });
    $("now").addEventListener("click", () => this.follow());
    this.offer();
  }

  get isWithRun() {
    return this.isFollowing && !this.isDone;
  }
  get speed() {
    if (!this.isWithRun) return this.own ?? UNHURRIED;
    return this.run.speed === Infinity ? UNHURRIED : this.run.speed;
  }
  set speed(_) {
    // While the player follows the run, the select sets the speed of the run; otherwise, it sets the speed of
    // the page.
    const chosen = numberOf($("speed").value);
    if (this.isWithRun) this.tell({ ask: "speed", speed: words(chosen) });
    else this.own = chosen === Infinity ? 1 : chosen;
    if (this.scene) this.scene.speed = this.speed;
  }

  // The available speeds, with the chosen one.
  offer() {
    const chosen = this.isWithRun ? this.run.speed : this.own;
    const all = [...new Set([...SPEEDS, chosen, Infinity])].sort((a, b) => a - b);
    $("speed").replaceChildren(...all.map((speed) => new Option(words(speed), words(speed), false, speed === chosen)));
    this.scene.speed = this.speed;
  }

  async tell(question) {
    try {
      await this.client.ask(question);
    } catch (error) {
      this.say(error.message);
    }
  }

  // The status that the run reports.
  state({ reached, speed, paused }) {
    const run = { speed: numberOf(speed), paused };
    const isNew = run.speed !== this.run.speed;
    Object.assign(this, { reached, run });
    if (isNew) this.offer();
    this.label();
  }
  done() {
    Object.assign(this, { isDone: true, isPlaying: false, reached: this.duration });
    this.offer();
    this.label();
  }
  follow() {
    this.isFollowing = true;
    this.at = this.reached;
    this.offer();
    this.label();
  }
  label() {
    const goes = this.isWithRun ? !this.run.paused : this.isPlaying;
    $("play").textContent = goes ? "Pause" : "Play";
    $("play").setAttribute("aria-pressed", String(goes));
    $("now").hidden = this.isDone || this.isFollowing;
  }

  load(number, duration, port) {
    Object.assign(this, { number, duration, port, span: null });
    $("time").max = String(duration);
    this.scene.speed = this.speed;
    this.mark();
    this.fetch(this.at, true);
  }

  toggle(isPlaying) {
    if (!this.isWithRun) {
      super.toggle(isPlaying ?? !this.isPlaying);
      return;
    }
    const goes = isPlaying ?? this.run.paused;
    if (goes === this.run.paused) this.tell({ ask: goes ? "resume" : "pause" });
    this.run.paused = !goes;
    this.label();
  }

  async step(direction, isMeant) {
    if (this.isWithRun && direction < 0) this.leave();
    await super.step(direction, isMeant);
    if (this.isWithRun && this.at > this.reached) await this.tell({ ask: "step", until: this.at });
  }

  leave() {
    this.toggle(false);
    this.isFollowing = false;
    this.offer();
    this.label();
  }

  seek(at) {
    if (this.isWithRun) this.leave();
    super.seek(this.isDone ? at : Math.min(at, this.reached));
  }

  move(elapsed) {
    if (!this.isWithRun) return super.move(elapsed);
    // Follows the run, smoothly between its reports. The displayed time is never ahead of the run, except
    // after a requested step.
    const lag = 0.4 * this.speed;
    if (this.at < this.reached) {
      const next = this.run.paused || this.run.speed === Infinity ? this.reached : this.at + elapsed * this.speed;
      this.at = Math.min(this.reached, Math.max(next, this.reached - lag));
    }
    if (!this.isFetching && (!this.covers(this.at) || (this.at > this.span.until - 3 * this.speed && this.span.until < this.duration))) {
      this.fetch(this.at);
    }
    return true;
  }
}
