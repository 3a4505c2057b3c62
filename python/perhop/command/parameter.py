"""Descriptions of the parameters of commands, which annotate their functions.

`direct` reads plain command lines with these descriptions. `parser` translates them for cyclopts, which reads
all other command lines, completes them, and prints help and errors. The import of cyclopts takes as long as
most commands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """The limits of a number."""

    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None

    def admits(self, value: float) -> bool:
        """Return whether a number is within the limits."""
        return (
            (self.gt is None or value > self.gt)
            and (self.gte is None or value >= self.gte)
            and (self.lt is None or value < self.lt)
            and (self.lte is None or value <= self.lte)
        )


# Without equality, an instance can be hashed. `Annotated` requires that.
@dataclass(eq=False)
class Parameter:
    """The settings of a parameter; `None` if not set. An outer annotation replaces inner settings."""

    name: str | Sequence[str] | None = None
    help: str | None = None
    #: The options that mean the opposite of a switch, or an empty list.
    negative: str | Sequence[str] | None = None
    validator: Number | None = None
    converter: Callable[[str], object] | None = None
    allow_leading_hyphen: bool | None = None
    #: Whether the help lists the parameter, and whether with its default.
    show: bool | None = None
    show_default: bool | None = None
