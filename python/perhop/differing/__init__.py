"""Effects of a change: the queues of packets, properties of queues, bounds, results of runs.

Compares two configurations of a router, or two scenarios with perhop policies.
"""

from __future__ import annotations

from collections.abc import Mapping

from perhop.differing import routers, scenarios
from perhop.differing.felt import Felt, FeltClass, FeltFigure, felt_in
from perhop.differing.result import Changed, Difference, Example, LineChange, Moved, Renamed
from perhop.differing.same_load import load_of
from perhop.differing.sides import Side, Source, opened
from perhop.differing.simulating import felt_by_default, simulated
from perhop.errors import InvalidInputError

__all__ = [
    "Changed",
    "Difference",
    "Example",
    "Felt",
    "FeltClass",
    "FeltFigure",
    "LineChange",
    "Moved",
    "Renamed",
    "Side",
    "difference",
    "felt_by_default",
    "felt_in",
    "load_of",
    "opened",
    "simulated",
]


def difference(
    old: Source,
    new: Source,
    *,
    at: str | None = None,
    out: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Difference:
    """Return the differences between two router configurations, or between two scenarios.

    Packets arrive on the interface `at`, and its input policy applies to them; without it, an input policy
    applies only where it has changed. All changed lines and all interfaces are compared, or only `out`. In
    scenarios `at` is `NODE:NEIGHBOR` or `NODE`, and only its interfaces are compared; `out` is a neighbor of
    the node.

    Args:
        old: the current file, or a `Scenario`.
        new: the file or `Scenario` with the change.
        at: the interface on which packets arrive.
        out: the interface through which packets leave.
        platform: of router configurations: the platform whose rules apply; by default the recognized one.
        assume: of router configurations: match criteria of class-maps, as `{"VOICE": "dscp ef"}`.

    Raises:
        ScenarioError: a scenario is not valid.
        InvalidInputError: the two have different kinds, or no such interface.
        UnreadableFileError: a file cannot be read.

    """
    first, second = opened(old, new)
    if first.scenario is None:
        return routers.difference(first, second, at=at, out=out, platform=platform, assume=assume)
    for name, value in (("platform", platform), ("assume", assume)):
        if value:
            raise InvalidInputError(
                f"`{name}` applies only to router configurations, and `{first.name}` is a scenario",
                "leave it out: a scenario has its own network and traffic",
            )
    return scenarios.difference(first, second, at=at, out=out)
