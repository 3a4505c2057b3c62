"""Plots over time: throughput, queues, delay and its variation, congestion windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from perhop import _core
from perhop.core_types import DropCurves
from perhop.directions import against_the_first, line_rates
from perhop.errors import InvalidInputError
from perhop.palette import STROKES, of_classes, of_precedences
from perhop.plot.captions import caption
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Mark, Rule, thinned
from perhop.plot.sampled import remedy
from perhop.plot.words import precedence_words
from perhop.ports import find_queue
from perhop.quantity import scale
from perhop.results import Results

_TIME = Axis("Time", "s")
_FEWEST_SAMPLES = 2
# The minimum distance of rules whose names have the same position, as a fraction of the axis; and the
# positions that close rules take in turn.
_LABEL = 0.07
_SIDES: tuple[Literal["right", "middle", "left"], ...] = ("right", "middle", "left")
# The replies of TCP, as results call their class.
_BACK = " (back)"


def throughput(results: Results, *, stacked: bool = False) -> Chart:
    """Plot the throughput of each class over time, stacked if `stacked`.

    Lines are means over the replications. Bands are 95 % confidence intervals, limited to possible values: at
    least 0, and at most the rate of the slowest link. Only the classes of one direction are stacked.

    Raises:
        InvalidInputError: the scenario has no `measure.throughput-every`.

    """
    table = _present(results, "throughput")
    divisor, unit = scale("b/s", float(table["throughput_bps"].max() or 0.0))  # type: ignore[arg-type]
    banded = results.replications > 1 and not stacked
    left_out = against_the_first(results.scenario) if stacked else set()
    limits = line_rates(results.scenario)
    marks: list[Mark] = []
    cut = False
    for name, role in of_classes(results.classes["class"]).items():
        moments = _over_replications(table.filter(pl.col("class") == name), "throughput_bps")
        # The bounds of a column without values have no type.
        moments = moments.cast({"low": pl.Float64, "high": pl.Float64})
        if moments["mean"].sum() == 0 or name in left_out:
            continue
        limit = limits.get(name.removesuffix(_BACK), math.inf)
        beyond = ((pl.col("low") < 0) | (pl.col("high") > limit)).any()
        cut = cut or (banded and bool(moments.select(beyond).item()))
        moments = moments.with_columns(
            pl.col("low").clip(lower_bound=0.0), pl.col("high").clip(upper_bound=limit)
        )
        edges = ("low", "high") if banded else None
        marks.append(_line(name, role, moments, divisor, edges=edges, filled=stacked))
    notes = [("mean with 95 % confidence band" if banded else "mean")] if results.replications > 1 else []
    notes += ["bands end at 0 and at the line rate"] if cut else []
    notes += [f"without the reverse direction: {', '.join(sorted(left_out))}"] if left_out else []
    return Chart(
        kind="throughput-stacked" if stacked else "throughput",
        title="Throughput of each class, stacked" if stacked else "Throughput of each class",
        x=_TIME,
        y=Axis("Throughput", unit, least=0.0),
        marks=tuple(marks),
        caption=caption(results, *notes),
        stacked=stacked,
    )


def drops(results: Results) -> Chart:
    """Plot the dropped packets of each class over time, means over the replications, per second.

    Raises:
        InvalidInputError: the scenario has no `measure.throughput-every`, or the run is live.

    """
    table = _present(results, "throughput")
    if "dropped_packets" not in table.columns or table["dropped_packets"].is_nan().all():
        raise InvalidInputError("the results have no drops over time: an earlier version wrote them")
    times = table["time_s"].unique().sort()
    every = float(times[0]) - float(results.summary["warmup_s"])
    marks: list[Mark] = []
    for name, role in of_classes(results.classes["class"]).items():
        rows = table.filter(pl.col("class") == name).group_by("time_s", maintain_order=True)
        moments = rows.agg((pl.col("dropped_packets").mean() / every).alias("mean")).sort("time_s")
        marks.append(_line(name, role, moments, 1.0))
    return Chart(
        kind="drops",
        title="Drops of each class",
        x=_TIME,
        y=Axis("Dropped", "packets/s", least=0.0),
        marks=tuple(marks),
        caption=caption(results, *(["mean"] if results.replications > 1 else [])),
    )


def queue(
    results: Results, port: str | None = None, queue: str | None = None, *, replication: int = 0
) -> Chart:
    """Plot a queue and its averages over time, with the thresholds.

    `port` (`from->to`) and `queue` select a queue of `measure.queues`; by default the first.

    Raises:
        InvalidInputError: the queue was not sampled.

    """
    table = _present(results, "queues")
    port, queue = _chosen(table, port, queue)
    rows = table.filter(
        pl.col("port") == port, pl.col("queue") == queue, pl.col("replication") == replication
    ).sort("time_s")
    found = find_queue(results.scenario, port, queue)
    curves = results.drop_curves(port, queue)
    counted = curves["unit"] if curves else ("bytes" if (found.limit or "").endswith("B") else "packets")
    divisor, unit = size_unit(counted, rows)
    averages = _averages(rows, divisor)
    longest = _longest(rows.filter(pl.col("precedence") == 0), counted, divisor)
    marks: list[Mark] = [replace(longest, thin=bool(averages)), *averages]
    marks += _thresholds(curves, divisor)
    return Chart(
        kind="queue",
        title=f"Queue {queue} at {port.replace('->', ' → ')}",
        x=_TIME,
        y=Axis("Waiting", unit, least=0.0),
        marks=tuple(marks),
        caption=caption(results, replication=replication),
    )


def delay(results: Results) -> Chart:
    """Plot the one-way delay of each class over time: the mean, and a band from minimum to maximum.

    Raises:
        InvalidInputError: the scenario has no `measure.delay-every`.

    """
    return _delay(results, "delay", "One-way delay", ("delay_mean_s", "delay_min_s", "delay_max_s"))


def ipdv(results: Results) -> Chart:
    """Plot the delay variation of each class over time: mean size, and a band from minimum to maximum.

    Raises:
        InvalidInputError: the scenario has no `measure.delay-every`.

    """
    return _delay(results, "ipdv", "Delay variation", ("ipdv_mean_abs_s", "ipdv_min_s", "ipdv_max_s"))


def congestion_window(results: Results, *, replication: int = 0) -> Chart:
    """Plot the congestion windows of TCP connections over time, one line per flow.

    For a flow with many short connections, the line connects the windows of all connections.

    Raises:
        InvalidInputError: the scenario has no `measure.connections`.

    """
    table = _present(results, "connections")
    table = table.filter(pl.col("replication") == replication)
    names = table.select("flow", "end").unique(maintain_order=True).rows()
    roles = of_classes(str(flow) for flow, _ in names)
    marks: list[Mark] = []
    for flow, end in names:
        rows = table.filter(pl.col("flow") == flow, pl.col("end") == end).sort("time_s")
        times, windows = rows["time_s"].to_numpy(), rows["cwnd_segments"].to_numpy()
        name = str(flow) if end == "client" else f"{flow}, {end}"
        role = roles[str(flow)]
        stroke = STROKES.get(role, "solid")
        marks.append(thinned(Line(name, role, times, windows, stroke=stroke, steps=True)))
    return Chart(
        kind="cwnd",
        title="Congestion windows",
        x=_TIME,
        y=Axis("Congestion window", "segments", least=0.0),
        marks=tuple(marks),
        caption=caption(results, replication=replication),
    )


def sampled_queues(results: Results) -> list[tuple[str, str]]:
    """Return port and name of every queue that was sampled."""
    if "queues" not in results.names:
        return []
    return list(results.queues.select("port", "queue").unique(maintain_order=True).iter_rows())


def size_unit(counted: str, rows: pl.DataFrame) -> tuple[float, str]:
    """Return the divisor for sizes of a queue, and the scaled unit."""
    if counted == "packets":
        return 1.0, "packets"
    largest = rows["bytes"].max() if rows.height else 0
    return (1024.0, "KiB") if largest is not None and float(largest) >= 4096 else (1.0, "bytes")  # type: ignore[arg-type]


def _longest(rows: pl.DataFrame, counted: str, divisor: float) -> Line:
    """Return the maximum length of the queue between samples.

    Samples of the current length can all be 0: with a packet every 20 ms, the voice queue is empty at every
    sample of 100 ms.
    """
    times, column = rows["time_s"].to_numpy(), f"most_{counted}"
    if column not in rows.columns or len(times) < _FEWEST_SAMPLES:
        # Runs saved by an older version lack the column.
        return thinned(Line("queue, at the samples", "queue", times, rows[counted].to_numpy() / divisor))
    every = f"{float(times[1] - times[0]) * 1e3:g}"
    # A sample covers the time since the previous sample.
    most = np.append(rows[column].to_numpy()[1:], rows[column][-1]) / divisor
    return thinned(Line(f"queue, most in each {every} ms", "queue", times, most, steps=True))


def _averages(rows: pl.DataFrame, divisor: float) -> list[Mark]:

    marks: list[Mark] = []
    precedences = rows["precedence"].unique().sort().to_list()
    for precedence, (role, stroke) in zip(precedences, _roles(precedences), strict=True):
        of_it = rows.filter(pl.col("precedence") == precedence)
        values = of_it["deciding_average"].to_numpy() / divisor
        if of_it["deciding_average"].is_nan().all():
            continue
        name = f"average, precedence {precedence}" if len(precedences) > 1 else "average"
        marks.append(thinned(Line(name, role, of_it["time_s"].to_numpy(), values, stroke=stroke)))
    return marks


def _roles(precedences: Sequence[int]) -> list[tuple[str, str]]:
    """Return role and line style for the averages of drop precedences."""
    every = of_precedences(max(precedences) + 1) if len(precedences) > 1 else [("measured", "solid")]
    return [every[precedence] for precedence in precedences] if len(precedences) > 1 else every


def _thresholds(curves: DropCurves | None, divisor: float) -> list[Mark]:
    """Return a rule for each threshold, named after the drop precedences that have it."""
    every = curves["precedences"] if curves else []
    roles = of_precedences(len(every))
    places: dict[tuple[float, str], list[int]] = {}
    for precedence, curve in enumerate(every):
        for name, corner in (("min", 1), ("max", 2)):
            places.setdefault((curve["shared"][corner][0] / divisor, name), []).append(precedence)
    marks: list[Mark] = []
    apart = _LABEL * max((at for at, _ in places), default=0.0)
    before, turn = -math.inf, 0
    for (at, name), those in sorted(places.items()):
        turn = (turn + 1) % len(_SIDES) if at - before < apart else 0
        before = at
        whose = f", {precedence_words(those)}" if len(every) > 1 else ""
        # The first precedence with this threshold determines the color.
        color = roles[those[0]][0]
        marks.append(Rule(f"{name}{whose}", color, at, stroke="dotted", side=_SIDES[turn]))
    return marks


def _delay(results: Results, kind: str, label: str, columns: tuple[str, str, str]) -> Chart:

    table = _present(results, "delays").filter(pl.col("packets") > 0)
    mean, least, greatest = columns
    largest = table.select(pl.col(least, greatest).fill_nan(None).abs().max()).max_horizontal()
    divisor, unit = scale("s", float(largest[0] or 0.0))
    marks: list[Mark] = []
    for name, role in of_classes(results.classes["class"]).items():
        rows = table.filter(pl.col("class") == name).group_by("time_s", maintain_order=True)
        moments = rows.agg(
            pl.col(mean).fill_nan(None).mean(),
            pl.col(least).fill_nan(None).min().alias("low"),
            pl.col(greatest).fill_nan(None).max().alias("high"),
        )
        if moments.height:
            moments = moments.rename({mean: "mean"}).sort("time_s")
            marks.append(_line(name, role, moments, divisor, edges=("low", "high")))
    note = f"line: mean{' size' if kind == 'ipdv' else ''}; band: minimum to maximum"
    return Chart(
        kind=kind,
        title=f"{label} of each class",
        x=_TIME,
        y=Axis(label, unit, least=0.0 if kind == "delay" else None),
        marks=tuple(marks),
        caption=caption(results, note),
    )


def _over_replications(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return mean and confidence interval of a column at each time."""
    found: dict[str, list[float]] = {"time_s": [], "mean": [], "low": [], "high": []}
    for time, samples in rows.group_by("time_s", maintain_order=True).agg(column).sort("time_s").iter_rows():
        interval = _core.confidence_95(samples)
        mean, low, high = interval or (samples[0], samples[0], samples[0])
        for name, value in zip(found, (time, mean, low, high), strict=True):
            found[name].append(value)

    return pl.DataFrame(found)


def _line(
    name: str,
    role: str,
    rows: pl.DataFrame,
    divisor: float,
    *,
    edges: tuple[str, str] | None = None,
    filled: bool = False,
) -> Line:
    low, high = (rows[edge].to_numpy() / divisor for edge in edges) if edges else (None, None)
    line = Line(
        str(name),
        role,
        rows["time_s"].to_numpy(),
        rows["mean"].to_numpy() / divisor,
        low,
        high,
        stroke=STROKES.get(role, "solid"),
        filled=filled,
    )
    # Stacked lines need points at equal times.
    return line if filled else thinned(line)


def _chosen(table: pl.DataFrame, port: str | None, queue: str | None) -> tuple[str, str]:
    known = list(table.select("port", "queue").unique(maintain_order=True).iter_rows())
    fitting = [
        known_queue
        for known_queue in known
        if (port or known_queue[0], queue or known_queue[1]) == known_queue
    ]
    if not fitting:
        there = ", ".join(f"{at} {name}" for at, name in known)
        raise InvalidInputError(
            f"no samples of queue `{queue or 'any'}` at port `{port or 'any'}`", f"sampled: {there}"
        )
    return fitting[0]


def _present(results: Results, name: str) -> pl.DataFrame:
    if name not in results.names or not results.table(name).height:
        raise InvalidInputError(
            f"no samples for this plot: table {name} is empty", remedy(results.scenario, name)
        )
    return results.table(name)
