"""The queues of each traffic class, if its codepoint determines them and there is only one path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from perhop.codepoints import dscp_number, precedence_number
from perhop.ports import Port, ports, resolved, tins_of

if TYPE_CHECKING:
    from perhop.schema_types import QueueingConfig, ScenarioConfig

# The conditions that depend only on the codepoint.
_RECORDED = {"dscp", "precedence"}


def queues_by_class(scenario: ScenarioConfig | Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return the certain queues of each traffic class, as port and name.

    The queues are certain if the network is a tree, nothing changes codepoints, policies match only
    codepoints, and all traffic of a class has the same queues.
    """
    known = resolved(scenario)
    if _changes_codepoints(known) or not _is_tree(known):
        return {}
    busy = {(port.sender, port.receiver): port for port in ports(known) if port.queueing}
    parents = _parents(known)
    found: dict[str, list[tuple[str, str]] | None] = {}
    for traffic in known["traffic"]:
        name = str(traffic.get("class") or traffic["name"])
        codepoint = _number(dscp_number, traffic.get("dscp", "default"))
        way = _path_in_tree(parents, traffic["from"], traffic["to"])
        queues = list(_waits(way, busy, codepoint)) if codepoint is not None else None
        certain = (
            None if queues is None or None in queues else [queue for queue in queues if queue is not None]
        )
        found[name] = certain if name not in found or found[name] == certain else None
    return {name: queues for name, queues in found.items() if queues}


def _changes_codepoints(scenario: ScenarioConfig) -> bool:
    """Whether a conditioner marks packets, or further headers of a link hide codepoints."""
    stages = [
        stage for policy in scenario.get("policies", {}).values() for stage in policy.get("conditioners", [])
    ]
    actions = [
        action
        for stage in stages
        for value in stage.values()
        if isinstance(value, list)
        for action in value
        if isinstance(action, Mapping)
    ]
    marks = any(key.startswith(("mark", "copy")) for action in actions for key in action)
    return marks or any(link.get("headers") for link in scenario["links"])


def _is_tree(scenario: ScenarioConfig) -> bool:
    return len(scenario["links"]) == len(scenario["hosts"]) + len(scenario.get("routers", {})) - 1


def _parents(scenario: ScenarioConfig) -> dict[str, str]:
    """Return the parent of each node of a tree; the root is its own parent."""
    neighbors: dict[str, list[str]] = {}
    for link in scenario["links"]:
        first, second = link["between"]
        neighbors.setdefault(first, []).append(second)
        neighbors.setdefault(second, []).append(first)
    parents: dict[str, str] = {}
    for root in neighbors:
        left = [] if root in parents else [root]
        parents.setdefault(root, root)
        while left:
            node = left.pop()
            further = [neighbor for neighbor in neighbors[node] if neighbor not in parents]
            parents.update(dict.fromkeys(further, node))
            left += further
    return parents


def _path_in_tree(parents: Mapping[str, str], start: str, end: str) -> list[tuple[str, str]]:
    """Return the only path between two nodes of a tree, link by link; empty without a path."""
    up, down = _ancestors(parents, start), _ancestors(parents, end)
    if up[-1] != down[-1]:
        return []
    while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
        up.pop()
        down.pop()
    return list(pairwise(up + down[-2::-1]))


def _ancestors(parents: Mapping[str, str], node: str) -> list[str]:
    """Return a node and its ancestors, up to the root."""
    found = [node]
    while (parent := parents.get(found[-1], found[-1])) != found[-1]:
        found.append(parent)
    return found


def _waits(
    way: Sequence[tuple[str, str]], busy: Mapping[tuple[str, str], Port], codepoint: int
) -> Iterator[tuple[str, str] | None]:
    """Generate the queues on a path; `None` for a port where the codepoint does not determine the queue."""
    for direction in way:
        port = busy.get(direction)
        if port is not None and port.queueing is not None:
            queue = _queue(port.queueing, codepoint, "")
            yield None if queue is None else (port.name, queue)


def _queue(queueing: QueueingConfig, codepoint: int, prefix: str) -> str | None:
    """Return the leaf that matches a codepoint; `None` if no leaf matches, or if the leaf is unknown."""
    for config in queueing["classes"]:
        takes = _matches_codepoint(config.get("match") or {}, codepoint)
        if takes is None:
            return None
        if takes:
            name = f"{prefix}{config['name']}"
            inner = config.get("queueing")
            tins = [f"{name}/{tin.name}" for tin in tins_of(config) if codepoint in tin.codepoints]
            return _queue(inner, codepoint, f"{name}/") if inner else next(iter(tins), name)
    return None


def _matches_codepoint(match: Mapping[str, Any], codepoint: int) -> bool | None:
    """Return whether a class matches a codepoint; `None` if the class matches another field."""
    criteria = {key: value for key, value in match.items() if value is not None}
    if not criteria.keys() <= _RECORDED:
        return None
    answers = []
    for key, value in criteria.items():
        read = dscp_number if key == "dscp" else precedence_number
        values = [_number(read, element) for element in _several(value)]
        if None in values:
            return None
        answers.append((codepoint if key == "dscp" else codepoint >> 3) in values)
    return all(answers)


def _several(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _number(read: Callable[[object], int], value: object) -> int | None:
    """Return the number of a name; `None` for an unknown name."""
    try:
        return read(value)
    except ValueError:
        return None
