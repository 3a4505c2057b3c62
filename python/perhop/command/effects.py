"""The effect of a change on each class, in at most five lines of `perhop diff`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perhop.differing import Felt, FeltClass, FeltFigure
from perhop.quantity import counted, number, scale

# The maximum number of lines, including the first.
_MOST_LINES = 5


def effect_on_classes(felt: Felt | None, old: str) -> Iterator[str]:
    """Generate the lines about the effect on each class, under the load inferred from the file `old`."""
    if felt is None:
        return
    if felt.reason is not None:
        yield f"not simulated: {felt.reason}"
        return
    affected = sorted(
        (felt_class for felt_class in felt.classes if felt_class.differs),
        key=lambda felt_class: -felt_class.weight,
    )
    runs = counted(felt.replications, "replication")
    load = f"under the {felt.load} load of {old}, {runs}{', ± 95 %' if felt.replications > 1 else ''}"
    if not affected:
        yield f"simulated {load}: no significant change for any class"
        return
    yield f"simulated {load}:"
    shown = affected if len(affected) < _MOST_LINES else affected[: _MOST_LINES - 2]
    yield from (f"  {_line(felt_class)}" for felt_class in shown)
    if len(shown) < len(affected):
        yield f"  and {counted(len(affected) - len(shown), 'more class', 'more classes')}: --json has all"


def _line(felt: FeltClass) -> str:
    figures = (
        ("loss", felt.loss_percent, "%"),
        ("p99 of delay", felt.delay_p99_s, "s"),
        ("throughput", felt.throughput_bps, "b/s"),
    )
    return f"{felt.name}: {', '.join(_words(*figure) for figure in figures if figure[1].differs)}"


def _words(name: str, figure: FeltFigure, unit: str) -> str:
    means = [side["mean"] for side in (figure.before, figure.after) if side["mean"] is not None]
    divisor, shown = scale(unit, max(map(abs, means), default=0.0))
    before, after = (_end(side, divisor) for side in (figure.before, figure.after))
    return f"{name} {before} → {after} {shown}"


def _end(side: dict[str, Any], divisor: float) -> str:
    if side["mean"] is None:
        return "none"
    low, high = side["ci95"] or (side["mean"], side["mean"])
    half = (high - low) / 2 / divisor
    text = number(side["mean"] / divisor, 3)
    # An interval that rounds to 0 is not shown.
    return f"{text} ± {number(half, 2)}" if half > abs(side["mean"]) / divisor * 1e-2 else text
