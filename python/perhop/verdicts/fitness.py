"""The fitness of classes for their roles, decided in Rust, with the reasons as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from perhop import _core
from perhop.quantity import number, scale
from perhop.verdicts.figures import Figure

Answer = Literal["fit", "unfit", "undecided"]

#: Roles as text, by their names in scenarios.
ROLES = {
    "voice": "voice",
    "video": "interactive video",
    "streaming": "streaming video",
    "signaling": "signaling",
    "control": "network control",
    "transactions": "transactions",
    "bulk": "bulk data",
    "best-effort": "best effort",
    "scavenger": "scavenger",
}
# The keys of a summary that the judgment reads.
_READ = ("roles", "classes", "tcp", "videos", "duration_s", "warmup_s", "replications")


@dataclass(frozen=True)
class Compared:
    """A figure compared with its bound."""

    words: str
    figure: Figure
    #: The ends of the 99 % interval, which determines the answer; `None` with one replication.
    range: tuple[float, float] | None
    bound: float
    #: Whether the bound is a minimum.
    is_least: bool
    answer: Answer

    def reason(self) -> str:
        """Return the figure and the bound as text."""
        unit = self.figure.unit
        divisor, shown = scale(unit, abs(self.bound) or abs(self.figure.mean))
        suffix = f" {shown}" if shown else ""
        bound = f"{number(self.bound / divisor, 3)}{suffix}"
        if self.answer == "undecided" and self.range is not None:
            low, high = (number(max(end, 0.0) / divisor, 3) for end in self.range)
            # R has no unit, and its bound is derived from its scale, so the text omits the bound.
            about = f", {'at least' if self.is_least else 'at most'} {bound}" if unit else ""
            return f"{self.words} {low}–{high}{suffix}{about}"  # noqa: RUF001
        sign = "<" if self.is_least else ">"
        return f"{self.words} {number(self.figure.mean / divisor, 3)}{suffix} {sign} {bound}"


@dataclass(frozen=True)
class Fitness:
    """Whether a class is fit for its role."""

    #: The role; `None` for replies, which have no role.
    role: str | None = None
    #: `scenario`, `source` or `codepoint`.
    origin: str | None = None
    #: The answer; `None` if a figure was not measured.
    answer: Answer | None = None
    compared: tuple[Compared, ...] = ()

    def reasons(self) -> list[str]:
        """Return the figures whose answer is the answer for the class, as text."""
        return [bound.reason() for bound in self.compared if bound.answer == self.answer]


def fitness(
    summary: Mapping[str, Any], ratings: Mapping[str, Figure | None], guarantees: Mapping[str, float | None]
) -> dict[str, Fitness]:
    """Return the fitness of each class with a role, by its name.

    `ratings` has R of calls by class, and `guarantees` has the guaranteed bits per second of queues.
    """
    known = {
        name: {"r": r and {"mean": r.mean, "ci95": r.ci95}, "guaranteed_bps": guarantees.get(name)}
        for name, r in ratings.items()
    }
    read = {key: summary[key] for key in _READ if key in summary}
    found = json.loads(_core.judge_roles(json.dumps(read), json.dumps(known)))
    origins = {role["class"]: role["from"] for role in summary.get("roles", [])}
    return {
        row["class"]: Fitness(
            row["role"], origins[row["class"]], row["answer"], tuple(map(_compared, row["compared"]))
        )
        for row in found
    }


def _compared(found: Mapping[str, Any]) -> Compared:
    figure = found["figure"]
    ci95, decisive = (
        None if ends is None else (ends[0], ends[1]) for ends in (figure["ci95"], found["range"])
    )
    return Compared(
        found["words"],
        Figure(figure["mean"], ci95, found["unit"]),
        decisive,
        found["bound"],
        found["is_least"],
        found["answer"],
    )
