"""Tables on a terminal: on a narrow one split into parts, so that no number is truncated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from perhop.command.screen import styled
from perhop.command.terminal import console

# Between two columns: a space that belongs to the second, and one of their border.
_PADDING = 2


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, which may have several lines, and a text for each row."""

    name: str
    cells: Sequence[str]
    numeric: bool = True
    #: Whether it stands beside the next column also where a table is split.
    with_next: bool = False
    #: How early it is left out of a table that may not be split: the greatest first, 0 never.
    spare: int = 0

    @property
    def width(self) -> int:
        """The width in terminal columns."""
        return max(map(len, [*self.name.split("\n"), *self.cells])) + _PADDING


def show(title: str, keys: Sequence[Column], columns: Sequence[Column]) -> None:
    """Print a table, split into parts that fit the terminal; each part repeats the `keys`."""
    screen = console()
    # A title of the table itself would be wrapped at the table's width.
    screen.print(styled((title, "bold")))
    for part in _parts(keys, columns, screen.width):
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, 1))
        for column in (*keys, *part):
            table.add_column(column.name, justify="right" if column.numeric else "left", no_wrap=True)
        for row in zip(*(column.cells for column in (*keys, *part)), strict=True):
            table.add_row(*row)
        screen.print(table)
        screen.print()


def fit(columns: Sequence[Column]) -> bool:
    """Return whether columns fit beside each other on the terminal."""
    return sum(one.width for one in columns) - _PADDING <= console().width


def most_important(keys: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Return the columns without those that may be left out and find no room."""
    shown = list(columns)
    while not fit([*keys, *shown]) and (most := max(shown, key=lambda one: one.spare)).spare:
        shown.remove(most)
    return shown


def _parts(keys: Sequence[Column], columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Return the columns in order, in as few parts as fit."""
    room = width + _PADDING - sum(key.width for key in keys)
    parts: list[list[Column]] = [[]]
    for group in _groups(columns):
        if parts[-1] and sum(one.width for one in (*parts[-1], *group)) > room:
            parts.append([])
        parts[-1] += group
    return parts


def _groups(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Return the columns that stay beside each other."""
    group: list[Column] = []
    for column in columns:
        group.append(column)
        if not column.with_next:
            yield group
            group = []
    if group:
        yield group
