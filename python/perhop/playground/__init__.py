"""The playground: the engine as WebAssembly in one page that works from a file, without a network.

`make playground` builds the parts of the page; a wheel contains them.
"""

from __future__ import annotations

import gzip
from base64 import b85encode
from pathlib import Path
from typing import Any, Literal

from markdown_it import MarkdownIt

from perhop.errors import MissingCapabilityError
from perhop.lessons import Lesson, course
from perhop.lessons.words import goal_words
from perhop.page import in_script, render
from perhop.verdicts import Telephony
from perhop.verdicts.fitness import ROLES

_ASSETS = Path(__file__).parent / "assets"
#: The files of `make playground`: the engine, the scripts, and the notices about third-party parts.
BUILT = ("perhop.wasm", "playground.js", "start.js", "worker.js", "notices.txt")
#: The audience: the teachers' page has solutions of the lessons and reads result sheets.
Reader = Literal["students", "teachers"]


def page(reader: Reader = "students") -> str:
    """Return the page.

    Raises:
        MissingCapabilityError: this copy of perhop was built without the playground.

    """
    missing = [name for name in BUILT if not (_ASSETS / name).is_file()]
    if missing:
        raise MissingCapabilityError(
            "this copy of perhop was built without the playground",
            "in a clone of perhop, run: make playground",
        )
    module, script = (_packed((_ASSETS / name).read_bytes()) for name in BUILT[:2])
    start, worker, notices = (_text(name) for name in BUILT[2:])
    return render(
        "playground.html",
        judging=judging(),
        course=[_lesson(lesson, reader) for lesson in course()],
        is_for_teachers=reader == "teachers",
        module=module,
        script=script,
        start=in_script(start),
        worker=in_script(worker),
        notices=notices,
    )


def _packed(content: bytes) -> str:
    """Return bytes as text in a script element; `playground/src/unpacked.js` reads it."""
    # The gzip header has no date, so that the same perhop gives the same bytes.
    digits = b85encode(gzip.compress(content, 9, mtime=0)).decode("ascii")
    # `<` would begin a tag; a full stop is not a digit of RFC 1924.
    return digits.replace("<", ".")


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def judging() -> dict[str, Any]:
    """Return the criteria by which a page judges classes."""
    return {"roles": ROLES, "telephony": {"codec": Telephony.from_options().codec.name}}


def _lesson(lesson: Lesson, reader: Reader) -> dict[str, Any]:
    """Return the data of a lesson for the page; only teachers get the solution."""
    markdown = MarkdownIt("commonmark", {"html": False})
    published, solution = lesson.published, lesson.solution
    return {
        "number": lesson.number,
        "id": lesson.id,
        "title": lesson.title,
        "html": markdown.render(lesson.text),
        "start": lesson.start,
        "asked": lesson.asked.to_json(),
        "goals": [{"text": goal_words(goal), "unit": goal.bound.unit} for goal in lesson.asked.goals],
        "conditions": [
            {"text": condition.words, "unit": condition.unit} for condition in lesson.asked.conditions
        ],
        "hints": [markdown.renderInline(hint) for hint in lesson.hints],
        "published": published and {"text": published.text, "source": published.source},
        "solution": {"text": solution.text, "scenario": solution.scenario} if reader == "teachers" else None,
    }
