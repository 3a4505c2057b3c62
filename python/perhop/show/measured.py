"""What the counters of `show policy-map interface` say, as shares and rates to compare two routers by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perhop.show.reading import ClassReading, PolicyReading

_COLORS = ("conformed", "exceeded", "violated")


@dataclass(frozen=True)
class Quantity:
    """What is measured, and its unit."""

    words: str
    unit: str


Measured = dict[Quantity, float]

OFFERED = Quantity("offered rate", "b/s")
ACCEPTED = Quantity("offered less dropped", "b/s")
OFFERED_SHARE = Quantity("share of what is offered", "%")
OUTPUT_SHARE = Quantity("share of what is sent", "%")
DROPPED = Quantity("dropped packets", "%")
PACKET = Quantity("bytes of a packet", "bytes")


def measured(policy: PolicyReading, one: ClassReading) -> Measured:
    """Return what was measured of a class of a policy; nothing of what its counters do not tell."""
    return dict(_found(policy, one))


def _found(policy: PolicyReading, one: ClassReading) -> Iterator[tuple[Quantity, float]]:
    numbers = one.numbers
    siblings = [other for other in policy.classes if other.path[:-1] == one.path[:-1]]
    packets = numbers.get("packets", 0)
    if "offered_bps" in numbers and packets:
        offered = numbers["offered_bps"]
        yield OFFERED, offered
        yield ACCEPTED, max(offered - numbers.get("drop_bps", 0), 0)
    for quantity, key in ((OFFERED_SHARE, "bytes"), (OUTPUT_SHARE, "output_bytes")):
        whole = sum(other.numbers.get(key, 0) for other in siblings)
        if key in numbers and whole:
            yield quantity, 100 * numbers[key] / whole
    if packets:
        yield DROPPED, min(100 * _dropped(one) / packets, 100.0)
        if "bytes" in numbers:
            yield PACKET, numbers["bytes"] / packets
    yield from _colors(one)
    for value, row in one.early_drops.items():
        whole = row.transmitted_packets + row.random_packets + row.tail_packets
        if whole:
            dropped = row.random_packets + row.tail_packets
            yield Quantity(f"WRED {value}, dropped", "%"), 100 * dropped / whole


def _dropped(one: ClassReading) -> int:
    """Return the packets that a class lost to its queue, its priority's policer and its own."""
    policed = sum(
        one.numbers.get(f"{color}_packets", 0) for color in _COLORS if "drop" in one.actions.get(color, [])
    )
    return one.numbers.get("queue_drops", 0) + one.numbers.get("exceed_drops", 0) + policed


def _colors(one: ClassReading) -> Iterator[tuple[Quantity, float]]:
    counts = {color: one.numbers.get(f"{color}_bytes", 0) for color in _COLORS}
    whole = sum(counts.values())
    for color, count in counts.items():
        if whole and f"{color}_bytes" in one.numbers:
            yield Quantity(color, "%"), 100 * count / whole
