"""The queue of a class, the class that obtains most of its link, and the port that drops its packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Words for the causes of drops, by the suffix of the column.
CAUSES = {
    "queue_full": "full queues (tail drop)",
    "early_random": "early drops at random (RED)",
    "early_forced": "early drops that were certain (RED above its maximum, CoDel)",
    "policed": "a policer",
    "no_route": "no route",
    "no_class": "no class that matches",
    "lost": "loss on a link",
    "too_big": "packets longer than an MTU",
    "shared_memory": "no room in the memory that queues share",
    "port_memory": "the limit of a port in that memory",
    "headroom": "too little headroom of priority flow control",
}


@dataclass(frozen=True)
class Queue:
    """The queue of a class and the properties of its port."""

    port: str
    name: str
    guaranteed_bps: float | None
    limit_bps: float | None
    #: Bits per second of the bytes that the policy counts.
    obtained_bps: float
    #: The counted bytes for each sent IP byte.
    counted: float
    #: The IP bits per second of all queues of the port.
    port_bps: float


@dataclass(frozen=True)
class Holder:
    """The queue that obtains most of a port."""

    port: str
    #: The name of the class of the queue.
    name: str
    #: The queue's share of the bytes that the port sends, percent.
    percent: float


def queue_of(
    name: str,
    summary: Mapping[str, Any],
    waits: Sequence[tuple[str, str]] | None,
    overheads: Mapping[str, int],
) -> Queue | None:
    """Return the queue of the class `name`; of several queues, the queue that drops most.

    `overheads` has the bytes that the policy of a port counts for a packet beyond its IP bytes. If the queues
    of a class are unknown, the queues with the name of the class are used, from ports with only one such
    queue.
    """
    every = summary.get("rates", [])
    if waits is None:
        named = [row for row in every if row["queue"].rpartition("/")[2] == name]
        rows = [row for row in named if [other["port"] for other in named].count(row["port"]) == 1]
    else:
        rows = [row for row in every if (row["port"], row["queue"]) in waits]
    if not rows:
        return None
    row = max(rows, key=lambda candidate: _sum(candidate, summary["ports"], "dropped_packets"))
    sent, packets = (_sum(row, summary["ports"], f"sent_{unit}") for unit in ("bytes", "packets"))
    counted = 1.0 + overheads.get(row["port"], 0) * packets / sent if sent else 1.0
    return Queue(
        port=row["port"],
        name=row["queue"],
        # The guaranteed rate is 0 if other classes may use the whole rate.
        guaranteed_bps=row["guaranteed_bps"] or None,
        limit_bps=row["limit_bps"],
        obtained_bps=counted * _mean(row["obtained_bps"]),
        counted=counted,
        port_bps=sum(_mean(entry["obtained_bps"]) for entry in every if entry["port"] == row["port"]),
    )


def holder_of(port: str, queue: Queue | None, summary: Mapping[str, Any]) -> Holder | None:
    """Return the class that obtains most of a port, other than the class of `queue`; `None` if unknown."""
    of_port = [entry for entry in summary.get("rates", []) if entry["port"] == port]
    others = [entry for entry in of_port if queue is None or entry["queue"] != queue.name]
    most = max(others, key=lambda entry: _mean(entry["obtained_bps"]), default=None)
    held = _mean(most["obtained_bps"]) if most else 0.0
    if most is None or not held:
        return None
    total = sum(_mean(entry["obtained_bps"]) for entry in of_port)
    name = most["queue"].rpartition("/")[2]
    is_shared = sum(entry["queue"].rpartition("/")[2] == name for entry in of_port) > 1
    return Holder(port, most["queue"] if is_shared else name, 100.0 * held / total)


def causes_of(group: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the causes of a class's drops with their percentages, in descending order."""
    found = [(cause, _mean(group[f"dropped_{cause}"])) for cause in CAUSES if f"dropped_{cause}" in group]
    found = [(cause, count) for cause, count in found if count > 0]
    dropped = sum(count for _, count in found)
    parts = [(cause, 100.0 * count / dropped) for cause, count in found]
    return sorted(parts, key=lambda part: -part[1])


def port_of_drops(cause: str, queue: Queue | None, ports: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the port that drops by a cause: the port of the class's queue, otherwise the only port."""
    dropping = {row["port"] for row in ports if _mean(row[f"dropped_{cause}"])}
    if queue is not None and queue.port in dropping:
        return queue.port
    return dropping.pop() if len(dropping) == 1 else None


def limit_of(name: str, queue: Queue | None, offered_bps: float, summary: Mapping[str, Any]) -> float | None:
    """Return the lowest rate to which a class is policed, in bits per second, if known.

    The rate is unknown if the class offers less, and a policer that other classes share may drop its packets.
    """
    policers = summary.get("policers", [])
    limits = [row["limit_bps"] for row in policers if row["class"] == name]
    limits += [queue.limit_bps] if queue and queue.limit_bps is not None and _polices(queue, summary) else []
    if not limits:
        # The class passes through the only policer.
        return float(policers[0]["limit_bps"]) if len(policers) == 1 else None
    least = float(min(limits))
    is_alone = all(row["class"] == name for row in policers)
    return least if is_alone or offered_bps > least else None


def _polices(queue: Queue, summary: Mapping[str, Any]) -> bool:
    """Whether a queue drops packets above its limit rate. Other queues delay such packets."""
    return any(
        _mean(row["dropped_policed"]) > 0
        for row in summary["ports"]
        if (row["port"], row["queue"]) == (queue.port, queue.name)
    )


def _sum(row: Mapping[str, Any], ports: Sequence[Mapping[str, Any]], counter: str) -> float:
    """Return a counter of the queue of `row`."""
    return sum(
        _mean(entry[counter])
        for entry in ports
        if (entry["port"], entry["queue"]) == (row["port"], row["queue"])
    )


def _mean(value: Mapping[str, Any]) -> float:
    return float(value["mean"] or 0.0)
