"""Plots of a study that was saved: published beside measured, and curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.loading import read_json
from perhop.plot.chart import Chart
from perhop.plot.comparisons import published_chart
from perhop.plot.curves import curve_chart

#: The kinds of plots that a study can be shown as, by the name that `perhop plot` takes.
STUDY_KINDS = ("published", "curve")
# A published figure and a measured one are a comparison; with one point a plot says no more than its row.
_FEWEST_POINTS = 2


def study_charts(folder: Path, kind: str) -> list[Chart]:
    """Return the plots of a kind of a saved study: one for each table and metric."""
    data = read_study(folder)
    said = (
        f"{data['study']}: seed {data['seed']}; {len(data['assumptions'])} assumptions, listed in study.json."
    )
    charts = [one for table in data["tables"] for one in table_charts(data, table, said)]
    found = [one for one in charts if one.kind == kind]
    if not found:
        raise InvalidInputError(f"{data['study']} has nothing to plot as {kind}", "see `perhop study show`")
    return found


def read_study(folder: Path) -> dict[str, Any]:
    """Return what a saved study holds."""
    missing = InvalidInputError(
        f"{folder} holds no study: there is no study.json",
        "give a folder that `perhop study run -o` wrote",
    )
    found: dict[str, Any] = read_json(folder / "study.json", missing=missing)
    return found


def table_charts(data: Mapping[str, Any], table: Mapping[str, Any], said: str) -> list[Chart]:
    """Return the plots of one of a study's tables, given as they stand in `study.json`."""
    found = []
    rows = [
        one for one in data["figures"] if one["table"] == table["id"] and one["verdict"] != "not-comparable"
    ]
    for metric in dict.fromkeys(one["metric"] for one in rows):
        points = [one for one in data["figures"] if (one["table"], one["metric"]) == (table["id"], metric)]
        if len(points) >= _FEWEST_POINTS:
            found.append(published_chart(points, table["heading"], said))
    along = [one for one in data["curves"] if one["table"] == table["id"]]
    for metric in dict.fromkeys(one["metric"] for one in along):
        of_it = [one for one in along if one["metric"] == metric]
        found.append(curve_chart(of_it, table["heading"], said))
    return found
