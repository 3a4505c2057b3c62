"""A run in the report: network, policies, tables and plots."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from perhop import draw, plot
from perhop.bounds import bounds_of, longest_delays
from perhop.checking import findings_of, findings_table
from perhop.configuration import Configuration
from perhop.draw import Picture
from perhop.errors import InvalidInputError
from perhop.plot.chart import Chart
from perhop.results import Results
from perhop.tables import Table, application_tables, class_table, conditioner_table, port_table
from perhop.verdicts import Telephony
from perhop.verdicts import table as verdict_table


class Run:
    """The section for a folder that `perhop run -o` wrote."""

    anchor = ""

    def __init__(self, results: Results, configurations: Sequence[Configuration] = ()) -> None:
        self.results = results
        #: The router configurations stored with the results.
        self.configurations = configurations

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.results.summary["scenario"])

    title = name

    @property
    def description(self) -> str:
        """The scenario's description."""
        return str(self.results.scenario.get("description") or "")

    @cached_property
    def network(self) -> Picture:
        """The picture of the network."""
        return draw.network(self.results.scenario)

    @cached_property
    def policies(self) -> list[Picture]:
        """The pictures of the policies in use."""
        return draw.policies(self.results.scenario)

    @cached_property
    def tables(self) -> list[Table]:
        """The tables of classes, applications, ports with drops, and conditioners."""
        found = [make(self.results.summary) for make in (class_table, port_table, conditioner_table)]
        shown = [table for table in found if table.rows]
        return [*shown[:1], *application_tables(self.results.summary), *shown[1:]]

    @cached_property
    def bounds(self) -> Table | None:
        """The worst-case delays beside the longest simulated; `None` where a file that they need is gone."""
        try:
            bounds = bounds_of(self.results.scenario)
        except InvalidInputError:
            # A trace or a capture of its traffic.
            return None
        return bounds.class_table(longest_delays(self.results))

    @cached_property
    def findings(self) -> Table | None:
        """What `perhop check` finds in the configurations and policies; `None` where it finds nothing."""
        scenario = self.results.scenario
        try:
            found = findings_of(scenario, getattr(scenario, "base", ""))
        except InvalidInputError:
            # A configuration that was read from a file, and is gone.
            return None
        table = findings_table(found)
        return table if table.rows else None

    @cached_property
    def verdicts(self) -> Table:
        """The verdict on each class, with the usual assumptions about telephones."""
        assumed = Telephony.of()
        return verdict_table(self.results.judged(assumed), assumed)

    @cached_property
    def charts(self) -> list[Chart]:
        """All plots that the results have samples for."""
        return plot.possible(self.results)

    @property
    def scenario(self) -> str:
        """The scenario with every default written out."""
        return json.dumps(self.results.scenario, ensure_ascii=False, indent=2)
