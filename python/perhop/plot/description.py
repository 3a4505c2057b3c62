"""A plot as data: axes and marks, drawn by `perhop.plot.static` and by the page's `chart.js` alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64] | Sequence[float]

# Buckets of which a line keeps its first, least, greatest and last point: no screen shows more.
_BUCKETS = 300
# Digits of a number in the page: a pixel needs four.
_DIGITS = 6


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, in which unit."""

    label: str
    unit: str = ""
    #: Names in place of numbers, from the first to the last.
    categories: tuple[str, ...] = ()
    #: Where it begins and ends, where the data should not say so.
    least: float | None = None
    greatest: float | None = None

    @property
    def title(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Line:
    """A line through points, with a band around it where `low` and `high` are given."""

    name: str
    color: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    #: `solid`, `dashed` or `dotted`: what color alone would say is said twice.
    stroke: str = "solid"
    #: Each value holds until the next.
    steps: bool = False
    #: Fills the space below it.
    filled: bool = False
    #: Thin lines stay behind those that matter.
    thin: bool = False
    #: A dot at every point: between them nothing was measured.
    marked: bool = False


@dataclass(frozen=True)
class Points:
    """Single points, with error bars along the axis of values where `low` and `high` are given."""

    name: str
    color: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    #: An outline in place of a filled symbol.
    hollow: bool = False


@dataclass(frozen=True)
class Rule:
    """A straight line across the plot at one value, with its name beside it."""

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
class Chart:
    """A plot: what it shows, not how it is drawn."""

    #: The kind of plot, as `--plot` calls it.
    kind: str
    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    #: Seed, replications, what is left out, what is assumed.
    caption: str
    #: Lines are heaped upon each other.
    stacked: bool = False

    def __repr__(self) -> str:
        """Say what it shows: its numbers would fill the screen."""
        return f"<perhop.plot.Chart {self.kind}: {self.title}>"

    def save(self, file: str | PathLike[str]) -> None:
        """Write it to a file; the suffix says how: .svg, .png, .pdf, or .html to zoom and point into."""
        from perhop.plot.writing import write

        write([self], Path(file))

    def to_json(self) -> dict[str, Any]:
        """Return it as the page's script takes it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "x": _axis(self.x),
            "y": _axis(self.y),
            "marks": [_mark(mark) for mark in self.marks],
            "caption": self.caption,
            "stacked": self.stacked,
        }

    def _repr_svg_(self) -> str | None:
        """Show it in a notebook, where matplotlib is there to draw it."""
        from perhop.errors import MissingCapabilityError
        from perhop.plot.static import svg

        try:
            return svg(self)
        except MissingCapabilityError:
            return None


def thinned(line: Line) -> Line:
    """Return the line with as few points as draw the same picture."""
    import numpy as np

    from perhop import _core

    y = np.ascontiguousarray(line.y, dtype=np.float64)
    if line.low is not None and line.high is not None:
        # A band is drawn by its edges: what is kept must show the greatest of one and the least of the other.
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
    """Return a mark; what is as by default is left out, which a script reads as false."""
    found: dict[str, Any] = {"type": type(mark).__name__.lower()}
    for name, value in vars(mark).items():
        if value is None or value is False:
            continue
        found[name] = [_number(one) for one in value] if name in ("x", "y", "low", "high") else value
    return found


def _number(value: float) -> float | int | None:
    """Return a number short enough for a page; a gap is null."""
    value = float(value)
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short == int(short) else short
