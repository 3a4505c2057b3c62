"""A run in the report: verdicts, the bottleneck and four linked charts first, all other parts folded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from perhop import draw, plot
from perhop.bounds import Bounds, bounds_of, longest_delays
from perhop.checking import findings_of, findings_table
from perhop.configuration import Configuration
from perhop.draw import Picture
from perhop.errors import InvalidInputError
from perhop.plot.chart import Chart
from perhop.plot.linked import BACK, linked, mark_of_replies
from perhop.report.focus import Focus
from perhop.report.outcome import ClassOutcome, outcomes
from perhop.results import Results
from perhop.tables import (
    Cell,
    Column,
    Table,
    application_tables,
    class_table,
    conditioner_table,
    described,
    port_table,
)
from perhop.verdicts import Telephony
from perhop.verdicts import table as verdict_table

# A picture taller than this (pixels) is below the charts, so that the charts begin on the first screen.
_TALL = 260.0
# The kinds of charts that the linked charts replace.
_LINKED = ("throughput", "delay", "drops", "queue")


class Run:
    """The section for a folder that `perhop run -o` wrote."""

    anchor = ""

    def __init__(
        self, results: Results, configurations: Sequence[Configuration] = (), *, back: bool = False
    ) -> None:
        self.results = results
        #: The router configurations stored with the results.
        self.configurations = configurations
        self._back = back
        self._focus = Focus(results)

    @property
    def name(self) -> str:
        """The scenario's name; for an inferred scenario, the configuration's file and interface."""
        origin = self._focus.origin
        if origin is None:
            return str(self.results.summary["scenario"])
        return ", ".join(filter(None, (str(origin["file"]), origin["interface"])))

    title = name

    @property
    def _interface(self) -> str | None:
        """The interface of an inferred scenario whose port the page shows; its neighbor is assumed."""
        origin = self._focus.origin
        return str(origin["interface"]) if origin and origin["interface"] else None

    @property
    def description(self) -> str:
        """The scenario's description, and the settings of the run."""
        ran = described(self.results.summary).partition(": ")[2]
        return " ".join(filter(None, (str(self.results.scenario.get("description") or ""), f"{ran}.")))

    @cached_property
    def outcomes(self) -> list[ClassOutcome]:
        """The outcome of each class, a line each."""
        delays = self._bounds.delays_by_class() if self._bounds else {}
        where = "from end to end" if self._bounds and self._bounds.classes else "in the router's queue"
        judged = [
            verdict
            for verdict in self.results.judged(Telephony.from_options())
            if self._is_shown(verdict.name)
        ]
        found = outcomes(judged, self.results.summary, delays, where)
        port, interface = self._focus.bottleneck, self._interface
        if port is None or interface is None:
            return found
        return [replace(outcome, verdict=outcome.verdict.replace(port, interface)) for outcome in found]

    @cached_property
    def bottleneck(self) -> Picture | None:
        """The picture of the bottleneck's port; `None` if no port has a policy."""
        port = self._focus.bottleneck
        return None if port is None else draw.port(self.results.scenario, port, self._interface)

    @property
    def is_bottleneck_tall(self) -> bool:
        """Whether the picture of the bottleneck would push the charts off the first screen."""
        return self.bottleneck is not None and self.bottleneck.height > _TALL

    @cached_property
    def linked(self) -> list[Chart]:
        """Throughput, delay, drops and queues over one time axis, if the results have samples."""
        shown = self._interface or (self._focus.bottleneck or "").replace("->", " → ")
        charts = linked(self.results, self._focus.bottleneck, self._focus.classes, back=self._back)
        return [
            replace(chart, title=f"Packets waiting at {shown}")
            if shown and chart.kind == "waiting"
            else chart
            for chart in charts
        ]

    @property
    def assumed(self) -> list[str]:
        """The assumptions behind the figures."""
        origin = self._focus.origin
        found = [str(assumption) for assumption in origin["assumed"]] if origin else []
        return [*found, f"calls: {Telephony.from_options()}"]

    @property
    def not_looked_at(self) -> list[str]:
        """The parts of a configuration on the path of the traffic that the run does not apply."""
        return [str(part) for part in self._focus.origin["not_looked_at"]] if self._focus.origin else []

    @property
    def offered(self) -> Table | None:
        """The inferred load of each class; `None` if the scenario sets it."""
        if self._focus.origin is None:
            return None
        columns = [Column("class"), Column("offered", numeric=True), Column("kind of traffic")]
        rows = [[Cell(str(cell)) for cell in row] for row in self._focus.origin["offered"]]
        return Table("Offered load", columns, rows)

    @cached_property
    def network(self) -> Picture | None:
        """The picture of the network; `None` for an inferred network, in which only the router is real."""
        return None if self._focus.origin else draw.network(self.results.scenario)

    @cached_property
    def policies(self) -> list[Picture]:
        """The pictures of the policies in use, without the bottleneck's policy."""
        at = {port.name for port in self._focus.shown}
        at.discard(self._focus.bottleneck or "")
        return draw.policies(self.results.scenario, at)

    @cached_property
    def tables(self) -> list[Table]:
        """The tables of classes, applications, ports with drops, and conditioners."""
        groups = [group for group in self.results.summary["classes"] if self._is_shown(group["class"])]
        summary = self.results.summary | {"classes": groups}
        found = [make(summary) for make in (class_table, port_table, conditioner_table)]
        shown = [table for table in found if table.rows]
        return [*shown[:1], *application_tables(summary), *shown[1:]]

    @cached_property
    def bounds(self) -> Table | None:
        """The worst-case delays by network calculus; `None` if a required file is missing."""
        if self._bounds is None:
            return None
        if self._bounds.classes:
            return self._bounds.class_table(longest_delays(self.results))
        return self._bounds.queue_table()

    @cached_property
    def _bounds(self) -> Bounds | None:
        try:
            return bounds_of(self.results.scenario).presented(self._focus.inferred_ports)
        except InvalidInputError:
            # Traffic from a trace or a capture has no bounds.
            return None

    @cached_property
    def findings(self) -> Table | None:
        """The findings of `perhop check` in the configurations and policies; `None` without findings."""
        scenario = self.results.scenario
        try:
            found = findings_of(scenario, getattr(scenario, "base", ""))
        except InvalidInputError:
            # The configuration file no longer exists.
            return None
        table = findings_table(found)
        return table if table.rows else None

    @cached_property
    def verdicts(self) -> Table:
        """The verdict on each class, with the default assumptions about telephones."""
        telephony = Telephony.from_options()
        judged = [verdict for verdict in self.results.judged(telephony) if self._is_shown(verdict.name)]
        return verdict_table(judged, telephony)

    @cached_property
    def charts(self) -> list[Chart]:
        """All plots that the results have samples for."""
        return plot.possible(self.results)

    @property
    def more_charts(self) -> list[Chart]:
        """The plots that the linked charts do not replace, and the plots of queues with thresholds."""
        replaced = _LINKED if self.linked else ()
        every = [chart for chart in self.charts if chart.kind not in replaced or _has_thresholds(chart)]
        return every if self._back else [chart for chart in map(_without_replies, every) if chart.marks]

    @property
    def scenario(self) -> str:
        """The scenario with every default written out."""
        return json.dumps(self.results.scenario, ensure_ascii=False, indent=2)

    def _is_shown(self, name: str) -> bool:
        return self._back or not name.endswith(BACK)


def _has_thresholds(chart: Chart) -> bool:
    return chart.kind == "queue" and any(isinstance(mark, plot.Rule) for mark in chart.marks)


def _without_replies(chart: Chart) -> Chart:
    """Return a chart without the marks of classes of replies."""
    return replace(chart, marks=tuple(mark for mark in chart.marks if not mark_of_replies(mark)))
