// The view of a sweep: a chart of the means of a metric over a parameter, with a line for each class. It
// grows as points end.
import { rolesOf } from "../colors.js";
import { digits, percent, rate, time } from "../format.js";
import { $, isDark, onTheme, palette, soon, status } from "../page.js";

const SHOWN = { "b/s": rate, s: time, "%": percent };
const words = (unit) => (value) => (SHOWN[unit] ? SHOWN[unit](value) : `${digits(value, 4)}${unit ? ` ${unit}` : ""}`);

export class Sweep {
  constructor() {
    this.plot = globalThis.echarts.init($("chart"), null, { renderer: "canvas" });
    new ResizeObserver(() => this.plot.resize()).observe($("chart"));
    this.lines = [];
    this.refresh = soon(() => this.draw());
    onTheme(this.refresh);
  }

  begin() {}

  take({ started, state, chart, done }) {
    if (started) {
      this.started = started;
      $("name").textContent = started.name;
      $("chart-title").textContent = `${started.metric} over ${started.parameter}`;
    }
    if (state && !this.isDone) {
      $("progress").value = state.fraction;
      status(state.words);
    }
    if (chart) this.lines = chart.lines;
    if (done && !this.isDone) {
      this.isDone = true;
      $("progress").value = 1;
      status(done.words);
      document.documentElement.dataset.ran = "1";
    }
    this.refresh();
  }

  draw() {
    if (!this.started) return;
    const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const [ink, muted, line, card] = ["--ink", "--muted", "--line", "--card"].map(variable);
    const roles = rolesOf(this.lines.map(({ name }) => name));
    const hasNames = this.lines.some(({ points }) => points.some(([value]) => typeof value === "string"));
    const shown = words(this.started.unit), at = words(this.started.parameter_unit);
    const axis = { axisLine: { lineStyle: { color: line } }, axisLabel: { color: muted, fontSize: 12 }, splitLine: { lineStyle: { color: line, opacity: 0.6 } } };
    const series = this.lines.map(({ name, points }) => {
      const color = palette[roles[name]][isDark() ? 1 : 0];
      return { type: "line", name, data: points, showSymbol: true, symbol: "circle", symbolSize: 7, animation: false, lineStyle: { color, width: 2 }, itemStyle: { color }, emphasis: { disabled: true } };
    });
    this.plot.setOption({
      animation: false,
      grid: { left: 12, right: 30, top: 40, bottom: 10, containLabel: true },
      legend: { textStyle: { color: ink }, top: 0, left: 0, type: "scroll" },
      xAxis: { ...axis, type: hasNames ? "category" : "value", scale: true, axisLabel: { ...axis.axisLabel, formatter: (value) => (hasNames ? value : at(value)), hideOverlap: true } },
      yAxis: { ...axis, type: "value", min: 0, axisLabel: { ...axis.axisLabel, formatter: shown } },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, backgroundColor: card, borderColor: line, textStyle: { color: ink, fontSize: 12 }, valueFormatter: (value) => (value === undefined ? "–" : shown(value)) },
      series,
    }, { replaceMerge: ["series"] });
    $("chart").setAttribute("aria-label", `${this.started.metric} over ${this.started.parameter}. ${this.lines.map(({ name, points }) => `${name}: ${points.length} values`).join("; ")}.`);
  }
}
