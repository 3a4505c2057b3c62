"""A run in the report: network, policies, tables and plots."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

from perhop import draw, plot
from perhop.configuration import Configuration, configurations
from perhop.draw import Picture
from perhop.plot.chart import Chart
from perhop.results import Results
from perhop.tables import Table, class_table, conditioner_table, port_table


class Run:
    """The section for a folder that `perhop run -o` wrote."""

    anchor = ""

    def __init__(self, folder: Path, results: Results | None = None) -> None:
        self.folder = folder
        self.results = Results.load(folder) if results is None else results

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
        """The tables of classes, ports with drops, and conditioners."""
        found = [make(self.results.summary) for make in (class_table, port_table, conditioner_table)]
        return [table for table in found if table.rows]

    @cached_property
    def charts(self) -> list[Chart]:
        """All plots that the results have samples for."""
        return plot.possible(self.results)

    @cached_property
    def configurations(self) -> list[Configuration]:
        """The router configurations stored with the results."""
        return configurations(self.folder)

    @property
    def scenario(self) -> str:
        """The scenario with every default written out."""
        return json.dumps(self.results.scenario, ensure_ascii=False, indent=2)
