"""Text from files and users, made safe to show: every string is data, whatever characters it has."""

from __future__ import annotations

import re

# C0 characters have pictures from U+2400 on (Unicode, Control Pictures); tab and line feed are kept.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# C1 characters, which terminals take for commands, and marks that change the order of what is read (Unicode
# Technical Report 36, section 2.6).
_UNSEEN = (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Half of a pair of UTF-16, from a file name that is not UTF-8: no output takes it.
_HALVES = range(0xD800, 0xE000)
_SHOWN = _PICTURES | dict.fromkeys((*_UNSEEN, *_HALVES), 0xFFFD)


def printable(text: str) -> str:
    """Return a text with pictures in place of its control characters, but tabs and line ends.

    No terminal takes anything in it for a command, and XML allows all its characters.
    """
    return text if text.isprintable() else text.translate(_SHOWN)


# What a page that shows Markdown (GitHub's, with mentions, emoji, links and formulas) may take for anything
# but text. An underscore within a word and a colon at its end are none.
_MARKUP = re.compile(r"""[^\w ,./%±→()+=;'"?>:-]|\b_|_\b|:(?! |$)|www\.|^[>#=+-]""")


def in_markdown(text: str) -> str:
    """Return a text for a line or a cell of Markdown, as code where it could be taken for markup."""
    return as_code(text) if _MARKUP.search(text) else text


def as_code(text: str) -> str:
    """Return a text for a line or a cell of Markdown as code, in which nothing else has an effect."""
    shown = " ".join(printable(text).split()) or " "
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"
