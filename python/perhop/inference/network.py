"""The network inferred for a router: senders on one side, receivers on the other, one path between them.

Everything around the router is wide enough and has queues long enough, so that whatever is lost is lost in
the router.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Literal, cast

from perhop.core_types import RouterPort
from perhop.inference.headers import Header, address
from perhop.inference.shares import Leaf, capacity, leaves
from perhop.inference.sources import as_rate
from perhop.quantity import bits_per_second
from perhop.schema_types import (
    Framing,
    HeaderStack,
    InterfaceConfig,
    LinkConfig,
    PolicyConfig,
    RouterConfiguration,
    ScenarioConfig,
    TrafficConfig,
)

# Links between hosts and the routers next to them are this much faster than the path through the router.
_WIDER = 10
_LEAST_PLAIN = 1e9
# Subnets of senders and receivers where the interface has no address: the first that the router is not in.
_SENDERS = ("10.0.0.0/24", "172.16.0.0/24", "192.168.0.0/24", "198.18.0.0/24")
_RECEIVERS = ("10.255.0.0/24", "172.31.255.0/24", "192.168.255.0/24", "198.19.255.0/24")
# Their IPv6 subnets, of the prefix for documentation (RFC 3849).
_SENDERS_6, _RECEIVERS_6 = "2001:db8:0:1::/64", "2001:db8:0:2::/64"
# Delay of the line behind the router: some hundred kilometers and another router; that of a metropolitan line
# where it is fast, since a few connections cannot fill a long and fast one.
_DELAY, _SHORT_DELAY, _FAST = "5ms", "1ms", 100e6
# The queues outside the router: more than all windows of all connections and a second of any datagrams.
_AMPLE = "10000000 packets"
_AMPLE_POLICY: PolicyConfig = {
    "queueing": {"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": _AMPLE}}}]}
}
#: Headers that carry marks.
Carried = Literal["mpls", "vlan"]
# Parts of a path by which the lowering of policies groups classes: those without priority, and those of one
# level of priority.
_OF_SCHEDULER = re.compile(r"others|priority( level \d+)?")
#: The name of the policy of those queues, and of the routers on both sides.
AMPLE, NEAR, FAR = "ample", "near-side", "far-side"


@dataclass(frozen=True)
class Interface:
    """An interface on the path: one of the router's, or one that is added to it."""

    name: str
    #: The rate of its wire, as written.
    rate: str
    #: The router's own; `None` for one that is added.
    port: RouterPort | None = None
    #: Whether the rate is assumed, because the configuration cannot set it.
    assumed: bool = False

    @property
    def bits_per_second(self) -> float:
        """The rate of its wire."""
        return bits_per_second(self.rate)

    def side(self, direction: str) -> PolicyConfig:
        """Return its policy for packets in one direction, `input` or `output`."""
        if self.port is None:
            return {}
        return self.port["input"] if direction == "input" else self.port["output"]


@dataclass(frozen=True)
class Network:
    """A router with one path through it."""

    router: str
    configuration: RouterConfiguration
    base: Path
    entering: Interface
    leaving: Interface
    #: The router's own addresses, and their subnets.
    own: list[str]
    subnets: list[IPv4Network]
    #: The platform whose rules the configuration is read by.
    platform: str | None = None
    #: Further interfaces that classes match as the one that packets entered by.
    beside: list[Interface] = field(default_factory=list)
    #: What was chosen and why, where it is not the obvious: a line each.
    remarks: list[str] = field(default_factory=list)
    #: The headers by which the senders' packets have marks, `mpls` and `vlan`: of the links to the router.
    carried: tuple[Carried, ...] = ()

    @cached_property
    def own_addresses(self) -> frozenset[str]:
        """The router's own addresses."""
        return frozenset(self.own)

    @cached_property
    def leaves(self) -> list[Leaf]:
        """The queues of the leaving interface."""
        return leaves(self.leaving.side("output"), self.leaving.bits_per_second)

    @cached_property
    def leaf_places(self) -> dict[str, int]:
        """The places of the queues among `leaves`, by path; of several with one path, the first."""
        return {leaf.path: place for place, leaf in reversed([*enumerate(self.leaves)])}

    @cached_property
    def leaf_names(self) -> dict[str, str]:
        """The name of each queue by path: its class, and with it the classes around where others share it."""
        count = Counter(leaf.name for leaf in self.leaves)
        shared = {leaf.path: _around(leaf.path) for leaf in self.leaves if count[leaf.name] > 1}
        is_clear = len(set(shared.values())) == len(shared)
        return {
            leaf.path: shared.get(leaf.path, leaf.name) if is_clear else leaf.path for leaf in self.leaves
        }

    @property
    def has_queues(self) -> bool:
        """Whether the path is under test for its queues, and not for its input policy alone."""
        return bool(self.leaves) and self._capacity <= self.entering.bits_per_second / 2

    @cached_property
    def bottleneck(self) -> float:
        """The rate at which packets can pass, in bits per second: the slower wire's, or that of shaping."""
        return min(self._capacity, self.entering.bits_per_second)

    @property
    def _capacity(self) -> float:
        """What the leaving interface can send, in bits per second."""
        queueing = self.leaving.side("output").get("queueing")
        rate = self.leaving.bits_per_second
        return capacity(queueing, rate) if queueing else rate

    @property
    def other_subnets(self) -> list[str]:
        """The router's subnets at other interfaces: packets to them do not leave by the leaving one."""
        port = self.leaving.port
        there = {IPv4Interface(tuple(one)).network for one in (port["addresses"] if port else [])}
        return [str(one) for one in dict.fromkeys(self.subnets) if one not in there]

    @property
    def port(self) -> str:
        """The name in results of the port by which packets leave the router."""
        return f"{self.router}->{FAR}"

    def scenario(
        self, entries: Sequence[TrafficConfig], headers: Sequence[Header], duration: str
    ) -> ScenarioConfig:
        """Return a scenario with this traffic; `headers` give its source and destination addresses."""
        senders, receivers = self._hosts()
        traffic: list[TrafficConfig] = [
            {
                **entry,
                "from": senders.named(header.source, six=header.is_six),
                "to": receivers.named(header.destination, six=header.is_six),
            }
            for entry, header in zip(entries, headers, strict=True)
        ]
        hosts = senders.addresses | receivers.addresses
        return {
            "perhop": 1,
            "name": f"Inferred from {self.router}",
            "duration": duration,
            "hosts": {name: {"address": one} for name, one in hosts.items()},
            "routers": {
                self.router: {"configuration": self.configuration},
                NEAR: {},
                FAR: {},
                **{_beside(number): {} for number in range(len(self.beside))},
            },
            "links": self._links(list(senders.addresses), list(receivers.addresses)),
            "policies": {AMPLE: _AMPLE_POLICY},
            "traffic": traffic,
        }

    def ends(self, header: Header) -> tuple[str, str]:
        """Return the addresses of a packet with this header."""
        senders, receivers = self._hosts()
        return (
            senders.wanted(header.source, six=header.is_six),
            receivers.wanted(header.destination, six=header.is_six),
        )

    def _hosts(self) -> tuple[_Hosts, _Hosts]:
        """Return the senders and the receivers, without hosts yet."""
        senders, receivers = self._usual_addresses
        return _Hosts("sender", senders), _Hosts("receiver", receivers)

    @cached_property
    def _usual_addresses(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The addresses of IPv4 and IPv6 that senders and receivers have by default."""
        senders = _free((self._subnet(self.entering, _SENDERS), _SENDERS_6), self.own)
        # Interfaces in different VRFs may have the same subnet.
        taken = [*self.own, senders[0]]
        return senders, _free((self._subnet(self.leaving, _RECEIVERS), _RECEIVERS_6), taken)

    def _subnet(self, interface: Interface, otherwise: Sequence[str]) -> str:
        """Return the subnet of an interface, or the first of `otherwise` that the router is not in."""
        own = interface.port["addresses"] if interface.port is not None else []
        for one, length in own:
            # A router refuses other addresses, which no host can have either.
            if not (IPv4Address(one).is_multicast or IPv4Address(one).is_unspecified):
                return f"{one}/{length}"
        free = (one for one in otherwise if not any(map(IPv4Network(one).overlaps, self.subnets)))
        return next(free, otherwise[-1])

    def _links(self, senders: Sequence[str], receivers: Sequence[str]) -> list[LinkConfig]:
        rates = [self.entering.bits_per_second, self.leaving.bits_per_second, _LEAST_PLAIN / _WIDER]
        plain = as_rate(_WIDER * max(rates))
        delay = _SHORT_DELAY if self.bottleneck > _FAST else _DELAY
        entering: LinkConfig = {
            "between": [NEAR, self.router],
            "rate": self.entering.rate,
            "interfaces": {NEAR: _ample(), self.router: {"name": self.entering.name}},
        }
        leaving: LinkConfig = {
            "between": [self.router, FAR],
            "rate": self.leaving.rate,
            "delay": delay,
            "interfaces": {self.router: {"name": self.leaving.name}, FAR: _ample()},
        }
        return [
            *(self._carrying(_plain_link(one, NEAR, plain), None) for one in senders),
            self._carrying(entering, self.entering.port),
            leaving,
            *(self._aside(number, one) for number, one in enumerate(self.beside)),
            *(_plain_link(FAR, one, plain) for one in receivers),
        ]

    def _carrying(self, link: LinkConfig, port: RouterPort | None) -> LinkConfig:
        """Return the link to a port with headers that let marks reach it, unless the port has headers."""
        wire = None if port is None else port["wire"]
        if not self.carried or (wire is not None and wire.get("headers")):
            return link
        framing = (wire and wire["framing"]) or "ethernet-wire"
        # A tag needs Ethernet around it, labels may stand anywhere.
        is_ethernet = framing.startswith("ethernet")
        headers: HeaderStack = [one for one in self.carried if is_ethernet or one == "mpls"]
        return {**link, "framing": cast("Framing", framing), "headers": headers}

    def _aside(self, number: int, interface: Interface) -> LinkConfig:
        """Return the link of an interface that no packets take, and that classes mention."""
        ends: dict[str, InterfaceConfig] = {self.router: {"name": interface.name}}
        return {"between": [self.router, _beside(number)], "rate": interface.rate, "interfaces": ends}


class Ends:
    """The addresses of headers: none is a sender's and a receiver's at once."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._sources: set[str] = set()
        self._destinations: set[str] = set()

    def fits(self, header: Header) -> bool:
        """Whether the addresses of a further header leave each address on one side of the router."""
        source, destination = self._network.ends(header)
        is_taken = source in self._destinations or destination in self._sources
        return source != destination and not is_taken

    def add(self, header: Header) -> None:
        """Add a header that fits."""
        source, destination = self._network.ends(header)
        self._sources.add(source)
        self._destinations.add(destination)


class _Hosts:
    """The hosts at one side of the router: one for each address that traffic uses."""

    def __init__(self, name: str, usual: tuple[str, str]) -> None:
        self.addresses: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._name = name
        self._usual = usual

    def wanted(self, address: str | None, *, six: bool = False) -> str:
        """Return an address, by default the side's usual one, of IPv6 with `six`."""
        return address or self._usual[six]

    def named(self, address: str | None, *, six: bool) -> str:
        """Return the name of the host with an address, by default the usual one; adds it if needed."""
        wanted = self.wanted(address, six=six)
        name = self._names.get(wanted)
        if name is None:
            name = self._name if not self.addresses else f"{self._name}-{len(self.addresses) + 1}"
            self.addresses[name], self._names[wanted] = wanted, name
        return name


def _free(subnets: tuple[str, str], taken: Collection[str]) -> tuple[str, str]:
    """Return the first address of each subnet that is not taken."""
    used = set(taken)
    first, second = (address(one, used) or one.partition("/")[0] for one in subnets)
    return first, second


def _around(path: str) -> str:
    """Return the path of a queue without the parts that stand for a scheduler, not for a class."""
    *around, name = path.split("/")
    return "/".join([*(one for one in around if not _OF_SCHEDULER.fullmatch(one)), name])


def _beside(number: int) -> str:
    return f"beside-{number + 1}"


def _ample() -> InterfaceConfig:
    return {"output": AMPLE}


def _plain_link(first: str, second: str, rate: str) -> LinkConfig:
    return {"between": [first, second], "rate": rate, "interfaces": {first: _ample(), second: _ample()}}


def node_name(hostname: str | None) -> str:
    """Return a name for the router's node that differs from those of the other nodes."""
    name = re.sub(r"[^a-z0-9-]+", "-", (hostname or "router").lower()).strip("-") or "router"
    return f"{name}-router" if re.fullmatch(rf"(sender|receiver|beside)(-\d+)?|{NEAR}|{FAR}", name) else name
