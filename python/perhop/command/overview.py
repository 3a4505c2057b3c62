"""The help of perhop and of its groups: their commands, without the parser of command lines."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence

from perhop._core import __version__
from perhop.command.commands import Command, Group
from perhop.command.help_pages import FLAGS, laid_out
from perhop.command.ink import painted

# The width of help in a file or a pipe, and on a terminal without a known width.
_WIDTH = 80
# The minimum width of descriptions, even if the box is then wider than the terminal.
_LEAST_ROOM = 10
# Border and space on each side of the box, and the space between names and descriptions.
_SIDES, _BETWEEN = 4, 2
_BOX = ("╭", "─", "╮", "│", "╰", "╯")
# The box in encodings without line characters.
_ASCII_BOX = ("+", "-", "+", "|", "+", "+")
# The options of perhop itself.
_FLAGS = {"--help (-h)": "Display this message and exit.", "--version": "Display application version."}


def shows(tokens: Sequence[str], commands: Group) -> bool:
    """Print the help of the group that a command line names, or the version; return whether it names one."""
    if list(tokens) == ["--version"]:
        print(__version__)
        return True
    words = list(tokens)
    if words and words[-1] in FLAGS:
        words.pop()
    return shows_group(words, commands)


def shows_group(words: Sequence[str], commands: Group) -> bool:
    """Print the help of a group; return whether the words name one."""
    entry: Command | Group | None = commands
    for word in words:
        entry = entry.entries.get(word) if isinstance(entry, Group) else None
    if not isinstance(entry, Group):
        return False
    print("\n".join(_lines(" ".join([commands.name, *words]), entry, width_of_help())))
    return True


def width_of_help() -> int:
    """Return the width of help: COLUMNS, or that of the terminal."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        try:
            columns = os.get_terminal_size(stream.fileno()).columns if stream else 0
        except (OSError, ValueError):
            continue
        if columns:
            return columns
    return _WIDTH


def _lines(name: str, group: Group, width: int) -> Iterator[str]:
    yield from (painted(line, "bold") for line in _wrapped(f"Usage: {name} COMMAND", width))
    yield ""
    yield from _wrapped(group.help, width)
    yield ""
    shown = {word: entry.help for word, entry in sorted(group.entries.items()) if _is_shown(entry)}
    if name == "perhop":
        shown |= _FLAGS
    yield from _box(shown, width)
    yield ""
    yield laid_out(group.examples, width)


def _is_shown(entry: Command | Group) -> bool:
    return isinstance(entry, Group) or entry.is_shown


def _box(entries: dict[str, str], width: int) -> Iterator[str]:
    """Generate the lines of a box of commands with their descriptions."""
    in_lines = (sys.stdout.encoding or "").lower().startswith("utf")
    left, line, right, side, low_left, low_right = _BOX if in_lines else _ASCII_BOX
    names = max(map(len, entries))
    room = max(width - _SIDES - names - _BETWEEN, _LEAST_ROOM)
    title = f"{left}{line} Commands "
    yield title + line * (width - len(title) - 1) + right
    for entry, text in entries.items():
        for place, part in enumerate(_wrapped(text, room)):
            name = painted(f"{entry if place == 0 else '':{names}}", "cyan")
            yield f"{side} {name}  {part:{room}} {side}"
    yield low_left + line * (width - 2) + low_right


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False)
