"""Figures of a study, measured and published, and verdicts of claims."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from perhop import _core
from perhop.errors import UnknownNameError
from perhop.results import Results
from perhop.study.definition import Metric, Published

Answer = Literal["agrees", "differs", "not-comparable"]
#: The verdict on a claim. A claim with several parts can be met partly.
Judgment = Literal["agrees", "partly", "differs", "not-comparable"]
_HOLDS = (("holds", True), ("does not hold", False))


@dataclass(frozen=True)
class Point:
    """A measured point of a curve, at one combination of a sweep's values."""

    table: str
    case: dict[str, str]
    metric: str
    unit: str
    #: Mean over the replications; NaN if nothing was measured.
    measured: float
    #: The 95 % confidence interval of the mean, from two replications on.
    ci95: tuple[float, float] | None
    replications: int

    def to_json(self) -> dict[str, Any]:
        """Return the point as plain data."""
        return {
            "table": self.table,
            "case": self.case,
            "metric": self.metric,
            "unit": self.unit,
            "measured": None if math.isnan(self.measured) else self.measured,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "replications": self.replications,
        }


@dataclass(frozen=True)
class Figure(Point):
    """A measured figure and the published figure."""

    published: float
    verdict: Answer
    #: The reading error of a figure from a chart, in its unit; `None` if the paper prints the figure.
    reading_error: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        measured = super().to_json()
        identity = {name: measured.pop(name) for name in ("table", "case", "metric", "unit")}
        found = {**identity, "published": self.published, **measured, "verdict": self.verdict}
        return found if self.reading_error is None else found | {"reading_error": self.reading_error}


@dataclass(frozen=True)
class Verdict:
    """Whether a claim is true, and the evidence."""

    verdict: Judgment
    evidence: str
    #: Whether each part of a claim with several parts is true, by its text.
    parts: Mapping[str, bool] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {"verdict": self.verdict, "evidence": self.evidence, "parts": dict(self.parts)}


def agrees_if(holds: object, evidence: str) -> Verdict:
    """Return the verdict `agrees` if `holds` is true, otherwise `differs`."""
    return Verdict("agrees" if holds else "differs", evidence)


def judged(parts: Mapping[str, object], evidence: str) -> Verdict:
    """Return the verdict on a claim of several parts; `parts` states whether each part is true, by text.

    The verdict is `agrees` if every part is true, `differs` if no part is true, otherwise `partly`. Unless
    all parts are true, the evidence begins with the true and the false parts.
    """
    found = {part: bool(holds) for part, holds in parts.items()}
    if all(found.values()):
        return Verdict("agrees", evidence, found)
    named = ((word, [part for part, holds in found.items() if holds is so]) for word, so in _HOLDS)
    summary = "; ".join(f"{word}: {', '.join(these)}" for word, these in named if these)
    return Verdict("partly" if any(found.values()) else "differs", f"{summary}. {evidence}", found)


def not_comparable(evidence: str) -> Verdict:
    """Return the verdict `not-comparable` with the reason."""
    return Verdict("not-comparable", evidence)


class Outcome:
    """The figures, curves and results of cases that decide claims."""

    def __init__(self, figures: list[Figure], curves: list[Point], results: Mapping[str, Results]) -> None:
        self.figures = figures
        self.curves = curves
        self._results = results

    def results(self, case: str) -> Results:
        """Return the results of a case by its name."""
        return self._results[case]

    def figure(self, table: str, metric: str, **case: str) -> Figure:
        """Return the figure of a table with this metric and these values of its case.

        Raises:
            UnknownNameError: there is no such figure, or more than one.

        """
        found = [
            figure
            for figure in self.figures
            if figure.table == table and figure.metric == metric and case.items() <= figure.case.items()
        ]
        if len(found) != 1:
            raise UnknownNameError(
                f"table {table} has {len(found)} figures `{metric}` for {case}, but exactly one is needed"
            )
        return found[0]

    def curve(self, table: str, metric: str, **case: str) -> list[Point]:
        """Return the points of a table with this metric and these values, in the order of the sweep."""
        return [
            point
            for point in self.curves
            if point.table == table and point.metric == metric and case.items() <= point.case.items()
        ]

    def point(self, table: str, metric: str, **case: str) -> Point:
        """Return the point of a table with this metric and these values.

        Raises:
            UnknownNameError: there is no such point, or more than one.

        """
        found = self.curve(table, metric, **case)
        if len(found) != 1:
            raise UnknownNameError(
                f"table {table} has {len(found)} points `{metric}` for {case}, but exactly one is needed"
            )
        return found[0]


def figure(published: Published, metric: Metric, samples: list[float]) -> Figure:
    """Compare a published figure with the samples of the replications."""
    mean, ci95 = _mean(samples)
    return Figure(
        table=published.table,
        case=published.case,
        metric=published.metric,
        unit=published.unit,
        published=published.value,
        measured=mean,
        ci95=ci95,
        replications=len(samples),
        verdict=_compare(published.value, mean, metric),
        reading_error=published.reading_error,
    )


def point(table: str, case: dict[str, str], metric: Metric, samples: list[float]) -> Point:
    """Return the measured point of a sweep from the samples of the replications."""
    mean, ci95 = _mean(samples)
    return Point(table, case, metric.name, metric.unit or "", mean, ci95, len(samples))


def _mean(samples: list[float]) -> tuple[float, tuple[float, float] | None]:
    """Return the mean and its 95 % confidence interval."""
    measured = [sample for sample in samples if not math.isnan(sample)]
    mean = math.fsum(measured) / len(measured) if measured else math.nan
    interval = _core.confidence_95(measured)
    return mean, None if interval is None else interval[1:]


def _compare(published: float, measured: float, metric: Metric) -> Answer:
    if metric.incomparable is not None:
        return "not-comparable"
    near = metric.absolute is not None and abs(measured - published) <= metric.absolute
    if metric.relative is not None:
        near = near or abs(measured - published) <= metric.relative * abs(published)
    if metric.factor is not None and published * measured > 0:
        near = near or 1 / metric.factor <= measured / published <= metric.factor
    return "agrees" if near else "differs"
