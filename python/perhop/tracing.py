"""The paths of packets through devices, and packets that reach a class."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.configuration import checked, meant, router_text
from perhop.core_types import RouterPort
from perhop.errors import InvalidInputError
from perhop.inputs import CAPTURE, read_input, unreadable

_MARKED = ("tag", "labels")


#: The paths of a packet, as `perhop._core.Device.trace` describes them.
Answer = dict[str, Any]


@dataclass(frozen=True)
class Traced:
    """A device with an input and an output interface; with `None`, the device decides."""

    device: _core.Device
    arrives: str | None
    leaves: str | None

    def answer(self, packet: str) -> Answer:
        """Return the paths of a packet; raises `InvalidInputError`."""
        try:
            found: Answer = json.loads(self.device.trace(packet, self.arrives, self.leaves))
        except ValueError as error:
            raise _refused(error, f"{packet}: ") from error
        return found

    def neighbors(self) -> list[dict[str, Any]]:
        """Return the neighbors that the configuration shows."""
        found: list[dict[str, Any]] = json.loads(self.device.neighbors())
        return found

    def open_lines(self, interfaces: Iterable[str]) -> list[str]:
        """Return the lines that perhop does not model and that affect packets at some interfaces."""
        return self.device.open_lines(list(interfaces))


def _refused(error: ValueError, prefix: str = "") -> InvalidInputError:
    message, help = (*error.args, None)[:2]
    return InvalidInputError(f"{prefix}{message}", help)


def traced(
    file: Path,
    *,
    at: str | None = None,
    out: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
    routes: Iterable[str] = (),
) -> Traced:
    """Return the device of a file, with the interfaces `at` and `out`, where its packets arrive and leave.

    `file` is a router's configuration, and `at` and `out` are its interfaces; or a scenario, where `at` is
    `NODE:NEIGHBOR` and `out` a neighbor of the node. `routes` are routes that the configuration lacks, as
    `PREFIX = TARGET`.

    Raises:
        InvalidInputError: there is no such interface, or a route is not valid.
        UnreadableFileError: the file cannot be read.

    """
    text = router_text(file)
    if text is None:
        loaded = _loaded(file)
        name, neighbor = _place(loaded, at, out)
        return Traced(_core.Device.of_scenario(json.dumps(loaded), name), neighbor, out)
    checked(text, platform, assume)
    try:
        device = _core.Device(text, platform, dict(assume or {}), list(routes))
        ends = [None if name is None else device.interface(name) for name in (at, out)]
    except ValueError as error:
        raise _refused(error) from error
    return Traced(device, *ends)


@dataclass(frozen=True)
class Node:
    """A node, and its policies for packets between two interfaces."""

    #: The input and output interfaces; `None` for any.
    arrives: str | None
    leaves: str | None
    interfaces: list[str]
    input: Mapping[str, Any] | None
    output: Mapping[str, Any] | None
    tag: bool = False
    labels: bool = False
    #: Interfaces with input policies, at which packets may enter if `arrives` is `None`.
    entrances: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def crossed(self) -> list[str]:
        """Return the interfaces whose policies may apply to packets."""
        ends = [name for name in (self.arrives, self.leaves) if name is not None]
        return [*ends, *(name for name, _ in self.entrances)]

    def to_json(self) -> str:
        """Return the node as JSON for the extension module."""
        keys = ("interfaces", "arrives", "input", "output", *_MARKED)
        return json.dumps({key: getattr(self, key) for key in keys})

    def reach(self) -> dict[str, str | None]:
        """Return for each queue an arriving packet that reaches the queue, or `None` if no packet reaches it.

        The answer is exact for the fields that conditions read, and applies to at least one history of the
        meters. Packets enter at an interface without an input policy, or at another interface if no such
        packet reaches the queue.

        Raises:
            InvalidInputError: the conditions are too complex to be compared.

        """
        try:
            found = json.loads(_core.reach_queues(self.to_json()))
        except ValueError as error:
            raise InvalidInputError(str(error)) from error
        packets: dict[str, str | None] = {entry["queue"]: entry["packet"] for entry in found}
        for name, policy in self.entrances:
            if None not in packets.values():
                break
            by_name = replace(self, arrives=name, input=policy, entrances=()).reach()
            packets = {queue: packet or by_name[queue] for queue, packet in packets.items()}
        return packets


def node(
    file: Path,
    *,
    at: str | None = None,
    out: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Node:
    """Return the node of a file between the interfaces `at` and `out`.

    `file` is a router's configuration, and `at` and `out` are its interfaces; or a scenario, where `at` is
    `NODE:NEIGHBOR` and `out` a neighbor of the node. Without `out`, the output interface is the only
    interface with an output policy. Without `at`, no input policy applies, or the policy of an interface that
    alone leads packets to a queue.

    Raises:
        InvalidInputError: there is no such interface, or the choice is ambiguous.
        UnreadableFileError: the file cannot be read.

    """
    text = router_text(file)
    if text is None:
        return _of_scenario(file, at, out)
    report = checked(text, platform, assume)
    ports = report["router"]["ports"]
    arriving = None if at is None else _port(ports, at)
    leaving = _port(ports, out) if out is not None else _only(ports)
    return Node(
        arrives=arriving and arriving["interface"],
        leaves=leaving and leaving["name"],
        interfaces=[port["interface"] for port in ports],
        input=arriving and arriving["input"],
        output=leaving and leaving["output"],
        tag=_carries(leaving, "vlan"),
        labels=_carries(leaving, "mpls"),
        entrances=() if arriving else tuple(_entrances(ports)),
    )


def _entrances(ports: list[RouterPort]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Generate the interfaces that are up and condition arriving packets, with their policies."""
    for port in ports:
        if port["input"].get("conditioners") and not port.get("shutdown"):
            yield port["interface"], port["input"]


def _port(ports: list[RouterPort], name: str) -> RouterPort:
    by_name = {port["name"]: port for port in ports}
    near = meant(name, by_name)
    if len(near) == 1:
        return by_name[near[0]]
    names = ", ".join(by_name) or "none"
    raise InvalidInputError(f"there is no interface `{name}`", f"interfaces: {names}")


def has_output(port: RouterPort) -> bool:
    """Whether an interface has an output policy, or a Linux device has qdiscs or policers."""
    if "policies" in port:
        return _name(port, "output") is not None
    return bool(port["output"].get("queueing") or port["output"].get("conditioners"))


def _only(ports: list[RouterPort]) -> RouterPort | None:
    with_policy = [port for port in ports if has_output(port)]
    if len(with_policy) > 1:
        names = ", ".join(port["name"] for port in with_policy)
        raise InvalidInputError("several interfaces have an output policy", f"choose one with --out: {names}")
    return with_policy[0] if with_policy else None


def _name(port: RouterPort | None, side: str) -> str | None:
    whole: Mapping[str, Any] = port or {}
    policy = whole.get("policies", {}).get(side)
    return policy["name"] if policy else None


def _carries(port: RouterPort | None, header: str) -> bool:
    headers = port["wire"].get("headers", []) if port else []
    return any(layer == header or (isinstance(layer, Mapping) and header in layer) for layer in headers)


def _of_scenario(file: Path, at: str | None, out: str | None) -> Node:
    loaded = _loaded(file)
    name, neighbor = _place(loaded, at, out)
    own = {other: interface for node, other, interface, _ in _ends(loaded) if node == name}
    with_policy = [other for other, interface in own.items() if interface.get("output")]
    if out is None and len(with_policy) > 1:
        raise InvalidInputError(
            f"several interfaces of {name} have an output policy", "choose one with --out"
        )
    return between(loaded, name, neighbor, out or next(iter(with_policy), None))


def _loaded(file: Path) -> dict[str, Any]:
    """Return the resolved scenario of a file."""
    try:
        found: dict[str, Any] = json.loads(_core.load(file, []).resolved)
    except OSError as error:
        raise unreadable(file, error) from error
    return found


def _place(loaded: Mapping[str, Any], at: str | None, out: str | None) -> tuple[str, str | None]:
    """Return the node and the neighbor of `at`."""
    name, _, neighbor = (at or "").partition(":")
    ends = list(_ends(loaded))
    nodes = sorted({node for node, *_ in ends})
    if name not in nodes:
        help = f"nodes: {', '.join(nodes)}"
        raise InvalidInputError(
            f"--at {at}: there is no such node" if at else "--at is missing: NODE:NEIGHBOR", help
        )
    own = [other for node, other, *_ in ends if node == name]
    for wanted in filter(None, [neighbor, out]):
        if wanted not in own:
            raise InvalidInputError(f"{name} has no link to `{wanted}`", f"neighbors: {', '.join(own)}")
    return name, neighbor or None


def between(scenario: Mapping[str, Any], name: str, arrives: str | None, leaves: str | None) -> Node:
    """Return node `name` of a resolved scenario, with the links to two neighbors; `None` means any link."""
    own = {other: (interface, link) for node, other, interface, link in _ends(scenario) if node == name}
    interface, link = own[leaves] if leaves else ({}, {})
    entry = own[arrives][0] if arrives else {}
    headers = {"wire": {"headers": link.get("headers", [])}}
    policies = scenario.get("policies", {})
    return Node(
        arrives=arrives,
        leaves=leaves,
        interfaces=list(own),
        input=policies.get(entry.get("input")),
        output=policies.get(interface.get("output")),
        tag=_carries(headers, "vlan"),  # type: ignore[arg-type]
        labels=_carries(headers, "mpls"),  # type: ignore[arg-type]
    )


def _ends(scenario: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, Any]]]:
    """Generate each end of each link: the node, the node at the other end, the interface, and the link."""
    for link in scenario["links"]:
        first, second = link["between"]
        interfaces = link.get("interfaces") or {}
        yield first, second, interfaces.get(first, {}), link
        yield second, first, interfaces.get(second, {}), link


def packets(capture: Path) -> list[tuple[str, int]]:
    """Return the distinct packets of a capture with their counts, the most frequent first.

    Raises:
        InvalidInputError: the file is not a capture.
        UnreadableFileError: the file cannot be read.

    """
    content = read_input(capture, CAPTURE)
    try:
        return [(text, count) for text, count in json.loads(_core.distinct_packets(content))]
    except ValueError as error:
        raise InvalidInputError(f"{capture}: {error}") from error
