"""The goals of a lesson, and whether a run meets them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.lessons.words import condition_words
from perhop.metrics import resolve
from perhop.quantity import number, quantity, scale
from perhop.verdicts.assertions import Assertion

_CONDITION = re.compile(r"(?P<path>\S(?:.*\S)?)\s*(?P<sign><=|>=|==|!=|<|>)\s*(?P<value>[^<>=!]+)")


@dataclass(frozen=True)
class Condition:
    """A bound on the values of the scenario at a path; `*` in the path selects every member."""

    #: The text of the condition.
    text: str
    #: The values as text, as in `the rate of the policer`.
    subject: str
    path: str
    sign: str
    #: The bound, in the base unit.
    value: float
    #: `b/s`, `s`, `packets`, `bytes`, or empty without a unit.
    unit: str

    @classmethod
    def parse(cls, subject: str, text: str) -> Condition:
        """Read `PATH OPERATOR VALUE`; `subject` is the text for the values. Raises `InvalidInputError`."""
        found = _CONDITION.fullmatch(text.strip())
        bound = quantity(found["value"].strip()) if found else None
        if found is None or bound is None:
            raise InvalidInputError(
                f"`{text}` is not a condition of the form PATH OPERATOR VALUE",
                "for example 'links.0.rate <= 2Mb/s'",
            )
        return cls(text, subject, found["path"], found["sign"], *bound)

    @property
    def words(self) -> str:
        """The condition as a sentence without its period."""
        return condition_words(self.subject, self.sign, self.value, self.unit)


@dataclass(frozen=True)
class Checked:
    """A goal or a condition with the measured value."""

    text: str
    #: The measured value in the base unit; `None` if there is nothing to measure, so that the goal is not
    #: met.
    measured: float | None
    unit: str
    met: bool

    @property
    def words(self) -> str:
        """The measured value, with a unit of suitable size."""
        if self.measured is None:
            return "not there"
        divisor, unit = scale(self.unit, abs(self.measured))
        return f"{number(self.measured / divisor)} {unit}".strip()


@dataclass(frozen=True)
class Check:
    """The judgment of a run."""

    #: The lesson.
    title: str
    seed: int
    #: The paths of values that were changed without permission.
    changed: tuple[str, ...]
    goals: tuple[Checked, ...]
    conditions: tuple[Checked, ...]
    met: bool

    def __str__(self) -> str:
        """Return the judgment as lines of text."""
        goal_lines = [
            f"{'met    ' if checked.met else 'not met'}  {checked.text}: {checked.words}"
            for checked in (*self.goals, *self.conditions)
        ]
        wrong = [f"must not be changed: {path}" for path in self.changed]
        return "\n".join([self._head, *goal_lines, *wrong])

    @property
    def _head(self) -> str:
        return f"{self.title}, seed {self.seed}: {'met' if self.met else 'not met'}"

    def _repr_html_(self) -> str:
        """Show the judgment in a notebook."""
        rows = "".join(
            f"<tr><td>{'✓' if checked.met else '✗'}</td><td><code>{html.escape(checked.text)}</code></td>"
            f"<td>{html.escape(checked.words)}</td></tr>"
            for checked in (*self.goals, *self.conditions)
        )
        wrong = "".join(
            f"<p>must not be changed: <code>{html.escape(path)}</code></p>" for path in self.changed
        )
        return f"<p><b>{html.escape(self._head)}</b></p><table>{rows}</table>{wrong}"


@dataclass(frozen=True)
class Asked:
    """The values of a scenario that may be changed, and the goals and conditions that it must meet."""

    #: The paths of values that may be changed.
    change: tuple[str, ...]
    #: The goals of the run, in the syntax of `perhop run --assert`.
    goals: tuple[Assertion, ...]
    #: The conditions on values of the scenario.
    conditions: tuple[Condition, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the goals and conditions in the form for the engine."""
        conditions = [
            {"path": condition.path, "sign": condition.sign, "value": condition.value}
            for condition in self.conditions
        ]
        goals = [
            {
                "class": goal.name,
                "column": resolve(goal.quantity).column,
                "sign": goal.sign,
                "value": goal.bound.mean,
            }
            for goal in self.goals
        ]
        return {"change": list(self.change), "conditions": conditions, "goals": goals}

    def judge(self, title: str, seed: int, start: str, scenario: str, summary: str) -> Check:
        """Judge a scenario edited from `start`, and the summary of its run; all three are resolved JSON."""
        found: Mapping[str, Any] = json.loads(
            _core.judge(json.dumps(self.to_json()), start, scenario, summary)
        )
        goals = zip(self.goals, found["goals"], strict=True)
        conditions = zip(self.conditions, found["conditions"], strict=True)
        return Check(
            title,
            seed,
            tuple(found["changed"]),
            tuple(
                Checked(goal.text, answer["measured"], goal.bound.unit, answer["met"])
                for goal, answer in goals
            ),
            tuple(
                Checked(condition.text, answer["measured"], condition.unit, answer["met"])
                for condition, answer in conditions
            ),
            found["met"],
        )
