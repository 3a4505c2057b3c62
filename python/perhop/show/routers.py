"""The routers of a scenario that bring their own configuration, and the policies at their interfaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from perhop.configuration import LINUX, examined_as, folded, is_short_for, read
from perhop.core_types import CountedBytes, PortPolicies, RouterPort, RouterReport
from perhop.errors import InvalidInputError
from perhop.schema_types import PrecedenceSource, QueueingConfig, RouterConfiguration, ScenarioConfig
from perhop.show.counters import Counters
from perhop.show.rates import LOAD_INTERVAL_S
from perhop.show.state import Place, PolicyState, Side, policy_state

SIDES: tuple[Side, ...] = ("input", "output")
_IP_BYTES: CountedBytes = {"classes": 0, "queues": 0}
_NO_POLICIES: PortPolicies = {"input": None, "output": None}
_SECTION = re.compile(r"interface\s+(\S+(?:\s+\d\S*)?)", re.IGNORECASE)
_LOAD_INTERVAL = re.compile(r"\s+load-interval\s+(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Interface:
    """An interface of a router, its policies, and the link that the scenario has for it."""

    port: RouterPort
    #: The other end of the link; `None` without a link.
    neighbor: str | None
    load_interval_s: int

    @property
    def name(self) -> str:
        """Its name in full."""
        return self.port["name"]

    @property
    def policies(self) -> PortPolicies:
        """The policies at it."""
        return self.port.get("policies", _NO_POLICIES)


@dataclass(frozen=True)
class Router:
    """A router with its own configuration."""

    node: str
    hostname: str
    #: The profile of its platform.
    profile: str
    interfaces: list[Interface]
    report: RouterReport = field(repr=False)


@dataclass(frozen=True)
class InterfaceState:
    """An interface and its policies with their counters."""

    interface: Interface
    policies: dict[Side, PolicyState]


def routers(scenario: ScenarioConfig | Mapping[str, Any], base: Path) -> list[Router]:
    """Return the routers with a configuration, each with the interfaces that have a policy.

    Raises:
        InvalidInputError: no interface of any router has a policy.

    """
    found = all_routers(scenario, base)
    if found and all(router.profile == LINUX for router in found):
        raise InvalidInputError(
            "devices of Linux have no policy-map", "`perhop run` shows what their classes get"
        )
    found = [_with_policies(router) for router in found]
    found = [router for router in found if router.interfaces]
    if not found:
        raise InvalidInputError(
            "no router of the scenario has a policy-map at an interface",
            "give a scenario with router configurations, or a router configuration itself",
        )
    return found


def _with_policies(router: Router) -> Router:
    return replace(router, interfaces=[one for one in router.interfaces if any(one.policies.values())])


def all_routers(scenario: ScenarioConfig | Mapping[str, Any], base: Path) -> list[Router]:
    """Return the routers with a configuration, each with the interfaces that have a policy or a limiter."""
    known = cast(ScenarioConfig, scenario)
    return [
        _router(node, configuration, known, base)
        for node, router in known.get("routers", {}).items()
        if (configuration := router.get("configuration"))
    ]


def chosen(router: Router, name: str | None) -> list[Interface]:
    """Return the interfaces called `name`, which may be abbreviated; all of them for `None`."""
    if name is None:
        return router.interfaces
    exact = [one for one in router.interfaces if folded(one.name) == folded(name)]
    return exact or [one for one in router.interfaces if is_short_for(name, one.name)]


def state(
    router: Router, interface: Interface, counters: Counters, seen: frozenset[str], after_s: float | None
) -> InterfaceState:
    """Return what a run counted at an interface."""
    policies: dict[Side, PolicyState] = {}
    for side in SIDES:
        policy = interface.policies[side]
        if policy is not None:
            place = Place(
                node=router.node,
                neighbor=interface.neighbor,
                side=side,
                counted=interface.port.get("counted_bytes", _IP_BYTES),
                load_interval_s=interface.load_interval_s,
                after_s=after_s,
                seen=seen,
                sources=dict(_sources(interface.port[side].get("queueing"), "")),
            )
            policies[side] = policy_state(policy, place, counters)
    return InterfaceState(interface, policies)


def codepoints(scenario: ScenarioConfig | Mapping[str, Any], found: list[Router]) -> frozenset[str]:
    """Return the codepoints that packets of the scenario have, from their sources or by marking."""
    sent = {str(entry.get("dscp") or "default") for entry in scenario["traffic"]}
    reports: list[object] = [router.report["router"]["ports"] for router in found]
    return frozenset(sent | set(_marks([scenario.get("policies"), *reports])))


def _marks(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("mark"), str | int):
            yield str(value["mark"])
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _marks(one)


def _sources(queueing: QueueingConfig | None, prefix: str) -> Iterator[tuple[str, PrecedenceSource]]:
    """Generate what each queue takes for the drop precedence, by the queue's name in results."""
    for config in queueing["classes"] if queueing else []:
        name = f"{prefix}{config['name']}"
        if inner := config.get("queueing"):
            yield from _sources(inner, f"{name}/")
        elif "precedence" in config:
            yield name, config["precedence"]


def _router(node: str, configuration: RouterConfiguration, scenario: ScenarioConfig, base: Path) -> Router:
    text = configuration.get("text")
    if text is None:
        text = read(base / str(configuration.get("file")))
    text = "\n".join([text.rstrip("\n"), *configuration.get("add", []), ""])
    report = examined_as(text, configuration)
    links = _links(node, scenario)
    intervals = _load_intervals(text)
    interfaces = [
        Interface(port, _neighbor(port, links), _load_interval(port, intervals))
        for port in report["router"]["ports"]
        if any(port.get("policies", _NO_POLICIES).values()) or "limiters" in port
    ]
    hostname = report["router"]["hostname"] or node
    profile = report["platform"]["profile"] if "platform" in report else "hqf"
    return Router(node, hostname, profile, interfaces, report)


def _links(node: str, scenario: ScenarioConfig) -> list[tuple[str, str]]:
    """Return the names of a node's interfaces at its links, with the nodes at their other ends."""
    found = []
    for link in scenario["links"]:
        first, second = link["between"]
        if node in (first, second):
            name = (link.get("interfaces") or {}).get(node, {}).get("name")
            found.append((name or "", second if node == first else first))
    return found


def _neighbor(port: RouterPort, links: list[tuple[str, str]]) -> str | None:
    return next((neighbor for name, neighbor in links if name and is_short_for(name, port["name"])), None)


def _load_intervals(text: str) -> dict[str, int]:
    """Return the load intervals that are set, by interface."""
    found: dict[str, int] = {}
    section = None
    for line in text.splitlines():
        if start := _SECTION.match(line):
            section = folded(start[1])
        elif not line.startswith(" "):
            section = None
        elif section and (interval := _LOAD_INTERVAL.match(line)) and int(interval[1]):
            # The router refuses 0, and keeps its default.
            found[section] = int(interval[1])
    return found


def _load_interval(port: RouterPort, intervals: dict[str, int]) -> int:
    """Return the load interval of a port; a sub-interface without one has that of its interface."""
    name = folded(port["name"])
    own = next((value for section, value in intervals.items() if is_short_for(section, name)), None)
    whole = name.partition(".")[0]
    return own or next(
        (value for one, value in intervals.items() if is_short_for(one, whole)), LOAD_INTERVAL_S
    )
