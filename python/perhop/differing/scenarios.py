"""The differences between the policies and links of two scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from perhop.bounds import bounds_of
from perhop.differing.guarantees import changed_bounds
from perhop.differing.parts import changed_link, moved, policies
from perhop.differing.result import Changed, Difference, Moved, Renamed
from perhop.differing.sides import Side
from perhop.draw import words
from perhop.errors import InvalidInputError
from perhop.ports import Port, ports, resolved
from perhop.scenario import Scenario
from perhop.tracing import between

# Keys of a link and its ends that are not compared: nodes, policies, and keys with lines of their own.
_LINK = ("between", "interfaces", "rate")
_INTERFACE = ("input", "output", "ring", "rate", "name")
# Keys that change results and are not compared by part.
_WHOLE = ("duration", "hosts", "routers", "traffic", "measure")


def difference(old: Side, new: Side, *, at: str | None, out: str | None) -> Difference:
    """Return the differences between two scenarios, as `perhop.differing.difference` does."""
    first, second = _Network.from_side(old), _Network.from_side(new)
    node, _, neighbor = (at or "").partition(":")
    _check(first, second, node, neighbor, out)
    found_moved: list[Moved] = []
    found_changed: list[Changed] = []
    found_renamed: list[Renamed] = []
    remarks: list[str] = []
    wanted = _ports_to_compare(first, second, node, out)
    # With a given interface, packets pass no input policy of another interface.
    arrivals = {f"{node}->{neighbor}"} if neighbor else {*(wanted if out is None else [])}
    for name in dict.fromkeys([*wanted, *sorted(arrivals)]):
        alone = [network for network, other in ((first, second), (second, first)) if name not in other.ports]
        if alone:
            ends = alone[0].ports[name].link["between"]
            remarks.append(f"only {alone[0].name} has the link {ends[0]} - {ends[1]}")
        elif name in wanted:
            found_moved += _moved(name, first, second, neighbor or None)
        if name in wanted:
            found_changed += changed_link(name, *(network.link(name) for network in (first, second)))
        sides = [side for side, names in (("output", wanted), ("input", arrivals)) if name in names]
        for side in sides:
            old_policy, new_policy = (network.policy(side, name) for network in (first, second))
            neighbors = _neighbors(name, first, second)
            parts, names = policies(name, side, old_policy, new_policy, neighbors)
            found_changed += parts
            found_renamed += names
    bounds, without = changed_bounds(
        [(network.name, partial(bounds_of, network.loaded)) for network in (first, second)]
    )
    both = sorted([*found_changed, *bounds], key=lambda change: change.interface)
    others = list(_others(first.scenario, second.scenario))
    return Difference(
        moved=found_moved,
        changed=both,
        # Both ends of a link are ports, so a remark can occur twice.
        remarks=[*dict.fromkeys(remarks), *without, *others],
        renamed=found_renamed,
        assumed=[
            f"packets arrive on {node}:{neighbor}"
            if neighbor
            else "packets arrive on any link, and no input policy applies to them"
        ],
        not_looked_at=others,
    )


def _neighbors(name: str, first: _Network, second: _Network) -> list[str]:
    """Return the neighbors of the sender of a port, in either scenario: the names in its policies."""
    sender, _, _ = name.partition("->")
    found = [
        port.receiver
        for network in (first, second)
        for port in network.ports.values()
        if port.sender == sender
    ]
    return list(dict.fromkeys(found))


def _moved(name: str, first: _Network, second: _Network, neighbor: str | None) -> list[Moved]:
    old, new = (network.ports[name] for network in (first, second))
    if not (old.policy or new.policy):
        return []
    nodes = [between(network.scenario, old.sender, neighbor, old.receiver) for network in (first, second)]
    return moved(name, *nodes)


@dataclass(frozen=True)
class _Network:
    """A scenario with its ports by name."""

    name: str
    loaded: Scenario
    scenario: Mapping[str, Any]
    ports: Mapping[str, Port]

    @classmethod
    def from_side(cls, side: Side) -> _Network:
        assert side.scenario is not None
        found = {port.name: port for port in ports(side.scenario)}
        return cls(side.name, side.scenario, resolved(side.scenario), found)

    def link(self, name: str) -> dict[str, str] | None:
        """Return the properties of a port and its link as text; `None` without that port."""
        port = self.ports.get(name)
        return _link(port) if port else None

    def policy(self, side: str, name: str) -> Mapping[str, Any] | None:
        """Return the `input` or `output` policy of a port, if any."""
        port = self.ports.get(name)
        if side == "output":
            return port.policy if port else None
        name_of_policy = port.interface.get("input") if port else None
        policy: Mapping[str, Any] | None = self.scenario.get("policies", {}).get(name_of_policy)
        return policy


def _link(port: Port) -> dict[str, str]:
    """Return the properties of a port and its link as text."""
    settings = {key: value for key, value in port.link.items() if key not in _LINK}
    settings |= {key: value for key, value in port.interface.items() if key not in _INTERFACE}
    shown = {key: words.values(value) for key, value in settings.items()}
    return {"rate": words.quantity(port.rate), "ring": words.ring(port.interface.get("ring")), **shown}


def _check(first: _Network, second: _Network, node: str, neighbor: str, out: str | None) -> None:
    """Refuse an input interface that either scenario lacks, and an output interface that both lack."""
    if out is not None and not node:
        raise InvalidInputError(f"--out {out} needs a node", "give --at NODE or --at NODE:NEIGHBOR as well")
    for network in (first, second):
        senders = dict.fromkeys(port.sender for port in network.ports.values())
        if node and node not in senders:
            raise InvalidInputError(f"{network.name} has no node `{node}`", f"nodes: {', '.join(senders)}")
        if neighbor and f"{node}->{neighbor}" not in network.ports:
            _refuse_link(network, node, neighbor)
    if out is not None and all(f"{node}->{out}" not in network.ports for network in (first, second)):
        _refuse_link(first, node, out)


def _refuse_link(network: _Network, node: str, neighbor: str) -> None:
    there = [port.receiver for port in network.ports.values() if port.sender == node]
    raise InvalidInputError(
        f"{network.name}: {node} has no link to `{neighbor}`", f"neighbors: {', '.join(there)}"
    )


def _ports_to_compare(first: _Network, second: _Network, node: str, out: str | None) -> list[str]:
    """Return the ports to compare: the ports of a node, or all; they exist in both scenarios or in one."""
    both = {**first.ports, **second.ports}
    named = {name: port for name, port in both.items() if not node or port.sender == node}
    return [name for name, port in named.items() if out is None or port.receiver == out]


def _others(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    differing = [key for key in _WHOLE if first.get(key) != second.get(key)]
    if differing:
        yield f"also different, but not compared: {', '.join(differing)}"
