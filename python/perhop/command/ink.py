"""Styles of text on standard output, as codes of terminals (ECMA-48, section 8.3.117).

rich also has styles, but its import takes longer than most commands.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

#: Styles of judgments.
GOOD, BAD, DOUBTFUL = "green", "bold red", "yellow"
_ATTRIBUTES = {"bold": "1", "dim": "2"}
_COLORS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# Terminals without styles.
_PLAIN_TERMINALS = ("dumb", "unknown")


def painted(text: str, style: str) -> str:
    """Return a text in a style such as `bold red` if standard output shows styles."""
    if not text or not sys.stdout.isatty() or os.environ.get("TERM") in _PLAIN_TERMINALS:
        return text
    # NO_COLOR leaves other attributes (https://no-color.org).
    codes = _ATTRIBUTES if os.environ.get("NO_COLOR") else _ATTRIBUTES | _COLORS
    given = ";".join(codes[word] for word in style.split() if word in codes)
    return f"\x1b[{given}m{text}\x1b[0m" if given else text


def highlighted(line: str, styles: Mapping[str, str]) -> str:
    """Return a line with matches of patterns in their styles. The first of two overlapping matches counts."""
    found = [
        (*match.span(), style) for pattern, style in styles.items() for match in re.finditer(pattern, line)
    ]
    parts, done = [], 0
    for start, end, style in sorted(found):
        if start >= done:
            parts += [line[done:start], painted(line[start:end], style)]
            done = end
    return "".join([*parts, line[done:]])
