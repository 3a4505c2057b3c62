"""The table of WRED in `show policy-map interface`."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from perhop.core_types import RandomDetectRow, ResolvedRandomDetect
from perhop.schema_types import PrecedenceSource
from perhop.show.counters import FORCED, RANDOM, TAIL, Occupancy, PrecedenceCounts, Traffic


@dataclass(frozen=True)
class EarlyDropRow:
    """Thresholds of a precedence or codepoint, and what became of its packets."""

    config: RandomDetectRow
    transmitted: Traffic
    random: Traffic
    #: Above the maximum threshold, at the queue's limit, or at that of a flow.
    tail: Traffic
    marked: Traffic


@dataclass(frozen=True)
class EarlyDrops:
    """WRED of a queue."""

    config: ResolvedRandomDetect
    #: `None` where the run took no samples of the queue.
    mean_depth: float | None
    rows: list[EarlyDropRow]


def early_drops(
    detect: ResolvedRandomDetect,
    counts: dict[int, PrecedenceCounts],
    sample: Occupancy | None,
    *,
    source: PrecedenceSource | None,
    seen: frozenset[str],
) -> EarlyDrops:
    """Return WRED's table: a row for each precedence, or for each codepoint that is configured or seen.

    A queue counts by drop precedence, which it takes from `source`. Codepoints with equal thresholds share
    one, and what it counted goes to the first of them that the run has packets of.
    """
    averages = list(sample.averages.values()) if sample else []
    known = [average for average in averages if not math.isnan(average)]
    sharing: dict[int, list[RandomDetectRow]] = defaultdict(list)
    for one in detect["rows"]:
        sharing[_drop_precedence(one["value"], source)].append(one)
    counted: dict[str, PrecedenceCounts] = {}
    for precedence, rows in sharing.items():
        if precedence in counts:
            there = [one for one in rows if one["value"] in seen] or rows
            counted[there[0]["value"]] = counts[precedence]
    shown = [
        _row(one, counted.get(one["value"]))
        for one in detect["rows"]
        if detect["basis"] != "dscp" or one.get("is_written") or one["value"] in counted
    ]
    return EarlyDrops(detect, max(known) if known else None, shown)


def _drop_precedence(value: str, source: PrecedenceSource | None) -> int:
    """Return the drop precedence that a queue gives to packets with a codepoint or precedence."""
    if isinstance(source, dict):
        groups = source.get("by-dscp", [])
        for number, group in enumerate(groups):
            if value in (group if isinstance(group, list) else [group]):
                return number
        # What stands in no group counts as the last.
        return len(groups) - 1
    return int(value) if value.isdecimal() else 0


def _row(config: RandomDetectRow, counts: PrecedenceCounts | None) -> EarlyDropRow:
    found = counts or PrecedenceCounts()
    return EarlyDropRow(
        config=config,
        transmitted=found.sent,
        random=found.drops(RANDOM),
        tail=found.drops([*FORCED, *TAIL]),
        marked=found.of_packets(found.marked_packets),
    )
