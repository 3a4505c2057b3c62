"""Words for plots."""

from __future__ import annotations

from collections.abc import Sequence


def precedence_words(precedences: Sequence[int]) -> str:
    """Return drop precedences as text: `precedence 0`, `precedences 0 to 2`, `precedences 0, 2`."""
    if len(precedences) == 1:
        return f"precedence {precedences[0]}"
    first, last = precedences[0], precedences[-1]
    if len(precedences) > 2 and last - first == len(precedences) - 1:
        return f"precedences {first} to {last}"
    return f"precedences {', '.join(map(str, precedences))}"
