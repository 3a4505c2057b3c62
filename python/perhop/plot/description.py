"""A plot as data: axes and marks, drawn by `perhop.plot.static` and by the page's `charts.js`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perhop import _core

Numbers = npt.NDArray[np.float64] | Sequence[float]

# Number of buckets of a line; each keeps its first, least, greatest and last point. No screen shows more.
_BUCKETS = 300
# Significant digits of a number in a page; a pixel needs four.
_DIGITS = 6


@dataclass(frozen=True)
class Axis:
    """One axis: its quantity and unit."""

    label: str
    unit: str = ""
    #: Names in place of numbers.
    categories: tuple[str, ...] = ()
    #: Fixed limits, where the data should not set them.
    least: float | None = None
    greatest: float | None = None

    @property
    def title(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Line:
    """A line through points, with a band where `low` and `high` are given."""

    name: str
    color: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    #: `solid`, `dashed` or `dotted`: distinguishes lines without relying on color.
    stroke: str = "solid"
    #: Each value holds until the next.
    steps: bool = False
    #: Fill the area below it.
    filled: bool = False
    #: Draw it thin and behind the other lines.
    thin: bool = False
    #: Mark every point: nothing was measured between them.
    marked: bool = False


@dataclass(frozen=True)
class Points:
    """Single points, with error bars where `low` and `high` are given."""

    name: str
    color: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    #: Draw an outline instead of a filled symbol.
    hollow: bool = False


@dataclass(frozen=True)
class Rule:
    """A straight line across the plot at one value, labelled with its name."""

    name: str
    color: str
    at: float
    stroke: str = "dashed"


@dataclass(frozen=True)
class Span:
    """A shaded range of the horizontal axis."""

    name: str
    begin: float
    end: float


Mark = Line | Points | Rule | Span


@dataclass(frozen=True, repr=False)
class Description:
    """The description of a plot, independent of how it is drawn."""

    #: The kind of plot, as `--plot` names it.
    kind: str
    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    #: Seed, replications, omitted time, assumptions.
    caption: str
    #: Stack the lines.
    stacked: bool = False

    def __repr__(self) -> str:
        """Name the kind and the title; the numbers would fill the screen."""
        return f"<perhop.plot.{type(self).__name__} {self.kind}: {self.title}>"

    def to_json(self) -> dict[str, Any]:
        """Return the plot as the page's script expects it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "x": _axis(self.x),
            "y": _axis(self.y),
            "marks": [_mark(mark) for mark in self.marks],
            "caption": self.caption,
            "stacked": self.stacked,
        }


def thinned(line: Line) -> Line:
    """Return the line reduced to the points that are needed to draw it."""
    y = np.ascontiguousarray(line.y, dtype=np.float64)
    if line.low is not None and line.high is not None:
        # The edges draw the band: keep the greatest of the upper one and the least of the lower one.
        kept: npt.NDArray[Any] = np.union1d(
            _core.envelope(np.ascontiguousarray(line.low, dtype=np.float64), _BUCKETS // 2),
            _core.envelope(np.ascontiguousarray(line.high, dtype=np.float64), _BUCKETS // 2),
        )
    else:
        kept = _core.envelope(y, _BUCKETS)
    if len(kept) == len(y):
        return line

    def some(values: Numbers | None) -> npt.NDArray[np.float64] | None:
        return None if values is None else np.asarray(values)[kept]

    return replace(line, x=np.asarray(line.x)[kept], y=y[kept], low=some(line.low), high=some(line.high))


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "title": axis.title,
        "unit": axis.unit,
        "categories": list(axis.categories),
        "least": axis.least,
        "greatest": axis.greatest,
    }


def _mark(mark: Mark) -> dict[str, Any]:
    """Return a mark; unset values are left out, which the script reads as false."""
    found: dict[str, Any] = {"type": type(mark).__name__.lower()}
    for name, value in vars(mark).items():
        if value is None or value is False:
            continue
        found[name] = [_number(one) for one in value] if name in ("x", "y", "low", "high") else value
    return found


def _number(value: float) -> float | int | None:
    """Return a number rounded for a page; `None` for a gap."""
    value = float(value)
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short == int(short) else short
