"""The question of a search: a scenario, its varied parameters, the goals, and the limits of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perhop.document import Document
from perhop.errors import InvalidInputError
from perhop.manifest import json_text
from perhop.tuning import goal as goals_
from perhop.tuning.goal import Goal
from perhop.tuning.space import Parameter, Point, Space

#: The version of the layout of a tuning's files. A change that could break a reader increments the version.
SCHEMA_VERSION = 2
#: The file that identifies the folder of a tuning.
FILE = "tuning.json"
# The minimum number of replications, because intervals and the share of noise need two.
_FEWEST = 2


@dataclass(frozen=True)
class Question:
    """All values on which the answer depends."""

    #: The scenario that every trial changes, with the texts of router configurations in it.
    scenario: Document
    space: Space
    goals: tuple[Goal, ...]
    #: Seed of every trial (common random numbers) and of the search.
    seed: int
    #: The maximum number of different points.
    trials: int
    #: The initial replications of a trial, and the replications of the candidates for the answer.
    least: int
    most: int

    @property
    def objectives(self) -> tuple[Goal, ...]:
        """The goals that are objectives."""
        return tuple(goal for goal in self.goals if goal.is_objective)

    @property
    def conditions(self) -> tuple[Goal, ...]:
        """The goals that are conditions."""
        return tuple(goal for goal in self.goals if not goal.is_objective)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name."""
        return next(parameter for parameter in self.space.parameters if parameter.name == name)

    def changes(self, point: Point, replications: int) -> dict[str, str]:
        """Return the values that a trial sets in the scenario, by path."""
        return self.space.changes(point) | {"seed": str(self.seed), "replications": str(replications)}

    def to_json(self) -> dict[str, Any]:
        """Return the question without the scenario, in the form of tuning.json."""
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": self.scenario["name"],
            "seed": self.seed,
            "trials": self.trials,
            "least": self.least,
            "most": self.most,
            "goals": [goal.to_json() for goal in self.goals],
            **self.space.to_json(),
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any], scenario: Document) -> Question:
        """Return the question that `to_json` described; raises `LookupError`, `TypeError` or `ValueError`."""
        goals = tuple(Goal.of_json(goal) for goal in found["goals"])
        space = Space.of_json(found)
        sizes = (int(found[name]) for name in ("seed", "trials", "least", "most"))
        return cls(scenario, space, goals, *sizes)

    def texts(self) -> dict[str, str]:
        """Return the files that describe the question, by name; equal questions have equal files."""
        return {FILE: json_text(self.to_json()), "scenario.json": json_text(dict(self.scenario))}


def question(
    scenario: Document,
    goals: list[str],
    space: Space,
    *,
    seed: int | None,
    trials: int,
    least: int,
    most: int,
) -> Question:
    """Return a question with parsed goals and valid numbers; `perhop.tune` describes the arguments.

    Raises:
        InvalidInputError: a goal is not valid, or a number is out of range.

    """
    if not goals:
        raise InvalidInputError(
            "there is no goal", "add --goal, for example --goal 'voice.delay_p99 <= 20ms'"
        )
    if least < _FEWEST or most < least:
        raise InvalidInputError(
            f"{least} to {most} replications",
            "give at least 2, and no more in the first round than in the last",
        )
    for path in ("seed", "replications"):
        if path in space.fixed or path in space.units:
            raise InvalidInputError(f"`{path}` cannot be tuned", f"give --{path}")
    classes = list(
        dict.fromkeys(
            traffic["class"] if "class" in traffic else traffic["name"] for traffic in scenario["traffic"]
        )
    )
    read = tuple(goals_.parse(goal, space.units, classes) for goal in dict.fromkeys(goals))
    first: int = scenario["seed"]
    return Question(scenario, space, read, first if seed is None else seed, trials, least, most)
