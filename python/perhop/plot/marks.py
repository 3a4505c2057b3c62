"""The marks of a plot, drawn into axes of matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from perhop.plot.colored import cells, parallel
from perhop.plot.description import Cells, Description, Line, Mark, Parallel, Points, Rule, Span
from perhop.plot.style import color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (6, 2)), "dotted": (0, (1.5, 2))}
_POST: Literal["post"] = "post"
# The length of dashes of lines on the same points, so that each line is visible in turn.
_TURN = 6.0
# Later marks are drawn above earlier marks, and thin lines below all marks.
_BEHIND, _FIRST, _NEXT = 2.0, 3.0, 0.5
_THIN = 0.5


@dataclass(frozen=True)
class Pen:
    """Draws marks into axes."""

    axes: Axes
    #: Makes a text safe for the output.
    words: Callable[[str], str]
    #: Whether the legend has the names of rules; otherwise the names are at the right of the axes.
    names_rules: bool

    def draw(self, chart: Description) -> None:
        """Draw all marks of a plot."""
        if chart.stacked:
            self._stack([mark for mark in chart.marks if isinstance(mark, Line)])
            return
        # If the axis shows all points, the points at its ends are drawn whole.
        is_clipped = chart.x.least is not None or chart.x.greatest is not None
        for place, (mark, stroke) in enumerate(zip(chart.marks, strokes(chart.marks), strict=True)):
            above = _FIRST + place * _NEXT
            if isinstance(mark, Line):
                self._line(mark, stroke, zorder=_BEHIND if mark.thin else above, clip_on=is_clipped)
            elif isinstance(mark, Points):
                self._points(mark, upright=not chart.y.categories, zorder=above, clip_on=is_clipped)
            elif isinstance(mark, Rule):
                self._rule(mark, stroke)
            elif isinstance(mark, Cells):
                cells(self.axes, mark, self.words)
            elif isinstance(mark, Parallel):
                parallel(self.axes, mark, self.words)
            elif isinstance(mark, Span):
                how: dict[str, Any] = {"color": "#6e7781", "alpha": 0.14, "linewidth": 0}
                self.axes.axvspan(mark.begin, mark.end, label=self.legend(mark.name), **how)

    def _place(self, *artists: Any) -> None:  # noqa: ANN401 - artists of matplotlib
        """Exclude marks that reach the ends of the axes from the layout, which would reserve their space."""
        for artist in artists:
            artist.set_in_layout(False)

    def legend(self, name: str) -> str:
        """Return a name for the legend; matplotlib omits names with an initial underscore."""
        return self.words(f" {name}" if name.startswith("_") else name)

    def _stack(self, lines: Sequence[Line]) -> None:
        if lines:
            colors = [color(line.color) for line in lines]
            labels = [self.legend(line.name) for line in lines]
            ys = (line.y for line in lines)
            self.axes.stackplot(lines[0].x, *ys, labels=labels, colors=colors, alpha=0.85)

    def _line(self, mark: Line, stroke: Any, **how: Any) -> None:  # noqa: ANN401 - as matplotlib takes them
        shade, step = color(mark.color), _POST if mark.steps else None
        if mark.low is not None and mark.high is not None:
            self.axes.fill_between(mark.x, mark.low, mark.high, color=shade, alpha=0.16, linewidth=0)
        if mark.filled:
            self.axes.fill_between(mark.x, mark.y, color=shade, alpha=0.18, linewidth=0, step=step)
        if mark.thin:
            how["linewidth"] = _THIN * self._rc("lines.linewidth")
        how["color"] = shade
        how["marker"], how["markersize"] = "o" if mark.marked else None, 0.7 * self._rc("lines.markersize")
        usual = _DASHES[mark.stroke]
        drawn = self.axes.plot(
            mark.x,
            mark.y,
            label=self.legend(mark.name) if stroke == usual else None,
            linestyle=stroke,
            drawstyle="steps-post" if mark.steps else "default",
            **how,
        )
        self._place(*drawn)
        if stroke != usual:
            # The legend shows the line without the dashes of overlapping lines.
            self._place(*self.axes.plot([], [], label=self.legend(mark.name), linestyle=usual, **how))

    def _rule(self, mark: Rule, stroke: Any) -> None:  # noqa: ANN401 - as matplotlib takes it
        how: dict[str, Any] = {"color": color(mark.color), "linewidth": 1.0}
        self._place(self.axes.axhline(mark.at, linestyle=stroke, clip_on=False, **how))
        if self.names_rules:
            self.axes.plot([], [], label=self.legend(mark.name), linestyle=_DASHES[mark.stroke], **how)

    def _points(self, mark: Points, *, upright: bool, **how: Any) -> None:  # noqa: ANN401 - as matplotlib takes them
        shade, size = color(mark.color), self._rc("lines.markersize")
        at = np.asarray(mark.y if upright else mark.x, dtype=float)
        errors = None
        if mark.low is not None and mark.high is not None:
            errors = np.vstack([at - np.asarray(mark.low), np.asarray(mark.high) - at]).clip(min=0.0)
        drawn = self.axes.errorbar(
            mark.x,
            mark.y,
            xerr=None if upright else errors,
            yerr=errors if upright else None,
            label=self.legend(mark.name),
            linestyle="none",
            marker="D" if mark.hollow else "o",
            markersize=1.1 * size if mark.hollow else 0.85 * size,
            markerfacecolor="none" if mark.hollow else shade,
            color=shade,
            capsize=3,
            **how,
        )
        self._place(*drawn.get_children())

    def _rc(self, name: Literal["lines.linewidth", "lines.markersize"]) -> float:
        from matplotlib import rcParams  # lazy: optional package

        return float(rcParams[name])


def strokes(marks: Sequence[Mark]) -> list[Any]:
    """Return the line style of each mark. Lines on the same points are visible in turn."""
    same: dict[bytes, list[int]] = {}
    for place, mark in enumerate(marks):
        if isinstance(mark, Line):
            points = (np.asarray(mark.x, dtype=float), np.asarray(mark.y, dtype=float))
            same.setdefault(b"".join(coordinates.tobytes() for coordinates in points), []).append(place)
        elif isinstance(mark, Rule):
            same.setdefault(np.float64(mark.at).tobytes(), []).append(place)
    found = [_DASHES[getattr(mark, "stroke", "solid")] for mark in marks]
    for places in same.values():
        for turn, place in enumerate(places if len(places) > 1 else ()):
            found[place] = ((len(places) - turn) * _TURN, (_TURN, (len(places) - 1) * _TURN))
    return found
