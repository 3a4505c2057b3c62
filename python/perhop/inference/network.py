"""What is put around a router: senders before it, receivers behind it, at the interfaces that matter most."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.around.headers import Header, address
from perhop.errors import InvalidInputError

Port = Mapping[str, Any]
# Of links that must not matter.
_PLAIN_RATES = ("1Gb/s", "100Gb/s")
# Where nothing is said of the hosts before and behind the router: the first subnet that it is not in itself.
_BEFORE = ("10.0.0.0/24", "172.16.0.0/24", "192.168.0.0/24", "198.18.0.0/24")
_BEHIND = ("10.255.0.0/24", "172.31.255.0/24", "192.168.255.0/24", "198.19.255.0/24")
# What a router gets where no other interface of its own is fast enough, as if it were typed in.
_FURTHER = "TenGigabitEthernet99/0"
_FURTHER_RATE = "10Gb/s"
# Interfaces that no packets come by.
_NOWHERE = ("Loopback", "Null", "BVI")
# What nobody knows of the line behind the router: some hundred kilometers and another router.
_DELAY = "5ms"


@dataclass(frozen=True)
class Leaf:
    """A queue of an output policy: a class that has no classes in it."""

    #: Its classes' names from the outermost in, as results call it.
    path: str
    name: str
    #: The conditions on the way to it, which must all hold.
    matches: list[Mapping[str, Any]]
    config: Mapping[str, Any]
    #: The least rate that it or a class around it is shaped to.
    shaped: float
    #: Whether it is sent before all others.
    priority: bool


@dataclass(frozen=True)
class Network:
    """A router with one way through it."""

    router: str
    configuration: Mapping[str, Any]
    base: Path
    #: The interfaces by which packets come and go; `None` for one that the router has not.
    entering: Port | None
    leaving: Port | None
    #: Addresses that are the router's own, and the subnets that they are in.
    own: list[str]
    subnets: list[IPv4Network]

    @property
    def leaves(self) -> list[Leaf]:
        """The queues that packets leave by."""
        queueing = self.leaving["output"].get("queueing") if self.leaving else None
        return list(_leaves(queueing, "", [], float("inf"))) if queueing else []

    def policed(self, leaf: Leaf) -> float | None:
        """Return the bits per second that a class of strict priority may send, where something says so.

        It polices itself when the port is congested (`priority 512`), or is policed at any time
        (`priority` beside `police`), which comes before the queues.
        """
        if police := leaf.config.get("police"):
            return _number(police["rate"])
        for stage in (self.leaving or {"output": {}})["output"].get("conditioners") or []:
            named = stage["name"].rpartition(".")[2] == leaf.name
            if leaf.priority and named and "drop" in stage.get("red", []):
                meter = next(iter(stage["meter"].values()))
                return _number(meter.get("rate") or meter["cir"])
        return None

    @property
    def leaving_rate(self) -> float:
        """Bits per second of the wire behind the router."""
        return _bits(self.leaving)

    @property
    def bottleneck(self) -> float:
        """Bits per second that can leave: the wire's, or what the policy shapes everything to."""
        shaped = max((leaf.shaped for leaf in self.leaves), default=float("inf"))
        return min(self.leaving_rate, shaped)

    @property
    def after_router(self) -> str:
        """The node at the other end of the leaving interface: always a router, as hosts may be several."""
        return "far-side"

    def around(self, entries: Sequence[Mapping[str, Any]], headers: Sequence[Header]) -> dict[str, Any]:
        """Return a scenario with this traffic; `headers` say which addresses it is sent from and to."""
        senders, receivers = self._hosts()
        traffic = [
            {
                "name": entry["name"],
                "from": senders.named(header.source),
                "to": receivers.named(header.destination),
                **{key: value for key, value in entry.items() if key != "name"},
            }
            for entry, header in zip(entries, headers, strict=True)
        ]
        hosts = senders.addresses | receivers.addresses
        fastest = max(_bits(port) for port in (self.entering, self.leaving))
        plain = next((rate for rate in _PLAIN_RATES if _number(rate) > fastest), _PLAIN_RATES[-1])
        return {
            "perhop": 1,
            "name": f"Around {self.router}",
            "hosts": {name: {"address": one} for name, one in hosts.items()},
            "routers": {
                self.router: {"configuration": self._completed()},
                "near-side": {},
                "far-side": {},
            },
            "links": [
                *({"between": [one, "near-side"], "rate": plain} for one in senders.addresses),
                self._link("near-side", self.router, self.entering, {}),
                self._link(self.router, "far-side", self.leaving, {"delay": _DELAY}),
                *({"between": ["far-side", one], "rate": plain} for one in receivers.addresses),
            ],
            "traffic": traffic,
        }

    def has_hosts_for(self, headers: Sequence[Header]) -> bool:
        """Whether no address would be sent from on the one side and sent to on the other."""
        senders, receivers = self._hosts()
        sources = {senders.wanted(header.source) for header in headers}
        return sources.isdisjoint(receivers.wanted(header.destination) for header in headers)

    def _hosts(self) -> tuple[_Hosts, _Hosts]:
        """Return who is before and who is behind the router: nobody yet."""
        senders = _Hosts("sender", self._subnet(self.entering, _BEFORE), self.own)
        # Where the two interfaces are in tables of routes of their own (VRF), their subnets may be the same.
        taken = [*self.own, senders.wanted(None)]
        return senders, _Hosts("receiver", self._subnet(self.leaving, _BEHIND), taken)

    def _subnet(self, port: Port | None, otherwise: Sequence[str]) -> str:
        """Return the subnet of an interface; without one, the first that the router has no part of."""
        if port is not None and port["addresses"]:
            return "{}/{}".format(*port["addresses"][0])
        free = (one for one in otherwise if not any(map(IPv4Network(one).overlaps, self.subnets)))
        return next(free, otherwise[-1])

    def _link(self, first: str, second: str, port: Port | None, further: dict[str, Any]) -> dict[str, Any]:
        named = {"interfaces": {self.router: {"name": port["name"] if port else _FURTHER}}}
        return {"between": [first, second], "rate": _rate(port), **further, **named}

    def _completed(self) -> dict[str, Any]:
        """Return the router's configuration, with a further interface where it has only one."""
        lacking = self.entering is None or self.leaving is None
        return dict(self.configuration) | ({"add": [f"interface {_FURTHER}"]} if lacking else {})


class _Hosts:
    """The hosts at one side of the router: one for each address that some traffic asks for."""

    def __init__(self, name: str, subnet: str, taken: Sequence[str]) -> None:
        self.addresses: dict[str, str] = {}
        self._name = name
        self._usual = address(subnet, taken) or subnet.partition("/")[0]

    def wanted(self, address: str | None) -> str:
        """Return an address, or, without one, that which is usual there."""
        return address or self._usual

    def named(self, address: str | None) -> str:
        """Return the name of the host with an address; without one, of that which is usual there."""
        wanted = self.wanted(address)
        for name, one in self.addresses.items():
            if one == wanted:
                return name
        name = self._name if not self.addresses else f"{self._name}-{len(self.addresses) + 1}"
        self.addresses[name] = wanted
        return name


def chosen(
    router: Mapping[str, Any], configuration: Mapping[str, Any], base: Path, interface: str | None
) -> Network:
    """Return the way through the router that has most to say about packets, or that by `interface`."""
    up = [port for port in router["ports"] if not port["shutdown"] and not port["name"].startswith(_NOWHERE)]
    if not up:
        raise InvalidInputError(
            "the configuration has no interface that is up", "a simulation needs one to send packets to"
        )
    said = max(up, key=_says_of_output) if interface is None else _named(interface, up)
    other = max((port for port in up if not _same(port, said)), key=_says_of_input, default=None)
    ways: tuple[Port | None, Port | None]
    if said["input"].get("conditioners") and not _says_of_output(said)[0]:
        ways = (said, other)
    else:
        # Where packets come in no faster than they leave, nothing would ever wait.
        narrow = other is not None and not _says_of_input(other)[0] and _bits(other) <= _bits(said)
        ways = (None if narrow else other, said)
    return Network(
        router=_node(router["hostname"]),
        configuration=configuration,
        base=base,
        entering=ways[0],
        leaving=ways[1],
        own=[one for port in router["ports"] for one, _ in port["addresses"]],
        subnets=[IPv4Interface(tuple(one)).network for port in router["ports"] for one in port["addresses"]],
    )


def _same(one: Port, other: Port) -> bool:
    """Whether two are one: an interface, and a part or circuit of it."""
    names = sorted((str(one["name"]), str(other["name"])), key=len)
    return names[1] == names[0] or names[1].startswith((f"{names[0]}.", f"{names[0]} "))


def _named(interface: str, up: list[Port]) -> Port:
    wanted = interface.lower().replace(" ", "")
    for port in up:
        if port["name"].lower().replace(" ", "") == wanted:
            return port
    names = [port["name"] for port in up]
    near = get_close_matches(interface, names, n=1)
    raise InvalidInputError(
        f"the configuration has no interface {interface} that is up",
        f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}",
    )


def _says_of_output(port: Port) -> tuple[int, int, bool, float]:
    """Rank an interface as the one to leave by: classes, conditioners, an address; the slower the better."""
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


def _says_of_input(port: Port) -> tuple[int, bool, float]:
    return len(port["input"].get("conditioners", [])), bool(port["addresses"]), _bits(port)


def _leaves(
    queueing: Mapping[str, Any], prefix: str, matches: list[Mapping[str, Any]], shaped: float
) -> Iterator[Leaf]:
    for config in queueing["classes"]:
        path = f"{prefix}{config['name']}"
        here = [*matches, config["match"]] if config.get("match") else matches
        shape = config.get("shape")
        rate = min(shaped, _number(shape["rate"])) if shape else shaped
        if config.get("queueing"):
            yield from _leaves(config["queueing"], f"{path}/", here, rate)
        else:
            # The last class of strict priority holds all the others.
            first = queueing["scheduler"] == "priority" and config is not queueing["classes"][-1]
            yield Leaf(path, config["name"], here, config, rate, first)


def _rate(port: Port | None) -> str:
    """Return the rate of an interface: its wire's, else what is said to be its bandwidth."""
    return _FURTHER_RATE if port is None else str(port["wire"]["rate"] or port["bandwidth"] or _FURTHER_RATE)


def _bits(port: Port | None) -> float:
    return _number(_rate(port))


def _number(rate: str) -> float:
    found = _core.quantity(rate)
    return found[0] if found else float("inf")


def _node(hostname: str | None) -> str:
    """Return a name for the router's node that no host has."""
    name = re.sub(r"[^a-z0-9-]+", "-", (hostname or "router").lower()).strip("-") or "router"
    return f"{name}-router" if re.fullmatch(r"(sender|receiver)(-\d+)?|near-side|far-side", name) else name
