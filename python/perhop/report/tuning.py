"""A tuning in the report: the chosen values, their results, the trials as charts, the sensitivities."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from perhop.loading import damaged
from perhop.plot import tuned
from perhop.plot.chart import Chart
from perhop.quantity import interval, number, scale
from perhop.saved import Saved
from perhop.shape import ByName, OrNull, Pair
from perhop.tables import Cell, Column, Table, sortable

# The shape of the parts of result.json that the page shows.
_GOAL = {"goal": str, "mean": OrNull(float), "ci95": OrNull(Pair(float)), "unit": str, "met": OrNull(bool)}
_SHAPE = {
    "scenario": str,
    "seed": int,
    "met": bool,
    "best": {"trial": int, "parameters": ByName(str), "replications": int, "goals": [_GOAL]},
    "ios": ByName([str]),
    "sensitivity": [{"goal": str, "parameter": str, "share": OrNull(float)}],
    "units": ByName(str),
    "trials": int,
    "runs": int,
}
# The maximum number of charts of a goal over a parameter, and of two goals; the first goals come first.
_MOST = 12


class Tuned:
    """The section for a folder that `perhop tune -o` wrote."""

    anchor = ""

    def __init__(self, folder: Path) -> None:
        saved = Saved.open(folder, "tuning")
        self.found: Mapping[str, Any] = saved.json("result.json", _SHAPE)
        content = saved.content("trials.parquet")
        try:
            self.trials = pl.read_parquet(BytesIO(content))
        # The reader of Parquet may panic on other files.
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise damaged(folder / "trials.parquet", str(error).splitlines()[0]) from error

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.found["scenario"])

    title = name

    @property
    def description(self) -> str:
        """The chosen values, and whether they meet the goals."""
        best = self.found["best"]
        values = ", ".join(f"{name} = {text}" for name, text in best["parameters"].items())
        state = "meets the goals" if self.found["met"] else "comes nearest, but does not meet every condition"
        return f"Trial {best['trial']} {state}: {values}."

    @property
    def ios(self) -> Mapping[str, str]:
        """The lines to paste into IOS, by router."""
        return {router: "\n".join(lines) for router, lines in self.found["ios"].items()}

    @cached_property
    def charts(self) -> list[Chart]:
        """Charts of pairs of goals, and of each goal over each numeric parameter."""
        goals = self.trials.drop_nulls("mean")["goal"].unique(maintain_order=True).to_list()
        caption = f"{self.found['trials']} trials, {self.found['runs']} runs, seed {self.found['seed']}."
        numbers = [
            parameter
            for parameter in tuned.parameters(self.trials)
            if self.trials[parameter].dtype.is_numeric()
        ]
        # With one parameter, a chart of two goals would repeat the chart of a goal over the parameter.
        alone = len(numbers) == 1
        plotted = [goal for goal in goals if not (alone and goal in self._of_parameters)]
        pairs = [tuned.front(self.trials, *pair, caption=caption) for pair in combinations(plotted, 2)]
        single = [
            tuned.along(self.trials, goal, parameter, unit=self.found["units"][parameter], caption=caption)
            for goal in goals
            for parameter in numbers
            if goal not in self._of_parameters
        ]
        return pairs[:_MOST] + single[:_MOST]

    @cached_property
    def goals(self) -> Table:
        """The goals of the chosen trial."""
        best = self.found["best"]
        rows = []
        for goal in best["goals"]:
            mean, ends = goal["mean"], goal["ci95"]
            divisor, unit = scale(goal["unit"], abs(mean or 0.0))
            met = "" if goal["met"] is None else "yes" if goal["met"] else "no"
            text = f"{interval(mean, ends, divisor)} {unit}".rstrip()
            rows.append([Cell(goal["goal"]), Cell(text, sortable(mean)), Cell(met)])
        heads = [Column("goal"), Column("mean ± 95 %", numeric=True), Column("met")]
        return Table(f"The chosen trial, {best['replications']} replications", heads, rows)

    @cached_property
    def sensitivity(self) -> Table:
        """The fraction of a goal's variance that each parameter alone explains; no rows if unknown."""
        rows = [
            [Cell(row["goal"]), Cell(row["parameter"]), Cell(number(round(100 * share)), share)]
            for row in self.found["sensitivity"]
            if (share := row["share"]) is not None
        ]
        heads = [Column("goal"), Column("parameter"), Column("part of the variance, %", numeric=True)]
        return Table(
            "The variance that a parameter alone explains, over the uniformly drawn points", heads, rows
        )

    @cached_property
    def _of_parameters(self) -> set[str]:
        """The goals that are parameters themselves, which have no sensitivity."""
        measured = {row["goal"] for row in self.found["sensitivity"]}
        return {row["goal"] for row in self.found["best"]["goals"]} - measured
