"""A run in the report: what was simulated, what each class got, how it went over time."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

from perhop import draw, plot
from perhop.configuration import Configuration, configurations
from perhop.draw import Picture
from perhop.page.tables import Table, class_table, conditioner_table, port_table
from perhop.plot.chart import Chart
from perhop.results import Results


class Run:
    """What the report shows of a folder that `perhop run -o` wrote."""

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
        """What the scenario says of itself."""
        return str(self.results.scenario.get("description") or "")

    @cached_property
    def network(self) -> Picture:
        """The picture of the network."""
        return draw.network(self.results.scenario)

    @cached_property
    def policies(self) -> list[Picture]:
        """The pictures of the policies at work."""
        return draw.policies(self.results.scenario)

    @cached_property
    def tables(self) -> list[Table]:
        """What each class got, what ports dropped, what conditioners took."""
        found = [class_table(self.results), port_table(self.results), conditioner_table(self.results)]
        return [table for table in found if table.rows]

    @cached_property
    def charts(self) -> list[Chart]:
        """Every plot that there are samples for."""
        return plot.possible(self.results)

    @cached_property
    def configurations(self) -> list[Configuration]:
        """The router configurations that it was made from."""
        return configurations(self.folder)

    @property
    def scenario(self) -> str:
        """The scenario with every default written out."""
        return json.dumps(self.results.scenario, ensure_ascii=False, indent=2)
