"""Plots of the figures that a study measured at the points of a sweep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.palette import of_lines
from perhop.plot.captions import heading_of, study_note
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Mark
from perhop.quantity import metric_words, unit_words

if TYPE_CHECKING:
    from perhop.study.report import Report


def curves(report: Report, table: str, metric: str) -> Chart:
    """Plot the measured figures of a table's sweep against the column with most values.

    Raises:
        InvalidInputError: the study has no such curve.

    """
    rows = [point.to_json() for point in report.curves if (point.table, point.metric) == (table, metric)]
    if not rows:
        raise InvalidInputError(f"`{report.study.id}` has no curve of `{metric}` in table {table}")
    return curve_chart(rows, heading_of(report, table), study_note(report))


def curve_chart(rows: Sequence[Mapping[str, Any]], heading: str, note: str) -> Chart:
    """Plot the points of a curve, given as in `study.json`."""
    swept = _swept(rows)
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        others = {name: value for name, value in row["case"].items() if name != swept}
        # A number needs the name of its column.
        words = [
            value if _number(value) is None else f"{_words(name)} {value}" for name, value in others.items()
        ]
        lines.setdefault(", ".join(words) or "measured", []).append(row)
    names = list(dict.fromkeys(str(row["case"][swept]) for row in rows))
    numeric = all(_number(name) is not None for name in names)
    unit = str(rows[0]["unit"])
    metric = metric_words(str(rows[0]["metric"]), unit)
    times = rows[0]["replications"]
    banded = f"mean of {times} replications, band: 95 % confidence" if times > 1 else "1 replication"
    return Chart(
        kind="curve",
        title=f"{heading}: {metric}",
        x=Axis(_words(swept)) if numeric else Axis(_words(swept), categories=tuple(names)),
        y=Axis(metric.capitalize(), unit_words(unit)),
        marks=tuple(_lines(lines, swept, names if not numeric else None)),
        caption=f"{banded}; {note}",
    )


def _lines(
    lines: Mapping[str, list[Mapping[str, Any]]], swept: str, names: list[str] | None
) -> Sequence[Mark]:
    found = []
    for (name, rows), (role, stroke) in zip(lines.items(), of_lines(len(lines)), strict=True):
        points = []
        for row in rows:
            at = str(row["case"][swept])
            mean = math.nan if row["measured"] is None else float(row["measured"])
            points.append(
                (float(at) if names is None else names.index(at), mean, *(row["ci95"] or (mean, mean)))
            )
        x, means, low, high = (list(column) for column in zip(*sorted(points), strict=True))
        line = Line(name, role, x, means, stroke=stroke, marked=True)
        found.append(replace(line, low=low, high=high) if any(row["ci95"] for row in rows) else line)
    return found


def _swept(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the column of the x axis: of the numeric columns, the one with most values."""
    values = {name: dict.fromkeys(str(row["case"][name]) for row in rows) for name in rows[0]["case"]}
    numeric = [name for name, found in values.items() if all(_number(value) is not None for value in found)]
    return str(max(numeric or values, key=lambda name: len(values[name])))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
