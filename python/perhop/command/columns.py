"""Tables on a terminal: on a narrow one split into parts, so that no number and no word is truncated."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perhop.command.ink import painted
from perhop.command.lines import show_lines, table_width, wrapped
from perhop.printable import printable

# The space between two columns.
_PADDING = 2
# The indentation of rows below the name of their group.
_INDENT = 2
# The maximum share of the screen for keys. Wider keys have separate lines.
_WIDEST_KEYS = 0.4
# Characters in tables of perhop that take one column of a terminal.
_SIGNS = str.maketrans(dict.fromkeys("≥≤±µ…", "-"))


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, which may have several lines, and a text for each row."""

    name: str
    cells: Sequence[str]
    numeric: bool = True
    #: Whether the column stays next to the following column if a table is split.
    with_next: bool = False
    #: The rank for omission from a table that cannot be split. The column with the largest rank is omitted
    #: first, a column with 0 never.
    spare: int = 0
    #: The style of each cell, if any.
    styles: Sequence[str] = ()

    @property
    def width(self) -> int:
        """The width in terminal columns."""
        return max(map(_length, [*self.name.split("\n"), *self.cells])) + _PADDING

    @property
    def heading(self) -> str:
        """The heading on one line."""
        return " ".join(self.name.split("\n"))


def show(title: str, keys: Sequence[Column], columns: Sequence[Column]) -> None:
    """Print a table, split into parts that fit the terminal; each part repeats the `keys`.

    Keys that leave little room for the columns have a separate line above each row.
    """
    width = table_width()
    _print_title(title, width)
    room = width + _PADDING
    wide = sum(key.width for key in keys)
    if columns and wide > _WIDEST_KEYS * room and wide + sum(column.width for column in columns) > room:
        headings = ["  ".join(cells) for cells in zip(*(key.cells for key in keys), strict=True)]
        _show_below(headings, [], columns, width)
        return
    for part in _parts(keys, columns, width):
        for line in _lines([*keys, *part], width):
            print(line)
        print()


def show_groups(title: str, groups: Sequence[str], keys: Sequence[Column], columns: Sequence[Column]) -> None:
    """Print a table with the names of groups above their rows, without columns that do not fit."""
    width = table_width()
    _print_title(title, width)
    shown = most_important([Column(" " * (_INDENT - _PADDING), []), *keys], columns)
    _show_below(groups, keys, shown, width)
    if left_out := [column.heading for column in columns if column not in shown]:
        show_lines(f"on a wider terminal: {', '.join(left_out)}", {})


def _print_title(title: str, width: int) -> None:
    # The title is wrapped at the width of the terminal, not at that of the table.
    for line in wrapped(printable(title), width).split("\n"):
        print(painted(line, "bold"))


def _show_below(
    headings: Sequence[str], keys: Sequence[Column], columns: Sequence[Column], width: int
) -> None:
    """Print a table in parts, with a heading above the rows that have it."""
    for part in _parts(keys, columns, width - _INDENT):
        lines = list(_lines([*keys, *part], width - _INDENT))
        first = len(lines) - len(headings)
        for place, line in enumerate(lines, start=-first):
            if place == 0 or (place > 0 and headings[place] != headings[place - 1]):
                print(printable(wrapped(headings[place], width)))
            print(" " * _INDENT + line)
        print()


def _lines(columns: Sequence[Column], width: int) -> Iterator[str]:
    """Generate the lines of a table: the headings, a rule, and a line for each row."""
    heads = [printable(column.name).split("\n") for column in columns]
    rows = [[_in_one_line(cell) for cell in column.cells] for column in columns]
    widths = [max(map(_length, [*head, *cells])) for head, cells in zip(heads, rows, strict=True)]
    # A single column may be wider than the terminal.
    excess = sum(widths) + _PADDING * (len(widths) - 1) - width
    if excess > 0:
        widest = widths.index(max(widths))
        widths[widest] = max(widths[widest] - excess, 1)
    between = " " * _PADDING
    for place in range(-max(map(len, heads)), 0):
        texts = [head[place] if -place <= len(head) else "" for head in heads]
        padded = map(_padded, texts, columns, widths)
        yield between.join(painted(text, "bold") for text in padded)
    yield _rule() * (sum(widths) + _PADDING * (len(widths) - 1))
    for number, cells in enumerate(zip(*rows, strict=True)):
        padded = map(_padded, cells, columns, widths)
        yield between.join(
            painted(text, column.styles[number]) if column.styles else text
            for text, column in zip(padded, columns, strict=True)
        )


def _rule() -> str:
    return "─" if (sys.stdout.encoding or "").lower().startswith("utf") else "-"


def _in_one_line(text: str) -> str:
    return " ".join(printable(text).split("\n")).expandtabs()


def _padded(text: str, column: Column, width: int) -> str:
    """Return a cell in the width of its column."""
    while _length(text) > width:
        text = text[:-2] + "…"
    space = " " * (width - _length(text))
    return space + text if column.numeric else text + space


def _length(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    if text.isascii() or text.translate(_SIGNS).isascii():
        return len(text)
    from rich.cells import cell_len  # lazy: only for names in other scripts

    return cell_len(text)


def fit(columns: Sequence[Column]) -> bool:
    """Return whether columns fit next to each other on the terminal."""
    return sum(column.width for column in columns) - _PADDING <= table_width()


def most_important(keys: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Return the columns that remain after the omission of spare columns until the rest fits."""
    shown = list(columns)
    while not fit([*keys, *shown]) and (most := max(shown, key=lambda column: column.spare)).spare:
        shown.remove(most)
    return shown


def _parts(keys: Sequence[Column], columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Return the columns in order, in as few parts as fit."""
    room = width + _PADDING - sum(key.width for key in keys)
    parts: list[list[Column]] = [[]]
    for group in _groups(columns):
        if parts[-1] and sum(column.width for column in (*parts[-1], *group)) > room:
            parts.append([])
        parts[-1] += group
    return parts


def _groups(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """Generate the groups of columns that stay next to each other."""
    group: list[Column] = []
    for column in columns:
        group.append(column)
        if not column.with_next:
            yield group
            group = []
    if group:
        yield group
