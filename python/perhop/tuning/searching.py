"""The search: a trial of points with few replications, and more replications for the candidates.

The rounds have a fixed size, and the next trials depend only on the results. The answer is therefore the same
on any engine and number of threads, and an interrupted search repeats its steps from the journal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from perhop.errors import InvalidInputError
from perhop.sampling import Design, Range
from perhop.sweeping import Advance
from perhop.tuning.evaluating import Evaluator, Searched
from perhop.tuning.judging import Judge, Trial
from perhop.tuning.optimizer import Optimizer
from perhop.tuning.question import Question
from perhop.tuning.space import Parameter, Point

# The number of points of one round.
_ROUND = 12
# The fraction of the trials that is reserved for neighbors of the best points.
_REFINING = 0.25
# The fraction of trials that are drawn uniformly before the estimator is used, and their minimum number.
_EVENLY = 0.25
_LEAST_EVENLY = 12
# Distances of neighbors, as fractions of the range of a parameter.
_STEPS = (0.1, 0.03, 0.01)

Show = Callable[[Searched], None]


class Search:
    """A search in progress."""

    def __init__(
        self, question: Question, evaluator: Evaluator, starts: Sequence[Point], progress: Show | None
    ) -> None:
        self._question, self._evaluator, self._starts = question, evaluator, starts
        self._progress = progress
        self.judge = Judge(question)
        self.trials: dict[tuple[str, ...], Trial] = {}
        #: The number of first trials that were drawn evenly; sensitivities are computed from them.
        self.even = 0
        self._share = 0.0

    def run(self) -> list[Trial]:
        """Try points up to the limit, and return the best trials, each with all replications.

        Raises:
            InvalidInputError: every trial failed.

        """
        if (count := _size(self._question.space.parameters)) <= self._question.trials:
            self._all()
            self.even = count
        else:
            self._explore()
        front = self._decide()
        while count > self._question.trials and (near := self._neighbors(front)):
            self._try(near, "deciding")
            front = self._decide()
        return front

    def _all(self) -> None:
        """Try every point of a small space."""
        lists = {parameter.name: _listed(parameter) for parameter in self._question.space.parameters}
        design = Design("grid", lists)
        for first in range(0, len(design), _ROUND):
            self._try([design[at] for at in range(first, min(first + _ROUND, len(design)))], "exploring")

    def _explore(self) -> None:
        """Try points drawn evenly, then points that the optimizer suggests."""
        count = max(1, round((1 - _REFINING) * self._question.trials))
        startup = min(count, max(_LEAST_EVENLY, round(_EVENLY * count)))
        objectives = len(self._question.objectives) or 1
        optimizer = Optimizer(self._question.space, objectives, self._question.seed, startup)
        for point in self._starts:
            optimizer.start(point)
        for first in range(0, count, _ROUND):
            points = optimizer.ask(min(_ROUND, count - first))
            found = self._try(points, "exploring")
            optimizer.tell([self._learned(trial) for trial in found])
            if first < startup:
                self.even = len(self.trials)

    def _learned(self, trial: Trial) -> tuple[list[float], list[float]] | None:
        if not self.judge.is_measured(trial):
            return None
        return self.judge.objectives(trial), self.judge.misses(trial)

    def _decide(self) -> list[Trial]:
        """Add replications to candidates until the best trials have all of them; return the best trials."""
        while True:
            trials = list(self.trials.values())
            plausible = self.judge.best(trials, self.judge.noise(trials))
            if not plausible:
                raise InvalidInputError(
                    f"every trial failed: {self._first_error()}",
                    "vary parameters within the limits of the scenario",
                )
            short = [trial for trial in plausible if trial.replications < self._question.most][:_ROUND]
            if not short:
                return self.judge.best(
                    [trial for trial in self.trials.values() if trial.replications >= self._question.most]
                )
            self._repeat(short)

    def _repeat(self, trials: Sequence[Trial]) -> None:
        """Double the replications of some trials."""
        counts = [min(2 * trial.replications, self._question.most) for trial in trials]
        wanted = [(trial.point, count) for trial, count in zip(trials, counts, strict=True)]
        found = self._evaluator.evaluate(wanted, partial(self._show, "deciding"))
        for trial, count, evaluation in zip(trials, counts, found, strict=True):
            trial.replications, trial.evaluation = count, evaluation

    def _neighbors(self, front: Sequence[Trial]) -> list[Point]:
        """Return untried neighbors of the best points, at most the remaining number of trials."""
        left = self._question.trials - len(self.trials)
        near = (point for trial in front for point in self._neighbors_of(trial.point))
        new = {self._key(point): point for point in near if self._key(point) not in self.trials}
        return list(new.values())[: max(0, min(left, _ROUND))]

    def _neighbors_of(self, point: Point) -> Iterator[Point]:
        """Generate the neighbors of a point, which differ in one parameter, the nearest first."""
        several = [
            [{**point, parameter.name: text} for text in _nearest(parameter, point[parameter.name])]
            for parameter in self._question.space.parameters
            if parameter.is_ordered
        ]
        for row in itertools.zip_longest(*several):
            yield from (neighbor for neighbor in row if neighbor is not None)

    def _try(self, points: Sequence[Point], phase: str) -> list[Trial]:
        """Evaluate points with few replications; earlier results are kept."""
        new = {self._key(point): point for point in points if self._key(point) not in self.trials}
        wanted = [(point, self._question.least) for point in new.values()]
        found = self._evaluator.evaluate(wanted, partial(self._show, phase)) if wanted else []
        for (key, point), evaluation in zip(new.items(), found, strict=True):
            self.trials[key] = Trial(len(self.trials), point, self._question.least, evaluation)
        return [self.trials[self._key(point)] for point in points]

    def _key(self, point: Point) -> tuple[str, ...]:
        return tuple(point[parameter.name] for parameter in self._question.space.parameters)

    def _first_error(self) -> str:
        errors = (trial.error for trial in self.trials.values() if trial.error)
        return next(errors, "a metric of the goals was never measured")

    def _show(self, phase: str, now: Advance) -> None:
        if self._progress is None:
            return
        planned = self._question.trials
        # The number of deciding rounds is unknown, so the share is the share of the round with most progress.
        exploring = min(1.0, len(self.trials) / planned)
        self._share = max(self._share, 0.8 * exploring if phase == "exploring" else 0.8 + 0.15 * now.fraction)
        failed = sum(trial.error is not None for trial in self.trials.values())
        runs = self._evaluator.runs
        self._progress(
            Searched(
                self._share, now.simulated_s, now.packet_hops, len(self.trials), planned, failed, runs, phase
            )
        )


def _size(parameters: Sequence[Parameter]) -> int:
    """Return the number of points; for a continuous range, a number above any limit of trials."""
    total = 1
    for parameter in parameters:
        if isinstance(parameter.values, Range):
            if not parameter.values.whole:
                return 2**63
            total *= int(parameter.values.high) - int(parameter.values.low) + 1
        else:
            total *= len(parameter.values)
    return total


def _listed(parameter: Parameter) -> list[str]:
    if isinstance(parameter.values, Range):
        return [str(number) for number in range(int(parameter.values.low), int(parameter.values.high) + 1)]
    return list(parameter.values)


def _nearest(parameter: Parameter, text: str) -> list[str]:
    """Return the neighbors of a value, the nearest first."""
    place = parameter.place(text)
    if place is None:
        return []
    if isinstance(parameter.values, Range):
        places = [place + sign * step for step in reversed(_STEPS) for sign in (-1, 1)]
        if parameter.values.whole:
            numbers = [int(text) + sign * step for step in (1, 3, 10) for sign in (-1, 1)]
            ends = int(parameter.values.low), int(parameter.values.high)
            return [str(number) for number in numbers if ends[0] <= number <= ends[1]]
        return [parameter.values.at(fraction) for fraction in places if 0 <= fraction < 1]
    indices = [int(place) + sign * step for step in (1, 2, 5, 10) for sign in (-1, 1)]
    return [parameter.values[index] for index in indices if 0 <= index < len(parameter.values)]
