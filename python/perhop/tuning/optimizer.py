"""The choice of the next points: Optuna's tree-structured Parzen estimator.

Sources: Bergstra, Bardenet, Bengio and Kegl 2011 (the estimator); Ozaki et al. 2022 (several objectives);
Watanabe and Hutter 2023 (constraints).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from perhop.errors import InvalidInputError
from perhop.sampling import Range
from perhop.tuning.space import Parameter, Point, Space

_MISSES = "misses"


@dataclass
class Optimizer:
    """Suggests points and learns from their results."""

    space: Space
    #: The number of values to minimize.
    objectives: int
    seed: int
    #: The number of points drawn uniformly before the estimator is used.
    startup: int
    _study: Any = field(init=False)
    _open: list[Any] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Begin a study; raises `InvalidInputError` if Optuna is not installed."""
        try:
            import optuna  # lazy: only tuning needs it
        except ModuleNotFoundError as error:
            raise InvalidInputError("tuning needs Optuna", "pip install 'perhop[tune]'") from error
        self._library: Any = optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            # Optuna warns that parts of this sampler are experimental.
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(
                n_startup_trials=self.startup,
                multivariate=True,
                constant_liar=True,
                constraints_func=lambda trial: trial.user_attrs.get(_MISSES, ()),
                # Seeds of numpy have 32 bits.
                seed=self.seed % 2**32,
            )
        self._study = optuna.create_study(directions=["minimize"] * self.objectives, sampler=sampler)
        self._distributions = {
            parameter.name: self._distribution(parameter) for parameter in self.space.parameters
        }

    def start(self, point: Point) -> None:
        """Queue a point, which is tried before all other points; missing parameters are drawn."""
        places = {
            parameter.name: parameter.place(point[parameter.name])
            for parameter in self.space.parameters
            if parameter.name in point
        }
        known = {name: place for name, place in places.items() if place is not None}
        if known:
            self._study.enqueue_trial({name: self._held(name, place) for name, place in known.items()})

    def ask(self, count: int) -> list[Point]:
        """Return points to try. The caller passes their results to `tell`, in the same order."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._open = [self._study.ask(self._distributions) for _ in range(count)]
        return [self._point(trial.params) for trial in self._open]

    def tell(self, found: Sequence[tuple[Sequence[float], Sequence[float]] | None]) -> None:
        """Learn the objectives and misses of conditions of the points; `None` for failed points."""
        for trial, result in zip(self._open, found, strict=True):
            if result is None:
                self._study.tell(trial, state=self._library.trial.TrialState.FAIL)
                continue
            values, misses = result
            trial.set_user_attr(_MISSES, list(misses))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._study.tell(trial, list(values))
        self._open = []

    def _distribution(self, parameter: Parameter) -> Any:  # noqa: ANN401 - a class of Optuna
        distributions = self._library.distributions
        if isinstance(parameter.values, Range):
            # Suggest a fraction of the range; the range itself converts it to logarithms or whole numbers.
            return distributions.FloatDistribution(0.0, 1.0)
        if parameter.is_ordered:
            return distributions.IntDistribution(0, len(parameter.values) - 1)
        return distributions.CategoricalDistribution(tuple(range(len(parameter.values))))

    def _held(self, name: str, place: float) -> float:
        is_range = isinstance(self._distributions[name], self._library.distributions.FloatDistribution)
        return place if is_range else int(place)

    def _point(self, params: Mapping[str, Any]) -> Point:
        return {
            parameter.name: parameter.values.at(params[parameter.name])
            if isinstance(parameter.values, Range)
            else parameter.values[params[parameter.name]]
            for parameter in self.space.parameters
        }
