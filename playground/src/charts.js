// Charts that grow during a run. Thin lines behind them show the previous run. The page loads ECharts.
import { percent, rate, time } from "./format.js";

export const KINDS = [
  { key: "throughput", title: "Throughput", shown: rate },
  { key: "delay", title: "Delay, mean", shown: time },
  { key: "loss", title: "Loss", shown: (value) => percent(100 * value) },
  { key: "queue", title: "Queue", shown: (value) => `${Math.round(value)} packets` },
];
const AXES = {
  throughput: (value) => rate(value), delay: (value) => time(value), loss: (value) => `${Math.round(100 * value)} %`,
  queue: (value) => String(value),
};
// Returns the end and the step of the loss axis: it ends at 100 % for many losses and at 1 % without losses.
// Otherwise ECharts chooses.
function lossAxis(lines) {
  const most = lines.flatMap(({ data }) => data).reduce((found, [, loss]) => Math.max(found, loss ?? 0), 0);
  return { max: most > 0.75 ? 1 : most > 0 ? undefined : 0.01, interval: most > 0.75 ? 0.5 : undefined };
}
const STROKES = ["solid", [7, 4], [2, 3]];

// The values of a run so far: columns that grow with each step.
export class Series {
  constructor(started) {
    this.started = started;
    this.columns = {};
  }
  add(columns) {
    for (const [name, values] of Object.entries(columns)) {
      const known = (this.columns[name] ??= []);
      for (const value of values) known.push(value);
    }
  }
  lines(kind, probe) {
    const pair = (times, values) => (times ?? []).map((at, row) => [at, Number.isFinite(values?.[row]) ? values[row] : null]);
    if (kind !== "queue") {
      return this.started.classes.map((name, index) => ({ name, index, data: pair(this.columns.time, this.columns[`${kind}/${index}`]) }));
    }
    const names = this.started.ports.find(({ name }) => name === this.started.probes[probe])?.queues ?? [];
    return names.map((name, index) => ({ name, index, data: pair(this.columns[`queue-time/${probe}`], this.columns[`queue/${probe}/${index}`]) }));
  }
}

export class Charts {
  constructor(figures, palette, isDark, onTime) {
    Object.assign(this, { palette, isDark });
    // The kinds of charts for which the page has an element.
    this.charts = KINDS.filter(({ key }) => figures.querySelector(`[data-kind=${key}]`)).map((kind) => {
      const figure = figures.querySelector(`[data-kind=${kind.key}]`);
      const chart = globalThis.echarts.init(figure.querySelector(".plot"), null, { renderer: "canvas" });
      new ResizeObserver(() => chart.resize()).observe(figure);
      chart.getZr().on("click", (event) => {
        const [at] = chart.convertFromPixel("grid", [event.offsetX, event.offsetY]) ?? [];
        if (Number.isFinite(at)) onTime(at);
      });
      return { kind, figure, chart };
    });
  }

  variable(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // Draws the series `now` over the series `before`. `colors` has the roles of classes, `queueColors` the roles of
  // queues.
  draw(now, before, { colors, queueColors, probe, at }) {
    const [ink, muted, line, card] = ["--ink", "--muted", "--line", "--card"].map((name) => this.variable(name));
    for (const { kind, figure, chart } of this.charts) {
      const roles = kind.key === "queue" ? queueColors : colors;
      const series = (from, isBefore) => from.lines(kind.key, probe).filter(({ data }) => data.some(([, value]) => value !== null)).map(({ name, index, data }) => {
        const color = this.palette[roles[name] ?? `class${index % 8}`][this.isDark() ? 1 : 0];
        return {
          type: "line", name: isBefore ? `${name}, before` : name, data, showSymbol: false, animation: false, z: isBefore ? 2 : 3,
          emphasis: { disabled: true }, connectNulls: false,
          lineStyle: { color, width: isBefore ? 1.2 : 2, type: isBefore ? [4, 3] : STROKES[Math.floor(index / 8) % 3], opacity: isBefore ? 0.75 : 1 },
          itemStyle: { color },
        };
      });
      const lines = [...(before ? series(before, true) : []), ...series(now, false)];
      const marker = lines.at(-1);
      if (marker && at !== undefined) {
        marker.markLine = { silent: true, symbol: "none", animation: false, label: { show: false }, lineStyle: { color: ink, type: "solid", width: 1, opacity: 0.55 }, data: [{ xAxis: at }] };
      }
      const axis = { axisLine: { lineStyle: { color: line } }, axisLabel: { color: muted, fontSize: 11 }, splitLine: { lineStyle: { color: line, opacity: 0.6 } } };
      chart.setOption({
        animation: false,
        grid: { left: 8, right: 24, top: 12, bottom: 4, containLabel: true },
        xAxis: { ...axis, type: "value", min: now.started.warmup, max: now.started.duration, splitLine: { show: false }, axisLabel: { ...axis.axisLabel, formatter: "{value} s", hideOverlap: true, showMinLabel: false } },
        yAxis: { ...axis, type: "value", min: 0, splitNumber: 3, minInterval: kind.key === "queue" ? 1 : undefined, ...(kind.key === "loss" ? lossAxis(lines) : {}), axisLabel: { ...axis.axisLabel, formatter: AXES[kind.key] } },
        // Rich text instead of HTML, because names could contain HTML.
        tooltip: { trigger: "axis", renderMode: "richText", confine: true, backgroundColor: card, borderColor: line, textStyle: { color: ink, fontSize: 12 }, valueFormatter: (value) => (value === null || value === undefined ? "–" : kind.shown(value)) },
        series: lines,
      }, { replaceMerge: ["series"] });
      figure.querySelector(".plot").setAttribute("aria-label", described(kind, now, probe));
    }
  }

  pictures() {
    return this.charts.map(({ kind, chart }) => ({ title: kind.title, canvas: chart.getRenderedCanvas({ pixelRatio: 2, backgroundColor: this.variable("--paper") }) }));
  }
}

// Describes a chart as text, with the mean of each line.
function described(kind, series, probe) {
  const parts = series.lines(kind.key, probe).map(({ name, data }) => {
    const values = data.map(([, value]) => value).filter((value) => value !== null);
    return values.length ? `${name} ${kind.shown(values.reduce((a, b) => a + b, 0) / values.length)}` : `${name} nothing`;
  });
  return `${kind.title} over time. On average: ${parts.join("; ")}.`;
}
