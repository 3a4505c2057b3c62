"""Tables of bounds on a terminal."""

from __future__ import annotations

from perhop.command.columns import Column, show
from perhop.tables import Table


def show_table(table: Table, *, keys: int) -> None:
    """Print a table whose first columns are its keys. A table without rows is not shown."""
    if not table.rows:
        return
    columns = [
        # The unit below the name keeps the table narrow.
        Column(head.name.replace(" (", "\n("), [cell.text for cell in cells], head.numeric)
        for head, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True)
    ]
    show(table.caption, columns[:keys], columns[keys:])
