// The packet memory of a switch: the parts of its ports and queues at the displayed instant, their use over
// time, the thresholds and the drops by cause. The worker repeats the run to count the units.
import { exactTime, memoryChart, memoryWords } from "./memory-chart.js";
import { fill, label } from "./memory-bars.js";
import { $, options } from "./page.js";
import { time } from "./format.js";

const SAMPLES = 240;
// The span of the drawing, as a multiple of the time in which the line empties the longest queue.
const DRAINS = 4;
const STEPS = [1, 2, 5, 10];
// The fraction of the span before the displayed instant.
const LEAD = 0.2;

export class Memory {
  constructor(client, { palette, isDark, onTime, onError }) {
    Object.assign(this, { client, palette, isDark, onTime, onError, turn: 0, span: null, run: null, chart: null });
    $("memory-span").addEventListener("change", () => this.fetch(this.at));
  }

  // A chart needs the size of its element, so it is created when the element is first displayed.
  get plot() {
    if (this.chart) return this.chart;
    this.chart = globalThis.echarts.init($("memory-plot"), null, { renderer: "canvas" });
    new ResizeObserver(() => this.chart.resize()).observe($("memory"));
    this.chart.getZr().on("click", (event) => {
      const [at] = this.chart.convertFromPixel("grid", [event.offsetX, event.offsetY]) ?? [];
      if (Number.isFinite(at)) this.onTime(at);
    });
    return this.chart;
  }

  // Loads the memory of a port of another run. `colors` has the roles of the queues of the chosen port.
  load({ port, bits, duration, causes, colors }, at) {
    Object.assign(this, { run: { port, bits, duration, causes, colors }, span: null });
    this.fetch(at, true);
  }

  // Hides the drawing, because the port has no packet memory.
  hide() {
    this.turn += 1;
    Object.assign(this, { span: null, isFetching: false });
    $("memory").hidden = true;
  }

  // Shows another instant.
  show(at) {
    this.at = at;
    if (!this.span || this.isFetching) return;
    const { from, until } = this.span;
    if (at < from || at > until) this.fetch(at);
    else this.draw();
  }

  // Requests the span around an instant. The length of the span depends on the limits of the queues, so the
  // first call also requests these limits.
  async fetch(at, isFirst = false) {
    const mine = (this.turn += 1);
    this.at = at;
    this.isFetching = true;
    try {
      if (isFirst) {
        // A request for an empty span returns the limits without samples.
        const { value } = await this.ask(0, 0, 1);
        if (mine !== this.turn) return;
        this.layout = value;
        this.offer();
      }
      const length = $("memory-span").selectedIndex > 0 ? this.run.duration : this.around();
      const from = Math.max(0, Math.min(at - LEAD * length, this.run.duration - length));
      const { columns } = await this.ask(from, from + length, SAMPLES);
      if (mine !== this.turn) return;
      this.span = { from, until: from + length, layout: this.layout, columns };
      $("memory").hidden = false;
      this.draw();
    } catch (error) {
      if (mine !== this.turn) return;
      this.hide();
      this.onError(error);
    } finally {
      if (mine === this.turn) this.isFetching = false;
    }
  }

  async ask(from, until, samples) {
    const { value, columns } = await this.client.ask({ ask: "memory", port: this.run.port, from, until, samples });
    // The columns are typed arrays, which can contain only numbers. The drawing maps them to pairs and names,
    // so they are copied to plain arrays.
    return { value, columns: Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, [...values]])) };
  }

  // Fills the menu of spans: around the instant, and the whole run.
  offer() {
    const near = this.around();
    options($("memory-span"), near < this.run.duration ? [time(near), "whole run"] : ["whole run"], 0);
  }
  // Returns the length of the span in seconds: `DRAINS` times the time in which the line empties the longest queue of
  // the port, rounded up to 1, 2 or 5 times a power of ten.
  around() {
    const { ports, pool_units: pool, unit_bytes: bytes } = this.layout;
    const limits = ports[0].queues.map(({ most }) => Math.min(most.at(-1) ?? pool, pool));
    const wanted = (DRAINS * Math.max(1, ...limits) * bytes * 8) / this.run.bits;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const length = power * STEPS.find((step) => step * power >= wanted * 0.999);
    return length < this.run.duration / 2 ? length : this.run.duration;
  }

  // The number of the sample that contains the displayed instant.
  get sample() {
    const { from, until } = this.span;
    const place = Math.ceil(((this.at - from) / (until - from)) * SAMPLES) - 1;
    return Math.min(Math.max(0, place), SAMPLES - 1);
  }

  draw() {
    if (!this.span) return;
    const { layout, columns } = this.span;
    const lines = this.lines();
    const drops = this.drops(lines);
    const sample = this.sample;
    fill({ layout, lines, drops, sample, pool: columns.pool[sample] });
    $("memory-at").textContent = `at ${exactTime(columns.time[sample], (this.span.until - this.span.from) / SAMPLES)}`;
    memoryChart(this.plot, { span: this.span, lines, drops, at: this.at });
    $("memory-plot").setAttribute("aria-label", memoryWords(this.span, lines, drops));
  }

  // Returns a line for each queue of the chosen port, and for each other queue with packets or drops in the span.
  lines() {
    const { layout, columns } = this.span;
    const dropped = new Set(columns["drop/port"].map((port, row) => `${port}/${columns["drop/queue"][row]}`));
    const found = layout.ports.flatMap((port, place) => port.queues.map((queue, number) => {
      const units = columns[`units/${place}/${number}`];
      const isBusy = dropped.has(`${place}/${number}`) || units.some((unit) => unit > 0);
      return { port, place, number, queue, units, isBusy: isBusy || place === 0 };
    })).filter(({ isBusy }) => isBusy);
    // Ports without packets in the memory are not drawn.
    const several = found.some(({ place }) => place > 0);
    return found.map((line, index) => {
      const role = several ? `class${index % 8}` : this.run.colors[line.queue.name] ?? `class${index % 8}`;
      return { ...line, role, color: this.palette[role][this.isDark() ? 1 : 0], name: label(line, several) };
    });
  }

  // The drops of the span: sample, line, cause and packets.
  drops(lines) {
    const { columns } = this.span;
    return columns["drop/sample"].map((sample, row) => ({
      sample, packets: columns["drop/packets"][row], cause: this.run.causes[columns["drop/cause"][row]],
      line: lines.findIndex(({ place, number }) => place === columns["drop/port"][row] && number === columns["drop/queue"][row]),
    }));
  }
}
