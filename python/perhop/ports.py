"""The ports of a scenario and the queues behind them, as its links, interfaces and policies say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

#: The kinds of buffer managers with thresholds.
RED_FAMILY = ("red", "wred", "rio-c", "rio-dc", "mred")


@dataclass(frozen=True)
class Queue:
    """A leaf class of a port."""

    port: str
    #: Its classes' names from the outermost in, joined by `/`, as results call it.
    name: str
    #: What the policy says of it; empty for the one queue of a port without a policy.
    config: Mapping[str, Any]

    @property
    def buffer(self) -> tuple[str, Mapping[str, Any]]:
        """The kind of its buffer manager and what is said of it."""
        buffer = self.config.get("buffer") or {"tail-drop": {}}
        return next(iter(buffer.items()))

    @property
    def limit(self) -> str | None:
        """What it holds at most, as written; `None` where nothing but the averages bounds it."""
        limit = self.buffer[1].get("limit")
        return None if limit is None else str(limit)


@dataclass(frozen=True)
class Port:
    """One direction of a link: the interface of `sender` that leads to `receiver`."""

    sender: str
    receiver: str
    #: The link, and what differs at this end of it.
    link: Mapping[str, Any]
    interface: Mapping[str, Any]
    #: The policy of its output and its name, where it has one.
    policy: Mapping[str, Any] | None
    policy_name: str | None

    @property
    def name(self) -> str:
        """Its name in results."""
        return f"{self.sender}->{self.receiver}"

    @property
    def rate(self) -> str:
        """Its rate as written."""
        return str(self.interface.get("rate") or self.link["rate"])

    @property
    def queueing(self) -> Mapping[str, Any] | None:
        """Its classes and their scheduler, where it has any."""
        return self.policy.get("queueing") if self.policy else None

    def queues(self) -> list[Queue]:
        """Return its queues in the order of results."""
        if not self.queueing:
            return [Queue(self.name, "fifo", {})]
        return list(_leaves(self.name, self.queueing, ""))


def _leaves(port: str, queueing: Mapping[str, Any], prefix: str) -> Iterator[Queue]:
    for config in queueing["classes"]:
        name = f"{prefix}{config['name']}"
        if config.get("queueing"):
            yield from _leaves(port, config["queueing"], f"{name}/")
        else:
            yield Queue(port, name, config)


def ports(scenario: Mapping[str, Any]) -> list[Port]:
    """Return both ports of every link, in the order of the scenario."""
    scenario = resolved(scenario)
    found = []
    for link in scenario["links"]:
        first, second = link["between"]
        for sender, receiver in ((first, second), (second, first)):
            interface = link.get("interfaces", {}).get(sender, {})
            name = interface.get("output")
            policy = scenario.get("policies", {}).get(name) if name else None
            found.append(Port(sender, receiver, link, interface, policy, name))
    return found


def resolved(scenario: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the scenario with the policies that its routers' configurations amount to."""
    if not any(router.get("configuration") for router in scenario.get("routers", {}).values()):
        return scenario
    return _resolved(json.dumps(dict(scenario)), str(getattr(scenario, "base", Path())))


@lru_cache(maxsize=8)
def _resolved(text: str, base: str) -> Mapping[str, Any]:
    """Return the scenario in `text`, resolved; its plots ask one after the other."""
    from perhop import _core

    found: dict[str, Any] = json.loads(_core.resolve(text, base))
    for router in found["routers"].values():
        router.pop("configuration", None)
    return found


def find_queue(scenario: Mapping[str, Any], port: str, queue: str) -> Queue:
    """Return the queue that results call so."""
    for one in ports(scenario):
        if one.name == port:
            for leaf in one.queues():
                if leaf.name == queue:
                    return leaf
    raise KeyError(f"no queue {queue} at {port}")
