"""Plots of results: one function for each kind, drawn as SVG, PNG, PDF or HTML.

import perhop, perhop.plot

results = perhop.run("edge.perhop.yaml")
perhop.plot.queue(results).save("queue.svg")
perhop.plot.throughput(results, stacked=True).save("throughput.html")
"""

from __future__ import annotations

from perhop.plot.chart import Chart
from perhop.plot.comparisons import compared, published, share
from perhop.plot.curves import curves
from perhop.plot.description import Axis, Cells, Line, Parallel, Points, Rule, Span
from perhop.plot.distributions import delay_cdf, delay_histogram, drop_curve, page_load_cdf
from perhop.plot.ellipses import ellipses
from perhop.plot.kinds import KINDS, charts, possible
from perhop.plot.over_time import congestion_window, delay, drops, ipdv, queue, throughput
from perhop.plot.sweeps import against, heat_map, parallel
from perhop.plot.traces import traces
from perhop.plot.tradeoffs import before_after, pareto

__all__ = [
    "KINDS",
    "Axis",
    "Cells",
    "Chart",
    "Line",
    "Parallel",
    "Points",
    "Rule",
    "Span",
    "against",
    "before_after",
    "charts",
    "compared",
    "congestion_window",
    "curves",
    "delay",
    "delay_cdf",
    "delay_histogram",
    "drop_curve",
    "drops",
    "ellipses",
    "heat_map",
    "ipdv",
    "page_load_cdf",
    "parallel",
    "pareto",
    "possible",
    "published",
    "queue",
    "share",
    "throughput",
    "traces",
]
