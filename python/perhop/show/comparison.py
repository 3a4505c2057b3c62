"""The comparison of a real device's output with a run's, as `perhop._core.compare_shown` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

Verdict = Literal["agrees", "differs", "not-comparable"]
#: Configured values; the offered load; behavior: drops, queues and obtained rates.
Part = Literal["configured", "load", "behavior"]
PARTS: tuple[Part, ...] = ("configured", "load", "behavior")


@dataclass(frozen=True)
class Tolerances:
    """Differences between measured numbers that do not count."""

    #: The tolerance of rates and packet sizes, in percent of the device's value.
    percent: float = 5.0
    #: The tolerance of shares, in percentage points.
    points: float = 2.0


# `class` is a keyword.
Row = TypedDict(
    "Row",
    {
        "class": str,
        "quantity": str,
        "unit": str,
        "kind": Part,
        # `None` if one of the two has no such number.
        "router": float | None,
        "simulated": float | None,
        # The largest difference that does not count, in the unit.
        "tolerance": float,
        "verdict": Verdict,
    },
)


class ComparedPolicy(TypedDict):
    """A policy of the device and of the run."""

    interface: str
    side: str
    policy: str
    agrees: bool
    #: Classes that only one of the two has.
    only_router: list[str]
    only_simulated: list[str]
    rows: list[Row]


class Comparison(TypedDict):
    """All policies of a device's output, and the corresponding policies of the run."""

    agrees: bool
    #: Numbers of rows by verdict.
    figures: dict[Verdict, int]
    #: Numbers of rows by part and verdict.
    parts: dict[Part, dict[Verdict, int]]
    #: Policies of the device that the run does not have, as `interface side name`.
    missing: list[str]
    policies: list[ComparedPolicy]
