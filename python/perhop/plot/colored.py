"""Heat maps and parallel coordinates in static pictures: plots colored by value, with their scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from perhop.palette import SEQUENTIAL
from perhop.plot.description import Axis, Cells, Parallel, round_ticks, scale_ends, scale_ticks
from perhop.quantity import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

# The size of labels of parallel coordinates, as a fraction of the font size.
_SMALL = 0.75


def cells(axes: Axes, mark: Cells, words: Callable[[str], str]) -> None:
    """Draw a heat map; `words` makes a text safe."""
    grid = np.full((max(mark.y) + 1, max(mark.x) + 1), math.nan)
    grid[np.asarray(mark.y), np.asarray(mark.x)] = mark.values
    from matplotlib.colors import Normalize  # lazy: optional package

    colors = _scale(axes, mark, words)
    # A cell is centered on the places of its categories.
    columns, rows = np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5
    axes.pcolormesh(
        columns, rows, np.ma.masked_invalid(grid), cmap=colors.cmap, norm=Normalize(*scale_ends(mark.values))
    )
    axes.grid(visible=False)


def parallel(axes: Axes, mark: Parallel, words: Callable[[str], str]) -> None:
    """Draw parallel coordinates; `words` makes a text safe."""
    from matplotlib import rcParams  # lazy: optional package

    colors, small = _scale(axes, mark, words), _SMALL * rcParams["font.size"]
    ticks = [_ticks(axis, [row[place] for row in mark.rows]) for place, axis in enumerate(mark.axes)]
    ends = [(axis_ticks[0], axis_ticks[-1]) for axis_ticks in ticks]
    for row, value in zip(mark.rows, mark.values, strict=True):
        heights = [
            (coordinate - low) / ((high - low) or 1.0)
            for coordinate, (low, high) in zip(row, ends, strict=True)
        ]
        if math.isfinite(value):
            axes.plot(
                range(len(row)), heights, color=colors.to_rgba(np.asarray(value)), linewidth=0.9, alpha=0.75
            )
    for place, (axis, of_axis) in enumerate(zip(mark.axes, ticks, strict=True)):
        axes.axvline(place, color=rcParams["axes.edgecolor"], linewidth=1.0)
        for at in of_axis:
            text = axis.categories[round(at)] if axis.categories else short(at)
            height = (at - of_axis[0]) / ((of_axis[-1] - of_axis[0]) or 1.0)
            axes.annotate(
                words(text),
                (place, height),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=small,
                va="center",
                bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.75, "linewidth": 0},
            )
    axes.set_xticks(range(len(mark.axes)), labels=[words(axis.title) for axis in mark.axes])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)


def _ticks(axis: Axis, values: list[float]) -> list[float]:
    """Return the labeled places of an axis of parallel coordinates, from its foot to its head."""
    if not axis.categories:
        return round_ticks(min(values), max(values))
    return [float(at) for at in range(len(axis.categories))]


def _scale(axes: Axes, mark: Cells | Parallel, words: Callable[[str], str]) -> ScalarMappable:
    """Return the color of each value, and draw the scale next to the plot with its ends labeled."""
    from matplotlib.cm import ScalarMappable  # lazy: optional package
    from matplotlib.colors import LinearSegmentedColormap, Normalize  # lazy: optional package

    ticks = scale_ticks(mark.values)
    norm = Normalize(ticks[0], ticks[-1])
    colors = ScalarMappable(norm, LinearSegmentedColormap.from_list("values", SEQUENTIAL))
    bar = axes.figure.colorbar(colors, ax=axes, ticks=ticks)
    bar.set_ticklabels([short(tick) for tick in ticks])
    bar.set_label(words(mark.name))
    return colors
