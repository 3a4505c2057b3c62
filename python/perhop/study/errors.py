"""Errors of measured figures relative to published ones, as a distribution.

A verdict on a difference hides the size of the difference. This module counts the differences of all compared
figures by their size:

- of the published value, in percent: |measured - published| / published;
- for a figure that was read from a chart, in multiples of its reading error: a value below 1 counts as equal;
- a published 0 has no percentage: such figures are counted by whether 0 was measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from perhop.quantity import number
from perhop.study.outcome import Figure

#: The limits up to which figures are counted, in percent of the published value.
PERCENT = (5, 10, 25, 50)
#: The limits in multiples of the reading error.
READING = (1, 2, 5, 10)
#: The row of all metrics together.
ALL = "all"


@dataclass(frozen=True)
class Errors:
    """The errors of one metric's figures, or of all figures."""

    metric: str
    #: The errors in percent of the printed figures that are not 0.
    percent: tuple[float, ...]
    #: The errors in multiples of the reading error, of the figures read from a chart.
    readings: tuple[float, ...]
    #: For each figure published as 0: whether 0 was measured.
    zeros: tuple[bool, ...]

    @property
    def figures(self) -> int:
        """The number of figures."""
        return len(self.percent) + len(self.readings) + len(self.zeros)

    @property
    def median_percent(self) -> float | None:
        """The median error in percent of the published value; `None` if most figures were not measured."""
        middle = median(self.percent) if self.percent else math.inf
        return middle if math.isfinite(middle) else None

    def within_percent(self, limit: float) -> int:
        """Return the number of figures with an error of at most `limit` percent."""
        return sum(error <= limit for error in self.percent)

    def within_readings(self, limit: float) -> int:
        """Return the number of figures with an error of at most `limit` reading errors."""
        return sum(error <= limit for error in self.readings)

    def to_json(self) -> dict[str, Any]:
        """Return the distribution as plain data; the numbers of figures are cumulative."""
        return {
            "metric": self.metric,
            "figures": self.figures,
            "median_percent": self.median_percent,
            "within_percent": {str(limit): self.within_percent(limit) for limit in PERCENT},
            "beyond_percent": len(self.percent) - self.within_percent(PERCENT[-1]),
            "read": len(self.readings),
            "within_reading_errors": {str(limit): self.within_readings(limit) for limit in READING},
            "beyond_reading_errors": len(self.readings) - self.within_readings(READING[-1]),
            "published_zero": len(self.zeros),
            "zero_exactly": sum(self.zeros),
        }


def heads_and_lines(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return distributions, given in the form of `Errors.to_json`, as the heads and lines of a table.

    Properties that no figure of the study has, such as reading errors, have no columns.
    """
    heads = ["metric", "figures", "median error"]
    heads += [*(f"within {limit} %" for limit in PERCENT), f"beyond {PERCENT[-1]} %"]
    read, zeros = (any(row[key] for row in rows) for key in ("read", "published_zero"))
    if read:
        heads += ["read off a chart", *(f"within {limit} reading errors" for limit in READING)]
        heads[-len(READING)] = "within the reading error"
    if zeros:
        heads += ["0 published", "0 measured"]
    lines = []
    for row in rows:
        middle = row["median_percent"]
        line = [row["metric"].replace("_", " "), str(row["figures"])]
        line.append("" if middle is None else f"{number(middle, 2)} %")
        line += [str(row["within_percent"][str(limit)]) for limit in PERCENT]
        line.append(str(row["beyond_percent"]))
        if read:
            line += [str(row["read"]), *(str(row["within_reading_errors"][str(limit)]) for limit in READING)]
        if zeros:
            line += [str(row["published_zero"]), str(row["zero_exactly"])]
        lines.append(line)
    return heads, lines


def errors_of(figures: Sequence[Figure]) -> list[Errors]:
    """Return the errors of the compared figures by metric; for several metrics, also of all figures."""
    compared = [figure for figure in figures if figure.verdict != "not-comparable"]
    names = list(dict.fromkeys(figure.metric for figure in compared))
    rows = [_errors(name, [figure for figure in compared if figure.metric == name]) for name in names]
    return [*rows, _errors(ALL, compared)] if len(rows) > 1 else rows


def _errors(metric: str, figures: Sequence[Figure]) -> Errors:
    read = [figure for figure in figures if figure.reading_error is not None]
    printed = [figure for figure in figures if figure.reading_error is None]
    return Errors(
        metric,
        tuple(_percent(figure) for figure in printed if figure.published != 0),
        tuple(_size(figure) / figure.reading_error for figure in read if figure.reading_error is not None),
        tuple(figure.measured == 0 for figure in printed if figure.published == 0),
    )


def _size(figure: Figure) -> float:
    """Return the size of the difference; infinite if nothing was measured."""
    return math.inf if math.isnan(figure.measured) else abs(figure.measured - figure.published)


def _percent(figure: Figure) -> float:
    return 100 * _size(figure) / abs(figure.published)
