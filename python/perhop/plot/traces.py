"""Plots of a published curve over one run, together with the measured curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.plot.captions import heading_of, study_note
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line
from perhop.quantity import case_words

if TYPE_CHECKING:
    from perhop.study.report import Report


def traces(report: Report, table: str, name: str) -> list[Chart]:
    """Plot the curves called `name`, one of the study's courses, for each case of a table.

    Raises:
        InvalidInputError: the study has no such traces.

    """
    rows = [trace.to_json() for trace in report.traces if (trace.table, trace.course.name) == (table, name)]
    if not rows:
        raise InvalidInputError(f"`{report.study.id}` has no traces of `{name}` in table {table}")
    heading, note = heading_of(report, table), study_note(report)
    return [trace_chart(row, heading, note) for row in rows]


def trace_chart(row: Mapping[str, Any], heading: str, note: str) -> Chart:
    """Plot the two curves of a case, given as in `study.json`."""
    (x_label, x_unit), (y_label, y_unit) = row["x"], row["y"]
    case = case_words(row["case"])
    return Chart(
        kind="trace",
        title=f"{heading}: {y_label}" + (f", {case}" if case else ""),
        x=Axis(x_label.capitalize(), x_unit),
        y=Axis(y_label.capitalize(), y_unit),
        marks=(
            Line("published", "published", row["places"], row["published"], stroke="dashed"),
            Line("measured", "measured", row["places"], row["measured"]),
        ),
        caption=f"published: dashed; measured: solid, the first replication; {note}",
    )
