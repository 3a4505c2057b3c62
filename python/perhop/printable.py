"""Text from files and users, escaped for display: every string is data, with any characters."""

from __future__ import annotations

import re

# C0 characters have pictures from U+2400 on (Unicode, Control Pictures); tab and line feed are kept.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# C1 characters, which terminals interpret as commands, and marks that change the reading order (Unicode
# Technical Report 36, section 2.6).
_UNSEEN = (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Halves of surrogate pairs, from a file name that is not UTF-8: no output accepts them.
_HALVES = range(0xD800, 0xE000)
# Code points that XML 1.0, section 2.2, excludes, and the other noncharacters (Unicode, section 23.7).
_NONCHARACTERS = (
    *range(0xFDD0, 0xFDF0),
    *(plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF)),
)
_SHOWN = _PICTURES | dict.fromkeys((*_UNSEEN, *_HALVES, *_NONCHARACTERS), 0xFFFD)


def printable(text: str) -> str:
    """Return a text whose control characters, except tabs and line ends, are replaced by symbols.

    Terminals and pipeline logs then interpret no part of the text as a command, and XML allows all characters
    of the text.
    """
    return without_log_commands(text if text.isprintable() else text.translate(_SHOWN))


# Commands in logs of pipelines: `::error::text` after leading spaces, `##[error]text` anywhere in a line, and
# `##vso[...]` (GitHub Actions runner, ActionCommand.TryParseV2 and TryParse; Azure Pipelines).
_COLON_COMMAND = re.compile(r"^(\s*)::(?=[^:\n]*::)", re.MULTILINE)
_HASH_COMMAND = re.compile(r"##(?=(?:vso)?\[)")


def without_log_commands(text: str) -> str:
    """Return a text without log commands of pipelines; similar characters replace their signs."""
    if "::" in text:
        text = _COLON_COMMAND.sub("\\1\u2237", text)
    return _HASH_COMMAND.sub("\uff03#", text) if "##" in text else text


# Characters with a meaning in Markdown (GitHub's, with mentions, emoji, links and formulas). An underscore
# within a word and a colon at the end of a word have no such meaning.
_MARKUP = re.compile(r"""[^\w ,./%±→()+=;'"?>:-]|\b_|_\b|:(?! |$)|www\.|^[>#=+-]""")


def in_markdown(text: str) -> str:
    """Return a text for a line or a cell of Markdown, as code if its characters could be markup."""
    return as_code(text) if _MARKUP.search(text) else text


def as_code(text: str) -> str:
    """Return a text as code for a line or a cell of Markdown, so that none of its characters is markup."""
    shown = " ".join(printable(text).split()) or " "
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"
