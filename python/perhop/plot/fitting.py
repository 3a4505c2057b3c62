"""Text that fits: wrapped by its measured width, ticks and names that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from perhop.quantity import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.text import Annotation, Text

# The gap between two labels of ticks, as a fraction of the height of a letter.
_APART = 0.5
_WIDER = 1.03
_TURNED, _UPRIGHT = 35.0, 90.0
# Steps between labels of numbers, the smallest first.
_STRIDES = (1, 2, 5, 10, 20, 50, 100, 200, 500)


class Ruler:
    """Measures texts of a figure, in inches."""

    def __init__(self, figure: Figure) -> None:
        """Measure with the text layout of raster images."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # lazy: optional package

        self._figure = figure
        self._renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]

    def width(self, text: str, font: FontProperties) -> float:
        """Return the width of a line."""
        wide, _, _ = self._renderer.get_text_width_height_descent(text, font, ismath=False)
        # The factor allows for the width of letters, which depends slightly on the resolution of the picture.
        return _WIDER * float(wide) / self._figure.dpi

    def size(self, artist: Any) -> tuple[float, float]:  # noqa: ANN401 - an artist with an extent
        """Return width and height of an artist."""
        box = artist.get_window_extent(self._renderer)
        return box.width / self._figure.dpi, box.height / self._figure.dpi

    def wrapped(self, text: str, room: float, font: FontProperties) -> list[str]:
        """Return the lines of a text; a word that is wider than the room is divided."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if self.width(longer, font) <= room:
                lines[-1] = longer
                continue
            if lines[-1]:
                lines.append("")
            rest = word
            while self.width(rest, font) > room and len(rest) > 1:
                fits = next((n for n in range(len(rest) - 1, 1, -1) if self.width(rest[:n], font) <= room), 1)
                lines[-1] = rest[:fits]
                lines.append("")
                rest = rest[fits:]
            lines[-1] = rest
        return lines if lines != [""] else []


def fit_ticks(axes: Axes, x_names: Sequence[str], y_names: Sequence[str]) -> None:
    """Prevent overlapping tick labels: omit some numbers, and turn names.

    Requires a figure after its layout. The names are the labels of axes with categories.
    """
    texts = [label for label in axes.get_xticklabels() if label.get_text()]
    if _overlap(texts, "x"):
        if x_names and not _are_numbers(x_names):
            _turn(axes, texts)
        else:
            _thin(axes, x_names, "x")
    texts = [label for label in axes.get_yticklabels() if label.get_text()]
    if _overlap(texts, "y") and _are_numbers(y_names):
        _thin(axes, y_names, "y")


def _overlap(texts: Sequence[Text], side: str) -> bool:
    """Return whether labels of ticks touch each other."""
    boxes = sorted(
        (box.x0, box.x1, box.height) if side == "x" else (box.y0, box.y1, 0.0)
        for box in (label.get_window_extent() for label in texts)
    )
    return any(end + _APART * height > begin for (_, end, height), (begin, _, _) in pairwise(boxes))


def _turn(axes: Axes, texts: Sequence[Text]) -> None:
    """Turn names below an axis, only as far as necessary."""
    boxes = [label.get_window_extent() for label in texts]
    centers = sorted((box.x0 + box.x1) / 2 for box in boxes)
    step = min((b - a for a, b in pairwise(centers)), default=0.0)
    high = max(box.height for box in boxes)
    # The distance of lines at an angle is proportional to the sine of the angle.
    angle = _TURNED if step * 0.57 > high * 1.1 else _UPRIGHT
    for label in axes.get_xticklabels():
        label.set(
            rotation=angle, ha="right", rotation_mode="anchor", va="center" if angle == _UPRIGHT else "top"
        )


def _are_numbers(names: Sequence[str]) -> bool:
    return bool(names) and all(quantity(name.replace(",", "")) is not None for name in names)


def _thin(axes: Axes, names: Sequence[str], side: str) -> None:
    """Label every second, fifth or tenth value; of evenly spaced values, label the round ones."""
    axis = axes.xaxis if side == "x" else axes.yaxis
    places = [float(place) for place in axis.get_ticklocs()]
    labels = [label.get_text() for label in axis.get_ticklabels()]
    for stride in _STRIDES[1:]:
        first = _first_round(names, stride) if names else _first_power(labels, stride)
        kept = [at for at in range(len(places)) if (at - first) % stride == 0]
        shown = [text if at in kept else "" for at, text in enumerate(labels)]
        axis.set_ticks(places, labels=shown)
        axes.figure.draw_without_rendering()  # type: ignore[union-attr]
        if not _overlap([label for label in axis.get_ticklabels() if label.get_text()], side):
            return


def _first_round(names: Sequence[str], stride: int) -> int:
    """Return the index of the first value that is a multiple of `stride` steps."""
    values = [found[0] if (found := quantity(name.replace(",", ""))) else 0.0 for name in names]
    step = values[1] - values[0] if len(values) > 1 else 0.0
    for at, value in enumerate(values[:stride]):
        if step and abs(value / (step * stride) - round(value / (step * stride))) < 1e-6:
            return at
    return 0


def _first_power(labels: Sequence[str], stride: int) -> int:
    """Return the index of the first power of ten among the labels of a logarithmic axis."""
    powers = [at for at, text in enumerate(labels[:stride]) if text.strip("0.,") == "1"]
    return powers[0] if powers else 0


def spread(figure: Figure, notes: Sequence[Annotation], axes: Axes) -> None:
    """Move notes at the right of an axis up and down, so that no note covers another."""
    from matplotlib.text import Text  # lazy: optional package

    if not notes:
        return
    figure.draw_without_rendering()
    order = sorted(notes, key=lambda note: note.xy[1])
    anchors = [float(axes.transData.transform((0.0, note.xy[1]))[1]) for note in order]
    # The extent of the text does not include the line to its rule.
    gap = max(Text.get_window_extent(note).height for note in order)
    box = axes.get_window_extent()
    for note, anchor, place in zip(order, anchors, apart(anchors, gap, box.y0, box.y1), strict=True):
        note.xyann = (note.xyann[0], (place - anchor) * 72.0 / figure.dpi)


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return ascending places between two ends, at least a gap apart and close to the given places.

    After subtraction of the gaps, each place is the mean of its block: isotonic regression (Barlow and Brunk
    1972).
    """
    pools: list[tuple[float, int]] = []
    for at, place in enumerate(places):
        mean, count = place - at * gap, 1
        while pools and pools[-1][0] > mean:
            before, several = pools.pop()
            mean, count = (before * several + mean * count) / (several + count), several + count
        pools.append((mean, count))
    bases = [mean for mean, count in pools for _ in range(count)]
    last = max(high - (len(places) - 1) * gap, low)
    return [min(max(base, low), last) + at * gap for at, base in enumerate(bases)]
