"""The table of a sweep on a terminal."""

from __future__ import annotations

from perhop.command.columns import Column, show
from perhop.quantity import WIDE, told_apart
from perhop.sweeping import Sweep, sweep_table


def show_sweep(sweep: Sweep) -> None:
    """Print the results of each class at each point, one row each."""
    table = sweep_table(sweep)
    columns = [
        # The unit below the name keeps the table narrow.
        Column(head.name.replace(" (", "\n("), [cell.text for cell in cells], head.numeric)
        for head, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True)
    ]
    keys = len(sweep.parameters) + 1
    columns[: keys - 1] = [_parameter(column) for column in columns[: keys - 1]]
    show(table.caption, columns[:keys], columns[keys:])


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
    return Column("\n".join(lines), told_apart(column.cells), column.numeric)
