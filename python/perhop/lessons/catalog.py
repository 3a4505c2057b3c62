"""The lessons of the course, in their order."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path

from perhop.errors import UnknownNameError
from perhop.lessons.definition import Lesson, read_lesson

_FILES = Path(__file__).parent / "files"


@cache
def course() -> tuple[Lesson, ...]:
    """Return all lessons; each builds on those before it."""
    files = sorted(_FILES.glob("*.yaml"))
    return tuple(
        read_lesson(file.read_text(encoding="utf-8"), number, file.name)
        for number, file in enumerate(files, 1)
    )


def lesson(name: str) -> Lesson:
    """Return a lesson by its name, as `fifo`.

    Raises:
        UnknownNameError: there is no such lesson; the help lists the names.

    """
    found = {lesson_of_course.id: lesson_of_course for lesson_of_course in course()}
    if name not in found:
        near = get_close_matches(name, found, n=1)
        help = f"did you mean `{near[0]}`?" if near else f"lessons: {', '.join(found)}"
        raise UnknownNameError(f"there is no lesson `{name}`", help)
    return found[name]
