"""The comparison of a device's output with the output of a run, from `perhop._core.compare_shown`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

Verdict = Literal["agrees", "differs", "not-comparable"]
#: Configured values; the offered load; behavior: drops, queues and obtained rates.
Part = Literal["configured", "load", "behavior"]
PARTS: tuple[Part, ...] = ("configured", "load", "behavior")


@dataclass(frozen=True)
class Tolerances:
    """The tolerated differences between measured numbers."""

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
        # `None` if the router or the run has no such number.
        "router": float | None,
        "simulated": float | None,
        # The largest tolerated difference, in the unit.
        "tolerance": float,
        "verdict": Verdict,
    },
)


class ComparedPolicy(TypedDict):
    """A policy of the device, compared with the policy of the run."""

    interface: str
    side: str
    policy: str
    agrees: bool
    #: The classes of only the router, and of only the run.
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
