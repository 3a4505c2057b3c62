"""Thirteen lessons: a scenario to change, goals that are checked, hints, and a solution.

    lesson = perhop.lesson("fifo")
    scenario = lesson.scenario()
    scenario.set("policies.uplink.queueing.classes.all.buffer.tail-drop.limit", "12 packets")
    lesson.check(scenario.run(seed=lessons.seed_of("Ada Lovelace")))

The playground shows the same lessons in a browser. A lesson is a file in `files`; docs/lessons.md describes
the format. The package imports polars at the first run of a lesson.
"""

from perhop.lessons.catalog import course, lesson
from perhop.lessons.definition import Lesson, Published, Solution, read_scenario
from perhop.lessons.goals import Asked, Check, Checked, Condition
from perhop.lessons.seeds import check_number, seed_of
from perhop.lessons.sheets import Entry, Sheet, Verified, read_sheet, verify

__all__ = [
    "Asked",
    "Check",
    "Checked",
    "Condition",
    "Entry",
    "Lesson",
    "Published",
    "Sheet",
    "Solution",
    "Verified",
    "check_number",
    "course",
    "lesson",
    "read_scenario",
    "read_sheet",
    "seed_of",
    "verify",
]
