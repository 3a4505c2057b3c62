"""Traces of a study: a published curve over one run, and the measured values at the same places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perhop.study.definition import Course


@dataclass(frozen=True)
class Trace:
    """The two curves of one case."""

    table: str
    case: dict[str, str]
    course: Course
    x: tuple[float, ...]
    published: tuple[float, ...]
    #: The measured values of the first replication.
    measured: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the curves as plain data."""
        return {
            "table": self.table,
            "case": self.case,
            "name": self.course.name,
            "x": list(self.course.x),
            "y": list(self.course.y),
            "places": list(self.x),
            "published": list(self.published),
            "measured": list(self.measured),
        }


def trace(
    table: str, case: dict[str, str], course: Course, rows: Sequence[tuple[float, float, float]]
) -> Trace:
    """Return the curves of a case from rows of place, published and measured value."""
    x, published, measured = (tuple(map(float, column)) for column in zip(*rows, strict=True))
    return Trace(table, case, course, x, published, measured)
