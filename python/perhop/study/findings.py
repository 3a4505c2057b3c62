"""The findings of a study: figures, curves, claims, and the effect of its assumptions on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from perhop.results import Results
from perhop.study.definition import Assumption, Highlight, Study
from perhop.study.ellipses import Ellipse
from perhop.study.errors import Errors, errors_of
from perhop.study.outcome import Figure, Point, Verdict
from perhop.study.traces import Trace


@dataclass(frozen=True)
class Trial:
    """The study with another value of one assumption."""

    replications: int
    figures: list[Figure]
    curves: list[Point]
    claims: dict[str, Verdict]


@dataclass(frozen=True)
class Moved:
    """A row of the sensitivity table: an alternative value of an assumption, and its effect."""

    assumption: str
    value: str
    #: The study's highlights; `None` if their table was not run.
    measured: list[float | None]
    #: The claims with another verdict.
    claims: dict[str, Verdict]


@dataclass(frozen=True, repr=False)
class Findings:
    """The measurements of a study, and the verdicts on its claims."""

    study: Study
    seed: int
    figures: list[Figure]
    #: The points of curves, which the paper draws without numbers.
    curves: list[Point]
    #: The verdicts by the id of the claim.
    claims: dict[str, Verdict]
    #: The trials by the name of the assumption and the tried value.
    trials: dict[tuple[str, str], Trial]
    #: The results by the name of the case.
    results: dict[str, Results]
    #: Wall-clock time of the run, in seconds.
    seconds: float
    #: The ellipses of the points of sweeps whose table requests them.
    ellipses: list[Ellipse] = field(default_factory=list)
    #: The traces of the cases whose table requests them.
    traces: list[Trace] = field(default_factory=list)

    def __repr__(self) -> str:
        """Name the study and the seed; the figures would fill the screen."""
        what = f"{self.study.id}: {len(self.figures)} figures, seed {self.seed}"
        return f"<perhop.study.{type(self).__name__} of {what}>"

    @property
    def claims_met(self) -> bool:
        """Whether every judged claim is completely met: none differs, and none is met only in part."""
        return all(verdict.verdict in ("agrees", "not-comparable") for verdict in self.claims.values())

    @property
    def errors(self) -> list[Errors]:
        """The errors of the measured figures, by metric and for all metrics."""
        return errors_of(self.figures)

    def sensitivity(self, assumption: Assumption) -> list[tuple[str, Trial]]:
        """Return the trials of an assumption's alternatives, by value."""
        values = [alternative.value for alternative in assumption.alternatives]
        return [
            (value, self.trials[assumption.name, value])
            for value in values
            if (assumption.name, value) in self.trials
        ]

    @property
    def usual(self) -> list[float | None]:
        """The study's highlights with the values that the study assumes."""
        return [_highlighted(highlight, self.figures, self.curves) for highlight in self.study.highlights]

    def sensitivity_table(self) -> list[Moved]:
        """Return highlights and changed claims, one row for each alternative value."""
        return [
            Moved(
                assumption.name,
                value,
                [_highlighted(highlight, trial.figures, trial.curves) for highlight in self.study.highlights],
                {
                    id: verdict
                    for id, verdict in trial.claims.items()
                    if verdict.verdict not in ("not-comparable", self.claims[id].verdict)
                },
            )
            for assumption in self.study.assumptions
            for value, trial in self.sensitivity(assumption)
        ]


def _highlighted(highlight: Highlight, figures: list[Figure], curves: list[Point]) -> float | None:
    measured: list[Figure | Point] = [*figures, *curves]
    for measurement in measured:
        if highlight.shows(measurement.table, measurement.metric, measurement.case):
            return measurement.measured
    return None
