"""Plots of distributions and of configured curves: delay, drop probability."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.plot.captions import caption
from perhop.plot.chart import Axis, Chart, Line, Mark, Span, thinned
from perhop.plot.over_time import size_unit
from perhop.plot.palette import STROKES, of_classes, of_precedences
from perhop.quantity import number, scale
from perhop.results import Results

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    _Distribution = tuple[str, str, npt.NDArray[np.float64], npt.NDArray[np.float64]]

# Bars of a histogram, from the least delay to the one that few packets exceed.
_BARS = 60
_FEW = 0.999


def delay_cdf(results: Results) -> Chart:
    """Plot the share of each class's packets that took at most so long, over all replications."""
    import numpy as np

    marks: list[Mark] = []
    divisor, unit, distributions = _delays(results)
    for name, role, up_to, packets in distributions:
        share = 100.0 * packets.cumsum() / packets.sum()
        # From nothing on: where all packets take the same time there would be no line at all.
        times, share = np.insert(up_to, 0, up_to[0]) / divisor, np.insert(share, 0, 0.0)
        line = Line(name, role, times, share, stroke=STROKES.get(role, "solid"), steps=True)
        marks.append(thinned(line))
    return Chart(
        kind="delay-cdf",
        title="One-way delay: share of packets that took at most so long",
        x=Axis("One-way delay", unit),
        y=Axis("Packets", "%", least=0.0, greatest=100.0),
        marks=tuple(marks),
        caption=caption(results),
    )


def delay_histogram(results: Results) -> Chart:
    """Plot how the delays of each class are distributed, over all replications."""
    import numpy as np

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
    said = (
        f"at most {number(beyond, 2)} % of a class took longer than is shown"
        if beyond > 0.005
        else "all packets"
    )
    return Chart(
        kind="delay-histogram",
        title="One-way delay: how it is distributed",
        x=Axis("One-way delay", unit),
        y=Axis("Packets", "%", least=0.0),
        marks=tuple(marks),
        caption=caption(results, said),
    )


def drop_curve(results: Results, port: str | None = None, queue: str | None = None) -> Chart:
    """Plot the drop probability of each drop precedence over the average queue, as the policy configures it.

    The range that the averages visited is shaded, where `measure.queues` sampled the queue. `port`
    (`from->to`) and `queue` choose among the queues that drop early; by default the first.
    """
    curves = _curves(results, port, queue)
    samples = _samples(results, curves["port"], curves["queue"])
    highest = max(corner[0] for one in curves["precedences"] for corner in one["shared"])
    if curves["unit"] == "packets":
        divisor, unit = size_unit("packets", samples)
    else:
        divisor, unit = (1024.0, "KiB") if highest >= 4096 else (1.0, "bytes")
    visited = _visited(samples)
    end = 1.15 * max(highest, visited[1] if visited else 0.0)
    marks: list[Mark] = []
    if visited:
        marks.append(Span("visited", visited[0] / divisor, visited[1] / divisor))
    several = len(curves["precedences"]) > 1
    roles = of_precedences(len(curves["precedences"]))
    for precedence, (one, (role, stroke)) in enumerate(zip(curves["precedences"], roles, strict=True)):
        for which, corners in (("", one["shared"]), (", own packets", one["own"])):
            if corners:
                name = f"precedence {precedence}{which}" if several else "drop probability"
                line = _curve(name, role, corners, end, divisor)
                marks.append(replace(line, stroke="dotted" if which else stroke))
    said = (
        f"averages went from {number(visited[0] / divisor, 3)} to {number(visited[1] / divisor, 3)} {unit}"
        if visited
        else "the queue was not sampled (measure.queues): no visited range"
    )
    return Chart(
        kind="drop-curve",
        title=f"Drop probability, queue {curves['queue']} at {curves['port'].replace('->', ' → ')}",
        x=Axis("Average queue", unit, least=0.0, greatest=end / divisor),
        y=Axis("Drop probability", "", least=0.0, greatest=1.0),
        marks=tuple(marks),
        caption=caption(results, said),
    )


def _curves(results: Results, port: str | None, queue: str | None) -> dict[str, Any]:
    """Return the first of the queues asked for that drops early."""
    all_curves = results.all_drop_curves()
    for one in all_curves:
        if (port or one["port"], queue or one["queue"]) == (one["port"], one["queue"]):
            return one
    there = ", ".join(f"{one['port']} {one['queue']}" for one in all_curves) or "none"
    raise InvalidInputError("no such queue drops early", f"queues with thresholds: {there}")


def _curve(name: str, role: str, corners: list[list[float]], end: float, divisor: float) -> Line:
    points = [*corners, [max(end, corners[-1][0]), 1.0]]
    return Line(
        name,
        role,
        [average / divisor for average, _ in points],
        [probability for _, probability in points],
    )


def _samples(results: Results, port: str, queue: str) -> pl.DataFrame:
    import polars as pl

    return results.queues.filter(pl.col("port") == port, pl.col("queue") == queue)


def _visited(samples: pl.DataFrame) -> tuple[float, float] | None:
    if "deciding_average" not in samples.columns:
        return None
    averages = samples["deciding_average"].drop_nans()
    if averages.is_empty():
        return None
    return float(averages.min()), float(averages.max())  # type: ignore[arg-type]


def _delays(results: Results) -> tuple[float, str, list[_Distribution]]:
    """Return divisor, unit, and of each class name, color, delays and packets that took at most so long."""
    import polars as pl

    table = results.histogram.filter(pl.col("quantity") == "delay")
    if not table.height:
        raise InvalidInputError("no packet arrived: there is no delay to plot")
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
