"""The verdict on each class of an example or a lesson is the same for all seeds, or undecided."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import perhop
from conftest import ROOT
from perhop import lessons
from perhop.verdicts import Telephony

EXAMPLES = sorted(ROOT.glob("examples/*.perhop.yaml"))
COURSE = lessons.course()
#: Several queues, random drops, and a router with voice.
FEW = ("red-family", "router-configuration", "strict-priority", "wred")


def answers(scenario: perhop.Scenario, seeds: Iterable[int]) -> dict[str, set[str]]:
    """Return the decided answers about each class over the seeds."""
    found: dict[str, set[str]] = {}
    for seed in seeds:
        results = scenario.run(seed=seed, replications="fitting")
        for judged in results.judged(Telephony.from_options()):
            decided = found.setdefault(judged.name, set())
            if judged.fitness.answer in ("fit", "unfit"):
                decided.add(str(judged.fitness.answer))
    return found


def changing(scenario: perhop.Scenario, seeds: Iterable[int]) -> dict[str, set[str]]:
    return {name: found for name, found in answers(scenario, seeds).items() if len(found) > 1}


@pytest.mark.parametrize("name", FEW)
def test_three_seeds_give_one_verdict(name: str) -> None:
    scenario = perhop.Scenario.load(ROOT / "examples" / f"{name}.perhop.yaml")
    assert changing(scenario, range(1, 4)) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_fifty_seeds_give_one_verdict_on_an_example(file: Path) -> None:
    assert changing(perhop.Scenario.load(file), range(1, 51)) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.id)
def test_fifty_seeds_give_one_verdict_on_a_lesson(lesson: lessons.Lesson) -> None:
    assert changing(lesson.scenario(), range(1, 51)) == {}
