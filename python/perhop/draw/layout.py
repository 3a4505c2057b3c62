"""Where the nodes of a network stand: in columns along the way of its traffic."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

# How often rows are put in order by their neighbors; small networks settle at once.
_SWEEPS = 8


def places(scenario: Mapping[str, Any]) -> dict[str, tuple[int, float]]:
    """Return column and row of each node: senders left, receivers right, neighbors level if they can be."""
    neighbors = _neighbors(scenario)
    columns = _columns(scenario, neighbors)
    rows = _rows(columns, neighbors)
    return {node: (columns[node], rows[node]) for node in columns}


def _neighbors(scenario: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {node: [] for node in [*scenario["hosts"], *scenario.get("routers", {})]}
    for link in scenario["links"]:
        first, second = link["between"]
        found[first].append(second)
        found[second].append(first)
    return found


def _columns(scenario: Mapping[str, Any], neighbors: dict[str, list[str]]) -> dict[str, int]:
    """Return columns such that traffic goes to the right over every link, as far as all of it can."""
    steps: dict[tuple[str, str], None] = {}
    for traffic in scenario["traffic"]:
        way = _way(neighbors, traffic["from"], traffic["to"])
        for step in pairwise(way):
            # The first traffic over a link says which end is left.
            if step[::-1] not in steps:
                steps[step] = None
    columns = dict.fromkeys(neighbors, 0)
    # Each round settles one more column; a ring would go on for ever.
    for _ in columns:
        for left, right in steps:
            columns[right] = max(columns[right], columns[left] + 1)
    columns = {node: min(column, len(columns)) for node, column in columns.items()}
    for node in sorted(columns, key=lambda one: -columns[one]):
        after = [columns[right] for left, right in steps if left == node]
        before = [left for left, right in steps if right == node]
        # Who only sends stands next to the first that it sends to.
        if after and not before:
            columns[node] = min(after) - 1
    _place_the_rest(columns, neighbors, {node for step in steps for node in step})
    return columns


def _place_the_rest(columns: dict[str, int], neighbors: dict[str, list[str]], placed: set[str]) -> None:
    waiting = deque(sorted(placed)) or deque(list(columns)[:1])
    placed = set(waiting)
    while waiting:
        node = waiting.popleft()
        for neighbor in neighbors[node]:
            if neighbor not in placed:
                columns[neighbor] = columns[node] + 1
                placed.add(neighbor)
                waiting.append(neighbor)


def _way(neighbors: dict[str, list[str]], begin: str, end: str) -> list[str]:
    """Return the nodes on a shortest way."""
    came: dict[str, str | None] = {begin: None}
    waiting = deque([begin])
    while waiting and end not in came:
        node = waiting.popleft()
        for neighbor in neighbors[node]:
            if neighbor not in came:
                came[neighbor] = node
                waiting.append(neighbor)
    way, at = [], end if end in came else None
    while at is not None:
        way.append(at)
        at = came[at]
    return way[::-1]


def _rows(columns: dict[str, int], neighbors: dict[str, list[str]]) -> dict[str, float]:
    """Return rows: each node level with the middle of its neighbors, none on top of another."""
    members: dict[int, list[str]] = {}
    for node, column in columns.items():
        members.setdefault(column, []).append(node)
    tallest = max(len(nodes) for nodes in members.values())
    rows = {
        node: index + (tallest - len(nodes)) / 2
        for nodes in members.values()
        for index, node in enumerate(nodes)
    }
    order = sorted(members)
    for sweep in range(_SWEEPS):
        for column in order if sweep % 2 == 0 else reversed(order):
            nodes = members[column]
            wish = {
                node: sum(rows[one] for one in neighbors[node]) / len(neighbors[node])
                if neighbors[node]
                else rows[node]
                for node in nodes
            }
            nodes.sort(key=lambda one: (wish[one], rows[one]))
            rows |= _spread(nodes, wish)
    least = min(rows.values(), default=0.0)
    return {node: row - least for node, row in rows.items()}


def _spread(nodes: list[str], wish: dict[str, float]) -> dict[str, float]:
    """Return rows at least 1 apart, in order, as a whole where they wish to be."""
    rows: list[float] = []
    for node in nodes:
        rows.append(max(wish[node], rows[-1] + 1) if rows else wish[node])
    shift = sum(wish[node] - row for node, row in zip(nodes, rows, strict=True)) / len(nodes)
    return {node: row + shift for node, row in zip(nodes, rows, strict=True)}
