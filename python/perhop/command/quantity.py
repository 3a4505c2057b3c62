"""Measured values as text: scaled, rounded to what the confidence interval allows."""

from __future__ import annotations

import math
from typing import Any

_SCALES = {
    "b/s": [(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")],
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
}

# Shown where nothing was measured.
NOTHING = "-"


def number(value: float | None, digits: int = 4) -> str:
    """Return `value` with so many significant digits, integers up to a billion in full."""
    if value is None or math.isnan(value):
        return NOTHING
    if value == round(value) and abs(value) < 1e9:
        return f"{value:,.0f}"
    magnitude = 0 if value == 0 else math.floor(math.log10(abs(value)))
    return (
        f"{value:,.{max(digits - 1 - magnitude, 0)}f}" if magnitude >= -digits else f"{value:.{digits - 1}g}"
    )


def interval(mean: float | None, ends: list[float] | tuple[float, float] | None, scale: float = 1.0) -> str:
    """Return `mean ± half the confidence interval`, both divided by `scale`."""
    if mean is None or math.isnan(mean):
        return NOTHING
    text = number(mean / scale)
    return text if ends is None else f"{text} ± {number((ends[1] - ends[0]) / 2 / scale, 2)}"


def metric(value: dict[str, Any]) -> str:
    """Return a metric of a summary (`mean`, `ci95`, `unit`) in the unit that suits its size."""
    mean = value["mean"]
    scales = _SCALES.get(value["unit"])
    if mean is None or scales is None:
        return interval(mean, value["ci95"])
    scale, unit = next((pair for pair in scales if abs(mean) >= pair[0]), scales[-1])
    return f"{interval(mean, value['ci95'], scale)} {unit}"
