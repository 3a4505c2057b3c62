"""What a run counted at the queues and conditioners of its ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.results import Results

_CAUSE = "dropped_"
_NOT_CAUSES = ("dropped_packets", "dropped_percent")
# The cause for which a priority class's policer drops, and those for which a queue does.
POLICED = "policed"
TAIL = ("queue_full",)
RANDOM = ("early_random",)
FORCED = ("early_forced",)
BY_QUEUE = (*TAIL, *RANDOM, *FORCED)
LOST = ("lost",)
# The row of packets that were dropped after their queue had sent them.
_BEYOND = "(beyond)"


@dataclass(frozen=True)
class Traffic:
    """Packets and their bytes."""

    packets: int = 0
    bytes: float = 0.0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.packets + other.packets, self.bytes + other.bytes)

    def __sub__(self, other: Traffic) -> Traffic:
        """Return the difference; never below nothing, as the counts may be of different moments."""
        return Traffic(max(self.packets - other.packets, 0), max(self.bytes - other.bytes, 0.0))

    def with_overhead(self, overhead: int) -> Traffic:
        """Return it with `overhead` bytes counted on each packet besides those of IP."""
        return Traffic(self.packets, self.bytes + overhead * self.packets)


NOTHING = Traffic()


def total(parts: Iterable[Traffic]) -> Traffic:
    """Return the sum."""
    return sum(parts, NOTHING)


@dataclass
class PrecedenceCounts:
    """Counts of one drop precedence of a queue."""

    arrived: Traffic = field(default_factory=Traffic)
    sent: Traffic = field(default_factory=Traffic)
    marked_packets: int = 0
    #: Packets by cause.
    dropped: dict[str, int] = field(default_factory=dict)

    def with_overhead(self, overhead: int) -> PrecedenceCounts:
        """Return them with `overhead` bytes counted on each packet besides those of IP."""
        arrived, sent = self.arrived.with_overhead(overhead), self.sent.with_overhead(overhead)
        return replace(self, arrived=arrived, sent=sent)

    def drops(self, causes: Iterable[str]) -> Traffic:
        """Return what was dropped for one of `causes`.

        Results hold dropped packets only: they are taken to be as long as those that arrived are on average.
        """
        return self.of_packets(sum(self.dropped.get(cause, 0) for cause in causes))

    def of_packets(self, packets: int) -> Traffic:
        """Return `packets` of the average length of those that arrived."""
        if not self.arrived.packets:
            return Traffic(packets)
        return Traffic(packets, packets * self.arrived.bytes / self.arrived.packets)


@dataclass(frozen=True)
class Occupancy:
    """The last sample of a queue."""

    packets: int
    #: The buffer manager's average by drop precedence, in the unit of its thresholds.
    averages: dict[int, float]


class Counters:
    """What one replication of a run counted, in IP bytes."""

    def __init__(self, results: Results, replication: int = 0) -> None:
        """Take the tables of one replication.

        Raises:
            InvalidInputError: there is no such replication.

        """
        if not 0 <= replication < results.replications:
            raise InvalidInputError(
                f"there is no replication {replication}", f"the results have {results.replications}, from 0"
            )
        self._replication = replication
        self.seconds = _measured_seconds(results)
        self._queues: dict[tuple[str, str], dict[int, PrecedenceCounts]] = defaultdict(dict)
        for row in self._rows(results, "ports"):
            self._queues[row["port"], row["queue"]][row["precedence"]] = _counts(row)
        self._stages: dict[tuple[str, str, str, str], dict[str, Traffic]] = defaultdict(dict)
        for row in self._rows(results, "conditioners"):
            stage = (row["node"], row["neighbor"], row["side"], row["stage"])
            self._stages[stage][row["color"]] = Traffic(row["packets"], row["bytes"])
        self._samples = _last_samples(self._rows(results, "queues"))

    def queue(self, port: str, name: str) -> dict[int, PrecedenceCounts]:
        """Return the counts of a queue by drop precedence."""
        return self._queues.get((port, name), {})

    def arrived(self, node: str, neighbor: str) -> Traffic:
        """Return what came to `node` over its link from `neighbor`."""
        rows = [one for _, counts in self._of_port(f"{neighbor}->{node}") for one in counts.values()]
        return total(one.sent for one in rows) - total(one.drops(LOST) for one in rows)

    def handed(self, node: str, neighbor: str) -> Traffic:
        """Return what `node` had to send over its link to `neighbor`, dropped or not."""
        rows = self._of_port(f"{node}->{neighbor}")
        return total(one.arrived for name, counts in rows if name != _BEYOND for one in counts.values())

    def _of_port(self, wanted: str) -> Iterator[tuple[str, dict[int, PrecedenceCounts]]]:
        for (port, name), counts in self._queues.items():
            if port == wanted:
                yield name, counts

    def stage(self, node: str, neighbor: str, side: str, name: str) -> dict[str, Traffic]:
        """Return what a conditioning stage let through and dropped, by the color that it assigned."""
        return self._stages.get((node, neighbor, side, name), {})

    def occupancy(self, port: str, name: str) -> Occupancy | None:
        """Return the last sample of a queue, `None` if the run took none."""
        return self._samples.get((port, name))

    def _rows(self, results: Results, table: str) -> Iterator[dict[str, Any]]:
        if table in results.names:
            rows = results.table(table).iter_rows(named=True)
            yield from (row for row in rows if row["replication"] == self._replication)


def _measured_seconds(results: Results) -> float:
    found = [_core.quantity(str(text)) for text in _begin_and_end(results)]
    begin, end = (one[0] if one else 0.0 for one in found)
    return end - begin


def _begin_and_end(results: Results) -> tuple[object, object]:
    return results.scenario.get("measure", {}).get("warmup", "0s"), results.scenario["duration"]


def _counts(row: dict[str, Any]) -> PrecedenceCounts:
    causes = (name for name in row if name.startswith(_CAUSE) and name not in _NOT_CAUSES)
    return PrecedenceCounts(
        arrived=Traffic(row["arrived_packets"], row["arrived_bytes"]),
        sent=Traffic(row["sent_packets"], row["sent_bytes"]),
        marked_packets=row["marked_packets"],
        dropped={name.removeprefix(_CAUSE): row[name] for name in causes},
    )


def _last_samples(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Occupancy]:
    latest: dict[tuple[str, str], tuple[float, Occupancy]] = {}
    for row in rows:
        queue, time_s = (row["port"], row["queue"]), row["time_s"]
        if queue not in latest or time_s > latest[queue][0]:
            latest[queue] = (time_s, Occupancy(row["packets"], {}))
        if time_s == latest[queue][0]:
            latest[queue][1].averages[row["precedence"]] = row["average"]
    return {queue: occupancy for queue, (_, occupancy) in latest.items()}
