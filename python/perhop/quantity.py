"""Measured values as text: scaled to a unit and rounded to the precision of the confidence interval."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from perhop import _core

_SCALES = {
    "b/s": [(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")],
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
}

# Suffixes of metric names that give their units.
_UNIT_WORDS = ("percent", "s", "ms", "us", "bps", "kbps", "mbps", "packets", "bytes", "segments")
# A column with delays below the first limit, and without delays above the second limit, is in milliseconds.
_SHORT_S, _LONG_S = 0.1, 10.0
#: The longest value or part of a path shown on a line, in letters.
WIDE = 24
_PERCENTILE = re.compile(r"_p\d+_s$")
# The text if nothing was measured.
NOTHING = "-"


def number(value: float | None, digits: int = 4) -> str:
    """Return `value` with `digits` significant digits, integers below a billion in full."""
    if value is None or math.isnan(value):
        return NOTHING
    if value == round(value) and abs(value) < 1e9:
        return f"{value:,.0f}"
    magnitude = 0 if value == 0 else math.floor(math.log10(abs(value)))
    return (
        f"{value:,.{max(digits - 1 - magnitude, 0)}f}" if magnitude >= -digits else f"{value:.{digits - 1}g}"
    )


def short(value: float, digits: int = 6) -> str:
    """Return `value` with at most `digits` significant digits, without zeros at its end."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def counted(count: int, singular: str, several: str | None = None) -> str:
    """Return a count with its noun: `1 point`, `2 points`, `0 processes`."""
    return f"{count} {singular if count == 1 else several or singular + 's'}"


def agreement(agree: int, differ: int) -> str:
    """Return the numbers of figures that agree and differ: `4 agree, 0 differ`, `1 agrees, 1 differs`."""
    return f"{agree} {'agrees' if agree == 1 else 'agree'}, {differ} {'differs' if differ == 1 else 'differ'}"


def interval(mean: float | None, ends: list[float] | tuple[float, float] | None, scale: float = 1.0) -> str:
    """Return `mean ± half the confidence interval`, both divided by `scale`."""
    if mean is None or math.isnan(mean):
        return NOTHING
    text = number(mean / scale)
    if ends is None:
        return text
    half = (ends[1] - ends[0]) / 2 / scale
    # An interval below the last digit shown would suggest more precision than the mean has.
    last_digit = 10.0 ** -len(text.partition(".")[2])
    return f"{text} ± {number(half, 2) if half == 0 or half >= last_digit / 2 else f'<{last_digit:g}'}"


def scale(unit: str, largest: float) -> tuple[float, str]:
    """Return the divisor for values in `unit`, and the scaled unit that suits `largest`; `unit` for 0."""
    scales = _SCALES.get(unit)
    if scales is None or largest == 0.0:
        return 1.0, unit
    return next((pair for pair in scales if largest >= pair[0]), scales[-1])


def rate_words(bits: float) -> str:
    """Return a rate in bits per second with a unit for readers, as in `1.5 Mb/s`."""
    divisor, unit = scale("b/s", bits)
    return f"{number(bits / divisor)} {unit}"


def metric_words(metric: str, unit: str) -> str:
    """Return the name of a study's metric as words, without a unit at its end."""
    words = metric.split("_")
    if unit and len(words) > 1 and words[-1] in _UNIT_WORDS:
        words.pop()
    return " ".join(words)


def unit_words(unit: str) -> str:
    """Return the text of a unit: `ratio` for the unit 1."""
    return "ratio" if unit == "1" else unit


def case_words(case: Mapping[str, str]) -> str:
    """Return the values of a case, a number with the name of its column: `priority streams 1, udp`."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value}" if _is_number(value) else value for name, value in case.items()
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def quantity(text: str) -> tuple[float, str] | None:
    """Parse a number or a quantity of a scenario into its base unit; `None` for other text."""
    try:
        return float(text), ""
    except ValueError:
        return _core.quantity(text)


def bits_per_second(rate: str) -> float:
    """Return a rate of a scenario, as `2Mb/s`, in bits per second."""
    found = _core.quantity(rate)
    return found[0] if found else float("inf")


def shortened(values: Sequence[str]) -> list[str]:
    """Return values truncated so that they still differ; a value may be a whole part of a policy."""
    different = set(values)
    kept = next(n for n in count(WIDE) if len({value[:n] for value in different}) == len(different))
    return [value if len(value) <= kept + 1 else f"{value[:kept]}…" for value in values]


def column(groups: list[dict[str, Any]], key: str) -> tuple[str, list[str]]:
    """Return a metric of a summary's groups (`mean`, `ci95`, `unit`) as texts in one unit.

    The unit suits the largest value. In a column with delays of milliseconds, delays of a few seconds are in
    milliseconds. Percentiles have the unit of their mean, so that the two can be compared directly.
    """
    values = [group[key] for group in groups]
    mean = _PERCENTILE.sub("_mean_s", key)
    judged = [abs(value) for group in groups if (value := group.get(mean, group[key])["mean"]) is not None]
    largest = max(judged, default=0.0)
    unit = values[0]["unit"] if values else ""
    if unit == "s" and largest < _LONG_S and min(judged, default=_LONG_S) < _SHORT_S:
        largest = min(largest, _SHORT_S)
    divisor, shown = scale(unit, largest) if unit in _SCALES else (1.0, "")
    return shown, [interval(value["mean"], value["ci95"], divisor) for value in values]
