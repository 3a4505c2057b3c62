"""Plots of a saved study: published with measured figures, and curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.plot.chart import Chart
from perhop.plot.comparisons import published_chart
from perhop.plot.curves import curve_chart
from perhop.plot.ellipses import ellipse_chart
from perhop.plot.traces import trace_chart
from perhop.saved import Saved
from perhop.study.stored import content

#: The kinds of plots of a study, by their names for `perhop plot`.
STUDY_KINDS = ("published", "curve", "ellipse", "trace")
# The minimum number of figures for a plot. One figure would show no more than the row of the table.
_FEWEST_POINTS = 2


def study_charts(folder: Path, kind: str) -> list[Chart]:
    """Return the plots of a kind for a saved study: one for each table and metric.

    Raises:
        InvalidInputError: the folder contains no study, or the study has nothing of this kind.
        UnreadableFileError: a file is damaged or cannot be read.

    """
    data = read_study(folder)
    note = (
        f"{data['study']}: seed {data['seed']}; {len(data['assumptions'])} assumptions, listed in study.json."
    )
    charts = [chart for table in data["tables"] for chart in table_charts(data, table, note)]
    found = [chart for chart in charts if chart.kind == kind]
    if not found:
        raise InvalidInputError(f"study `{data['study']}` has no plot `{kind}`", "see `perhop study show`")
    return found


def read_study(folder: Path) -> dict[str, Any]:
    """Return the content of a saved study's study.json; raises `InvalidInputError` without one."""
    return content(Saved.open(folder, "study"))


def table_charts(data: Mapping[str, Any], table: Mapping[str, Any], note: str) -> list[Chart]:
    """Return the plots of one table of a study, given as in `study.json`."""
    found = []
    rows = [
        figure
        for figure in data["figures"]
        if figure["table"] == table["id"] and figure["verdict"] != "not-comparable"
    ]
    for metric in dict.fromkeys(figure["metric"] for figure in rows):
        points = [
            figure
            for figure in data["figures"]
            if (figure["table"], figure["metric"]) == (table["id"], metric)
        ]
        if len(points) >= _FEWEST_POINTS:
            found.append(published_chart(points, table["heading"], note))
    along = [point for point in data["curves"] if point["table"] == table["id"]]
    for metric in dict.fromkeys(point["metric"] for point in along):
        of_it = [point for point in along if point["metric"] == metric]
        found.append(curve_chart(of_it, table["heading"], note))
    scattered = [ellipse for ellipse in data.get("ellipses", []) if ellipse["table"] == table["id"]]
    for name in dict.fromkeys(ellipse["name"] for ellipse in scattered):
        found.append(
            ellipse_chart(
                [ellipse for ellipse in scattered if ellipse["name"] == name], table["heading"], note
            )
        )
    traced = [trace for trace in data.get("traces", []) if trace["table"] == table["id"]]
    return found + [trace_chart(trace, table["heading"], note) for trace in traced]
