"""Lines of text on a terminal: wrapped between words, with the words of a judgment in color."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import TextIO

from perhop.command.ink import BAD, DOUBTFUL, GOOD, highlighted
from perhop.printable import printable

#: The width of tables in a file or a pipe.
WIDTH_OF_A_FILE = 200
# The maximum number of lines of each kind in text; --json has all.
_MOST_LINES = 12

# The additional indentation of a continued line; the indentation is at most a third of the width.
_FURTHER = 2
#: Words of a judgment at the beginning of a line or after a name, and their styles.
JUDGMENTS: Mapping[str, str] = {
    r"(?:^ *|(?<=, ))ok(?=$|:)": GOOD,
    r"(?<=: )identical(?= when repeated)": GOOD,
    r"(?<=: )different(?= when repeated)": BAD,
    r"(?:^ *|(?<=, )|(?<=: ))not (?:ok|supported)(?=$|:)": BAD,
    r"^ *error\[[\w-]+\]": BAD,
    r"^ *warning\[[\w-]+\]": DOUBTFUL,
}


def columns_of(stream: TextIO) -> int | None:
    """Return the width of lines: COLUMNS, or the width of the terminal; `None` for a file or a pipe."""
    # A stream that replaces another one may have no `isatty`.
    if not getattr(stream, "isatty", bool)():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return os.get_terminal_size(stream.fileno()).columns or None


def table_width(stream: TextIO | None = None) -> int:
    """Return the width of tables for `stream`, by default standard output."""
    return columns_of(sys.stdout if stream is None else stream) or WIDTH_OF_A_FILE


def wrapped(text: str, width: int | None) -> str:
    """Return a text with lines wrapped between words. A word longer than a line is not split."""
    return text if width is None else "\n".join(_parts(text, width))


def _parts(text: str, width: int) -> Iterator[str]:
    for line in text.split("\n"):
        if len(line) <= width:
            yield line
            continue
        indented = len(line) - len(line.lstrip(" "))
        yield from textwrap.wrap(
            line[indented:],
            width,
            initial_indent=line[:indented],
            subsequent_indent=" " * min(indented + _FURTHER, width // 3),
            break_long_words=False,
            break_on_hyphens=False,
        )


def show_lines(text: str, styles: Mapping[str, str] = JUDGMENTS) -> None:
    """Print lines; on a terminal, style the matches of the patterns in `styles`."""
    # Each line is wrapped again, because a continued line begins with other words.
    width = columns_of(sys.stdout)
    text = printable(wrapped(printable(text), width))
    if not sys.stdout.isatty():
        print(text)
        return
    for line in text.split("\n"):
        print(highlighted(line, styles))


def limited(title: str, texts: list[str]) -> Iterator[str]:
    """Generate lines, each with a title, and the number of omitted lines."""
    yield from (f"{title}: {text}" for text in texts[:_MOST_LINES])
    if len(texts) > _MOST_LINES:
        yield f"{title}: {len(texts) - _MOST_LINES} more; --json has all"
