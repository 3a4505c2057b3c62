"""The user's options for a picture: title, names, size, font."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from perhop.errors import InvalidInputError
from perhop.plot.description import Axis, Description, Line, Mark, Parallel, Points, Rule, Span

_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
_LENGTH = r"(\d+(?:\.\d+)?|\.\d+)\s*(in|cm|mm|pt)"
_SIZE = re.compile(rf"{_LENGTH}(?:\s*[x×]\s*{_LENGTH})?")  # noqa: RUF001 - as people write sizes
_FONT = re.compile(r"(?P<family>.*?)\s*(?:(?P<size>\d+(?:\.\d+)?)\s*pt)?")
# The minimum and maximum size of a picture; a smaller picture has no space for its labels.
_LEAST_INCHES, _MOST_INCHES = 1.5, 40.0
_SMALLEST_POINTS, _LARGEST_POINTS = 4.0, 40.0
#: The names of the axes for labels.
_AXES = ("x", "y")


@dataclass(frozen=True)
class Look:
    """Replacements of the default title, names, size and font of a picture."""

    title: str | None = None
    #: The text in place of a name: of a class, a run or a parameter, or the label of the axis `x` or `y`.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: The width in inches.
    width: float | None = None
    height: float | None = None
    font: str | None = None
    #: The size of the font in points.
    font_size: float | None = None

    @classmethod
    def parse(
        cls,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        size: str | None = None,
        font: str | None = None,
    ) -> Look:
        """Read a size as `3.4in` or `8.5cm x 6cm`, and a font as `serif`, `Times New Roman 8pt` or `8pt`.

        Raises:
            InvalidInputError: the size or the font is invalid.

        """
        width, height = (None, None) if size is None else _size(size)
        family, points = (None, None) if font is None else _font(font)
        return cls(title, labels or {}, width, height, family, points)

    @property
    def is_of_pictures(self) -> bool:
        """Whether an option is set that does not apply to an interactive page."""
        return self.width is not None or self.font is not None or self.font_size is not None

    def worded(self, charts: Sequence[Description]) -> list[Description]:
        """Return charts with their title and names replaced.

        Raises:
            InvalidInputError: no chart has a name that a label replaces, or a title is given for several
                charts.

        """
        if self.title is not None and len(charts) > 1:
            raise InvalidInputError(
                f"--title is for one chart, but the plot has {len(charts)} charts",
                "plot one chart, or leave --title out",
            )
        known = {name for chart in charts for name in _names(chart)}
        for name in self.labels:
            if name not in known and name not in _AXES:
                there = ", ".join(sorted(known))
                raise InvalidInputError(
                    f"--label: the plot has no `{name}`", f"x, y, {there}" if there else "x, y"
                )
        return [self._worded(chart) for chart in charts]

    def _worded(self, chart: Description) -> Description:
        if self.title is None and not self.labels:
            return chart
        return replace(
            chart,
            title=chart.title if self.title is None else self.title,
            x=self._axis(chart.x, "x"),
            y=self._axis(chart.y, "y"),
            marks=tuple(self._mark(mark) for mark in chart.marks),
        )

    def _axis(self, axis: Axis, side: str) -> Axis:
        label = self.labels.get(side, self.labels.get(axis.label, axis.label))
        return replace(axis, label=label, categories=tuple(map(self._name, axis.categories)))

    def _mark(self, mark: Mark) -> Mark:
        if isinstance(mark, Parallel):
            return replace(mark, axes=tuple(self._axis(axis, "") for axis in mark.axes))
        return replace(mark, name=self._name(mark.name))

    def _name(self, name: str) -> str:
        """Return a name replaced as a whole or in its parts: `red, voice`."""
        if name in self.labels:
            return self.labels[name]
        return ", ".join(self.labels.get(part, part) for part in name.split(", "))


def _names(chart: Description) -> set[str]:
    """Return the names on a chart, and the parts of names with several parts."""
    axes = [chart.x, chart.y]
    whole = [mark.name for mark in chart.marks if isinstance(mark, Line | Points | Rule | Span)]
    for mark in chart.marks:
        axes += mark.axes if isinstance(mark, Parallel) else ()
    for axis in axes:
        whole += [axis.label, *axis.categories]
    return {part for name in whole for part in (name, *name.split(", ")) if part}


def _size(text: str) -> tuple[float, float | None]:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InvalidInputError(
            f"--size: `{text}` is not a size", "for example 3.4in, 8.5cm or 3.4in x 2.5in"
        )
    width = float(found[1]) * _INCHES[found[2]]
    height = None if found[3] is None else float(found[3]) * _INCHES[found[4]]
    for length in (width, *([] if height is None else [height])):
        if not _LEAST_INCHES <= length <= _MOST_INCHES:
            raise InvalidInputError(
                f"--size: {length:.3g} inches is out of range",
                f"use from {_LEAST_INCHES:g} to {_MOST_INCHES:g} inches",
            )
    return width, height


def _font(text: str) -> tuple[str | None, float | None]:
    found = _FONT.fullmatch(text.strip())
    assert found is not None, "every text is a family"
    points = None if found["size"] is None else float(found["size"])
    if points is not None and not _SMALLEST_POINTS <= points <= _LARGEST_POINTS:
        raise InvalidInputError(
            f"--font: {points:g} points is out of range",
            f"use from {_SMALLEST_POINTS:g}pt to {_LARGEST_POINTS:g}pt",
        )
    if not found["family"] and points is None:
        raise InvalidInputError(
            "--font: the text is empty", "for example serif, 'Times New Roman 8pt' or 8pt"
        )
    return found["family"] or None, points
