"""The bounds of queues that differ after a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perhop.bounds import Bounds, QueueBound
from perhop.differing.result import Changed
from perhop.errors import PerhopError
from perhop.quantity import number

# A smaller relative difference is not a change of a bound.
_SAME = 1e-6
_BOUNDS = {
    "guaranteed_bps": ("guaranteed", "kb/s", 1e-3),
    "delay_s": ("delay at most", "ms", 1e3),
    "backlog_bytes": ("backlog at most", "B", 1.0),
}


def changed_bounds(sides: Sequence[tuple[str, Callable[[], Bounds]]]) -> tuple[list[Changed], list[str]]:
    """Return the bounds that differ between two named configurations, and remarks.

    If the bounds of one cannot be computed, there are only remarks.
    """
    found: list[dict[tuple[str, str], QueueBound]] = []
    for name, bounds in sides:
        try:
            found.append({(bound["port"], bound["queue"]): bound for bound in bounds().queues})
        except PerhopError as error:
            reason = str(error).partition("\n")[0]
            return [], [f"perhop does not compare bounds: {name}: {reason}"]
    first, second = found
    return [change for key in first if key in second for change in _changed(first[key], second[key])], []


def _changed(old: QueueBound, new: QueueBound) -> list[Changed]:
    changed = []
    for name, (what, unit, scale) in _BOUNDS.items():
        values: list[float | None] = [bound.get(name) for bound in (old, new)]  # type: ignore[misc]
        before, after = values
        if not _equal(before, after):
            texts = [
                None if value is None else f"{number(value * scale)} {unit}" for value in (before, after)
            ]
            ends = [text or "no bound" for text in texts]
            changed.append(Changed(old["port"], f"queue {old['queue']}", what, ends[0], ends[1]))
    return changed


def _equal(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= _SAME * max(abs(first), abs(second))
