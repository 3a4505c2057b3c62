"""The grades of the public tests for bufferbloat."""

from __future__ import annotations

# DSLReports, FAQ 17930: "an increase in a measure of round trip delay when your connection is fully
# utilised", the mean over downloads and uploads. The grade E does not exist. Each grade has an upper limit on
# the increase of the round-trip time, seconds.
GRADES = (("A+", 0.005), ("A", 0.030), ("B", 0.060), ("C", 0.200), ("D", 0.400), ("F", float("inf")))
#: The source of the bands.
GRADES_SOURCE = "DSLReports, Bufferbloat Grades (FAQ 17930)"


def grade(increase_s: float) -> str:
    """Return the grade of an increase of the round-trip time under load, seconds."""
    return next(name for name, below in GRADES if increase_s < below or below == float("inf"))
