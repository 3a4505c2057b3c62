"""A study in the report: published and measured figures, claims, assumptions and cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from perhop import draw
from perhop.configuration import Configuration, configurations
from perhop.draw import Picture, words
from perhop.plot.chart import Chart
from perhop.plot.studies import table_charts
from perhop.quantity import counted, metric_words, unit_words
from perhop.report.run import Run
from perhop.results import Results
from perhop.saved import Saved
from perhop.study.stored import content
from perhop.study.tables import claim_table, curve_table, error_table, figure_table
from perhop.tables import Cell, Column, Table, figure_cell

# The study's own text, next to its results.
_README = "README.md"
# The part of a study's README that `make quote-reports` writes; the report shows these figures as tables.
_QUOTED = ("<!-- report: begin", "<!-- report: end -->")
# The plots of a case that the report shows; plots of distributions would repeat their content.
_KINDS = ("queue", "drop-curve", "throughput", "delay", "cwnd")
# Reports of studies with more experiments than this omit the plots of classes over time (about 22 kB for each
# experiment); `perhop plot` draws them.
_MOST_DRAWN = 100
_OF_CLASSES = ("throughput", "delay")


@dataclass(frozen=True)
class Part:
    """One table or figure of the paper."""

    heading: str
    tables: list[Table]
    charts: list[Chart]
    cases: list[Case]


class Case(Run):
    """One experiment of a study."""

    def __init__(self, name: str, results: Results, kinds: Sequence[str]) -> None:
        super().__init__(results)
        self._name = name
        self._kinds = kinds

    @property
    def name(self) -> str:
        """The case's name."""
        return self._name

    @cached_property
    def charts(self) -> list[Chart]:
        """The plots over time and of drop probabilities."""
        return [chart for chart in super().charts if chart.kind in self._kinds]


class Study:
    """The section for a folder that `perhop study run -o` wrote."""

    anchor = ""

    def __init__(self, folder: Path) -> None:
        self._saved = Saved.open(folder, "study")
        self.data = content(self._saved)

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
        return list(_story(self._saved.content(_README).decode())) if _README in self._saved else []

    @property
    def contents(self) -> list[tuple[str, str]]:
        """The sections of the page: anchor and heading."""
        found = [
            ("claims", "Claims"),
            ("network", "The network" if len(self.networks) == 1 else "The networks"),
        ]
        found.append(("figures", "Published and measured"))
        found += [(f"part-{number}", part.heading) for number, part in enumerate(self.parts, 1)]
        found.append(("assumptions", "Assumptions"))
        return [(f"{self.anchor}-{anchor}", heading) for anchor, heading in found]

    def counted(self, verdict: str) -> int:
        """Return the number of figures with a verdict."""
        return sum(figure["verdict"] == verdict for figure in self.data["figures"])

    @property
    def claims_met(self) -> int:
        """The number of claims that are met."""
        return sum(claim["verdict"] == "agrees" for claim in self.data["claims"])

    @property
    def claims_partly(self) -> int:
        """The number of claims that are met only in part."""
        return sum(claim["verdict"] == "partly" for claim in self.data["claims"])

    @property
    def claims_tone(self) -> str:
        """The style of the number of met claims: `bad` if a claim is not met, or is met only in part."""
        verdicts = {claim["verdict"] for claim in self.data["claims"]}
        return "bad" if verdicts & {"differs", "partly"} else "good" if "agrees" in verdicts else ""

    @cached_property
    def errors(self) -> Table | None:
        """The errors of the figures; `None` for studies of versions that saved no errors."""
        rows = self.data.get("errors")
        return error_table([{**row, "metric": self._words(row["metric"])} for row in rows]) if rows else None

    @property
    def metrics(self) -> list[tuple[str, str]]:
        """The names of the metrics with their units, and the tolerance for an agreeing figure of each."""
        return [
            (self._words(name, with_unit=True), str(words)) for name, words in self.data["metrics"].items()
        ]

    def _words(self, metric: str, *, with_unit: bool = False) -> str:
        """Return the name of a metric as words, without or with its unit."""
        name = metric.replace(" ", "_")
        measured = (*self.data["figures"], *self.data["curves"])
        unit = next((str(row["unit"]) for row in measured if row["metric"] == name), "")
        return metric_words(name, unit) + (f" ({unit_words(unit)})" if with_unit and unit else "")

    @property
    def near(self) -> tuple[int, int] | None:
        """The number of figures within 10 % of the published value, and the total."""
        rows = self.data.get("errors")
        if not rows:
            return None
        last = rows[-1]
        return last["within_percent"]["10"], last["figures"] - last["read"] - last["published_zero"]

    @property
    def caption(self) -> str:
        """The caption of the study's plots: seed and assumptions."""
        return f"seed {self.data['seed']}; {len(self.data['assumptions'])} assumptions, listed below."

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The experiments by name."""
        assumptions = f"{len(self.data['assumptions'])} assumptions, listed below"
        found = {}
        several = sum(len(table["cases"]) for table in self.data["tables"])
        kinds = [kind for kind in _KINDS if several <= _MOST_DRAWN or kind not in _OF_CLASSES]
        # A published curve of windows shares its chart with the measured curve.
        traced = {trace["table"] for trace in self.data.get("traces", [])}
        for table in self.data["tables"]:
            shown = [kind for kind in kinds if kind != "cwnd" or table["id"] not in traced]
            for case in table["cases"]:
                results = Results.from_saved(self._saved.within(case["folder"]))
                results.assumptions = assumptions
                found[case["name"]] = Case(case["name"], results, shown)
        return found

    @cached_property
    def parts(self) -> list[Part]:
        """The tables and figures of the paper that were run."""
        return [self._part(table) for table in self.data["tables"] if table["cases"]]

    @cached_property
    def networks(self) -> list[tuple[Picture, str]]:
        """The pictures of the distinct networks of the cases, with captions about their differences."""
        alike: dict[str, list[Mapping[str, Any]]] = {}
        for case in self.cases.values():
            alike.setdefault(_shape(case.results.scenario), []).append(case.results.scenario)
        return [(draw.network(several[0]), _differing(several)) for several in alike.values()]

    @cached_property
    def configurations(self) -> list[Configuration]:
        """The router configurations stored with the study."""
        return configurations(self._saved)

    @cached_property
    def claims(self) -> Table:
        """The claims of the paper and their verdicts."""
        return claim_table(self.data["claims"])

    @cached_property
    def sensitivity(self) -> Table | None:
        """The study's highlighted figures with another value of one assumption."""
        found = self.data["sensitivity"]
        if not found["rows"] or not found["highlights"]:
            return None
        heads = [Column("assumption"), Column("instead")]
        heads += [Column(label, numeric=True) for label in found["highlights"]] + [
            Column("claims that change")
        ]
        rows = [
            [Cell("published", tone="strong"), Cell(""), *map(figure_cell, found["published"]), Cell("")],
            [Cell("as assumed", tone="strong"), Cell(""), *map(figure_cell, found["own"]), Cell("")],
        ]
        for row in found["rows"]:
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
        rows = [figure for figure in self.data["figures"] if figure["table"] == table["id"]]
        points = [point for point in self.data["curves"] if point["table"] == table["id"]]
        tables = [figure_table(rows, table["heading"])] if rows else []
        if points:
            tables.append(curve_table(points, f"{table['heading']}: all points of the sweep"))
        cases = [self.cases[case["name"]] for case in table["cases"]]
        return Part(table["heading"], tables, table_charts(self.data, table, self.caption), cases)


def _story(text: str) -> Iterable[tuple[str, str]]:
    begin, end = text.find(_QUOTED[0]), text.find(_QUOTED[1])
    if 0 <= begin < end:
        text = text[:begin] + text[end + len(_QUOTED[1]) :]
    for section in text.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        yield heading.strip(), body.strip()


def _shape(scenario: Mapping[str, Any]) -> str:
    """Return the identity of a network's shape: the nodes, and the pairs of linked nodes."""
    linked = [link["between"] for link in scenario["links"]]
    return json.dumps([sorted(scenario["hosts"]), sorted(scenario.get("routers") or {}), linked])


def _differing(several: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of experiments with a network, and the differences between their links."""
    parts = [f"The network of {counted(len(several), 'experiment')}"]
    for place, link in enumerate(several[0]["links"]):
        for key in ("rate", "delay", "framing", "loss"):
            values = list(
                dict.fromkeys(_value(experiment["links"][place].get(key)) for experiment in several)
            )
            if len(values) > 1:
                first, second = link["between"]
                parts.append(f"{key} of {first} to {second}: {', '.join(values)}")
    if len(several) > 1:
        parts.append(f"traffic as in {several[0]['name']}; that of the others is shown with their results")
    return "; ".join(parts) + "."


def _value(found: object) -> str:
    return (
        words.quantity(found) if isinstance(found, str) else "none" if found is None else words.values(found)
    )
