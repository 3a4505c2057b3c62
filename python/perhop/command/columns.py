"""Tables on a terminal: on a narrow one split into parts, so that no number and no word is truncated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from perhop.command.lines import show_lines, wrapped
from perhop.command.screen import Screen, styled
from perhop.command.terminal import console

# Between two columns: a space that belongs to the second, and one of their border.
_PADDING = 2
# The indentation of rows below the name of their group.
_INDENT = 2
# Keys that use a larger part of the screen have separate lines.
_WIDEST_KEYS = 0.4


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, which may have several lines, and a text for each row."""

    name: str
    cells: Sequence[str]
    numeric: bool = True
    #: Whether it stays next to the following column if a table is split.
    with_next: bool = False
    #: The rank of omission from a table that may not be split: the greatest is omitted first, 0 never.
    spare: int = 0
    #: The style of each cell, if any.
    styles: Sequence[str] = ()

    @property
    def width(self) -> int:
        """The width in terminal columns."""
        return max(map(cell_len, [*self.name.split("\n"), *self.cells])) + _PADDING

    @property
    def heading(self) -> str:
        """The heading on one line."""
        return " ".join(self.name.split("\n"))


def show(title: str, keys: Sequence[Column], columns: Sequence[Column]) -> None:
    """Print a table, split into parts that fit the terminal; each part repeats the `keys`.

    Keys that leave little room for the columns have a separate line above each row.
    """
    screen = console()
    _print_title(screen, title)
    room = screen.width + _PADDING
    wide = sum(key.width for key in keys)
    if columns and wide > _WIDEST_KEYS * room and wide + sum(one.width for one in columns) > room:
        headings = ["  ".join(cells) for cells in zip(*(key.cells for key in keys), strict=True)]
        _show_below(screen, headings, [], columns)
        return
    for part in _parts(keys, columns, screen.width):
        screen.print(_table([*keys, *part]))
        screen.print()


def show_groups(title: str, groups: Sequence[str], keys: Sequence[Column], columns: Sequence[Column]) -> None:
    """Print a table with the names of groups above their rows, without columns that do not fit."""
    screen = console()
    _print_title(screen, title)
    shown = most_important([Column(" " * (_INDENT - _PADDING), []), *keys], columns)
    _show_below(screen, groups, keys, shown)
    if left_out := [column.heading for column in columns if column not in shown]:
        show_lines(f"on a wider terminal: {', '.join(left_out)}", {})


def _print_title(screen: Screen, title: str) -> None:
    # A title of the table itself would be wrapped at the table's width.
    screen.print(styled((wrapped(title, screen.width), "bold")), soft_wrap=True)


def _show_below(
    screen: Screen, headings: Sequence[str], keys: Sequence[Column], columns: Sequence[Column]
) -> None:
    """Print a table in parts, with a heading above the rows that have it."""
    for part in _parts(keys, columns, screen.width - _INDENT):
        lines = screen.render_lines(_table([*keys, *part]), pad=False)
        first = len(lines) - len(headings)
        for place, line in enumerate(lines, start=-first):
            if place == 0 or (place > 0 and headings[place] != headings[place - 1]):
                screen.print(wrapped(headings[place], screen.width), soft_wrap=True)
            screen.print(Segments([Segment(" " * _INDENT), *line, Segment.line()]), end="")
        screen.print()


def _table(columns: Sequence[Column]) -> Table:
    """Return a table with one line per row."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, 1))
    for column in columns:
        table.add_column(column.name, justify="right" if column.numeric else "left", no_wrap=True)
    for row in zip(*(_cells(column) for column in columns), strict=True):
        table.add_row(*row)
    return table


def _cells(column: Column) -> Iterator[str | Text]:
    if not column.styles:
        yield from column.cells
        return
    for text, style in zip(column.cells, column.styles, strict=True):
        yield styled((text, style))


def fit(columns: Sequence[Column]) -> bool:
    """Return whether columns fit next to each other on the terminal."""
    return sum(one.width for one in columns) - _PADDING <= console().width


def most_important(keys: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Return the columns that fit; columns that may be omitted are omitted first."""
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
    """Return the columns that stay next to each other."""
    group: list[Column] = []
    for column in columns:
        group.append(column)
        if not column.with_next:
            yield group
            group = []
    if group:
        yield group
