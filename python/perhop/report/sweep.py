"""A sweep in the report: the share of each class against its parameters, and every point."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from perhop import draw
from perhop.draw import Picture
from perhop.plot.chart import Chart
from perhop.report.run import Run
from perhop.results import Results
from perhop.sweeping import Sweep, sweep_table
from perhop.tables import Table


class Point(Run):
    """One combination of values."""

    def __init__(self, name: str, results: Results) -> None:
        super().__init__(results)
        self._name = name

    @property
    def name(self) -> str:
        """Its values as text."""
        return self._name


class Swept:
    """The section for a folder that `perhop sweep -o` wrote."""

    anchor = ""

    def __init__(self, folder: Path) -> None:
        self.sweep = Sweep.load(folder)
        self.points = [Point(one.name, one.results) for one in self.sweep.points]

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.sweep.scenario

    title = name

    @property
    def description(self) -> str:
        """The scenario's description."""
        return self.points[0].description

    @cached_property
    def network(self) -> Picture:
        """The picture of the network at the first point."""
        return draw.network(self.sweep.points[0].results.scenario)

    @cached_property
    def charts(self) -> list[Chart]:
        """The share of each class against each parameter."""
        return [one for path in self.sweep.parameters for one in self.sweep.share(against=path)]

    @cached_property
    def table(self) -> Table:
        """The results of each class at each point."""
        return sweep_table(self.sweep)
