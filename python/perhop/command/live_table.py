"""The counters of a testbed's queues as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.table import Table

from perhop.quantity import NOTHING, number

_PER_MEGABIT = 1e6


@dataclass(frozen=True)
class Row:
    """The counters of one queue of one direction of a link, summed over drop precedences."""

    direction: str
    queue: str
    arrived: int
    sent: int
    sent_bytes: int
    marked: int
    dropped: int

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the row."""
        return self.direction, self.queue


def rows(reports: Mapping[str, dict[str, Any]]) -> Iterator[Row]:
    """Generate a row for each queue of all forwarders, or for each direction without packets."""
    for report in reports.values():
        for direction in report["directions"]:
            queues: dict[str, list[dict[str, Any]]] = {}
            for queue in direction["queues"]:
                queues.setdefault(queue["queue"], []).append(queue)
            # A report lists only queues that have received a packet.
            for name, parts in (queues or {NOTHING: []}).items():
                yield Row(
                    direction["name"],
                    name,
                    sum(part["arrived"]["packets"] for part in parts),
                    sum(part["sent"]["packets"] for part in parts),
                    sum(part["sent"]["bytes"] for part in parts),
                    sum(part["marked"]["packets"] for part in parts),
                    sum(count["packets"] for part in parts for count in part["dropped"].values()),
                )


def queue_table(title: str, now: list[Row], before: list[Row] | None = None, over_s: float = 0.0) -> Table:
    """Return the table of queues. With the counters of `over_s` seconds ago, it includes rates."""
    heading = f"{title}: packets"
    table = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", title_style="bold")
    for name in ("link", "queue"):
        table.add_column(name, no_wrap=True)
    for name in ("arrived", "sent", "dropped", "%", "marked"):
        table.add_column(name, justify="right")
    if before is not None:
        table.add_column("Mb/s now", justify="right")
        table.add_column("share now\n%", justify="right")
    earlier = {row.key: row.sent_bytes for row in before or []}
    gained = {row.key: row.sent_bytes - earlier.get(row.key, 0) for row in now}
    whole: dict[str, int] = {}
    for row in now:
        whole[row.direction] = whole.get(row.direction, 0) + gained[row.key]
    last = None
    for row in now:
        cells = [
            "" if row.direction == last else row.direction,
            row.queue,
            f"{row.arrived}",
            f"{row.sent}",
            f"{row.dropped}",
            number(100.0 * row.dropped / row.arrived, 3) if row.arrived else NOTHING,
            f"{row.marked}",
        ]
        if before is not None:
            rate = 8.0 * gained[row.key] / over_s / _PER_MEGABIT if over_s else 0.0
            all_of_link = whole[row.direction]
            cells += [
                number(rate, 3),
                number(100.0 * gained[row.key] / all_of_link, 3) if all_of_link else NOTHING,
            ]
        table.add_row(*cells)
        last = row.direction
    return table
