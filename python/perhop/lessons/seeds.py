"""The seed of a student, and a check number that distinguishes runs."""

from __future__ import annotations

import re
import unicodedata

# FNV-1a with 32 bits (Fowler, Noll, Vo). The page computes the same value in JavaScript.
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193
# A fixed set, because Python and browsers have different sets of white space.
_SPACES = re.compile("[ \\t\\r\\n\u00a0\u3000]+")
#: The highest seed; the lowest is 1.
SEEDS = 1_000_000


def seed_of(name: str) -> int:
    """Return the seed of the student with this name; the number of spaces does not matter."""
    return 1 + _fnv1a(plain_name(name)) % SEEDS


def plain_name(name: str) -> str:
    """Return a name with one space between its parts and no spaces around it."""
    return " ".join(filter(None, _SPACES.split(unicodedata.normalize("NFC", name))))


def check_number(summary: str) -> str:
    """Return the check number of a run: eight hexadecimal digits that depend on its summary."""
    return f"{_fnv1a(summary):08x}"


def _fnv1a(text: str) -> int:
    found = _OFFSET
    for byte in text.encode("utf-8"):
        found = (found ^ byte) * _PRIME & 0xFFFFFFFF
    return found
