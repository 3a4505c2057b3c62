// The view of a simulation: its packets at a port, its charts, and its results.
import { Charts } from "../charts.js";
import { rolesOf, rolesOfQueues } from "../colors.js";
import { count } from "../format.js";
import { $, isDark, legend, onTheme, options, palette, say, soon, status, stored } from "../page.js";
import { firstPort, portOf } from "../port.js";
import { Scene } from "../scene.js";
import { verdicts } from "../verdict.js";
import { showVerdicts } from "../verdict-list.js";
import { Counted } from "./counted.js";
import { Follower } from "./follower.js";
import { counters, leftOut } from "./panel.js";

const judging = stored("judging");

export class Simulation {
  constructor(connection) {
    this.scene = new Scene($("scene"), $("tip"), palette, isDark);
    this.refresh = soon(() => this.draw());
    this.player = new Follower(this.scene, connection, { say, onTime: this.refresh });
    this.charts = new Charts($("charts"), palette, isDark, (at) => this.player.seek(at));
    this.probe = 0;
    this.left = 0;
    $("ports").addEventListener("change", ({ target }) => this.show(Number(target.value)));
    $("next-port").addEventListener("click", () => this.show((this.number + 1) % this.started.ports.length));
    $("probes").addEventListener("change", ({ target }) => {
      this.probe = Number(target.value);
      this.refresh();
    });
    onTheme(() => this.started && this.show(this.number));
    this.player.loop();
  }

  // Discards earlier frames, because the server repeats all events when the page connects.
  begin() {
    this.series?.frames.splice(0);
    this.left = 0;
  }

  take({ started, state, frames, left_out: pageLeftOut = 0, done }) {
    if (started && !this.started) this.start(started);
    if (!this.started) return;
    if (frames) {
      this.series.add(frames);
      for (const { left_out: runLeftOut } of frames) this.left += runLeftOut;
      leftOut(this.left + pageLeftOut);
      this.count();
    }
    if (state) {
      $("progress").value = state.fraction;
      this.player.state(state);
      if (!done) status(`${state.reached.toFixed(2)} s of ${this.started.duration} s simulated${state.paused ? ", paused" : ""}`);
    }
    if (done) this.finish(done.summary);
    this.refresh();
  }

  start(started) {
    Object.assign(this, { started, series: new Counted(started), roles: rolesOf(started.classes) });
    $("name").textContent = started.replications > 1 ? `${started.name}, replication 1 of ${started.replications}` : started.name;
    options($("probes"), started.probes, 0);
    this.show(firstPort(started));
  }

  show(number) {
    const { started, roles } = this;
    this.number = number;
    options($("ports"), started.ports.map(({ name }) => name), number);
    const port = portOf(started, number);
    const probe = started.probes.indexOf(started.ports[number].name);
    if (probe >= 0) {
      this.probe = probe;
      $("probes").value = String(probe);
    }
    this.scene.load(port, started.classes, started.causes, started.classes.map((name) => roles[name]));
    legend(started.classes, roles);
    this.player.load(number, started.duration, port);
    this.refresh();
  }

  count() {
    const { last } = this.series;
    if (last) counters(["class", "offered", "delivered", "dropped"], this.started.classes.map((name, place) => [name, ...last.classes[place].slice(1, 4)]));
  }

  finish(summary) {
    if (this.isDone) return;
    this.isDone = true;
    this.player.done();
    status(`${summary.duration_s} s simulated: ${count(summary.packet_hops)} packets over links. The results are in the terminal.`);
    showVerdicts(verdicts(summary, judging), this.roles);
    document.documentElement.dataset.ran = "1";
  }

  draw() {
    if (!this.series) return;
    const { roles, probe, started } = this;
    const queues = started.ports.find(({ name }) => name === started.probes[probe])?.queues ?? [];
    this.charts.draw(this.series, null, { colors: roles, queueColors: rolesOfQueues(queues, roles), probe, at: this.player.at });
  }
}
