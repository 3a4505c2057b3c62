"""A sweep in the report: the parameters, shares, loss and delay over the parameters, and the results."""

from __future__ import annotations

from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from perhop import draw
from perhop.draw import Picture
from perhop.manifest import json_text
from perhop.plot import sweeps
from perhop.plot.chart import Chart
from perhop.sweeping import Sweep
from perhop.tables import Table

if TYPE_CHECKING:
    import polars as pl

# The maximum number of points in the table of the page; the folder has all points.
_MOST = 500
# The maximum number of parameters for plots of shares against a parameter. More parameters have too many
# combinations, so a point is then a line across an axis for each parameter.
_PLOTTED = 2
# The metrics that are shown over two parameters.
_MAPPED = ("loss", "delay_p99")
# The number of classes with separate pictures: the first classes of the scenario.
_CLASSES = 6


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
        """The picture of the network before any change."""
        return draw.network(self.sweep.plan.scenario)

    @property
    def source(self) -> str:
        """The scenario that every point changes, as JSON."""
        return json_text(dict(self.sweep.plan.scenario))

    @cached_property
    def charts(self) -> list[Chart]:
        """Charts of the shares of classes: over one parameter, as heat maps of two, or across many."""
        if len(self.sweep.parameters) > _PLOTTED:
            return self._across("share")
        shares = [chart for path in self.sweep.parameters for chart in self.sweep.share(against=path)]
        return shares + [chart for metric in _MAPPED for chart in self._maps(metric)]

    def _maps(self, metric: str) -> list[Chart]:
        """Return a heat map of each class if the points are a grid of two parameters."""
        frame = self.sweep.table([metric])
        values = [frame[path].n_unique() for path in self.sweep.parameters]
        # Points drawn at random would be single cells in an empty picture.
        if len(values) != _PLOTTED or min(values) < _PLOTTED or frame["point"].n_unique() < prod(values):
            return []
        x, y = self.sweep.parameters
        return [
            sweeps.heat_map(
                frame, x, y, metric, class_name, caption=self.sweep.caption(), units=self.sweep.units
            )
            for class_name in self._measured(frame)
        ]

    def _across(self, metric: str) -> list[Chart]:
        """Return for each class the points as lines across an axis for each parameter."""
        frame = self.sweep.table([metric])
        return [
            sweeps.parallel(frame, metric, class_name, caption=self.sweep.caption(), units=self.sweep.units)
            for class_name in self._measured(frame)
        ]

    @staticmethod
    def _measured(frame: pl.DataFrame) -> list[str]:
        """Return the first classes of a tidy frame that have a value at some point."""
        measured = frame.drop_nulls("mean")["class"].unique().to_list()
        return [
            class_name for class_name in frame["class"].unique(maintain_order=True) if class_name in measured
        ][:_CLASSES]

    @cached_property
    def table(self) -> Table:
        """The results of each class at each point."""
        return self.sweep.class_table(_MOST)
