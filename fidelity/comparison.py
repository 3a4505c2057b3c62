"""A quantity that perhop and a reference both have, and whether the two agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fidelity.reasons import Reason
from perhop import _core


@dataclass(frozen=True)
class Value:
    """A number and half the width of its 95 % confidence interval; 0 for a number that is not random."""

    mean: float
    half: float = 0.0


@dataclass(frozen=True)
class Rule:
    """The greatest difference at which two values agree.

    With `chance`, the difference includes the square root of the sum of the squares of both half widths. A
    fraction of the reference and an absolute difference are added.
    """

    chance: bool = False
    #: The allowed difference as a fraction of the reference.
    relative: float = 0.0
    #: The allowed difference in the unit of the quantity.
    absolute: float = 0.0
    #: The name of the absolute difference, for example a reading error or one packet.
    what: str = ""
    #: Whether the reference is a bound. Every value on the allowed side of a bound agrees.
    bound: Literal["at most", "at least"] | None = None

    def allowed(self, reference: Value, measured: Value) -> float:
        """Return the greatest difference at which the two values agree."""
        chance = math.hypot(reference.half, measured.half) if self.chance else 0.0
        return chance + self.relative * abs(reference.mean) + self.absolute

    def __str__(self) -> str:
        """Return the rule as text."""
        parts = ["chance"] if self.chance else []
        parts += [f"{100 * self.relative:g} %"] if self.relative else []
        parts += [self.what or f"{self.absolute:g}"] if self.absolute else []
        text = " + ".join(parts) or "equal"
        return f"{self.bound} the reference, within {text}" if self.bound else text


#: For random numbers on one side or both sides: the intervals, and 1 % of the reference.
BY_CHANCE = Rule(chance=True, relative=0.01)
EQUAL = Rule()


@dataclass(frozen=True)
class Comparison:
    """A quantity of a case, measured by perhop and by a reference."""

    #: The peer: `analytic`, `ns-2`, `kernel`, `router`.
    peer: str
    #: The compared item, for example the scheduler.
    name: str
    #: The parameters of the comparison.
    case: str
    quantity: str
    unit: str
    reference: Value
    #: The origin of the reference value.
    source: str
    measured: Value
    rule: Rule
    #: The reason in docs/deviations.toml for a known difference; `None` if there is no known reason.
    reason: Reason | None = None

    @property
    def difference(self) -> float:
        """The measured value minus the reference."""
        return self.measured.mean - self.reference.mean

    @property
    def distance(self) -> float:
        """The absolute difference; 0 on the allowed side of a bound."""
        match self.rule.bound:
            case "at most":
                return max(0.0, self.difference)
            case "at least":
                return max(0.0, -self.difference)
            case _:
                return abs(self.difference)

    @property
    def allowed(self) -> float:
        """The greatest difference at which the two values agree."""
        return self.rule.allowed(self.reference, self.measured)

    @property
    def met(self) -> bool:
        """Whether the two values agree. A value that was not measured (NaN) does not agree."""
        return not math.isnan(self.difference) and self.distance <= self.allowed

    @property
    def times_allowed(self) -> float:
        """The distance divided by the allowed difference.

        Infinite if perhop's value was not measured, or if no difference is allowed and there is one.
        """
        if math.isnan(self.difference):
            return math.inf
        if self.distance == 0:
            return 0.0
        return self.distance / self.allowed if self.allowed else math.inf


def estimate(samples: Sequence[float]) -> Value:
    """Return the mean of the samples, one per replication, with its confidence interval."""
    mean = math.fsum(samples) / len(samples) if samples else math.nan
    found = _core.confidence_95(list(samples))
    return Value(mean, 0.0 if found is None else (found[2] - found[1]) / 2)
