"""Drawings as PNG and PDF: the elements that `perhop.draw.svg` makes, drawn by matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from perhop.errors import MissingCapabilityError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG = "{http://www.w3.org/2000/svg}"
_FONTS = ["Inter", "Helvetica Neue", "Arial", "DejaVu Sans"]
# Points of a picture's unit: the pixel of CSS.
_POINT = 0.75
_DOTS_PER_INCH = 192
# The arrow head at the end of a flow: length and half its width, in units of the picture.
_HEAD, _HALF = 8.0, 4.0
_STEP = re.compile(r"[MLHVCZz]|-?\d+(?:\.\d+)?")
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


@dataclass(frozen=True)
class _Placed:
    """An element, and the place of its group."""

    element: ElementTree.Element
    x: float
    y: float

    @property
    def kind(self) -> str:
        return self.element.tag.removeprefix(_SVG)

    def number(self, name: str, usual: float = 0.0) -> float:
        return float(self.element.get(name, usual))

    def paint(self, name: str, usual: str) -> str:
        return self.element.get(name, usual)


def image(document: str, suffix: str) -> bytes:
    """Return a drawing, given as SVG, as a `.png` or `.pdf` file.

    Raises:
        MissingCapabilityError: matplotlib is not installed.

    """
    try:
        from matplotlib import font_manager, rc_context  # lazy: optional package
        from matplotlib.figure import Figure  # lazy: optional package
    except ImportError as error:
        raise MissingCapabilityError(
            f"drawings in {suffix} need matplotlib, which is not installed",
            "pip install 'perhop[plot]'; drawings in .svg do not need it",
        ) from error
    root = ElementTree.fromstring(document)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    # The fonts are selected by name, so that a letter that the first font lacks comes from the next font.
    here = font_manager.fontManager.get_font_names()
    made = io.BytesIO()
    family = [name for name in _FONTS if name in here]
    with rc_context({"font.family": family, "text.parse_math": False}):
        figure = Figure(figsize=(width * _POINT / 72, height * _POINT / 72))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0.0, width)
        axes.set_ylim(height, 0.0)
        for order, placed in enumerate(_elements(root, 0.0, 0.0)):
            _draw(axes, placed, order)
        # Without a date, equal drawings give equal bytes.
        metadata = {"CreationDate": None} if suffix == ".pdf" else {}
        figure.savefig(made, format=suffix[1:], dpi=_DOTS_PER_INCH, metadata=metadata)
    return made.getvalue()


def _elements(parent: ElementTree.Element, x: float, y: float) -> Iterator[_Placed]:
    """Generate the elements in `parent` in drawing order, each with the position of its group."""
    for element in parent:
        kind = element.tag.removeprefix(_SVG)
        if kind == "g":
            moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
            yield from _elements(
                element, x + float(moved[1] if moved else 0), y + float(moved[2] if moved else 0)
            )
        elif kind in ("rect", "path", "text"):
            yield _Placed(element, x, y)


def _draw(axes: Axes, placed: _Placed, order: int) -> None:
    if placed.kind == "text":
        axes.text(
            placed.x + placed.number("x"),
            placed.y + placed.number("y"),
            placed.element.text or "",
            fontsize=placed.number("font-size", 12.0) * _POINT,
            color=placed.paint("fill", "#24292f"),
            fontweight=placed.paint("font-weight", "normal"),
            ha=_ANCHORS[placed.paint("text-anchor", "start")],
            va="baseline",
            zorder=order,
        )
    elif placed.kind == "rect":
        _rectangle(axes, placed, order)
    else:
        _path(axes, placed, order)


def _rectangle(axes: Axes, placed: _Placed, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch  # lazy: optional package

    width, height = placed.number("width"), placed.number("height")
    radius = min(placed.number("rx"), width / 2, height / 2)
    # The style enlarges a box by its padding. Without padding, the size is unchanged.
    style = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
    axes.add_patch(
        FancyBboxPatch(
            (placed.x + placed.number("x"), placed.y + placed.number("y")),
            width,
            height,
            boxstyle=style,
            facecolor=placed.paint("fill", "#24292f"),
            edgecolor=placed.paint("stroke", "none"),
            linewidth=placed.number("stroke-width", 1.0) * _POINT,
            zorder=order,
        )
    )


def _path(axes: Axes, placed: _Placed, order: int) -> None:
    from matplotlib.patches import PathPatch, Polygon  # lazy: optional package
    from matplotlib.path import Path  # lazy: optional package

    points, codes = _points(placed)
    stroke = placed.paint("stroke", "none")
    axes.add_patch(
        PathPatch(
            Path(points, codes),
            facecolor=placed.paint("fill", "#24292f"),
            edgecolor=stroke,
            linewidth=placed.number("stroke-width", 1.0) * _POINT,
            zorder=order,
        )
    )
    if "marker-end" in placed.element.attrib:
        (x, y), (from_x, from_y) = points[-1], points[-2]
        length = ((x - from_x) ** 2 + (y - from_y) ** 2) ** 0.5 or 1.0
        along, across = (
            ((x - from_x) / length, (y - from_y) / length),
            ((from_y - y) / length, (x - from_x) / length),
        )
        foot = x - _HEAD * along[0], y - _HEAD * along[1]
        corners = [
            (x, y),
            (foot[0] + _HALF * across[0], foot[1] + _HALF * across[1]),
            (foot[0] - _HALF * across[0], foot[1] - _HALF * across[1]),
        ]
        axes.add_patch(Polygon(corners, facecolor=stroke, edgecolor="none", zorder=order))


def _points(placed: _Placed) -> tuple[list[tuple[float, float]], list[int]]:
    """Return the points of a path and matplotlib's codes of their steps."""
    from matplotlib.path import Path  # lazy: optional package

    steps = iter(_STEP.findall(placed.element.get("d", "")))
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for step in steps:
        if step in "Zz":
            points.append(points[0])
            codes.append(int(Path.CLOSEPOLY))
            continue
        last = points[-1] if points else (0.0, 0.0)
        if step == "H":
            points.append((placed.x + float(next(steps)), last[1]))
        elif step == "V":
            points.append((last[0], placed.y + float(next(steps))))
        else:
            for _ in range(3 if step == "C" else 1):
                points.append((placed.x + float(next(steps)), placed.y + float(next(steps))))
        code = {"M": Path.MOVETO, "C": Path.CURVE4}.get(step, Path.LINETO)
        codes += [int(code)] * (3 if step == "C" else 1)
    return points, codes
