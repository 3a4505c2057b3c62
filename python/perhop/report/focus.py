"""The part of a network that a run's page shows: the bottleneck, its queues, and a router's own ports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from perhop.ports import Port, ports
from perhop.quantity import bits_per_second
from perhop.results import Results


class Focus:
    """The ports of a run that its page shows, and the class of traffic in each of their queues.

    The hosts and neighbors around an inferred router are assumed, so no page shows them.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        #: The origin of an inferred scenario, in the form of summary.json.
        self.origin: Mapping[str, Any] | None = results.summary.get("inferred")

    @cached_property
    def _queues(self) -> dict[str, tuple[str, str]]:
        """The queue, as port and name, of each class of inferred traffic; empty for any other scenario."""
        queues = self.origin["queues"] if self.origin else {}
        return {name: (place[0], place[1]) for name, place in queues.items()}

    @property
    def inferred_ports(self) -> set[str]:
        """The ports of an inferred router where traffic waits; empty for any other scenario."""
        return {port for port, _ in self._queues.values()}

    @cached_property
    def shown(self) -> list[Port]:
        """The ports with a policy; in an inferred scenario, only the ports of its router."""
        every = [port for port in ports(self._results.scenario) if port.policy or port.interface.get("input")]
        if self.origin is None:
            return every
        routers = {port.partition("->")[0] for port in self.inferred_ports}
        if not routers:
            configured = self._results.scenario.get("routers", {}).items()
            routers = {name for name, config in configured if config.get("configuration")}
        return [port for port in every if port.sender in routers]

    @cached_property
    def bottleneck(self) -> str | None:
        """The port in the picture: the port with most drops, otherwise the slowest port with a policy."""
        if self.inferred_ports:
            return min(self.inferred_ports)
        candidates = [port for port in self.shown if port.queueing]
        if not candidates:
            return None
        dropped: dict[str, float] = {}
        for row in self._results.summary["ports"]:
            dropped[row["port"]] = dropped.get(row["port"], 0.0) + (row["dropped_packets"]["mean"] or 0.0)
        return min(
            candidates, key=lambda port: (-dropped.get(port.name, 0.0), bits_per_second(port.rate))
        ).name

    @property
    def classes(self) -> dict[str, str]:
        """The class of inferred traffic in each queue of the bottleneck, by queue.

        In any other scenario a queue may contain further classes, because the paths are not certain.
        """
        return {queue: name for name, (port, queue) in self._queues.items() if port == self.bottleneck}
