"""The ports of a scenario and their queues, from its links, interfaces and policies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from perhop import _core
from perhop.document import typed
from perhop.errors import UnknownNameError

if TYPE_CHECKING:
    from perhop.schema_types import (
        ClassConfig,
        InterfaceConfig,
        LinkConfig,
        PolicyConfig,
        QueueingConfig,
        ScenarioConfig,
    )

#: The kinds of buffer managers with thresholds.
RED_FAMILY = ("red", "wred", "rio-c", "rio-dc", "mred")


@dataclass(frozen=True)
class Queue:
    """A leaf class of a port."""

    port: str
    #: The names of the queue's classes from the outermost in, joined by `/`, as in results.
    name: str
    #: The class of the queue in the policy; empty for the queue of a port without a policy.
    config: ClassConfig

    @property
    def buffer(self) -> tuple[str, Mapping[str, Any]]:
        """The kind of the buffer manager, and its parameters."""
        buffer: Mapping[str, Any] = self.config.get("buffer") or {"tail-drop": {}}
        return next(iter(buffer.items()))

    @property
    def limit(self) -> str | None:
        """The configured limit; `None` if only the averages limit the queue."""
        limit = self.buffer[1].get("limit")
        return None if limit is None else str(limit)


@dataclass(frozen=True)
class Port:
    """One direction of a link: the interface of `sender` that leads to `receiver`."""

    sender: str
    receiver: str
    #: The link, and the settings of the link's end at the port.
    link: LinkConfig
    interface: InterfaceConfig
    #: The output policy and its name, if any.
    policy: PolicyConfig | None
    policy_name: str | None

    @property
    def name(self) -> str:
        """The name of the port in results."""
        return f"{self.sender}->{self.receiver}"

    @property
    def rate(self) -> str:
        """The rate of the port as written."""
        return str(self.interface.get("rate") or self.link["rate"])

    @property
    def queueing(self) -> QueueingConfig | None:
        """The classes of the port and their scheduler, if any."""
        return self.policy.get("queueing") if self.policy else None

    def queues(self) -> list[Queue]:
        """Return the queues of the port, in the order of results."""
        if not self.queueing:
            return [Queue(self.name, "fifo", {"name": "fifo"})]
        return list(_leaves(self.name, self.queueing, ""))


def _leaves(port: str, queueing: QueueingConfig, prefix: str) -> Iterator[Queue]:
    for config in queueing["classes"]:
        name = f"{prefix}{config['name']}"
        if inner := config.get("queueing"):
            yield from _leaves(port, inner, f"{name}/")
        else:
            yield from (Queue(port, queue, config) for queue in queue_names(config, name))


@dataclass(frozen=True)
class Tin:
    """A tin of CAKE."""

    #: The name in results, which follows the name of the class.
    name: str
    #: The fraction of the rate up to which the tin is served before the earlier tins; the first tin has the
    #: rest.
    part: float
    #: The packets of the tin.
    codepoints: frozenset[int]


def tins_of(config: ClassConfig) -> list[Tin]:
    """Return the tins of a class; only a queue of CAKE may have several."""
    cake: Mapping[str, Any] | None = (config.get("buffer") or {}).get("cake")
    tins = [] if cake is None else _core.cake_tins(cake.get("tins") or "diffserv3")
    found = [Tin(name, part, frozenset(codepoints)) for name, part, codepoints in tins]
    return found if len(found) > 1 else []


def queue_names(config: ClassConfig, name: str) -> list[str]:
    """Return the names in results of the queues of a class called `name`: one, or one for each tin."""
    return [f"{name}/{tin.name}" for tin in tins_of(config)] or [name]


def ports(scenario: ScenarioConfig | Mapping[str, Any]) -> list[Port]:
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


def resolved(scenario: ScenarioConfig | Mapping[str, Any]) -> ScenarioConfig:
    """Return the scenario with the policies that its router configurations define."""
    if not any(router.get("configuration") for router in scenario.get("routers", {}).values()):
        return typed(scenario)
    return _resolved(json.dumps(dict(scenario)), str(getattr(scenario, "base", Path())))


@lru_cache(maxsize=8)
def _resolved(text: str, base: str) -> ScenarioConfig:
    """Return the scenario in `text`, resolved. The result is cached, because several plots need it."""
    found = cast("ScenarioConfig", json.loads(_core.resolve(text, base)))
    for router in found.get("routers", {}).values():
        router.pop("configuration", None)
    return found


def find_queue(scenario: ScenarioConfig | Mapping[str, Any], port: str, queue: str) -> Queue:
    """Return a queue by its port and name in results; raises `UnknownNameError`."""
    for candidate in ports(scenario):
        if candidate.name == port:
            for leaf in candidate.queues():
                if leaf.name == queue:
                    return leaf
    raise UnknownNameError(f"no queue `{queue}` at `{port}`")
