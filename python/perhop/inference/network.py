"""The network inferred for a router: senders and receivers at the interfaces with the largest policies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.core_types import Router, RouterPort
from perhop.errors import InvalidInputError
from perhop.inference.headers import Header, address
from perhop.schema_types import (
    ClassConfig,
    LinkConfig,
    MatchConfig,
    QueueingConfig,
    RouterConfiguration,
    ScenarioConfig,
    TrafficConfig,
)

# Rates of the links that must not be the bottleneck.
_PLAIN_RATES = ("1Gb/s", "100Gb/s")
# Subnets of senders and receivers where the interface has no address: the first that the router is not in.
_SENDERS = ("10.0.0.0/24", "172.16.0.0/24", "192.168.0.0/24", "198.18.0.0/24")
_RECEIVERS = ("10.255.0.0/24", "172.31.255.0/24", "192.168.255.0/24", "198.19.255.0/24")
# The interface added to a router that has no other, or no faster one.
_ADDED = "TenGigabitEthernet99/0"
_ADDED_RATE = "10Gb/s"
# Prefixes of interfaces without a wire.
_VIRTUAL = ("Loopback", "Null", "BVI")
# Delay of the line behind the router: some hundred kilometers and another router.
_DELAY = "5ms"


@dataclass(frozen=True)
class Leaf:
    """A queue of an output policy: a class without child classes."""

    #: The names of its classes from the outermost in, as in results.
    path: str
    name: str
    #: The match conditions of the class and its parents, which must all hold.
    matches: list[MatchConfig]
    config: ClassConfig
    #: The lowest shaping rate of the class and its parents, in bits per second.
    shaped: float
    #: Whether it has strict priority.
    priority: bool


@dataclass(frozen=True)
class Network:
    """A router with one path through it."""

    router: str
    configuration: RouterConfiguration
    base: Path
    #: The interfaces by which packets enter and leave; `None` for one that is added to the router.
    entering: RouterPort | None
    leaving: RouterPort | None
    #: The router's own addresses, and their subnets.
    own: list[str]
    subnets: list[IPv4Network]

    @property
    def leaves(self) -> list[Leaf]:
        """The queues of the leaving interface."""
        queueing = self.leaving["output"].get("queueing") if self.leaving else None
        return list(_leaves(queueing, "", [], float("inf"))) if queueing else []

    def policed(self, leaf: Leaf) -> float | None:
        """Return the rate that a priority class is policed to, in bits per second, if it is policed.

        The class is policed while the port is congested (`priority 512`), or always, by a conditioner before
        the queues (`priority` with `police`).
        """
        if police := leaf.config.get("police"):
            return _number(police["rate"])
        stages = self.leaving["output"].get("conditioners", []) if self.leaving else []
        for stage in stages:
            named = (stage.get("name") or "").rpartition(".")[2] == leaf.name
            meters: Mapping[str, Any] = stage.get("meter") or {}
            if leaf.priority and named and meters and "drop" in stage.get("red", []):
                meter = next(iter(meters.values()))
                return _number(meter.get("rate") or meter["cir"])
        return None

    @property
    def leaving_rate(self) -> float:
        """The rate of the leaving interface's wire, in bits per second."""
        return _bits(self.leaving)

    @property
    def bottleneck(self) -> float:
        """The rate at which packets can leave, in bits per second: the wire's, or that of shaping."""
        shaped = max((leaf.shaped for leaf in self.leaves), default=float("inf"))
        return min(self.leaving_rate, shaped)

    @property
    def after_router(self) -> str:
        """The node at the far end of the leaving interface: a router, as there may be several receivers."""
        return "far-side"

    def scenario(
        self, entries: Sequence[TrafficConfig], headers: Sequence[Header], duration: str
    ) -> ScenarioConfig:
        """Return a scenario with this traffic; `headers` give its source and destination addresses."""
        senders, receivers = self._hosts()
        traffic: list[TrafficConfig] = [
            {**entry, "from": senders.named(header.source), "to": receivers.named(header.destination)}
            for entry, header in zip(entries, headers, strict=True)
        ]
        hosts = senders.addresses | receivers.addresses
        fastest = max(_bits(port) for port in (self.entering, self.leaving))
        plain = next((rate for rate in _PLAIN_RATES if _number(rate) > fastest), _PLAIN_RATES[-1])
        before: list[LinkConfig] = [
            {"between": [one, "near-side"], "rate": plain} for one in senders.addresses
        ]
        behind: list[LinkConfig] = [
            {"between": ["far-side", one], "rate": plain} for one in receivers.addresses
        ]
        return {
            "perhop": 1,
            "name": f"Inferred from {self.router}",
            "duration": duration,
            "hosts": {name: {"address": one} for name, one in hosts.items()},
            "routers": {
                self.router: {"configuration": self._completed()},
                "near-side": {},
                "far-side": {},
            },
            "links": [
                *before,
                self._link("near-side", self.router, self.entering),
                self._link(self.router, "far-side", self.leaving) | {"delay": _DELAY},
                *behind,
            ],
            "traffic": traffic,
        }

    def has_hosts_for(self, headers: Sequence[Header]) -> bool:
        """Whether no address would be a sender's and a receiver's at once."""
        senders, receivers = self._hosts()
        sources = {senders.wanted(header.source) for header in headers}
        return sources.isdisjoint(receivers.wanted(header.destination) for header in headers)

    def _hosts(self) -> tuple[_Hosts, _Hosts]:
        """Return the senders and the receivers, without hosts yet."""
        senders = _Hosts("sender", self._subnet(self.entering, _SENDERS), self.own)
        # Interfaces in different VRFs may have the same subnet.
        taken = [*self.own, senders.wanted(None)]
        return senders, _Hosts("receiver", self._subnet(self.leaving, _RECEIVERS), taken)

    def _subnet(self, port: RouterPort | None, otherwise: Sequence[str]) -> str:
        """Return the subnet of an interface, or the first of `otherwise` that the router is not in."""
        if port is not None and port["addresses"]:
            return "{}/{}".format(*port["addresses"][0])
        free = (one for one in otherwise if not any(map(IPv4Network(one).overlaps, self.subnets)))
        return next(free, otherwise[-1])

    def _link(self, first: str, second: str, port: RouterPort | None) -> LinkConfig:
        name = port["name"] if port else _ADDED
        return {
            "between": [first, second],
            "rate": _rate(port),
            "interfaces": {self.router: {"name": name}},
        }

    def _completed(self) -> RouterConfiguration:
        """Return the router's configuration, with an added interface where it lacks one."""
        if self.entering is not None and self.leaving is not None:
            return self.configuration
        return {**self.configuration, "add": [f"interface {_ADDED}"]}


class _Hosts:
    """The hosts at one side of the router: one for each address that traffic uses."""

    def __init__(self, name: str, subnet: str, taken: Sequence[str]) -> None:
        self.addresses: dict[str, str] = {}
        self._name = name
        self._usual = address(subnet, taken) or subnet.partition("/")[0]

    def wanted(self, address: str | None) -> str:
        """Return an address, by default the side's usual one."""
        return address or self._usual

    def named(self, address: str | None) -> str:
        """Return the name of the host with an address, by default the usual one; adds it if needed."""
        wanted = self.wanted(address)
        for name, one in self.addresses.items():
            if one == wanted:
                return name
        name = self._name if not self.addresses else f"{self._name}-{len(self.addresses) + 1}"
        self.addresses[name] = wanted
        return name


def select_network(
    router: Router, configuration: RouterConfiguration, base: Path, interface: str | None
) -> Network:
    """Return the path through the router with the largest policies, or the one that uses `interface`."""
    up = [port for port in router["ports"] if not port["shutdown"] and not port["name"].startswith(_VIRTUAL)]
    if not up:
        raise InvalidInputError(
            "the configuration has no interface that is up",
            "a simulation needs one to send packets by",
        )
    chosen = max(up, key=_output_rank) if interface is None else _named(interface, up)
    other = max((port for port in up if not _same(port, chosen)), key=_input_rank, default=None)
    path: tuple[RouterPort | None, RouterPort | None]
    if chosen["input"].get("conditioners") and not _output_rank(chosen)[0]:
        path = (chosen, other)
    else:
        # If packets entered no faster than they leave, no queue would ever fill.
        narrow = other is not None and not _input_rank(other)[0] and _bits(other) <= _bits(chosen)
        path = (None if narrow else other, chosen)
    return Network(
        router=_node(router["hostname"]),
        configuration=configuration,
        base=base,
        entering=path[0],
        leaving=path[1],
        own=[one for port in router["ports"] for one, _ in port["addresses"]],
        subnets=[IPv4Interface(tuple(one)).network for port in router["ports"] for one in port["addresses"]],
    )


def _plain_link(first: str, second: str, rate: str) -> LinkConfig:
    return {"between": [first, second], "rate": rate}


def _same(one: RouterPort, other: RouterPort) -> bool:
    """Whether two ports are one interface, or one is a sub-interface or circuit of the other."""
    names = sorted((str(one["name"]), str(other["name"])), key=len)
    return names[1] == names[0] or names[1].startswith((f"{names[0]}.", f"{names[0]} "))


def _named(interface: str, up: list[RouterPort]) -> RouterPort:
    wanted = interface.lower().replace(" ", "")
    for port in up:
        if port["name"].lower().replace(" ", "") == wanted:
            return port
    names = [port["name"] for port in up]
    near = get_close_matches(interface, names, n=1)
    raise InvalidInputError(
        f"the configuration has no interface `{interface}` that is up",
        f"did you mean `{near[0]}`?" if near else f"interfaces: {', '.join(names)}",
    )


def _output_rank(port: RouterPort) -> tuple[int, int, bool, float]:
    """Return the rank of an interface to leave by: classes and conditioners, an address, a low rate."""
    queueing = port["output"].get("queueing")
    leaves = list(_leaves(queueing, "", [], float("inf"))) if queueing else []
    plain = len(leaves) == 1 and leaves[0].name == "fifo"
    conditioners = len(port["output"].get("conditioners", []))
    return (
        0 if plain and not conditioners else len(leaves) + conditioners,
        len(port["input"].get("conditioners", [])),
        bool(port["addresses"]),
        -_bits(port),
    )


def _input_rank(port: RouterPort) -> tuple[int, bool, float]:
    """Return the rank of an interface to enter by: conditioners, an address, a high rate."""
    return len(port["input"].get("conditioners", [])), bool(port["addresses"]), _bits(port)


def _leaves(
    queueing: QueueingConfig, prefix: str, matches: list[MatchConfig], shaped: float
) -> Iterator[Leaf]:
    for config in queueing["classes"]:
        path = f"{prefix}{config['name']}"
        match, inner = config.get("match"), config.get("queueing")
        here = [*matches, match] if match else matches
        shape = config.get("shape")
        rate = min(shaped, _number(shape["rate"])) if shape else shaped
        if inner:
            yield from _leaves(inner, f"{path}/", here, rate)
        else:
            # The last class of the priority scheduler holds the classes without priority.
            first = queueing["scheduler"] == "priority" and config is not queueing["classes"][-1]
            yield Leaf(path, config["name"], here, config, rate, first)


def _rate(port: RouterPort | None) -> str:
    """Return the rate of an interface: the wire's, else the configured bandwidth."""
    return _ADDED_RATE if port is None else str(port["wire"]["rate"] or port["bandwidth"] or _ADDED_RATE)


def _bits(port: RouterPort | None) -> float:
    return _number(_rate(port))


def _number(rate: str) -> float:
    found = _core.quantity(rate)
    return found[0] if found else float("inf")


def _node(hostname: str | None) -> str:
    """Return a name for the router's node that differs from those of the hosts."""
    name = re.sub(r"[^a-z0-9-]+", "-", (hostname or "router").lower()).strip("-") or "router"
    return f"{name}-router" if re.fullmatch(r"(sender|receiver)(-\d+)?|near-side|far-side", name) else name
