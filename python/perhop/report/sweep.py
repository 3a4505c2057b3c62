"""A sweep in the report: what was swept, the share of each class against each parameter, and the results."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from perhop import draw
from perhop.draw import Picture
from perhop.manifest import json_text
from perhop.plot.chart import Chart
from perhop.sweeping import Sweep
from perhop.tables import Table

# Points of which the page has a table; the folder has all.
_MOST = 500
# Parameters against which shares are plotted: with more of them there are too many combinations of the
# others.
_PLOTTED = 2


class Swept:
    """The section for a folder that `perhop sweep -o` wrote."""

    anchor = ""

    def __init__(self, folder: Path) -> None:
        self.sweep = Sweep.load(folder)

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.sweep.scenario

    title = name

    @property
    def description(self) -> str:
        """The scenario's description."""
        return str(self.sweep.plan.scenario.get("description") or "")

    @cached_property
    def network(self) -> Picture:
        """The picture of the network before anything is changed."""
        return draw.network(self.sweep.plan.scenario)

    @property
    def source(self) -> str:
        """The scenario that every point changes, as JSON."""
        return json_text(dict(self.sweep.plan.scenario))

    @cached_property
    def charts(self) -> list[Chart]:
        """The share of each class against each parameter."""
        if len(self.sweep.parameters) > _PLOTTED:
            return []
        return [one for path in self.sweep.parameters for one in self.sweep.share(against=path)]

    @cached_property
    def table(self) -> Table:
        """The results of each class at each point."""
        return self.sweep.class_table(_MOST)
