"""Plots of two quantities that were measured together: an ellipse of one standard deviation for each case."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.palette import of_lines
from perhop.plot.captions import heading_of, study_note
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Points
from perhop.quantity import counted, number

if TYPE_CHECKING:
    from perhop.study.report import Report

# The number of points of a drawn ellipse.
_CORNERS = 72


def ellipses(report: Report, table: str, name: str) -> Chart:
    """Plot two quantities that were measured together (`name` of the study's scatters) for a table's cases.

    Raises:
        InvalidInputError: the study has no such ellipses.

    """
    rows = [
        ellipse.to_json()
        for ellipse in report.ellipses
        if (ellipse.table, ellipse.scatter.name) == (table, name)
    ]
    if not rows:
        raise InvalidInputError(f"`{report.study.id}` has no ellipses of `{name}` in table {table}")
    heading, note = heading_of(report, table), study_note(report)
    return ellipse_chart(rows, heading, note)


def ellipse_chart(rows: Sequence[Mapping[str, Any]], heading: str, note: str) -> Chart:
    """Plot the ellipses of a table, given as in `study.json`.

    The first quantity is on a logarithmic axis, its least values on the right: a scheme at the upper right
    has high goodput and a low delay.
    """
    (x_label, x_unit), (y_label, y_unit) = rows[0]["x"], rows[0]["y"]
    names = [_name(row["case"]) for row in rows]
    lines = []
    for name, row, (role, stroke) in zip(names, rows, of_lines(len(rows)), strict=True):
        x, y = corners(row)
        lines.append(Line(name, role, x, y, stroke=stroke, notes=(_note(name, row),)))
    centers = Points(
        "means",
        "queue",
        [row["center"][0] for row in rows],
        [row["center"][1] for row in rows],
        notes=tuple(_note(name, row) for name, row in zip(names, rows, strict=True)),
    )
    several = counted(max(row["samples"] for row in rows), "sample")
    return Chart(
        kind="ellipse",
        title=f"{heading}: {x_label} and {y_label}",
        x=Axis(x_label.capitalize(), x_unit, log=True, reversed=True),
        y=Axis(y_label.capitalize(), y_unit),
        marks=(*lines, centers),
        caption=f"one standard deviation, of the logarithm of the {x_label}; {several} each; {note}",
    )


def corners(row: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return points along an ellipse; the last point equals the first point."""
    (center_x, center_y), (sigma_x, sigma_y) = row["center"], row["deviation"]
    along, across = row["correlation"], math.sqrt(1.0 - row["correlation"] ** 2)
    angles = [2.0 * math.pi * place / _CORNERS for place in range(_CORNERS + 1)]
    x = [center_x * 10.0 ** (sigma_x * math.cos(angle)) for angle in angles]
    y = [center_y + sigma_y * (along * math.cos(angle) + across * math.sin(angle)) for angle in angles]
    return x, y


def _name(case: Mapping[str, str]) -> str:
    return ", ".join(
        f"{column.replace('_', ' ')} {value}" if value.replace(".", "", 1).isdigit() else value
        for column, value in case.items()
    )


def _note(name: str, row: Mapping[str, Any]) -> str:
    (x_label, x_unit), (y_label, y_unit) = row["x"], row["y"]
    return (
        f"{name}\n{x_label}: {number(row['center'][0])} {x_unit} (geometric mean)\n"
        f"{y_label}: {number(row['center'][1])} {y_unit} (mean)"
    )
