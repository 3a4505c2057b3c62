"""The pauses of ports and the deadlocks of a run, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perhop.quantity import counted, number, scale

#: The maximum number of ports with a separate line; the others are counted.
_SHOWN = 8


def pause_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each port and priority that was paused, and one for each priority with a deadlock."""
    rows: Sequence[Mapping[str, Any]] = summary.get("pauses") or []
    measured = summary["duration_s"] - summary["warmup_s"]
    paused = sorted(
        (row for row in rows if _mean(row, "paused_s")), key=lambda row: _mean(row, "paused_s"), reverse=True
    )
    for row in paused[:_SHOWN]:
        percent = 100 * _mean(row, "paused_s") / measured
        words = [
            f"{_mean(row, 'pauses'):.4g} pauses",
            f"paused {percent:.3g} % of the time",
            f"longest {_seconds(_mean(row, 'longest_s'))}",
        ]
        if _mean(row, "spread_pauses"):
            words.append(
                f"{_mean(row, 'spread_pauses'):.4g} because the packets ahead of it were paused, "
                f"over up to {_mean(row, 'deepest_links'):.3g} links"
            )
        yield f"paused: {row['port']}, priority {row['priority']}: {', '.join(words)}"
    if len(paused) > _SHOWN:
        yield f"paused: {counted(len(paused) - _SHOWN, 'other port')}"
    for priority in sorted({row["priority"] for row in rows}):
        ports = [
            row for row in rows if row["priority"] == priority and row["deadlocked_s"]["mean"] is not None
        ]
        if ports:
            since = _seconds(max(row["deadlocked_s"]["mean"] for row in ports))
            names = ", ".join(row["port"] for row in ports)
            yield (
                f"deadlock: the pauses of priority {priority} at {names} depend on each other since {since}: "
                "these ports send no packet of this priority any more"
            )


def _mean(row: Mapping[str, Any], column: str) -> float:
    return float(row[column]["mean"] or 0)


def _seconds(value: float) -> str:
    divisor, unit = scale("s", value)
    return f"{number(value / divisor)} {unit}"
