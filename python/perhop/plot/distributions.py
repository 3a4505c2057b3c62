"""Plots of distributions and of configured curves: delay, drop probability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from perhop.core_types import DropCurves
from perhop.errors import InvalidInputError
from perhop.palette import STROKES, of_classes, of_precedences
from perhop.plot.captions import caption
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Mark, Span, thinned
from perhop.plot.over_time import size_unit
from perhop.quantity import number, scale
from perhop.results import Results

_Distribution = tuple[str, str, npt.NDArray[np.float64], npt.NDArray[np.float64]]

# Number of bars of a histogram, from the least delay to the quantile `_FEW`.
_BARS = 60
_FEW = 0.999


def delay_cdf(results: Results, *, log_x: bool = False) -> Chart:
    """Plot the cumulative distribution of each class's delay over all replications.

    `log_x` selects a logarithmic axis, which shows delays of a priority class together with delays of a full
    queue.

    Raises:
        InvalidInputError: no packet arrived.

    """
    divisor, unit, distributions = _delays(results)
    return Chart(
        kind="delay-cdf",
        title="One-way delay (CDF)",
        x=Axis("One-way delay", unit, log=log_x),
        y=Axis("Packets", "%", least=0.0, greatest=100.0),
        marks=_cumulative(distributions, divisor),
        caption=caption(results),
    )


def page_load_cdf(results: Results) -> Chart:
    """Plot the cumulative distribution of the times that web pages took to load, of each class.

    Raises:
        InvalidInputError: no page was loaded.

    """
    classes = {group["class"] for group in results.summary.get("pages") or []}
    if not any(group["pages"]["mean"] for group in results.summary.get("pages") or []):
        raise InvalidInputError(
            "no page was loaded, so there is no load time to plot", "add traffic with `page-load`"
        )
    divisor, unit, distributions = _delays(results, "completion", classes)
    return Chart(
        kind="page-load-cdf",
        title="Page load time (CDF)",
        x=Axis("Page load time", unit, least=0.0),
        y=Axis("Pages", "%", least=0.0, greatest=100.0),
        marks=_cumulative(distributions, divisor),
        caption=caption(results),
    )


def _cumulative(distributions: list[_Distribution], divisor: float) -> tuple[Mark, ...]:
    """Return the cumulative distribution of each class as a line."""
    marks: list[Mark] = []
    for name, role, up_to, packets in distributions:
        share = 100.0 * packets.cumsum() / packets.sum()
        # The curve starts at 0 %; otherwise equal delays would draw no line.
        times, share = np.insert(up_to, 0, up_to[0]) / divisor, np.insert(share, 0, 0.0)
        line = Line(name, role, times, share, stroke=STROKES.get(role, "solid"), steps=True)
        marks.append(thinned(line))
    return tuple(marks)


def delay_histogram(results: Results) -> Chart:
    """Plot a histogram of each class's delay over all replications.

    Raises:
        InvalidInputError: no packet arrived.

    """
    divisor, unit, distributions = _delays(results)
    if not distributions:
        return Chart(
            "delay-histogram", "One-way delay", Axis("One-way delay", unit), Axis("Packets", "%"), (), ""
        )
    least = min(up_to[0] for _, _, up_to, _ in distributions)
    greatest = max(
        up_to[np.searchsorted(packets.cumsum(), _FEW * packets.sum()).clip(max=len(up_to) - 1)]
        for _, _, up_to, packets in distributions
    )
    edges = np.linspace(least * 0.999, max(greatest, least * 1.001), _BARS + 1)
    beyond, marks = 0.0, list[Mark]()
    for name, role, up_to, packets in distributions:
        counts, _ = np.histogram(up_to, bins=edges, weights=packets)
        beyond = max(beyond, 100.0 - 100.0 * counts.sum() / packets.sum())
        share = np.append(100.0 * counts / packets.sum(), 0.0)
        marks.append(
            Line(
                name, role, edges / divisor, share, stroke=STROKES.get(role, "solid"), steps=True, filled=True
            )
        )
    note = f"up to {number(beyond, 2)} % of a class beyond the axis" if beyond > 0.005 else "all packets"
    return Chart(
        kind="delay-histogram",
        title="One-way delay (histogram)",
        x=Axis("One-way delay", unit),
        y=Axis("Packets", "%", least=0.0),
        marks=tuple(marks),
        caption=caption(results, note),
    )


def drop_curve(results: Results, port: str | None = None, queue: str | None = None) -> Chart:
    """Plot the configured drop probability of each drop precedence against the average queue.

    The range of the sampled averages is shaded, if `measure.queues` sampled the queue. `port` (`from->to`)
    and `queue` select a queue with early drops; by default the first.

    Raises:
        InvalidInputError: no such queue with early drops.

    """
    curves = _curves(results, port, queue)
    samples = _samples(results, curves["port"], curves["queue"])
    highest = max(corner[0] for curve in curves["precedences"] for corner in curve["shared"])
    if curves["unit"] == "packets":
        divisor, unit = size_unit("packets", samples)
    else:
        divisor, unit = (1024.0, "KiB") if highest >= 4096 else (1.0, "bytes")
    visited = _visited(samples)
    end = 1.15 * max(highest, visited[1] if visited else 0.0)
    marks: list[Mark] = []
    if visited:
        marks.append(Span("sampled range", visited[0] / divisor, visited[1] / divisor))
    several = len(curves["precedences"]) > 1
    roles = of_precedences(len(curves["precedences"]))
    for precedence, (curve, (role, stroke)) in enumerate(zip(curves["precedences"], roles, strict=True)):
        for which, corners in (("", curve["shared"]), (", own packets", curve["own"])):
            if corners:
                name = f"precedence {precedence}{which}" if several else "drop probability"
                line = _curve(name, role, corners, end, divisor)
                marks.append(replace(line, stroke="dotted" if which else stroke))
    note = (
        f"averages ranged from {number(visited[0] / divisor, 3)} to {number(visited[1] / divisor, 3)} {unit}"
        if visited
        else "no range of averages: the queue was not sampled (measure.queues)"
    )
    return Chart(
        kind="drop-curve",
        title=f"Drop probability, queue {curves['queue']} at {curves['port'].replace('->', ' → ')}",
        x=Axis("Average queue", unit, least=0.0),
        y=Axis("Drop probability", "", least=0.0, greatest=1.0),
        marks=tuple(marks),
        caption=caption(results, note),
    )


def _curves(results: Results, port: str | None, queue: str | None) -> DropCurves:
    """Return the drop curves of the first selected queue that drops early."""
    all_curves = results.all_drop_curves()
    for curve in all_curves:
        if (port or curve["port"], queue or curve["queue"]) == (curve["port"], curve["queue"]):
            return curve
    there = ", ".join(f"{curve['port']} {curve['queue']}" for curve in all_curves) or "none"
    raise InvalidInputError("no such queue with early drops", f"queues with early drops: {there}")


def _curve(name: str, role: str, corners: list[list[float]], end: float, divisor: float) -> Line:
    points = [*corners, [max(end, corners[-1][0]), 1.0]]
    return Line(
        name,
        role,
        [average / divisor for average, _ in points],
        [probability for _, probability in points],
    )


def _samples(results: Results, port: str, queue: str) -> pl.DataFrame:

    return results.queues.filter(pl.col("port") == port, pl.col("queue") == queue)


def _visited(samples: pl.DataFrame) -> tuple[float, float] | None:
    if "deciding_average" not in samples.columns:
        return None
    averages = samples["deciding_average"].drop_nans()
    if averages.is_empty():
        return None
    return float(averages.min()), float(averages.max())  # type: ignore[arg-type]


def _delays(
    results: Results, quantity: str = "delay", classes: set[str] | None = None
) -> tuple[float, str, list[_Distribution]]:
    """Return the divisor, the unit, and for each class its name, role, bounds of delay and packets per bound.

    `classes` are the classes to show, by default all.
    """
    table = results.histogram.filter(pl.col("quantity") == quantity)
    if classes is not None:
        table = table.filter(pl.col("class").cast(pl.String).is_in(classes))
    if not table.height:
        raise InvalidInputError("no packet arrived, so there is no delay to plot")
    found = []
    for name, role in of_classes(results.classes["class"]).items():
        rows = (
            table.filter(pl.col("class") == name)
            .group_by("up_to_s")
            .agg(pl.col("packets").sum())
            .sort("up_to_s")
        )
        if rows.height:
            found.append(
                (str(name), role, rows["up_to_s"].to_numpy(), rows["packets"].to_numpy().astype(float))
            )
    divisor, unit = scale("s", max(up_to[-1] for _, _, up_to, _ in found))
    return divisor, unit, found
