"""The evaluation of trials: means over replications, misses of conditions, the front of objectives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from perhop.sweeping.statistics import student
from perhop.tuning.evaluating import Evaluation
from perhop.tuning.goal import Goal
from perhop.tuning.question import Question
from perhop.tuning.space import Point

# Without objectives, this number of trials nearest to the conditions run all replications before the choice.
_NEAREST = 4


@dataclass
class Trial:
    """A tried point, with its best evaluation so far."""

    number: int
    point: Point
    replications: int
    evaluation: Evaluation

    @property
    def error(self) -> str | None:
        """The reason for the failure of the trial, if any."""
        return self.evaluation.error

    def samples(self, goal: Goal) -> list[float]:
        """Return the measurements of a goal, by replication; empty for a goal on a parameter."""
        return [value for value in self.evaluation.values.get(goal.text, ()) if value is not None]


@dataclass(frozen=True)
class Judge:
    """Compares the trials of a question."""

    question: Question

    def mean(self, trial: Trial, goal: Goal) -> float | None:
        """Return the mean of a goal in its base unit; `None` if nothing was measured."""
        if goal.parameter is not None:
            return self.question.parameter(goal.parameter).number(trial.point[goal.parameter])
        samples = trial.samples(goal)
        return fmean(samples) if samples else None

    def interval(self, trial: Trial, goal: Goal) -> float | None:
        """Return half the 95 % confidence interval of a goal's mean; `None` with one measurement or none."""
        samples = trial.samples(goal)
        quantile = student(len(samples))
        return quantile * stdev(samples) / math.sqrt(len(samples)) if quantile is not None else None

    def is_measured(self, trial: Trial) -> bool:
        """Whether every goal has a value."""
        return trial.error is None and all(self.mean(trial, goal) is not None for goal in self.question.goals)

    def misses(self, trial: Trial, slack: Sequence[float] = ()) -> list[float]:
        """Return the distance of each condition; at most 0 if the condition is met.

        `slack` is, for each goal, the amount by which its mean may be better than measured.
        """
        found = []
        for goal, value, give in self._values(trial, slack):
            if not goal.is_objective:
                found.append(max(-1.0, goal.miss(_nearer(goal, value, give))))
        return found

    def objectives(self, trial: Trial, slack: Sequence[float] = ()) -> list[float]:
        """Return the values to minimize: the objectives, otherwise the distances of the conditions."""
        pairs = [(goal, _nearer(goal, value, give)) for goal, value, give in self._values(trial, slack)]
        objectives = [goal.distance(value) for goal, value in pairs if goal.is_objective]
        return objectives or [math.hypot(*(goal.distance(value) for goal, value in pairs))]

    def meets(self, trial: Trial, slack: Sequence[float] = ()) -> bool:
        """Whether every condition is met."""
        return all(miss <= 0 for miss in self.misses(trial, slack))

    def best(self, trials: Iterable[Trial], noise: Sequence[float] | None = None) -> list[Trial]:
        """Return the candidates for the choice, from best to worst.

        These are the trials that meet every condition and that no other trial beats in all objectives. If no
        trial meets every condition, or without objectives, they are the trials nearest to the conditions.
        `noise` is the deviation of one replication for each goal. With `noise`, a mean of fewer than all
        replications counts as one standard error better.
        """
        measured = [trial for trial in trials if self.is_measured(trial)]
        slack = {trial.number: self._slack(trial, noise) for trial in measured}
        if not self.question.objectives:
            near = sorted(
                measured, key=lambda trial: (self.objectives(trial, slack[trial.number]), trial.number)
            )
            return near[:_NEAREST]
        held = [trial for trial in measured if self.meets(trial, slack[trial.number])]
        if not held:
            excess = {
                trial.number: sum(max(0.0, miss) for miss in self.misses(trial, slack[trial.number]))
                for trial in measured
            }
            return sorted(measured, key=lambda trial: (excess[trial.number], trial.number))[:_NEAREST]
        values = {trial.number: tuple(self.objectives(trial, slack[trial.number])) for trial in held}
        front = [
            trial
            for trial in held
            if not any(_beats(other, values[trial.number]) for other in values.values())
        ]
        return sorted(front, key=lambda trial: (values[trial.number], trial.number))

    def chosen(self, front: Sequence[Trial]) -> Trial:
        """Return one trial of the front; with several objectives, the trial nearest to the best values.

        The distance in an objective is relative to the extent of the front in that objective.
        """
        values = [self.objectives(trial) for trial in front]
        ends = [(min(column), max(column)) for column in zip(*values, strict=True)]

        def distance(at: int) -> float:
            parts = [
                (value - low) / (high - low) if high > low else 0.0
                for value, (low, high) in zip(values[at], ends, strict=True)
            ]
            return math.hypot(*parts)

        return front[min(range(len(front)), key=lambda at: (distance(at), at))]

    def noise(self, trials: Iterable[Trial]) -> list[float]:
        """Return the deviation of one replication for each goal, the median over trials."""
        found = []
        measured = [trial for trial in trials if self.is_measured(trial)]
        for goal in self.question.goals:
            samples = [trial.samples(goal) for trial in measured]
            deviations = [stdev(trial_samples) for trial_samples in samples if len(trial_samples) > 1]
            found.append(median(deviations) if deviations else 0.0)
        return found

    def _slack(self, trial: Trial, noise: Sequence[float] | None) -> list[float]:
        if noise is None or trial.replications >= self.question.most:
            return []
        return [deviation / math.sqrt(trial.replications) for deviation in noise]

    def _values(self, trial: Trial, slack: Sequence[float]) -> Iterable[tuple[Goal, float, float]]:
        for at, goal in enumerate(self.question.goals):
            value = self.mean(trial, goal)
            assert value is not None, "trials without a value are left out"
            yield goal, value, slack[at] if slack else 0.0


def _nearer(goal: Goal, value: float, give: float) -> float:
    """Return a value that is nearer to the goal by `give`."""
    if goal.kind in ("<=", "small"):
        return value - give
    if goal.kind in (">=", "large"):
        return value + give
    return goal.value + math.copysign(max(0.0, abs(value - goal.value) - give), value - goal.value)


def _beats(objectives: Sequence[float], other: Sequence[float]) -> bool:
    """Whether one trial is at least as good in every objective and better in at least one."""
    return tuple(objectives) != tuple(other) and all(a <= b for a, b in zip(objectives, other, strict=True))
