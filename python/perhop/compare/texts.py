"""The figures of a comparison as text, for terminals and pages."""

from __future__ import annotations

from perhop.compare.comparison import Row
from perhop.quantity import NOTHING, interval, number, scale


def cells(row: Row) -> list[str]:
    """Return unit, figures, difference, random variation and tolerance as text in one unit.

    A tolerance with a star does not bind. A difference within random variation then also counts as agreement.
    """
    unit = row.quantity.unit
    largest = max(
        (abs(figure.mean) for figure in (row.first, row.second) if figure.mean == figure.mean), default=0.0
    )
    divisor, shown = scale(unit, largest)
    star = "" if row.tolerance.binding else " *"
    return [
        shown,
        interval(row.first.mean, row.first.ci95, divisor),
        number(row.same_draws.mean / divisor),
        interval(row.second.mean, row.second.ci95, divisor),
        number(row.difference / divisor, 3),
        NOTHING if row.by_chance is None else number(row.by_chance / divisor, 2),
        number(row.tolerance.width(row.same_draws.mean) / divisor, 2) + star,
    ]
