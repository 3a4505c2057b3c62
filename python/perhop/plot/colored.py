"""Heat maps and parallel coordinates in static pictures: what is colored by value, with its scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from perhop.palette import SEQUENTIAL
from perhop.plot.description import Axis, Cells, Parallel, scale_ends
from perhop.printable import printable
from perhop.quantity import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

# Labels of a color scale and of an axis of parallel coordinates, both ends included.
_LABELS = 5


def cells(axes: Axes, mark: Cells) -> None:
    """Draw a heat map."""
    grid = np.full((max(mark.y) + 1, max(mark.x) + 1), math.nan)
    grid[np.asarray(mark.y), np.asarray(mark.x)] = mark.values
    from matplotlib.colors import Normalize  # lazy: optional package

    colors = _scale(axes, mark)
    # Cells lie around the places of their categories.
    columns, rows = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    axes.pcolormesh(
        columns, rows, np.ma.masked_invalid(grid), cmap=colors.cmap, norm=Normalize(*scale_ends(mark.values))
    )
    axes.grid(visible=False)


def parallel(axes: Axes, mark: Parallel) -> None:
    """Draw parallel coordinates."""
    colors = _scale(axes, mark)
    ends = [_ends(axis, [row[place] for row in mark.rows]) for place, axis in enumerate(mark.axes)]
    for row, value in zip(mark.rows, mark.values, strict=True):
        heights = [(one - low) / (high - low) for one, (low, high) in zip(row, ends, strict=True)]
        if math.isfinite(value):
            axes.plot(
                range(len(row)), heights, color=colors.to_rgba(np.asarray(value)), linewidth=0.9, alpha=0.75
            )
    for place, (axis, (low, high)) in enumerate(zip(mark.axes, ends, strict=True)):
        axes.axvline(place, color="#24292f", linewidth=1.0)
        for at in range(len(axis.categories)) or np.linspace(low, high, _LABELS):
            text = axis.categories[int(at)] if axis.categories else number(float(at), 3)
            height = (at - low) / (high - low)
            axes.annotate(
                printable(text),
                (place, float(height)),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=7,
                va="center",
            )
    axes.set_xticks(range(len(mark.axes)), labels=[printable(axis.title) for axis in mark.axes], fontsize=8)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)


def _ends(axis: Axis, values: list[float]) -> tuple[float, float]:
    """Return what stands at the foot and at the head of an axis of parallel coordinates."""
    least, greatest = (0.0, len(axis.categories) - 1.0) if axis.categories else (min(values), max(values))
    return (least, greatest) if greatest > least else (least - 0.5, least + 0.5)


def _scale(axes: Axes, mark: Cells | Parallel) -> ScalarMappable:
    """Return the color of each value, and draw the scale beside the plot with its ends labelled."""
    from matplotlib.cm import ScalarMappable  # lazy: optional package
    from matplotlib.colors import LinearSegmentedColormap, Normalize  # lazy: optional package

    ends = scale_ends(mark.values)
    colors = ScalarMappable(Normalize(*ends), LinearSegmentedColormap.from_list("values", SEQUENTIAL))
    ticks = np.linspace(*ends, _LABELS)
    bar = axes.figure.colorbar(colors, ax=axes, ticks=ticks)
    bar.set_ticklabels([number(float(one)) for one in ticks])
    bar.set_label(printable(mark.name))
    return colors
