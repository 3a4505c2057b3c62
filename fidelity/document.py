"""docs/fidelity.md: every comparison, what was missed first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fidelity.comparison import Comparison, Value
from perhop.quantity import counted, number

INTRODUCTION = """\
# Fidelity

perhop beside everything that it can be compared with: theory, ns-2, the queueing disciplines of Linux, and
what real routers were seen to do. `make fidelity` measures all of it and writes this page. Seeds are fixed:
but for the last two parts, the same perhop gives the same numbers.

A value has half of its 95 % interval behind ±. Every row says by which rule the two values agree: *chance* is
the root of the sum of the squares of both halves; what stands beside it comes on top. Where chance alone
decides, one row in twenty is missed without a cause. A miss has a reason where it has a name in the
[deviations](reference/generated/deviations.md)."""


@dataclass(frozen=True)
class Part:
    """What one peer was compared in."""

    peer: str
    title: str
    #: What the peer is, and how it is compared.
    about: str
    comparisons: Sequence[Comparison] = ()
    #: What could not be compared, and why.
    skipped: Mapping[str, str] = field(default_factory=dict)


def page(parts: Sequence[Part]) -> str:
    """Return the page as Markdown."""
    every = [one for part in parts for one in part.comparisons]
    missed = sorted((one for one in every if not one.met), key=lambda one: -one.times_allowed)
    sections = [INTRODUCTION, _summary(parts)]
    sections += ["## Misses", _misses(missed) if missed else "None."]
    skipped = {f"{part.title}: {what}": why for part in parts for what, why in part.skipped.items()}
    if skipped:
        sections += ["## Not compared", "\n".join(f"- {what}: {why}." for what, why in skipped.items())]
    for part in parts:
        if part.comparisons:
            sections += [f"## {part.title}", part.about, _table(part.comparisons)]
    return "\n\n".join(sections) + "\n"


def _summary(parts: Sequence[Part]) -> str:
    rows = []
    for part in parts:
        met = sum(one.met for one in part.comparisons)
        total = len(part.comparisons)
        left = counted(len(part.skipped), "thing") if part.skipped else ""
        rows.append([part.title, str(total), str(met), str(total - met), left])
    return _lines(["peer", "comparisons", "met", "missed", "not compared"], rows, {1, 2, 3})


def _misses(missed: Sequence[Comparison]) -> str:
    rows = []
    for one in missed:
        times = "" if math.isinf(one.times_allowed) else number(one.times_allowed, 2)
        why = f"{one.reason.sentence} ({one.reason.source})" if one.reason else "unknown"
        rows.append([*_values(one), times, why.replace("|", "\\|")])
    head = [
        "compared",
        "case",
        "quantity",
        "reference",
        "perhop",
        "allowed",
        "rule",
        "times allowed",
        "reason",
    ]
    return _lines(head, rows, {3, 4, 5, 7})


def _table(comparisons: Sequence[Comparison]) -> str:
    """Return all comparisons of a peer, misses first, in the order in which they were made."""
    rows = [
        [*_values(one), "yes" if one.met else "**no**", one.source]
        for one in sorted(comparisons, key=lambda one: one.met)
    ]
    head = ["compared", "case", "quantity", "reference", "perhop", "allowed", "rule", "met", "source"]
    return _lines(head, rows, {3, 4, 5})


def _values(one: Comparison) -> list[str]:
    quantity = one.quantity if one.unit == "1" else f"{one.quantity}, {one.unit}"
    values = [_value(one.reference), _value(one.measured), number(one.allowed, 2)]
    return [one.name, one.case, quantity, *values, str(one.rule)]


def _value(value: Value) -> str:
    text = number(value.mean)
    return f"{text} ± {number(value.half, 2)}" if value.half else text


def _lines(head: list[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    rule = ["--:" if column in right else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))
