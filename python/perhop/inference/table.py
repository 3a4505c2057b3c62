"""Tables in files: lines of comma-separated cells, with their places for errors."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perhop.errors import InvalidInputError

# Separators of cells; the first one in the header applies.
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Row:
    """A line of a table."""

    file: Path
    line: int
    cells: list[str]

    def wrong(self, message: str, help: str) -> InvalidInputError:
        """Return an error about this line."""
        return InvalidInputError(f"`{self.file}`, line {self.line}: {message}", help)

    def by_name(self, header: Sequence[str]) -> dict[str, str]:
        """Return the cells by the names in the header; raises `InvalidInputError`."""
        if len(self.cells) != len(header):
            raise self.wrong(
                f"{len(self.cells)} cells, but {len(header)} in the header",
                f"the columns are {','.join(header)}",
            )
        return dict(zip(header, self.cells, strict=True))


def rows_of(file: Path, content: bytes) -> Iterator[Row]:
    """Generate the lines of a table that are not empty; the first is the header, in lower case.

    A `#` begins a comment, except in the header of flow-tools, which begins with `#:`.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"`{file}` is neither text in UTF-8 nor a capture", "save it as CSV"
        ) from error
    header = True
    delimiter = ","
    for number, line in enumerate(text.splitlines(), 1):
        shown = line.removeprefix("#:") if header else line
        if not shown.strip() or shown.lstrip().startswith("#"):
            continue
        if header:
            delimiter = next((candidate for candidate in _DELIMITERS if candidate in shown), ",")
        cells = [cell.strip() for cell in next(csv.reader([shown], delimiter=delimiter))]
        yield Row(file, number, [cell.lower() for cell in cells] if header else cells)
        header = False
