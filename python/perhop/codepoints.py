"""Numbers of codepoints and IP precedences by their names."""

from __future__ import annotations

import re

# RFC 2474 (default), 8622 (le), 5865 (va), 9956 (nqb, non-queue-building), 3246 (ef).
_NAMED = {"default": 0, "le": 1, "va": 44, "voice-admit": 44, "nqb": 45, "ef": 46}
# The IP precedences of RFC 791, starting with 0.
_PRECEDENCES = (
    "routine",
    "priority",
    "immediate",
    "flash",
    "flash-override",
    "critical",
    "internet",
    "network",
)


def dscp_number(value: object) -> int:
    """Return the number of a codepoint by its name or number: `ef`, `af21`, `cs3`, `default`, `46`.

    Raises:
        ValueError: there is no such codepoint.

    """
    text = str(value).lower()
    if selector := re.fullmatch(r"cs([0-7])", text):
        return 8 * int(selector[1])
    if assured := re.fullmatch(r"af([1-4])([1-3])", text):
        return 8 * int(assured[1]) + 2 * int(assured[2])
    return _NAMED[text] if text in _NAMED else int(text)


def precedence_number(value: object) -> int:
    """Return the number of an IP precedence by its name or number: `critical`, `5`.

    Raises:
        ValueError: there is no such precedence.

    """
    text = str(value).lower()
    return _PRECEDENCES.index(text) if text in _PRECEDENCES else int(text)
