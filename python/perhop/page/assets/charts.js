// Draws the charts of a page. Each chart is data (perhop.plot.chart.Chart as JSON) in a separate script element.
// When a chart comes into view, its data are converted to an ECharts option in the colors of the page.
(() => {
  "use strict";

  const palette = JSON.parse(document.getElementById("palette").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const dashes = { solid: "solid", dashed: [8, 4], dotted: [2, 3] };
  const drawn = new Map();
  let printing = false;

  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return !printing && (chosen ? chosen === "dark" : dark.matches);
  };
  const color = (role) => palette[role][isDark() ? 1 : 0];
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(2);
    return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  };
  // A place on an axis as text: its name if the axis has names, otherwise the number.
  const valueAt = (of, at) => of.categories[at] ?? short(at);
  const escaped = (text) => {
    const element = document.createElement("span");
    element.textContent = text;
    return element.innerHTML;
  };

  // --- From a chart's marks to series ---

  // Marks beyond the axes are clipped.
  function plotArea({ coordSys: { x, y, width, height } }) {
    return { type: "rect", shape: { x, y, width, height } };
  }

  function band(mark) {
    const points = mark.x.map((x, index) => [x, mark.low[index], mark.high[index]]);
    // The first point draws one polygon for the whole band; the other points draw nothing.
    const renderItem = (parameters, api) => {
      if (parameters.dataIndexInside !== 0) return null;
      const edge = (column) => points.filter((p) => p[column] !== null).map((p) => api.coord([p[0], p[column]]));
      return {
        type: "polygon",
        shape: { points: [...edge(1), ...edge(2).reverse()] },
        style: { fill: color(mark.color), opacity: 0.18 },
        clipPath: plotArea(parameters),
        silent: true,
      };
    };
    return {
      type: "custom", name: mark.name, data: points, renderItem, silent: true, z: 1, tooltip: { show: false },
      encode: { x: 0, y: [1, 2] }, itemStyle: { color: color(mark.color) }, clip: true,
    };
  }

  // Each mark is drawn above the marks before it.
  function isAbovePoints(mark, chart) {
    return chart.marks.slice(0, chart.marks.indexOf(mark)).some((one) => one.type === "points");
  }

  function line(mark, chart) {
    const data = mark.x.map((x, index) => [x, mark.y[index]]);
    const series = {
      type: "line", name: mark.name, data, showSymbol: Boolean(mark.marked), symbol: "circle", symbolSize: 6,
      step: mark.steps ? "end" : false, z: mark.thin ? 2 : isAbovePoints(mark, chart) ? 6 : 3,
      lineStyle: { color: color(mark.color), width: mark.thin ? 1 : 2, type: dashes[mark.stroke] },
      itemStyle: { color: color(mark.color) },
      emphasis: { disabled: true },
    };
    if (mark.filled || chart.stacked) {
      series.areaStyle = { color: color(mark.color), opacity: chart.stacked ? 0.75 : 0.15 };
    }
    if (chart.stacked) Object.assign(series, { stack: "all", lineStyle: { width: 0 } });
    return mark.low && !chart.stacked ? [band(mark), series] : [series];
  }

  function points(mark, chart) {
    const data = mark.x.map((x, index) => [x, mark.y[index]]);
    const series = {
      type: "scatter", name: mark.name, data, z: 5,
      symbol: mark.hollow ? "diamond" : "circle", symbolSize: mark.hollow ? 14 : 9,
      itemStyle: mark.hollow
        ? { color: "transparent", borderColor: color(mark.color), borderWidth: 2 }
        : { color: color(mark.color) },
      emphasis: { scale: 1.3 },
    };
    if (!mark.low) return [series];
    const upright = chart.y.categories.length === 0;
    const renderItem = (parameters, api) => {
      const index = parameters.dataIndex;
      const [x, y] = data[index];
      const [from, to] = upright
        ? [api.coord([x, mark.low[index]]), api.coord([x, mark.high[index]])]
        : [api.coord([mark.low[index], y]), api.coord([mark.high[index], y])];
      if (![...from, ...to].every(Number.isFinite)) return null;
      const [dx, dy] = upright ? [5, 0] : [0, 5];
      const cap = (p) => ({
        type: "line", style,
        shape: { x1: p[0] - dx, y1: p[1] - dy, x2: p[0] + dx, y2: p[1] + dy },
      });
      const style = { stroke: color(mark.color), lineWidth: 1.5 };
      const bar = { type: "line", style, shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] } };
      return { type: "group", children: [bar, cap(from), cap(to)], silent: true, clipPath: plotArea(parameters) };
    };
    return [
      { type: "custom", name: mark.name, data, renderItem, silent: true, z: 4, itemStyle: { color: color(mark.color) } },
      series,
    ];
  }

  // On a logarithmic axis, an end of an interval below all ticks is drawn at the lowest tick.
  const above = (of, values) => of.log ? values?.map((one) => one === null ? one : Math.max(one, of.ticks[0])) : values;

  function rule(mark) {
    return {
      yAxis: mark.at,
      lineStyle: { color: color(mark.color), type: dashes[mark.stroke], width: 1.3 },
      label: { formatter: mark.name, position: { right: "insideEndTop", middle: "insideMiddleTop", left: "insideStartTop" }[mark.side], color: color(mark.color), fontSize: 11 },
    };
  }

  function series(chart) {
    const drawable = chart.marks.map((mark) => mark.low && !chart.y.categories.length
      ? { ...mark, low: above(chart.y, mark.low), high: above(chart.y, mark.high) } : mark);
    const found = drawable.flatMap((mark) =>
      mark.type === "line" ? line(mark, chart) : mark.type === "points" ? points(mark, chart) : []);
    const rules = chart.marks.filter((mark) => mark.type === "rule").map(rule);
    const spans = chart.marks.filter((mark) => mark.type === "span");
    if (rules.length || spans.length) {
      found.push({
        type: "line", name: "", data: [], silent: true, tooltip: { show: false },
        markLine: { symbol: "none", silent: true, animation: false, data: rules },
        markArea: {
          silent: true,
          itemStyle: { color: variable("--muted"), opacity: 0.16 },
          label: { color: variable("--muted"), position: "insideTop" },
          data: spans.map((mark) => [{ xAxis: mark.begin, name: mark.name }, { xAxis: mark.end }]),
        },
      });
    }
    return found;
  }

  // --- Axes, legend, tooltip ---

  // Returns round ends of the axis around the points of a chart, and the step between labels, so both ends have labels.
  function roundEnds(chart) {
    const all = chart.marks.flatMap((mark) => mark.type === "span" ? [mark.begin, mark.end] : mark.x ?? []);
    const places = all.filter((one) => one !== null);
    const least = chart.x.least ?? places.reduce((a, b) => Math.min(a, b), Infinity);
    const greatest = chart.x.greatest ?? places.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(greatest > least)) return { min: "dataMin", max: "dataMax" };
    const rough = (greatest - least) / 6, decade = 10 ** Math.floor(Math.log10(rough));
    const interval = [1, 2, 2.5, 5, 10].map((one) => one * decade).find((one) => one >= rough * 0.999);
    const min = chart.x.least ?? Math.floor(least / interval + 1e-9) * interval;
    const max = chart.x.greatest ?? Math.ceil(greatest / interval - 1e-9) * interval;
    // Labels count from the beginning of the axis. After a warm-up of 2 s, they would be 2, 22, 42.
    const isRound = Math.abs(min / interval - Math.round(min / interval)) < 1e-9;
    return isRound ? { min, max, interval } : { min, max };
  }

  function axis(of, vertical, narrow, ends) {
    const ink = variable("--ink"), faint = variable("--line");
    const common = {
      nameTextStyle: { color: variable("--muted"), fontSize: 12 },
      axisLine: { show: !vertical, lineStyle: { color: faint } },
      axisTick: { show: !vertical, lineStyle: { color: faint } },
      axisLabel: { color: ink, fontSize: 11, hideOverlap: true },
      splitLine: { show: true, lineStyle: { color: faint, opacity: 0.5 } },
    };
    // The name of the vertical axis is above the plot, where it needs no rotation.
    const place = vertical ? {} : { name: of.title, nameLocation: "middle", nameGap: 28 };
    if (of.categories.length) {
      return {
        ...common, ...place, type: "category", data: of.categories,
        axisLabel: { ...common.axisLabel, width: narrow ? 104 : 190, lineHeight: 13, overflow: "break", interval: 0 },
      };
    }
    if (of.log) {
      const ticks = { customValues: of.ticks };
      return {
        ...common, ...place, type: "log", inverse: of.reversed, min: of.ticks[0], max: of.ticks.at(-1),
        axisTick: { ...common.axisTick, ...ticks },
        axisLabel: { ...common.axisLabel, ...ticks, formatter: short, showMinLabel: true, showMaxLabel: true },
      };
    }
    return {
      ...common, ...place, type: "value", scale: of.least === null,
      ...(ends || { min: of.least, max: of.greatest }),
      axisLabel: {
        ...common.axisLabel, formatter: short,
        showMinLabel: true, showMaxLabel: true,
      },
    };
  }

  function tooltip(chart) {
    const unit = (of) => (of.unit ? ` ${of.unit}` : "");
    const row = (mark, value) =>
      `<div class="tip-row"><span class="tip-mark" style="background:${color(mark.color)}"></span>` +
      `<span>${escaped(mark.name)}</span><b>${value}</b></div>`;
    const common = {
      confine: true, appendToBody: false, className: "tip",
      backgroundColor: variable("--card"), borderColor: variable("--line"), textStyle: { color: variable("--ink"), fontSize: 12 },
    };
    const noted = chart.marks.some((one) => one.notes);
    if (noted) {
      return { ...common, trigger: "item", formatter: (at) => {
        const mark = chart.marks.find((one) => one.notes && one.name === at.seriesName);
        return mark ? (mark.notes[at.dataIndex] ?? mark.notes[0]).split("\n").map(escaped).join("<br>") : "";
      } };
    }
    if (chart.y.categories.length) {
      return { ...common, trigger: "item", formatter: (at) => {
        const mark = chart.marks.find((one) => one.type === "points" && one.name === at.seriesName);
        const index = at.dataIndex;
        const ends = mark.low ? ` (${short(mark.low[index])} to ${short(mark.high[index])})` : "";
        return `<div class="tip-head">${escaped(chart.y.categories[mark.y[index]])}</div>` +
          row(mark, short(mark.x[index]) + unit(chart.x) + ends);
      } };
    }
    return { ...common, trigger: "axis", axisPointer: { type: "line", lineStyle: { color: variable("--muted") } },
      formatter: (items) => {
        const seen = new Set();
        const rows = items.filter((item) => item.seriesType !== "custom" && item.seriesName && !seen.has(item.seriesName)
            && seen.add(item.seriesName)).map((item) => {
          const mark = chart.marks.find((one) => one.x && one.name === item.seriesName);
          const index = item.dataIndex;
          const ends = mark.low ? ` (${short(mark.low[index])} to ${short(mark.high[index])})` : "";
          return row(mark, short(mark.y[index]) + unit(chart.y) + ends);
        });
        return rows.length
          ? `<div class="tip-head">${escaped(`${chart.x.title}: ${valueAt(chart.x, items[0].data[0])}`)}</div>${rows.join("")}` : "";
      } };
  }

  // --- Charts that are linked: one time under the pointer, one set of hidden classes, one zoom ---

  const hidden = new Map();
  const groupOf = (figure) => figure.closest("[data-group]")?.dataset.group;
  const others = (figure) => [...drawn.keys()].filter((one) => one !== figure && groupOf(one) && groupOf(one) === groupOf(figure));
  const hiddenIn = (figure) => hidden.get(groupOf(figure)) ?? new Set();
  // Actions that this page has forwarded are not forwarded again.
  let passing = false;
  function pass(figure, action) {
    if (passing) return;
    passing = true;
    others(figure).forEach((one) => action(drawn.get(one).instance, one));
    passing = false;
  }
  function showAt(instance, time) {
    const [left, right] = [0, 1].map((end) => instance.convertToPixel({ xAxisIndex: 0 }, instance.getModel().getComponent("xAxis", 0).axis.scale.getExtent()[end]));
    const x = instance.convertToPixel({ xAxisIndex: 0 }, time);
    if (x < left - 0.5 || x > right + 0.5) instance.dispatchAction({ type: "hideTip" });
    else instance.dispatchAction({ type: "showTip", x, y: instance.getHeight() / 2 });
  }
  function link(figure, instance) {
    instance.on("updateAxisPointer", ({ axesInfo }) => {
      const time = axesInfo?.[0]?.value;
      if (time !== undefined) pass(figure, (one) => showAt(one, time));
    });
    instance.getZr().on("globalout", () => pass(figure, (one) => {
      one.dispatchAction({ type: "hideTip" });
      one.dispatchAction({ type: "updateAxisPointer", currTrigger: "leave" });
    }));
    instance.on("legendselectchanged", ({ name, selected }) => {
      const set = hiddenIn(figure);
      if (selected[name]) set.delete(name);
      else set.add(name);
      hidden.set(groupOf(figure), set);
      pass(figure, (one) => one.dispatchAction({ type: selected[name] ? "legendSelect" : "legendUnSelect", name }));
    });
    instance.on("datazoom", () => {
      const { start, end } = zoomOf(instance);
      pass(figure, (one) => one.dispatchAction({ type: "dataZoom", start, end }));
    });
  }

  // The mark before a name in the legend: a stroke for a line, otherwise the symbol of the points.
  function key(mark) {
    const icon = mark.type === "line" ? "path://M0 4H16V7H0z" : mark.hollow ? "diamond" : "circle";
    return { name: mark.name, icon };
  }

  // --- Marks colored by value: heat maps, parallel coordinates ---

  // The scale of the colors, above the plot, with its name and a label at each end.
  function colorScale(mark, dimension) {
    return {
      type: "continuous", min: mark.ends[0], max: mark.ends[1], dimension, calculable: false, orient: "horizontal",
      left: 0, top: 24, itemHeight: 160, itemWidth: 12, text: [short(mark.ends[1]), short(mark.ends[0])],
      textStyle: { color: variable("--ink"), fontSize: 11 }, inRange: { color: mark.scale },
    };
  }
  function scaleTitle(mark) {
    return [{ type: "text", left: 0, top: 8, silent: true,
      style: { text: mark.name, fill: variable("--muted"), fontSize: 12, fontFamily: variable("--font") } }];
  }
  function cellsOption(chart, mark, narrow) {
    return {
      animation: false, aria: { enabled: false }, textStyle: { fontFamily: variable("--font") },
      grid: { left: 10, right: narrow ? 12 : 24, top: 78, bottom: 34, containLabel: true },
      xAxis: axis(chart.x, false, narrow, false), yAxis: { ...axis(chart.y, true, narrow, false), name: chart.y.title },
      visualMap: colorScale(mark, 2), graphic: scaleTitle(mark), tooltip: tooltip(chart),
      dataZoom: [{ type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false }],
      series: [{ type: "heatmap", name: mark.name, emphasis: { itemStyle: { borderColor: variable("--ink"), borderWidth: 2 } },
        data: mark.values.map((value, index) => [mark.x[index], mark.y[index], value ?? "-"]) }],
    };
  }
  function parallelOption(chart, mark) {
    const ink = variable("--ink");
    const parallelAxis = mark.axes.map((of, dim) => ({
      dim, name: of.title, type: of.categories.length ? "category" : "value", scale: true,
      ...(of.categories.length ? { data: of.categories } : {}),
      nameTextStyle: { color: ink, fontSize: 11 }, axisLine: { lineStyle: { color: ink } },
      axisLabel: { color: ink, fontSize: 11, showMinLabel: true, showMaxLabel: true,
        ...(of.categories.length ? {} : { formatter: short }) },
    }));
    return {
      animation: false, aria: { enabled: false }, textStyle: { fontFamily: variable("--font") },
      parallel: { left: 70, right: 70, top: 92, bottom: 24 }, parallelAxis,
      visualMap: colorScale(mark, mark.axes.length - 1), graphic: scaleTitle(mark), tooltip: tooltip(chart),
      series: [{ type: "parallel", name: mark.name, data: mark.rows, smooth: false, lineStyle: { width: 1.2, opacity: 0.75 },
        tooltip: { show: true }, emphasis: { lineStyle: { width: 3, opacity: 1 } } }],
    };
  }

  function option(chart, width, unselected) {
    const narrow = width < 520;
    const colored = chart.marks.find((mark) => mark.scale);
    if (colored) return colored.type === "cells" ? cellsOption(chart, colored, narrow) : parallelOption(chart, colored);
    const named = chart.marks.filter((mark) =>
      mark.type === "line" || mark.type === "points");
    const legend = named.length > 0;
    const y = axis(chart.y, true, narrow, false);
    return {
      animation: false, aria: { enabled: false }, textStyle: { fontFamily: variable("--font") },
      legend: legend ? {
        type: "scroll", top: 0, left: 0, right: 0, itemWidth: 16, itemHeight: 10, data: named.map(key), textStyle: { color: variable("--ink"), fontSize: 12 },
        pageTextStyle: { color: variable("--muted") }, inactiveColor: variable("--line"),
        selected: Object.fromEntries([...unselected].map((name) => [name, false])),
      } : undefined,
      grid: { left: 10, right: narrow ? 12 : 24, top: legend ? 58 : 34, bottom: 34, containLabel: true },
      xAxis: axis(chart.x, false, narrow, !chart.y.categories.length && roundEnds(chart)), yAxis: y,
      tooltip: tooltip(chart),
      graphic: chart.y.title ? [{
        type: "text", left: 0, top: legend ? 34 : 8, silent: true,
        style: { text: chart.y.title, fill: variable("--muted"), fontSize: 12, fontFamily: variable("--font") },
      }] : [],
      dataZoom: [
        { type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false,
          moveOnMouseMove: true, preventDefaultMouseMove: false },
      ],
      series: series(chart),
    };
  }

  // --- Drawing, when a chart comes into view ---

  const read = (figure) => JSON.parse(figure.querySelector("script").textContent);

  function height(chart, width, figure) {
    if (groupOf(figure)) return 216;
    const rows = chart.y.categories.length;
    if (chart.marks.some((mark) => mark.scale)) return Math.max(380, rows * 26 + 150);
    // On a phone, a name may need two lines.
    return rows ? rows * (width < 520 ? 40 : 30) + 110 : width < 520 ? 280 : 340;
  }

  function draw(figure) {
    const place = figure.querySelector(".plot");
    if (!place.clientWidth) return; // the chart is in a folded part
    let one = drawn.get(figure);
    if (!one) {
      const chart = read(figure);
      place.style.height = `${height(chart, place.clientWidth, figure)}px`;
      one = { chart, instance: echarts.init(place, null, { renderer: "svg" }) };
      drawn.set(figure, one);
      if (groupOf(figure)) link(figure, one.instance);
    }
    one.instance.setOption(option(one.chart, place.clientWidth, hiddenIn(figure)), true);
    // For tests: the number of marks requested and drawn.
    figure.dataset.drawn = String(one.chart.marks.length);
  }
  const redraw = () => drawn.forEach((_, figure) => draw(figure));

  const figures = [...document.querySelectorAll("figure.chart")];
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        watcher.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "300px" });
  figures.forEach((figure) => watcher.observe(figure));

  let pending = 0;
  addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(() => drawn.forEach((one, figure) => {
      const place = figure.querySelector(".plot");
      if (!place.clientWidth) return;
      place.style.height = `${height(one.chart, place.clientWidth, figure)}px`;
      one.instance.resize();
      draw(figure);
    }), 80);
  });
  dark.addEventListener("change", redraw);
  document.addEventListener("perhop:theme", redraw);
  // In print, two charts are next to each other. They are drawn at one size, which the style scales.
  function drawForPrint(figure) {
    const place = figure.querySelector(".plot");
    if (!place.clientWidth) return; // not printed
    const rows = read(figure).y.categories.length;
    const size = { width: 460, height: rows ? rows * 15 + 100 : groupOf(figure) ? 190 : 230 };
    place.style.width = `${size.width}px`;
    draw(figure);
    const { instance } = drawn.get(figure);
    instance.resize(size);
    instance.getZr().flush();
    place.style.width = "";
  }
  addEventListener("beforeprint", () => {
    printing = true;
    figures.filter((figure) => !figure.closest(".unprinted:not([open])")).forEach(drawForPrint);
  });
  addEventListener("afterprint", () => {
    printing = false;
    drawn.forEach(({ instance }) => instance.resize({ width: "auto", height: "auto" }));
    redraw();
  });

  // --- Keyboard and buttons ---

  const zoomOf = (instance) => instance.getOption().dataZoom?.[0];
  function zoom(figure, factor, shift = 0) {
    const { instance } = drawn.get(figure);
    // Parallel coordinates have no axis along which to zoom.
    if (!zoomOf(instance)) return;
    const { start, end } = zoomOf(instance);
    const half = Math.min(50, ((end - start) / 2) * factor);
    const middle = Math.min(100 - half, Math.max(half, (start + end) / 2 + shift * (end - start)));
    instance.dispatchAction({ type: "dataZoom", start: middle - half, end: middle + half });
  }
  function reset(figure) {
    drawn.get(figure).instance.dispatchAction({ type: "dataZoom", start: 0, end: 100 });
  }

  // Moves along the points of the first line (or of a comparison), and shows the tooltip of the current point.
  function step(figure, by) {
    const one = drawn.get(figure);
    const all = one.instance.getOption().series;
    const index = all.findIndex((each) => each.type !== "custom" && each.data.length);
    if (index < 0) return;
    const count = all[index].data.length;
    const stride = Math.max(1, Math.round(count / 100));
    one.at = Math.min(count - 1, Math.max(0, (one.at ?? (by > 0 ? -stride : count)) + by * stride));
    // A line across parallel axes has no single place: it is highlighted instead of getting a tooltip.
    one.instance.dispatchAction({ type: "downplay", seriesIndex: index });
    const type = all[index].type === "parallel" ? "highlight" : "showTip";
    one.instance.dispatchAction({ type, seriesIndex: index, dataIndex: one.at });
    const mark = all[index];
    const notes = one.chart.marks.find((each) => each.notes && each.name === mark.name)?.notes;
    if (notes) {
      figure.querySelector(".says").textContent = (notes[one.at] ?? notes[0]).replaceAll("\n", ", ");
      return;
    }
    const [x, y] = mark.data[one.at];
    const said = one.chart.y.categories.length
      ? `${one.chart.y.categories[y]}: ${short(x)} ${one.chart.x.unit}`
      : `${valueAt(one.chart.x, x)} ${one.chart.x.unit}: ${mark.name} ${short(y)} ${one.chart.y.unit}`;
    figure.querySelector(".says").textContent = said;
  }

  const keys = {
    ArrowRight: (figure) => step(figure, 1), ArrowLeft: (figure) => step(figure, -1),
    "+": (figure) => zoom(figure, 0.5), "=": (figure) => zoom(figure, 0.5), "-": (figure) => zoom(figure, 2),
    PageDown: (figure) => zoom(figure, 1, 0.5), PageUp: (figure) => zoom(figure, 1, -0.5),
    0: reset, Escape: reset,
  };
  const actions = {
    in: (figure) => zoom(figure, 0.5), out: (figure) => zoom(figure, 2), all: reset,
    data: (figure, button) => window.perhopCopy(rows(drawn.get(figure).chart), button),
    svg: (figure) => save(figure),
  };

  // The chart's points as tab-separated text.
  function rows(chart) {
    const lines = [["mark", chart.x.title, chart.y.title || "case", "low", "high"].join("\t")];
    for (const mark of chart.marks) {
      if (mark.type === "rule") lines.push([mark.name, "", mark.at, "", ""].join("\t"));
      else if (mark.type === "span") lines.push([mark.name, `${mark.begin} to ${mark.end}`, "", "", ""].join("\t"));
      else if (mark.scale) mark.notes.forEach((note) => lines.push([mark.name, ...note.split("\n")].join("\t")));
      else mark.x.forEach((x, index) => {
        const y = chart.y.categories[mark.y[index]] ?? mark.y[index];
        lines.push([mark.name, chart.x.categories[x] ?? x, y, mark.low?.[index] ?? "", mark.high?.[index] ?? ""].join("\t"));
      });
    }
    return lines.join("\n");
  }
  function save(figure) {
    const { instance, chart } = drawn.get(figure);
    const link = document.createElement("a");
    link.href = instance.getDataURL({ type: "svg" });
    link.download = `${chart.kind}.svg`;
    link.click();
  }

  for (const figure of figures) {
    figure.querySelector(".plot").addEventListener("keydown", (event) => {
      const action = keys[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      if (!drawn.has(figure)) draw(figure);
      action(figure);
    });
    figure.querySelectorAll("button[data-do]").forEach((button) =>
      button.addEventListener("click", () => {
        if (!drawn.has(figure)) draw(figure);
        actions[button.dataset.do](figure, button);
      }));
  }
})();
