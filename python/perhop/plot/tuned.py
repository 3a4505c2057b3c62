"""Plots of a tuning from the frame of its trials: two goals in one plot, a goal over a parameter.

A frame has a row for each trial and goal, as `perhop.tuning.Tuning.trials`: `trial`, a column for each
parameter, `goal`, `unit`, `mean` and `best` (whether the trial is on the front).
"""

from __future__ import annotations

import polars as pl

from perhop.errors import InvalidInputError
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Points
from perhop.quantity import number, scale

#: Columns of the frame that are not parameters.
FIXED = ("trial", "goal", "unit", "mean", "low", "high", "met", "replications", "best", "error")


def parameters(trials: pl.DataFrame) -> list[str]:
    """Return the names of the parameters that were varied."""
    return [column for column in trials.columns if column not in FIXED]


def front(trials: pl.DataFrame, first: str, second: str, *, caption: str = "") -> Chart:
    """Plot two goals against each other: every trial, with the trials of the front in another color.

    Raises:
        InvalidInputError: there is no goal with this text, or no trial measured both goals.

    """
    left, right = (_of_goal(trials, goal) for goal in (first, second))
    both = left.join(right.select("trial", "mean", "unit"), on="trial", suffix="_second")
    return _scattered("front", f"{first} and {second}", both, (first, second), caption)


def along(trials: pl.DataFrame, goal: str, parameter: str, *, unit: str = "", caption: str = "") -> Chart:
    """Plot a goal over a numeric parameter: all trials, with the front in another color.

    `unit` is the base unit of the parameter.

    Raises:
        InvalidInputError: there is no such goal or parameter, no trial measured the goal, or the values of
            the parameter are not numbers.

    """
    if parameter not in parameters(trials) or not trials[parameter].dtype.is_numeric():
        known = [name for name in parameters(trials) if trials[name].dtype.is_numeric()]
        raise InvalidInputError(f"`{parameter}` is not a numeric parameter", f"varied: {', '.join(known)}")
    found = _of_goal(trials, goal).with_columns(
        mean=pl.col(parameter).cast(pl.Float64), unit=pl.lit(unit), mean_second="mean", unit_second="unit"
    )
    return _scattered("tuned", f"{goal} over {parameter}", found, (parameter, goal), caption)


def _of_goal(trials: pl.DataFrame, goal: str) -> pl.DataFrame:
    known = trials["goal"].unique(maintain_order=True).to_list()
    if goal not in known:
        raise InvalidInputError(f"there is no goal `{goal}`", f"goals: {', '.join(known)}")
    return trials.filter(pl.col("goal") == goal).drop_nulls("mean")


def _scattered(kind: str, title: str, rows: pl.DataFrame, names: tuple[str, str], caption: str) -> Chart:
    """Return a chart of `mean` and `mean_second`, in their units, with the values of each trial as notes."""
    if rows.is_empty():
        raise InvalidInputError("no trial has both goals", "give goals that were measured")
    axes, values = [], []
    for name, end in zip(names, ("", "_second"), strict=True):
        column = rows[f"mean{end}"]
        divisor, unit = scale(rows[f"unit{end}"][0], float(column.abs().max() or 0.0))  # type: ignore[arg-type]
        axes.append(Axis(name, unit))
        values.append((column / divisor).to_list())
    known = parameters(rows.drop("mean_second", "unit_second"))
    notes = []
    for at, row in enumerate(rows.iter_rows(named=True)):
        hover = [f"trial {row['trial']}"]
        hover += [
            f"{parameter} = {number(row[parameter]) if isinstance(row[parameter], float) else row[parameter]}"
            for parameter in known
        ]
        hover += [
            f"{axis.label}: {number(coordinates[at])} {axis.unit}".rstrip()
            for axis, coordinates in zip(axes, values, strict=True)
        ]
        notes.append("\n".join(hover))
    marks = []
    for name, color, best in (("trials", "queue", False), ("front", "class0", True)):
        chosen = [at for at, is_best in enumerate(rows["best"]) if is_best == best]
        if chosen:
            x, y = ([coordinates[at] for at in chosen] for coordinates in values)
            marks.append(Points(name, color, x, y, hollow=not best, notes=tuple(notes[at] for at in chosen)))
    return Chart(kind=kind, title=title, x=axes[0], y=axes[1], marks=tuple(marks), caption=caption)
