"""The table of a sweep on a terminal."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl

from perhop.command.columns import Column, show
from perhop.command.terminal import print_note
from perhop.quantity import WIDE, shortened
from perhop.sweeping import Sweep

# The maximum number of shown points and reasons of failures; the folder has all of them.
_MOST = 100
_REASONS = 5


def show_sweep(sweep: Sweep) -> None:
    """Print the results of each class at each point, one row each, and the failed points."""
    table = sweep.class_table(_MOST)
    columns = [
        # The unit below the name keeps the table narrow.
        Column(head.name.replace(" (", "\n("), [cell.text for cell in cells], head.numeric)
        for head, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True)
    ]
    keys = len(sweep.parameters) + 1
    columns[: keys - 1] = [_parameter(column) for column in columns[: keys - 1]]
    if table.rows:
        show(table.caption, columns[:keys], columns[keys:])
    if (more := sweep.points.height - _MOST) > 0:
        print_note(f"and {more:,} more points: -o keeps them, --json prints them")


def show_failures(failures: pl.DataFrame, folder: Path | None) -> None:
    """Report points that failed on stderr: each reason once, with its first point and its command."""
    reasons: dict[str, list[int]] = {}
    for point, error in failures.select("point", "error").iter_rows():
        reasons.setdefault(error, []).append(point)
    for error, points in list(reasons.items())[:_REASONS]:
        others = f" and {len(points) - 1:,} more" if len(points) > 1 else ""
        print_note(f"point {points[0]}{others} failed: {error}")
        if folder is not None:
            print_note(f"  to repeat it: perhop run --from {shlex.quote(f'{folder}:{points[0]}')}")
    if (more := len(reasons) - _REASONS) > 0:
        print_note(f"and {more:,} more reasons")


def _parameter(column: Column) -> Column:
    """Return the column of a parameter, narrow enough to leave room for the results."""
    lines = [""]
    for part in column.name.split("."):
        longer = f"{lines[-1]}.{part}" if lines[-1] else part
        if lines[-1] and len(longer) > WIDE:
            lines[-1] += "."
            lines.append(part)
        else:
            lines[-1] = longer
    return Column("\n".join(lines), shortened(column.cells), column.numeric)
