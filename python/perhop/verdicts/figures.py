"""Figures of a class: means over the replications with 95 % confidence intervals, as in a summary."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perhop import _core
from perhop.quantity import interval, scale


@dataclass(frozen=True)
class Figure:
    """A mean over the replications, its 95 % confidence interval and its unit."""

    mean: float
    ci95: tuple[float, float] | None
    #: `s`, `b/s`, `%`, `packets`, `bytes`, `1/s`, or empty.
    unit: str

    @classmethod
    def from_summary(cls, value: Mapping[str, Any]) -> Figure | None:
        """Convert a value of a summary; `None` if nothing was measured."""
        if value["mean"] is None:
            return None
        ends = value["ci95"]
        return cls(float(value["mean"]), None if ends is None else (ends[0], ends[1]), value["unit"])

    @classmethod
    def over(cls, samples: Sequence[float | None], unit: str) -> Figure | None:
        """Return the mean of one sample per replication; `None` if a sample is missing."""
        known = [sample for sample in samples if sample is not None and not math.isnan(sample)]
        if not known or len(known) < len(samples):
            return None
        found = _core.confidence_95(known)
        return cls(known[0], None, unit) if found is None else cls(found[0], found[1:], unit)

    def shown(self) -> str:
        """Return the mean with half the interval, in a suitable unit."""
        divisor, unit = scale(self.unit, abs(self.mean))
        text = interval(self.mean, self.ci95, divisor)
        return f"{text} {unit}" if unit else text

    def to_json(self) -> dict[str, Any]:
        """Return the figure in the form of a summary."""
        return {"mean": self.mean, "ci95": None if self.ci95 is None else list(self.ci95), "unit": self.unit}


def rate_of(packets: float, unit: str = "b/s") -> str:
    """Return a rate in bits per second as text."""
    divisor, shown = scale(unit, packets)
    return f"{interval(packets, None, divisor)} {shown}"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as a list in a sentence."""
    every = list(words)
    return f" {last} ".join(filter(None, [", ".join(every[:-1]), every[-1]])) if every else ""
