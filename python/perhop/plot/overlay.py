"""Several runs in one plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from perhop.errors import InvalidInputError
from perhop.palette import of_classes, of_lines
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line

# The sizes of the units that charts use, by family.
_UNITS = ({"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}, {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9})
_STROKES = ("solid", "dashed", "dotted")


def overlaid(charts: Sequence[Chart], names: Sequence[str]) -> Chart:
    """Return one plot with the lines of several runs, named after class and run.

    Classes have their colors, and runs have strokes; with more than three runs, each run has its own color
    for every class. Bands are left out, because overlapping bands are not readable.

    Raises:
        InvalidInputError: the plots have different kinds.

    """
    if len({(chart.kind, chart.y.label) for chart in charts}) > 1:
        raise InvalidInputError(
            "plots of different kinds have no common axes", "plot runs of one kind together"
        )
    x, y = (_widest([getattr(chart, side) for chart in charts]) for side in ("x", "y"))
    shown = [(line, name, chart) for chart, name in zip(charts, names, strict=True) for line in _lines(chart)]
    colors = of_classes(line.name for line, _, _ in shown)
    by_class = len(charts) <= len(_STROKES)
    own = of_lines(len(shown))
    marks = []
    for place, (line, name, chart) in enumerate(shown):
        color, stroke = (colors[line.name], _STROKES[list(names).index(name)]) if by_class else own[place]
        moved = replace(
            line,
            name=f"{line.name}, {name}",
            x=np.asarray(line.x) * _factor(chart.x, x),
            y=np.asarray(line.y) * _factor(chart.y, y),
            low=None,
            high=None,
            color=color,
            stroke=stroke,
            filled=False,
        )
        marks.append(moved)
    captions = [f"{name}: {chart.caption}" for name, chart in zip(names, charts, strict=True)]
    return Chart(
        kind=charts[0].kind,
        title=f"{charts[0].title}, {len(charts)} runs",
        x=x,
        y=y,
        marks=tuple(marks),
        caption=" ".join(captions),
    )


def _lines(chart: Chart) -> list[Line]:
    return [mark for mark in chart.marks if isinstance(mark, Line)]


def _widest(axes: Sequence[Axis]) -> Axis:
    """Return the axis with the largest unit."""
    return max(axes, key=lambda axis: _size(axis.unit))


def _factor(axis: Axis, wanted: Axis) -> float:
    return _size(axis.unit) / _size(wanted.unit)


def _size(unit: str) -> float:
    return next((family[unit] for family in _UNITS if unit in family), 1.0)


def numbered_names(names: Sequence[Any]) -> list[str]:
    """Return unique names: repeated names get numbers."""
    found: list[str] = []
    for name in map(str, names):
        again = sum(earlier == name or earlier.startswith(f"{name} (") for earlier in found)
        found.append(f"{name} ({again + 1})" if again else name)
    return found
