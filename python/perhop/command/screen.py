"""A screen for tables and text, on which every string is data: no markup, no commands to the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from perhop.printable import printable


class Screen(Console):
    """A console that prints strings unchanged; only `styled` adds styles."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of rich
        """Create a screen with rich's options for consoles."""
        # No emoji: names contain colons, and rich would turn ":two:" into an emoji.
        super().__init__(highlight=False, emoji=False, markup=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - those of rich
        """Return a string of a table, a title or a line as it is shown."""
        return super().render_str(printable(text), **options)


def styled(*parts: str | tuple[str, str]) -> Text:
    """Return consecutive parts: text, or text and its style."""
    return Text.assemble(
        *(printable(part) if isinstance(part, str) else (printable(part[0]), part[1]) for part in parts)
    )
