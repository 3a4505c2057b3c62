"""Result sheets: the playground's export for a student, read and run again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.errors import InvalidInputError, ScenarioError
from perhop.inputs import SHEET, parsed_json, read_input
from perhop.lessons.catalog import course
from perhop.lessons.definition import Lesson, read_scenario, resolved
from perhop.lessons.seeds import check_number, seed_of

#: The version of the format, the value of a sheet's key `perhop-sheet`.
VERSION = 1
_WAIT_S = 10.0


@dataclass(frozen=True)
class Entry:
    """The entry of a student for a lesson."""

    lesson: Lesson
    scenario: str
    seed: int
    #: The check number of the summary of the run.
    check: str
    met: bool


@dataclass(frozen=True)
class Sheet:
    """The results of a student."""

    name: str
    #: The version of perhop that made the sheet.
    perhop: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Verified:
    """An entry of a sheet with its repeated run."""

    entry: Entry
    #: Whether the run met the goal, with the seed of the student's name.
    met: bool
    #: Whether the summary of the run equals the summary of the sheet, byte for byte.
    same: bool
    #: The reason why the entry could not run, if any.
    error: str = ""


def read_sheet(path: str | PathLike[str]) -> Sheet:
    """Read a result sheet.

    Raises:
        InvalidInputError: the file is not a result sheet.
        UnreadableFileError: the file cannot be read.

    """
    file = Path(path)
    try:
        found = parsed_json(read_input(file, SHEET))
        if found["perhop-sheet"] != VERSION:
            raise InvalidInputError(
                f"`{file}` has version {found['perhop-sheet']} of the format, not {VERSION}"
            )
        known = {lesson.id: lesson for lesson in course()}
        entries = tuple(_entry(entry, known[entry["lesson"]]) for entry in found["lessons"])
        return Sheet(str(found["name"]), str(found["perhop"]), entries)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(
            f"`{file}` is not a result sheet: {error!r}",
            "export one from the playground: Lessons, Result sheet",
        ) from error


def _entry(found: Mapping[str, Any], lesson: Lesson) -> Entry:
    return Entry(lesson, str(found["scenario"]), int(found["seed"]), str(found["check"]), bool(found["met"]))


def verify(sheet: Sheet) -> list[Verified]:
    """Run every entry of a sheet again, with the seed of the student's name."""
    seed = seed_of(sheet.name)
    return [_verified(entry, seed) for entry in sheet.entries]


def _verified(entry: Entry, seed: int) -> Verified:
    try:
        scenario = read_scenario(entry.scenario)
        loaded = _core.load_json(scenario.to_json(), scenario.base, [])
    except ScenarioError as error:
        return Verified(entry, met=False, same=False, error=str(error))
    run = _core.start(loaded.embedded, loaded.base, seed, 1, 1)
    while not run.wait(_WAIT_S):
        pass
    summary = run.result()[0]
    judged = entry.lesson.judge(seed, resolved(scenario), summary)
    same = entry.seed == seed and entry.check == check_number(summary) and entry.met == judged.met
    return Verified(entry, judged.met, same)
