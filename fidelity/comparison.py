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
    """A number and half of its 95 % confidence interval; 0 for a number without chance."""

    mean: float
    half: float = 0.0


@dataclass(frozen=True)
class Rule:
    """The greatest difference with which two values agree.

    Chance is the sum in quadrature of their 95 % intervals; a fraction of the reference and an absolute
    difference are added.
    """

    chance: bool = False
    #: Part of the reference.
    relative: float = 0.0
    #: In the unit of the quantity.
    absolute: float = 0.0
    #: The name of the absolute difference: an error of reading, one packet.
    what: str = ""
    #: Whether the reference is a bound; values on its right side agree.
    bound: Literal["at most", "at least"] | None = None

    def allowed(self, reference: Value, measured: Value) -> float:
        """Return the greatest difference with which the two agree."""
        chance = math.hypot(reference.half, measured.half) if self.chance else 0.0
        return chance + self.relative * abs(reference.mean) + self.absolute

    def __str__(self) -> str:
        """Say the rule as text."""
        parts = ["chance"] if self.chance else []
        parts += [f"{100 * self.relative:g} %"] if self.relative else []
        parts += [self.what or f"{self.absolute:g}"] if self.absolute else []
        text = " + ".join(parts) or "equal"
        return f"{self.bound} the reference, within {text}" if self.bound else text


#: Random numbers on one or both sides: the intervals, and one in a hundred.
BY_CHANCE = Rule(chance=True, relative=0.01)
EQUAL = Rule()


@dataclass(frozen=True)
class Comparison:
    """A quantity of a case, measured by perhop and by a reference."""

    #: The peer: `analytic`, `ns-2`, `kernel`, `router`.
    peer: str
    #: What is compared, for example the scheduler.
    name: str
    #: With which parameters.
    case: str
    quantity: str
    unit: str
    reference: Value
    #: Where the reference comes from.
    source: str
    measured: Value
    rule: Rule
    #: Why a difference is known, if it has a name in docs/deviations.toml.
    reason: Reason | None = None

    @property
    def difference(self) -> float:
        """The measured value less the reference."""
        return self.measured.mean - self.reference.mean

    @property
    def distance(self) -> float:
        """The size of the difference; on the right side of a bound 0."""
        match self.rule.bound:
            case "at most":
                return max(0.0, self.difference)
            case "at least":
                return max(0.0, -self.difference)
            case _:
                return abs(self.difference)

    @property
    def allowed(self) -> float:
        """The greatest difference with which the two agree."""
        return self.rule.allowed(self.reference, self.measured)

    @property
    def met(self) -> bool:
        """Whether the two agree; a value that was not measured (NaN) does not."""
        return not math.isnan(self.difference) and self.distance <= self.allowed

    @property
    def times_allowed(self) -> float:
        """The difference in multiples of the one that is allowed; infinite if it was not measured."""
        if math.isnan(self.difference):
            return math.inf
        if self.distance == 0:
            return 0.0
        return self.distance / self.allowed if self.allowed else math.inf


def estimate(samples: Sequence[float]) -> Value:
    """Return the mean of one sample per replication, with its interval."""
    mean = math.fsum(samples) / len(samples) if samples else math.nan
    found = _core.confidence_95(list(samples))
    return Value(mean, 0.0 if found is None else (found[2] - found[1]) / 2)
