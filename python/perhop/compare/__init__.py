"""Comparing two results of one scenario; see `docs/compare.md`."""

from perhop.compare.comparison import FILE, Answer, Comparison, Row, Sample, compare, load
from perhop.compare.quantities import Quantity
from perhop.compare.tolerance import Tolerance, Tolerances

__all__ = [
    "FILE",
    "Answer",
    "Comparison",
    "Quantity",
    "Row",
    "Sample",
    "Tolerance",
    "Tolerances",
    "compare",
    "load",
]
