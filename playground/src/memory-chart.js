// The units of each queue over time, with limits as dashed lines and drops as marks by their cause.
import { causeOf } from "./memory-bars.js";
import { count } from "./format.js";

const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// The limit of a queue is drawn if the queue reaches this fraction of the limit in the span, or drops
// packets.
const NEAR = 0.5;

export function memoryChart(chart, { span, lines, drops, at }) {
  const { from, until, columns, layout } = span;
  const [ink, muted, line, card, bad] = ["--ink", "--muted", "--line", "--card", "--bad"].map(variable);
  const limits = lines.flatMap(({ queue, color, units, name }, index) => {
    const hasDrops = drops.some((drop) => drop.line === index);
    const top = Math.max(...units);
    return queue.most.filter((limit) => limit <= layout.pool_units && (hasDrops || top >= NEAR * limit)).map((limit) => ({
      yAxis: limit, name, lineStyle: { color, type: [5, 4], width: 1.5 },
      label: { show: true, position: "insideEndTop", distance: [2, 0], formatter: count(limit), color: ink, fontSize: 10 },
    }));
  });
  const stroke = (queue, index) => ({
    type: "line", name: queue.name, data: queue.units.map((units, row) => [columns.time[row], units]), showSymbol: false, animation: false, z: 3,
    emphasis: { disabled: true }, lineStyle: { color: queue.color, width: 2 }, itemStyle: { color: queue.color }, areaStyle: { color: queue.color, opacity: 0.14 },
    ...(index === 0 ? { markLine: { silent: true, symbol: "none", animation: false, data: [...limits, instant(at, ink)] } } : {}),
  });
  const pool = {
    type: "line", name: "shared by all ports", data: columns.pool.map((units, row) => [columns.time[row], units]), showSymbol: false, animation: false, z: 2,
    emphasis: { disabled: true }, lineStyle: { color: muted, width: 1.2, type: [2, 3] }, itemStyle: { color: muted },
  };
  const causes = [...new Set(drops.map(({ cause }) => cause))];
  const marks = causes.map((cause) => ({
    type: "line", name: `dropped: ${causeOf(cause).words}`, symbol: causeOf(cause).symbol, symbolSize: 8, showSymbol: true, showAllSymbol: true, animation: false, z: 5,
    lineStyle: { opacity: 0 }, itemStyle: { color: bad, borderColor: card, borderWidth: 1 }, emphasis: { disabled: true },
    data: drops.filter((drop) => drop.cause === cause && drop.line >= 0).map(({ sample, line: index, packets }) => [columns.time[sample], lines[index].units[sample], packets]),
    encode: { x: 0, y: 1, tooltip: [2] }, tooltip: { valueFormatter: (value) => `${count(value)} packets` },
  }));
  const axis = { axisLine: { lineStyle: { color: line } }, axisLabel: { color: muted, fontSize: 11 }, splitLine: { lineStyle: { color: line, opacity: 0.6 } } };
  const tallest = Math.max(1, ...columns.pool, ...lines.flatMap(({ units }) => units), ...limits.map(({ yAxis }) => yAxis));
  chart.setOption({
    animation: false,
    grid: { left: 8, right: 24, top: 14, bottom: 4, containLabel: true },
    xAxis: { ...axis, type: "value", min: from, max: until, splitLine: { show: false }, splitNumber: 4, axisLabel: { ...axis.axisLabel, formatter: (value) => exactTime(value, (until - from) / 5), hideOverlap: true, showMinLabel: false } },
    yAxis: { ...axis, type: "value", min: 0, max: Math.ceil(tallest * 1.05), splitNumber: 3, minInterval: 1, axisLabel: { ...axis.axisLabel, showMaxLabel: false } },
    tooltip: {
      trigger: "axis", renderMode: "richText", confine: true, backgroundColor: card, borderColor: line, textStyle: { color: ink, fontSize: 12 },
      axisPointer: { label: { formatter: ({ value }) => exactTime(value, (until - from) / 100) } }, valueFormatter: (value) => (value === null || value === undefined ? "–" : `${count(value)} units`),
    },
    series: [...lines.map(stroke), pool, ...marks],
  }, { notMerge: true });
}

const instant = (at, ink) => ({ xAxis: at, label: { show: false }, lineStyle: { color: ink, type: "solid", width: 1, opacity: 0.55 } });
// Returns a time as text, with enough decimals to distinguish times that differ by `step` seconds.
export const exactTime = (value, step) => `${value.toFixed(Math.max(0, Math.min(9, Math.ceil(-Math.log10(step)))))} s`;

// Describes the chart as text, with the maximum units of each queue and the drops.
export function memoryWords({ from, until, columns, layout }, lines, drops) {
  const queues = lines.map(({ name, units }) => `${name} ${count(Math.max(...units))}`);
  const causes = [...new Set(drops.map(({ cause }) => cause))].map((cause) => {
    const packets = drops.filter((drop) => drop.cause === cause).reduce((sum, drop) => sum + drop.packets, 0);
    return `${count(packets)} packets dropped by the ${causeOf(cause).words}`;
  });
  const pool = `all ports together ${count(Math.max(...columns.pool))} of ${count(layout.pool_units)} shared units`;
  return `Packet memory from ${exactTime(from, (until - from) / 10)} to ${exactTime(until, (until - from) / 10)}. At most: ${[...queues, pool].join("; ")}. ${causes.join("; ") || "No drops"}.`;
}
