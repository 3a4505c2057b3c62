"""Lessons, and the parser of their files."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from markdown_it import MarkdownIt

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.lessons.goals import Asked, Check, Condition
from perhop.results import Results
from perhop.scenario import Scenario
from perhop.verdicts import assertions

_KEYS = ("id", "title", "text", "change", "goals", "conditions", "hints", "published", "scenario", "solution")
_NEEDED = ("id", "title", "text", "change", "goals", "scenario", "solution")


@dataclass(frozen=True)
class Published:
    """A published figure and its source."""

    text: str
    source: str


@dataclass(frozen=True)
class Solution:
    """One way to meet the goal."""

    #: The reason why the scenario meets the goal.
    text: str
    #: The scenario as the text of a file.
    scenario: str


@dataclass(frozen=True, repr=False)
class Lesson:
    """A scenario to change until a goal is met."""

    #: The number of the lesson in the course, from 1.
    number: int
    id: str
    title: str
    #: Markdown.
    text: str
    #: The initial scenario as the text of a file.
    start: str
    asked: Asked
    hints: tuple[str, ...]
    published: Published | None
    solution: Solution

    def __repr__(self) -> str:
        """Return the number, the name and the title of the lesson."""
        return f"<perhop.lessons.Lesson {self.number}, {self.id}: {self.title}>"

    def _repr_html_(self) -> str:
        """Show text, goals and conditions in a notebook."""
        texts = [goal.text for goal in self.asked.goals] + [
            condition.text for condition in self.asked.conditions
        ]
        items = "".join(f"<li><code>{html.escape(item)}</code></li>" for item in texts)
        text = MarkdownIt("commonmark", {"html": False}).render(self.text)
        return f"<h3>{html.escape(self._head)}</h3>{text}<ul>{items}</ul>"

    @property
    def _head(self) -> str:
        return f"{self.number}. {self.title}"

    def scenario(self) -> Scenario:
        """Return the initial scenario, for changes."""
        return read_scenario(self.start)

    def check(self, results: Results) -> Check:
        """Judge the results of a run of the lesson's scenario, or of a changed copy."""
        return self.judge(
            results.seed,
            _core.resolve(json.dumps(results.scenario), "."),
            json.dumps(results.summary),
        )

    def judge(self, seed: int, scenario: str, summary: str) -> Check:
        """Judge a resolved scenario and the summary of its run, both as JSON."""
        return self.asked.judge(self._head, seed, self._resolved, scenario, summary)

    @cached_property
    def _resolved(self) -> str:
        return resolved(self.scenario())


def read_scenario(text: str) -> Scenario:
    """Return the scenario in a text.

    Raises:
        ScenarioError: the scenario is not valid.

    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.perhop.yaml"
        file.write_text(text, encoding="utf-8")
        return Scenario.load(file)


def resolved(scenario: Scenario) -> str:
    """Return a scenario with all defaults and files resolved, as JSON."""
    return _core.resolve(scenario.to_json(), scenario.base)


def read_lesson(text: str, number: int, name: str) -> Lesson:
    """Read the lesson in the text of a file called `name`.

    Raises:
        InvalidInputError: the text is not a lesson.

    """
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInputError(f"{name} is not YAML: {error}") from error
    if not isinstance(found, Mapping):
        raise InvalidInputError(f"{name} has no lesson", f"a lesson has the keys {', '.join(_NEEDED)}")
    wrong = [key for key in found if key not in _KEYS]
    missing = [key for key in _NEEDED if key not in found]
    if wrong or missing:
        what = f"`{wrong[0]}` is not a key of a lesson" if wrong else f"`{missing[0]}` is missing"
        raise InvalidInputError(f"{name}: {what}", f"keys of a lesson: {', '.join(_KEYS)}")
    conditions = found.get("conditions", {})
    if not isinstance(conditions, Mapping):
        raise InvalidInputError(
            f"{name}: `conditions` is not a mapping",
            "for example `the rate of the link: links.0.rate <= 2Mb/s`",
        )
    asked = Asked(
        tuple(found["change"]),
        tuple(assertions.read(found["goals"])),
        tuple(Condition.parse(*pair) for pair in conditions.items()),
    )
    solution, published = found["solution"], found.get("published")
    return Lesson(
        number,
        found["id"],
        found["title"],
        found["text"],
        found["scenario"],
        asked,
        tuple(found.get("hints", ())),
        Published(published["text"], published["source"]) if published else None,
        Solution(solution["text"], _edited(found["scenario"], solution["edits"], name)),
    )


def _edited(text: str, edits: Sequence[Mapping[str, str]], name: str) -> str:
    """Return a text with replaced parts.

    The second and later lines of a part have the indentation of its first line.
    """
    for edit in edits:
        places = []
        for found in re.finditer(re.escape(edit["find"].split("\n")[0]), text):
            line = text[text.rfind("\n", 0, found.start()) + 1 :]
            margin = "\n" + " " * (len(line) - len(line.lstrip(" ")))
            whole = edit["find"].replace("\n", margin)
            if text.startswith(whole, found.start()):
                places.append((found.start(), len(whole), margin))
        if len(places) != 1:
            raise InvalidInputError(f"{name}: `{edit['find']}` occurs {len(places)} times in the scenario")
        at, length, margin = places[0]
        text = text[:at] + edit["put"].replace("\n", margin) + text[at + length :]
    return text
