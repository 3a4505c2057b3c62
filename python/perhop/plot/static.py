"""Plots as static pictures, drawn by matplotlib from their description."""

from __future__ import annotations

import io
import textwrap
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perhop.errors import MissingCapabilityError
from perhop.palette import PALETTE
from perhop.plot.colored import cells, parallel
from perhop.plot.description import Cells, Description, Line, Parallel, Points, Rule, Span
from perhop.printable import printable
from perhop.saving import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = {"solid": "-", "dashed": (0, (6, 2)), "dotted": (0, (1.5, 2))}
_WIDTH, _HEIGHT = 7.2, 4.2
# Where along an axis the name of a rule ends.
_SIDES = {"right": 1.0, "middle": 0.66, "left": 0.32}
_CAPTION_COLUMNS, _TITLE_COLUMNS = 138, 68
_INK, _FAINT = "#24292f", "#d8dee4"


def write(chart: Description, file: Path) -> None:
    """Write a plot to an SVG, PNG or PDF file."""
    # Without date and version, equal plots give equal bytes.
    kinds: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None, "Creator": "perhop"},
        ".pdf": {"CreationDate": None},
    }
    with _style(), whole_file(file) as new:
        figure = _figure(chart)
        figure.savefig(new, format=file.suffix[1:], metadata=kinds.get(file.suffix, {}), dpi=160)


def svg(chart: Description) -> str:
    """Return a plot as SVG."""
    text = io.StringIO()
    with _style():
        _figure(chart).savefig(text, format="svg", metadata={"Date": None, "Creator": "perhop"})
    return text.getvalue()


def _style() -> AbstractContextManager[None]:
    """Return the settings of all pictures; raises `MissingCapabilityError` without matplotlib."""
    try:
        from matplotlib import rc_context  # lazy: optional package
    except ImportError as error:
        raise MissingCapabilityError(
            "SVG, PNG and PDF need matplotlib, which is not installed",
            "pip install 'perhop[plot]'; plots in .html do not need it",
        ) from error
    return rc_context(
        {
            "svg.hashsalt": "perhop",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.sans-serif": ["Inter", "Helvetica Neue", "Arial", "DejaVu Sans"],
            "font.size": 9.5,
            # Names are no formulas.
            "text.parse_math": False,
            "text.color": _INK,
            "axes.edgecolor": _INK,
            "axes.labelcolor": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": _FAINT,
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            # Axes end in a label.
            "axes.autolimit_mode": "round_numbers",
            "axes.xmargin": 0.0,
            "axes.ymargin": 0.0,
            "figure.facecolor": "white",
        }
    )


def _figure(chart: Description) -> Figure:
    from matplotlib.figure import Figure  # lazy: optional package

    caption = textwrap.wrap(printable(chart.caption), _CAPTION_COLUMNS)
    rows = max(len(chart.y.categories) * 0.32 + 1.6, _HEIGHT)
    height = rows + 0.16 * len(caption)
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(
        textwrap.fill(printable(chart.title), _TITLE_COLUMNS),
        loc="left",
        fontsize=11.5,
        fontweight="bold",
        pad=10,
    )
    _draw(axes, chart)
    if not any(isinstance(mark, Parallel) for mark in chart.marks):
        _label(axes, chart)
        _label_logarithms(axes, chart)
    figure.supxlabel("\n".join(caption), fontsize=7.5, x=0.01, ha="left", color="#57606a")
    return figure


def _draw(axes: Axes, chart: Description) -> None:
    if chart.stacked:
        lines = [mark for mark in chart.marks if isinstance(mark, Line)]
        if lines:
            colors = [_color(line.color) for line in lines]
            labels = [_legend(line.name) for line in lines]
            axes.stackplot(lines[0].x, *(line.y for line in lines), labels=labels, colors=colors, alpha=0.85)
        return
    for mark in chart.marks:
        if isinstance(mark, Line):
            _line(axes, mark)
        elif isinstance(mark, Points):
            _points(axes, mark, upright=not chart.y.categories)
        elif isinstance(mark, Rule):
            axes.axhline(mark.at, color=_color(mark.color), linestyle=_DASHES[mark.stroke], linewidth=1.0)
            axes.annotate(
                printable(mark.name),
                (_SIDES[mark.side], mark.at),
                xycoords=("axes fraction", "data"),
                xytext=(-3, 2),
                textcoords="offset points",
                ha="right",
                fontsize=7.5,
                color=_color(mark.color),
            )
        elif isinstance(mark, Cells):
            cells(axes, mark)
        elif isinstance(mark, Parallel):
            parallel(axes, mark)
        elif isinstance(mark, Span):
            _span(axes, mark)


def _line(axes: Axes, mark: Line) -> None:
    color = _color(mark.color)
    if mark.low is not None and mark.high is not None:
        axes.fill_between(mark.x, mark.low, mark.high, color=color, alpha=0.16, linewidth=0)
    if mark.filled:
        axes.fill_between(
            mark.x, mark.y, color=color, alpha=0.18, linewidth=0, step="post" if mark.steps else None
        )
    axes.plot(
        mark.x,
        mark.y,
        label=_legend(mark.name),
        color=color,
        linestyle=_DASHES[mark.stroke],
        linewidth=0.8 if mark.thin else 1.7,
        drawstyle="steps-post" if mark.steps else "default",
        marker="o" if mark.marked else None,
        markersize=4,
        zorder=2 if mark.thin else 3,
    )


def _points(axes: Axes, mark: Points, *, upright: bool) -> None:
    color = _color(mark.color)
    at = np.asarray(mark.y if upright else mark.x, dtype=float)
    errors = None
    if mark.low is not None and mark.high is not None:
        errors = np.vstack([at - np.asarray(mark.low), np.asarray(mark.high) - at]).clip(min=0.0)
    axes.errorbar(
        mark.x,
        mark.y,
        xerr=None if upright else errors,
        yerr=errors if upright else None,
        label=_legend(mark.name),
        linestyle="none",
        marker="D" if mark.hollow else "o",
        markersize=6.5 if mark.hollow else 5,
        markerfacecolor="none" if mark.hollow else color,
        color=color,
        capsize=3,
        zorder=4,
    )


def _span(axes: Axes, mark: Span) -> None:
    axes.axvspan(mark.begin, mark.end, color="#6e7781", alpha=0.14, linewidth=0, label=_legend(mark.name))


def _label(axes: Axes, chart: Description) -> None:
    axes.set_xlabel(printable(chart.x.title))
    axes.set_ylabel(printable(chart.y.title))
    if chart.x.least is not None or chart.x.greatest is not None:
        axes.set_xlim(left=chart.x.least, right=chart.x.greatest)
    if chart.x.categories:
        axes.set_xticks(range(len(chart.x.categories)), labels=list(map(printable, chart.x.categories)))
        axes.set_xlim(-0.5, len(chart.x.categories) - 0.5)
    if chart.y.categories:
        axes.set_yticks(range(len(chart.y.categories)), labels=list(map(printable, chart.y.categories)))
        axes.set_ylim(-0.6, len(chart.y.categories) - 0.4)
    else:
        room = 1.02 if chart.y.greatest is not None else None
        axes.set_ylim(
            bottom=chart.y.least, top=chart.y.greatest * room if chart.y.greatest and room else None
        )
    if axes.get_legend_handles_labels()[0]:
        axes.figure.legend(loc="outside upper right", ncols=4, frameon=False, fontsize=8.5)


def _label_logarithms(axes: Axes, chart: Description) -> None:
    """Set up logarithmic axes: from the first to the last tick, each with its label."""
    if chart.x.log:
        ticks = chart.ticks("x")
        axes.set_xscale("log")
        axes.set_xticks(ticks, labels=[f"{one:,g}" for one in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlim(ticks[0], ticks[-1])
    if chart.y.log:
        ticks = chart.ticks("y")
        axes.set_yscale("log")
        axes.set_yticks(ticks, labels=[f"{one:,g}" for one in ticks])
        axes.set_yticks([], minor=True)
        axes.set_ylim(ticks[0], ticks[-1])
    if chart.x.reversed:
        axes.invert_xaxis()


def _legend(name: str) -> str:
    """Return a name for the legend, from which matplotlib leaves out what begins with an underscore."""
    return printable(f" {name}" if name.startswith("_") else name)


def _color(role: str) -> str:
    return PALETTE[role][0]
