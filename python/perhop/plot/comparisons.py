"""Plots that compare: shares against a swept parameter, published with measured figures, two results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.palette import STROKES, of_classes
from perhop.paths import short_names
from perhop.plot.captions import caption, heading_of
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Mark, Points
from perhop.quantity import case_words, metric_words, quantity, scale, shortened, unit_words
from perhop.results import Results

if TYPE_CHECKING:
    from perhop.compare import Comparison, Row
    from perhop.study.report import Report

# Columns of `classes` with a share per class, and their names in titles.
_PARTS = {
    "throughput_bps": "throughput",
    "delivered_packets": "packets delivered",
    "dropped_packets": "drops",
}
# The figures of two results that are drawn.
_COMPARED = ("throughput_bps", "goodput_bps", "dropped_percent", "delay_p99_s")


def share(runs: Sequence[Results], parameter: str, *, of: str = "throughput_bps") -> Chart:
    """Plot the share of each class in the throughput against a parameter that differs between runs.

    `parameter` is the path of a value in the scenarios, as for `perhop run --set`. Bands are 95 % confidence
    intervals over the replications of each run.

    Raises:
        InvalidInputError: the runs do not differ in the parameter, or a scenario does not have it.

    """
    return share_of([(_value(run, parameter), run) for run in runs], parameter, of=of)


def share_of(
    runs: Sequence[tuple[str, Results]], parameter: str, *, of: str = "throughput_bps", where: str = ""
) -> Chart:
    """Plot shares against a parameter, given its value in each run; `where` extends the title."""
    texts = list(dict.fromkeys(text for text, _ in runs))
    if len(texts) < 2:
        raise InvalidInputError(
            f"`{parameter}` has the same value in all runs", "give runs that differ in it"
        )
    axis, places = _axis(parameter, texts)
    points = sorted(((places[text], run) for text, run in runs), key=lambda point: point[0])
    found = [(place, run.shares(of)) for place, run in points]
    marks: list[Mark] = []
    banded = all(run.replications > 1 for _, run in points)
    for name, role in of_classes(name for _, parts in found for name in parts).items():
        nothing = (0.0, 0.0, 0.0)
        rows = [(place, *parts.get(name, nothing)) for place, parts in found]
        x, mean, low, high = (list(column) for column in zip(*rows, strict=True))
        stroke = STROKES.get(role, "solid")
        # Names have no order, so no line connects them.
        if axis.categories:
            marks.append(Points(name, role, x, mean, low if banded else None, high if banded else None))
        else:
            line = Line(name, role, x, mean, stroke=stroke, marked=True)
            marks.append(replace(line, low=low, high=high) if banded else line)
    note = ("bars" if axis.categories else "bands") + ": 95 % confidence"
    what = _PARTS.get(of, of)
    return Chart(
        kind="share",
        title=f"Share of {what} against {axis.label}" + (f", {where}" if where else ""),
        x=axis,
        y=Axis(f"Share of {what}", "%", least=0.0, greatest=100.0),
        marks=tuple(marks),
        caption=caption(
            points[-1][1],
            note if banded else "one replication: no confidence band",
            *([f"{axis.label}: {parameter}"] if axis.label != parameter else []),
        ),
    )


def published(report: Report, table: str, metric: str) -> Chart:
    """Plot published and measured figures of one table; raises `InvalidInputError` if there are none."""
    rows = [figure for figure in report.figures if (figure.table, figure.metric) == (table, metric)]
    if not rows:
        raise InvalidInputError(f"`{report.study.id}` has no published `{metric}` in table {table}")
    return published_chart(
        [figure.to_json() for figure in rows],
        heading_of(report, table),
        f"seed {report.seed}; {len(report.study.assumptions)} assumptions: "
        + ", ".join(f"{assumption.name} = {assumption.value}" for assumption in report.study.assumptions)
        + ".",
    )


def published_chart(rows: Sequence[Mapping[str, Any]], heading: str, note: str) -> Chart:
    """Plot published and measured figures, given as in `study.json`."""
    # The last row is drawn at the top.
    rows = list(reversed(rows))
    unit = str(rows[0]["unit"])
    metric = metric_words(str(rows[0]["metric"]), unit)
    names = tuple(case_words(row["case"]) or str(row["table"]) for row in rows)
    measured = [math.nan if row["measured"] is None else float(row["measured"]) for row in rows]
    ends = [row["ci95"] or (value, value) for row, value in zip(rows, measured, strict=True)]
    places = list(range(len(rows)))
    replications = rows[0]["replications"]
    times = (
        f"mean of {replications} replications with 95 % confidence" if replications > 1 else "1 replication"
    )
    return Chart(
        kind="published",
        title=f"{heading}: {metric}",
        x=Axis(metric.capitalize(), unit_words(unit), least=0.0),
        y=Axis(", ".join(column.replace("_", " ") for column in rows[0]["case"]), categories=names),
        marks=(
            Points("published", "published", [float(row["published"]) for row in rows], places, hollow=True),
            Points(
                "measured", "measured", measured, places, [low for low, _ in ends], [high for _, high in ends]
            ),
        ),
        caption=f"published: outlined; measured: filled, {times}; {note}",
    )


def compared(comparison: Comparison, names: tuple[str, str]) -> list[Chart]:
    """Plot throughput, goodput, drops and delay of each class in two results, with their names.

    There is a chart for each figure that either result has; bars are 95 % confidence intervals over
    replications.
    """
    by_figure = [[row for row in comparison.rows if row.quantity.key == key] for key in _COMPARED]
    return [_compared(comparison, rows, names) for rows in by_figure if rows]


def _compared(comparison: Comparison, rows: Sequence[Row], names: tuple[str, str]) -> Chart:
    # The last row is drawn at the top.
    rows = list(reversed(rows))
    quantity = rows[0].quantity
    both = [sample.mean for row in rows for sample in (row.first, row.second)]
    divisor, unit = scale(quantity.unit, max(mean for mean in both if not math.isnan(mean)))
    marks = []
    for name, role, hollow, samples in (
        (names[0], "queue", True, [row.first for row in rows]),
        (names[1], "class0", False, [row.second for row in rows]),
    ):
        ends = [sample.ci95 or (sample.mean, sample.mean) for sample in samples]
        low, high = ([end[side] / divisor for end in ends] for side in (0, 1))
        means = [sample.mean / divisor for sample in samples]
        marks.append(Points(name, role, means, range(len(rows)), low, high, hollow=hollow))
    words = quantity.words[0].upper() + quantity.words[1:]
    several = min(comparison.first.replications, comparison.second.replications) > 1
    bars = "bars: 95 % confidence" if several else "one replication: no confidence bars"
    note = f"{names[0]}: outlined; {names[1]}: filled; {bars}"
    return Chart(
        kind="compared",
        title=f"{words}: {names[0]} and {names[1]}",
        x=Axis(words, unit, least=0.0),
        y=Axis("", categories=tuple(row.class_name for row in rows)),
        marks=tuple(marks),
        caption=caption(comparison.second, note),
    )


def _axis(parameter: str, texts: Sequence[str]) -> tuple[Axis, dict[str, float]]:
    """Return the axis of a parameter and the positions of its values; names keep the order of `texts`."""
    (name,) = short_names([parameter]).values()
    quantities = [quantity(text) for text in texts]
    units = {unit for _, unit in filter(None, quantities)}
    if None in quantities or len(units) != 1:
        return Axis(name, categories=tuple(shortened(texts))), {
            text: float(at) for at, text in enumerate(texts)
        }
    numbers = [value for value, _ in filter(None, quantities)]
    divisor, unit = scale(units.pop(), max(numbers))
    return Axis(name, unit), {text: value / divisor for text, value in zip(texts, numbers, strict=True)}


def _value(run: Results, parameter: str) -> str:
    """Return the value of a parameter in the scenario of a run as text."""
    found: Any = run.scenario
    for step in parameter.split("."):
        try:
            found = _member(found, step)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"`{parameter}`: the scenario `{run.summary['scenario']}` has no `{step}`",
                "give a path as for `perhop run --set`, for example links.0.rate",
            ) from error
    return found if isinstance(found, str) else json.dumps(found)


def _member(found: Any, step: str) -> Any:  # noqa: ANN401 - any value of a scenario
    if isinstance(found, list) and not step.isdigit():
        return (
            next(member for member in found if member.get("name") == step)
            if any(member.get("name") == step for member in found)
            else found[int(step)]
        )
    return found[int(step)] if isinstance(found, list) else found[step]
