"""A plot as data: axes and marks, drawn by `perhop.plot.static` and by the page's `charts.js`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.palette import SEQUENTIAL

Numbers = npt.NDArray[np.float64] | Sequence[float]

# The number of buckets of a line. Each bucket keeps its first, least, greatest and last point, and no screen
# shows more.
_BUCKETS = 300
# The number of significant digits in a page; a pixel needs four.
_DIGITS = 6
# A logarithmic axis with more than this number of decades has ticks only at powers of ten; the second number
# is the maximum of such ticks.
_FINE_DECADES, _MOST_DECADES = 3, 10
# The approximate number of steps between the ticks of a scale.
_STEPS = 4
_LISTS = ("x", "y", "low", "high", "values")


@dataclass(frozen=True)
class Axis:
    """One axis: its quantity and unit."""

    label: str
    unit: str = ""
    #: Names in place of numbers.
    categories: tuple[str, ...] = ()
    #: Fixed limits of the axis; with `None`, the data determine the limit.
    least: float | None = None
    greatest: float | None = None
    #: Whether the axis is logarithmic. All positions must then be positive.
    log: bool = False
    #: Whether the greatest value is on the left and the least value on the right.
    reversed: bool = False

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
    #: `solid`, `dashed` or `dotted`, so that lines differ not only in color.
    stroke: str = "solid"
    #: Whether each value applies until the next value.
    steps: bool = False
    #: Whether the area below the line is filled.
    filled: bool = False
    #: Whether the line is thin and behind the other lines.
    thin: bool = False
    #: Whether every point has a mark, because nothing was measured between the points.
    marked: bool = False
    #: The tooltip of each point, or of the whole line, in place of the position.
    notes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Points:
    """Single points, with error bars where `low` and `high` are given."""

    name: str
    color: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    #: Whether the symbol is an outline.
    hollow: bool = False
    #: The tooltip of each point, in place of the position.
    notes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Rule:
    """A straight line across the plot at one value, labeled with its name."""

    name: str
    color: str
    at: float
    stroke: str = "dashed"
    #: The position of the name along the line, so that the names of close rules do not overlap.
    side: Literal["right", "middle", "left"] = "right"


@dataclass(frozen=True)
class Span:
    """A shaded range of the horizontal axis."""

    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Cells:
    """The cells of a heat map, colored by value; both axes have categories, which `x` and `y` count."""

    #: The quantity that the colors show, with its unit.
    name: str
    x: Sequence[int]
    y: Sequence[int]
    #: A value that is not finite leaves its cell empty.
    values: Sequence[float]
    #: The tooltip of each cell.
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Parallel:
    """Parallel coordinates: a line for each row, colored by value, across an upright axis for each column."""

    #: The quantity that the colors show, with its unit.
    name: str
    axes: tuple[Axis, ...]
    #: The place of each line on every axis.
    rows: tuple[tuple[float, ...], ...]
    values: Sequence[float]
    #: The tooltip of each line.
    notes: tuple[str, ...]


Mark = Line | Points | Rule | Span | Cells | Parallel


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
    #: Whether the lines are stacked.
    stacked: bool = False

    def __post_init__(self) -> None:
        """Refuse a logarithmic axis with values that it cannot show; raises `InvalidInputError`."""
        for side, axis in (("x", self.x), ("y", self.y)):
            if axis.log and (bad := min(self._places(side), default=1.0)) <= 0.0:
                raise InvalidInputError(
                    f"`{axis.label}` has the value {bad:g}, which a logarithmic axis cannot show",
                    "draw this axis without log",
                )

    def ticks(self, side: Literal["x", "y"]) -> list[float]:
        """Return the ticks of a logarithmic axis; the first and the last are its ends."""
        found = list(self._places(side))
        ends = [*found, *(end for end in self._ends(side) if end > 0.0)]
        return _log_ticks(min(ends), max(ends)) if ends else [1.0, 10.0]

    def _places(self, side: str) -> Iterator[float]:
        """Return the positions of all points along an axis, without gaps."""
        for mark in self.marks:
            if isinstance(mark, Line | Points):
                yield from (
                    float(coordinate) for coordinate in getattr(mark, side) if math.isfinite(coordinate)
                )
            elif isinstance(mark, Rule) and side == "y":
                yield mark.at

    def _ends(self, side: str) -> Iterator[float]:
        """Return the ends of confidence intervals along an axis."""
        upright = "x" if self.y.categories else "y"
        for mark in self.marks:
            if isinstance(mark, Line | Points) and side == upright:
                for edge in (mark.low, mark.high):
                    yield from (float(end) for end in edge if math.isfinite(end)) if edge is not None else ()

    def __repr__(self) -> str:
        """Name the kind and the title; the numbers would fill the screen."""
        return f"<perhop.plot.{type(self).__name__} {self.kind}: {self.title}>"

    def to_json(self) -> dict[str, Any]:
        """Return the plot as the page's script expects it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "x": _axis(self.x, self.ticks("x") if self.x.log else []),
            "y": _axis(self.y, self.ticks("y") if self.y.log else []),
            "marks": [_mark(mark) for mark in self.marks],
            "caption": self.caption,
            "stacked": self.stacked,
        }


def thinned(line: Line) -> Line:
    """Return the line reduced to the points that are needed to draw it."""
    y = np.ascontiguousarray(line.y, dtype=np.float64)
    if line.low is not None and line.high is not None:
        # The edges draw the band. Keep the greatest value of the upper edge and the least value of the lower
        # edge.
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


def _log_ticks(least: float, greatest: float) -> list[float]:
    """Return ticks around two positive numbers: 1, 2 and 5 in each decade, or powers of ten."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(greatest))
    if last - first > _FINE_DECADES:
        stride = math.ceil((last - first) / _MOST_DECADES)
        return [10.0**power for power in range(first, last + stride, stride)]
    # Converted through text, because 2 * 10 ** -3 is not 0.002 in binary.
    every = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in (1, 2, 5)]
    begin = max((tick for tick in every if tick <= least), default=every[0])
    end = min((tick for tick in every if tick >= greatest), default=every[-1])
    if begin == end:
        end = every[every.index(begin) + 1]
    return [tick for tick in every if begin <= tick <= end]


def _axis(axis: Axis, ticks: Sequence[float] = ()) -> dict[str, Any]:
    return {
        "title": axis.title,
        "unit": axis.unit,
        "categories": list(axis.categories),
        "least": axis.least,
        "greatest": axis.greatest,
        "log": axis.log,
        "reversed": axis.reversed,
        "ticks": list(ticks),
    }


def _mark(mark: Mark) -> dict[str, Any]:
    """Return a mark; unset values are left out, which the script reads as false."""
    found: dict[str, Any] = {"type": type(mark).__name__.lower()}
    for name, value in vars(mark).items():
        if value is None or value is False:
            continue
        found[name] = [_number(element) for element in value] if name in _LISTS else value
    if isinstance(mark, Cells | Parallel):
        found["scale"] = SEQUENTIAL
        found["ends"] = scale_ends(mark.values)
    if isinstance(mark, Parallel):
        found["axes"] = [_axis(axis) for axis in mark.axes]
        found["rows"] = [[_number(coordinate) for coordinate in row] for row in mark.rows]
    return found


def scale_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the color scale of some values, round numbers; (0, 1) if none is finite."""
    ticks = scale_ticks(values)
    return ticks[0], ticks[-1]


def scale_ticks(values: Sequence[float]) -> list[float]:
    """Return the ticks of the color scale of some values, the ends included."""
    finite = [float(value) for value in values if math.isfinite(value)]
    return round_ticks(min(finite), max(finite)) if finite else round_ticks(0.0, 1.0)


def round_ticks(least: float, greatest: float) -> list[float]:
    """Return evenly spaced round numbers, from at or below `least` to at or above `greatest`."""
    if greatest <= least:
        greatest = least + (abs(least) or 1.0)
    wished = (greatest - least) / _STEPS
    decade = 10.0 ** math.floor(math.log10(wished))
    step = next(
        factor * decade for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * decade >= wished * (1 - 1e-9)
    )
    # A number that differs from a tick only in its last bits counts as the tick.
    first, last = math.floor(least / step + 1e-9), math.ceil(greatest / step - 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def _number(value: float) -> float | int | None:
    """Return a number rounded for a page; `None` for a gap."""
    value = float(value)
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short == int(short) else short
