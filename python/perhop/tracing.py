"""The way of a packet through the policies of a node, and packets that get to a class."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.configuration import checked, is_short_for, router_text
from perhop.core_types import RouterPort
from perhop.errors import InvalidInputError
from perhop.inputs import CAPTURE, read_input, unreadable

_MARKED = ("tag", "labels")


@dataclass(frozen=True)
class Matched:
    """A class that a packet belongs to, and the lines that say so."""

    policy: str
    name: str
    #: Line of the class in the policy; none where the policy does not mention it.
    line: int | None
    #: Lines of the class-map that hold, and of access lists the entries that decided.
    criteria: list[int]


@dataclass(frozen=True)
class Step:
    """What a conditioner does with a packet."""

    side: str
    name: str
    #: The color that its meter gives; none where it has no meter.
    color: str | None
    actions: list[Any]
    #: The packet afterwards.
    packet: str


@dataclass(frozen=True)
class Branch:
    """One way of a packet: a metered stage may have several."""

    steps: list[Step]
    #: The packet in the end.
    packet: str
    dropped: bool
    #: The name of its queue; none where it joins none.
    queue: str | None
    #: The classes on the way to its queue, from the outermost in.
    classes: list[dict[str, Any]]
    #: By color: its drop precedence, where the class takes that for it.
    color: int


@dataclass(frozen=True)
class Story:
    """A packet, by which classes it is told, and its ways through a node."""

    packet: str
    #: Classes of the input policy and of the output policy of a router's configuration.
    input: list[Matched]
    output: list[Matched]
    branches: list[Branch]


@dataclass(frozen=True)
class Node:
    """A node, and the policies that packets meet between two of its interfaces."""

    #: The interfaces by which packets arrive and leave; none where any will do.
    arrives: str | None
    leaves: str | None
    interfaces: list[str]
    input: Mapping[str, Any] | None
    output: Mapping[str, Any] | None
    tag: bool = False
    labels: bool = False
    #: The router's configuration, and the names of the attached policies.
    text: str | None = None
    lines: Mapping[int, str] = field(default_factory=dict)
    policies: tuple[str | None, str | None] = (None, None)
    assume: Mapping[str, str] = field(default_factory=dict)

    def asked(self) -> str:
        """Return the node as the extension module takes it."""
        keys = ("interfaces", "arrives", "input", "output", *_MARKED)
        return json.dumps({key: getattr(self, key) for key in keys})

    def story(self, packet: str) -> Story:
        """Return the way of a packet; raises `InvalidInputError` where it cannot be read."""
        try:
            found = json.loads(_core.trace_packet(self.asked(), packet))
        except ValueError as error:
            raise InvalidInputError(f"{packet}: {error}") from error
        branches = [self._branch(one) for one in found]
        first, second = self.policies
        return Story(packet, self._matched(first, packet), self._matched(second, packet), branches)

    def _branch(self, found: dict[str, Any]) -> Branch:
        steps = [
            Step(
                "input" if one["is_input"] else "output",
                one["name"],
                one["color"],
                one["actions"],
                one["packet"],
            )
            for one in found["steps"]
        ]
        classes: list[dict[str, Any]] = []
        queueing: Any = (self.output or {}).get("queueing")
        for index in found["queue"] or []:
            classes.append({**queueing["classes"][index], "scheduler": queueing.get("scheduler", "fifo")})
            queueing = classes[-1].get("queueing")
        tin = [found["tin"]] if found["tin"] else []
        queue = "/".join([*(one["name"] for one in classes), *tin]) or None
        return Branch(steps, found["packet"], found["dropped"], queue, classes, found["color"])

    def _matched(self, policy: str | None, packet: str) -> list[Matched]:
        if self.text is None or policy is None:
            return []
        found = _core.matched_lines(self.text, policy, self.asked(), packet, dict(self.assume) or None)
        return [
            Matched(one["policy"], one["class"], one["line"], one["criteria"]) for one in json.loads(found)
        ]

    def reach(self) -> dict[str, str | None]:
        """Return for each queue a packet that gets there as it arrives; none where no packet does.

        Exact over the fields that conditions ask for, whatever meters have seen before.

        Raises:
            InvalidInputError: the conditions are too complex to be compared.

        """
        try:
            found = json.loads(_core.reach_queues(self.asked()))
        except ValueError as error:
            raise InvalidInputError(str(error)) from error
        return {one["queue"]: one["packet"] for one in found}


def node(
    file: Path,
    *,
    at: str | None = None,
    out: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Node:
    """Return the node of a file between the interfaces `at` and `out`.

    `file` is a router's configuration, and `at` and `out` its interfaces; or a scenario, where `at` is
    `NODE:NEIGHBOR` and `out` a neighbor of the node. Without `out` it is the interface with an output policy,
    if there is one only; without `at` packets meet no input policy.

    Raises:
        InvalidInputError: there is no such interface, or several could be meant.
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
        text=text,
        lines={line["number"]: line["text"].strip() for line in report["lines"]},
        policies=(_name(arriving, "input"), _name(leaving, "output")),
        assume=assume or {},
    )


def _port(ports: list[RouterPort], name: str) -> RouterPort:
    exact = [port for port in ports if port["name"].lower() == name.lower()]
    near = exact or [port for port in ports if is_short_for(name, port["name"])]
    if len(near) == 1:
        return near[0]
    names = ", ".join(port["name"] for port in ports) or "none"
    raise InvalidInputError(f"there is no interface `{name}`", f"interfaces: {names}")


def has_output(port: RouterPort) -> bool:
    """Whether an interface has an output policy, or a device of Linux disciplines or policers."""
    if "policies" in port:
        return _name(port, "output") is not None
    return bool(port["output"].get("queueing") or port["output"].get("conditioners"))


def _only(ports: list[RouterPort]) -> RouterPort | None:
    with_policy = [port for port in ports if has_output(port)]
    if len(with_policy) > 1:
        names = ", ".join(port["name"] for port in with_policy)
        raise InvalidInputError("several interfaces have an output policy", f"choose by --out one of {names}")
    return with_policy[0] if with_policy else None


def _name(port: RouterPort | None, side: str) -> str | None:
    whole: Mapping[str, Any] = port or {}
    policy = whole.get("policies", {}).get(side)
    return policy["name"] if policy else None


def _carries(port: RouterPort | None, header: str) -> bool:
    headers = port["wire"].get("headers", []) if port else []
    return any(one == header or (isinstance(one, Mapping) and header in one) for one in headers)


def _of_scenario(file: Path, at: str | None, out: str | None) -> Node:
    try:
        loaded = json.loads(_core.load(file, []).resolved)
    except OSError as error:
        raise unreadable(file, error) from error
    name, _, neighbor = (at or "").partition(":")
    ends = list(_ends(loaded))
    nodes = sorted({one for one, *_ in ends})
    if name not in nodes:
        help = f"nodes: {', '.join(nodes)}"
        raise InvalidInputError(
            f"--at {at}: there is no such node" if at else "--at is missing: NODE:NEIGHBOR", help
        )
    own = {other: interface for one, other, interface, _ in ends if one == name}
    for wanted in filter(None, [neighbor, out]):
        if wanted not in own:
            raise InvalidInputError(f"{name} has no link to `{wanted}`", f"neighbors: {', '.join(own)}")
    with_policy = [other for other, interface in own.items() if interface.get("output")]
    if out is None and len(with_policy) > 1:
        raise InvalidInputError(f"several interfaces of {name} have an output policy", "choose by --out")
    return between(loaded, name, neighbor or None, out or next(iter(with_policy), None))


def between(scenario: Mapping[str, Any], name: str, arrives: str | None, leaves: str | None) -> Node:
    """Return the node `name` of a resolved scenario between its links to two neighbors; none is any link."""
    own = {other: (interface, link) for one, other, interface, link in _ends(scenario) if one == name}
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
    """Generate each end of each link: its node, the node at the other end, its interface, and the link."""
    for link in scenario["links"]:
        first, second = link["between"]
        interfaces = link.get("interfaces") or {}
        yield first, second, interfaces.get(first, {}), link
        yield second, first, interfaces.get(second, {}), link


def packets(capture: Path) -> list[tuple[str, int]]:
    """Return the distinct packets of a capture with their counts, the most frequent first.

    Raises:
        InvalidInputError: it is no capture.
        UnreadableFileError: it cannot be read.

    """
    content = read_input(capture, CAPTURE)
    try:
        return [(text, count) for text, count in json.loads(_core.distinct_packets(content))]
    except ValueError as error:
        raise InvalidInputError(f"{capture}: {error}") from error
