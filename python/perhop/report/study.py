"""A study in the report: what the paper asked, what it published, what was measured, what was assumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from perhop import draw
from perhop.configuration import Configuration, configurations
from perhop.draw import Picture
from perhop.errors import InvalidInputError
from perhop.page.tables import Cell, Column, Table, figure_cell
from perhop.plot.chart import Chart
from perhop.plot.studies import read_study, table_charts
from perhop.quantity import interval, metric_words
from perhop.report.run import Run
from perhop.results import Results

# What `make quote-reports` writes into a study's README; the report shows the figures themselves.
_QUOTED = ("<!-- report: begin", "<!-- report: end -->")
# The plots of a case that the report shows; distributions would be the same story once more.
_KINDS = ("queue", "drop-curve", "throughput", "delay", "cwnd")


@dataclass(frozen=True)
class Part:
    """One table or figure of the paper."""

    heading: str
    tables: list[Table]
    charts: list[Chart]
    cases: list[Case]


class Case(Run):
    """One experiment of a study."""

    def __init__(self, folder: Path, name: str, results: Results) -> None:
        super().__init__(folder, results)
        self._name = name

    @property
    def name(self) -> str:
        """The case's name."""
        return self._name

    @cached_property
    def charts(self) -> list[Chart]:
        """The plots of what it sampled, and of its thresholds."""
        return [one for one in super().charts if one.kind in _KINDS]


class Study:
    """What the report shows of a folder that `perhop study run -o` wrote."""

    anchor = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = read_study(folder)
        if "tables" not in self.data:
            raise InvalidInputError(f"{folder} was written by an earlier perhop", "run the study again")

    @property
    def name(self) -> str:
        """The study's id."""
        return str(self.data["study"])

    @property
    def title(self) -> str:
        """The study's title."""
        return str(self.data["title"])

    @cached_property
    def story(self) -> list[tuple[str, str]]:
        """The sections of the study's README as Markdown: heading and text."""
        file = self.folder / "README.md"
        return list(_story(file.read_text(encoding="utf-8"))) if file.is_file() else []

    def counted(self, verdict: str) -> int:
        """How many figures have a verdict."""
        return sum(one["verdict"] == verdict for one in self.data["figures"])

    @property
    def claims_met(self) -> int:
        """How many claims agree."""
        return sum(one["verdict"] == "agrees" for one in self.data["claims"])

    @property
    def claims_differ(self) -> bool:
        """Whether a claim is not met."""
        return any(one["verdict"] == "differs" for one in self.data["claims"])

    @property
    def said(self) -> str:
        """What stands under the study's plots: seed and assumptions."""
        return f"seed {self.data['seed']}; {len(self.data['assumptions'])} assumptions, listed below."

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The experiments by name."""
        said = f"{len(self.data['assumptions'])} assumptions, listed below"
        found = {}
        for table in self.data["tables"]:
            for one in table["cases"]:
                results = Results.load(self.folder / one["folder"])
                results.assumptions = said
                found[one["name"]] = Case(self.folder / one["folder"], one["name"], results)
        return found

    @cached_property
    def parts(self) -> list[Part]:
        """The tables and figures of the paper that were run."""
        return [self._part(table) for table in self.data["tables"] if table["cases"]]

    @cached_property
    def networks(self) -> list[Picture]:
        """The distinct pictures of the network that the cases run on."""
        distinct = {_network(case.results.scenario): case.results.scenario for case in self.cases.values()}
        return [draw.network(scenario) for scenario in distinct.values()]

    @cached_property
    def configurations(self) -> list[Configuration]:
        """The router configurations that the study was made from."""
        return configurations(self.folder)

    @cached_property
    def claims(self) -> Table:
        """What the paper says in words, and whether it holds."""
        return claim_table(self.data["claims"])

    @cached_property
    def sensitivity(self) -> Table | None:
        """How the study's chosen figures move with another value of one assumption."""
        said = self.data["sensitivity"]
        if not said["rows"] or not said["highlights"]:
            return None
        heads = [Column("assumption"), Column("instead")]
        heads += [Column(label, numeric=True) for label in said["highlights"]] + [
            Column("claims that change")
        ]
        rows = [
            [Cell("published", tone="strong"), Cell(""), *map(figure_cell, said["published"]), Cell("")],
            [Cell("as assumed", tone="strong"), Cell(""), *map(figure_cell, said["own"]), Cell("")],
        ]
        for row in said["rows"]:
            changed = "; ".join(f"{id.rpartition('.')[2]} {verdict}" for id, verdict in row["claims"].items())
            rows.append(
                [
                    Cell(row["assumption"]),
                    Cell(row["value"]),
                    *map(figure_cell, row["measured"]),
                    Cell(changed),
                ]
            )
        return Table("Measured figures with another value of one assumption", heads, rows)

    def _part(self, table: Mapping[str, Any]) -> Part:
        rows = [one for one in self.data["figures"] if one["table"] == table["id"]]
        points = [one for one in self.data["curves"] if one["table"] == table["id"]]
        tables = [figure_table(rows, table["heading"])] if rows else []
        if points:
            tables.append(curve_table(points, f"{table['heading']}: every point of the sweep"))
        cases = [self.cases[one["name"]] for one in table["cases"]]
        return Part(table["heading"], tables, table_charts(self.data, table, self.said), cases)


def claim_table(claims: Sequence[Mapping[str, Any]]) -> Table:
    """Return what a paper says in words and whether it holds, given as it stands in `study.json`."""
    rows = [
        [
            Cell(one["text"], tone="wide"),
            Cell(one["where"], tone="muted"),
            Cell(one["verdict"], tone=one["verdict"]),
            Cell(one["evidence"], tone="wide"),
        ]
        for one in claims
    ]
    heads = [Column(name) for name in ("claim", "where", "verdict", "evidence")]
    return Table("What the paper says in words", heads, rows)


def figure_table(rows: Sequence[Mapping[str, Any]], caption: str) -> Table:
    """Return published figures beside measured ones, given as they stand in `study.json`."""
    names = list(dict.fromkeys(name for row in rows for name in row["case"]))
    heads = [Column(name.replace("_", " ")) for name in (*names, "metric")]
    heads += [
        Column("published", numeric=True),
        Column("measured", numeric=True),
        Column("unit"),
        Column("verdict"),
    ]
    cells = [
        [
            *(Cell(row["case"].get(name, "")) for name in names),
            Cell(row["metric"].replace("_", " ")),
            figure_cell(row["published"]),
            Cell(interval(row["measured"], row["ci95"]), row["measured"]),
            Cell(row["unit"]),
            Cell(row["verdict"], tone=row["verdict"]),
        ]
        for row in rows
    ]
    return Table(caption, heads, cells)


def curve_table(points: Sequence[Mapping[str, Any]], caption: str) -> Table:
    """Return the points of curves as they stand in `study.json`: a column for each metric."""
    metrics = {point["metric"]: point["unit"] for point in points}
    names = list(dict.fromkeys(name for point in points for name in point["case"]))
    heads = [Column(name.replace("_", " "), numeric=_numeric(points, name)) for name in names]
    heads += [
        Column(f"{metric_words(metric, unit)} ({unit})", numeric=True) for metric, unit in metrics.items()
    ]
    rows: dict[tuple[str, ...], dict[str, Cell]] = {}
    for point in points:
        key = tuple(point["case"].get(name, "") for name in names)
        shown = Cell(interval(point["measured"], point["ci95"]), point["measured"])
        rows.setdefault(key, {})[point["metric"]] = shown
    missing = Cell("")
    cells = [
        [*map(Cell, key), *(row.get(metric, missing) for metric in metrics)] for key, row in rows.items()
    ]
    return Table(caption, heads, cells)


def _numeric(points: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(point["case"].get(name, "").replace(".", "", 1).isdigit() for point in points)


def _story(text: str) -> Iterable[tuple[str, str]]:
    begin, end = text.find(_QUOTED[0]), text.find(_QUOTED[1])
    if 0 <= begin < end:
        text = text[:begin] + text[end + len(_QUOTED[1]) :]
    for section in text.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        yield heading.strip(), body.strip()


def _network(scenario: Mapping[str, Any]) -> str:
    """Return what a network consists of; cases may differ in traffic and policies alone."""
    return json.dumps([scenario["hosts"], scenario.get("routers"), scenario["links"]], sort_keys=True)
