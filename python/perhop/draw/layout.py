"""The layout of a network: nodes in columns along the direction of traffic."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

from perhop.schema_types import ScenarioConfig

# Number of passes that order rows by their neighbors; small networks need few.
_SWEEPS = 8


def places(scenario: ScenarioConfig) -> dict[str, tuple[int, float]]:
    """Return column and row of each node: senders left, receivers right, neighbors level where possible."""
    neighbors = _neighbors(scenario)
    columns = _columns(scenario, neighbors)
    rows = _rows(columns, neighbors)
    return {node: (columns[node], rows[node]) for node in columns}


def path_between(scenario: Mapping[str, Any], begin: str, end: str) -> list[str]:
    """Return the nodes of a path with the fewest links between two nodes."""
    return _path(_neighbors(cast(ScenarioConfig, scenario)), begin, end)


def _neighbors(scenario: ScenarioConfig) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {node: [] for node in [*scenario["hosts"], *scenario.get("routers", {})]}
    for link in scenario["links"]:
        first, second = link["between"]
        found[first].append(second)
        found[second].append(first)
    return found


def _columns(scenario: ScenarioConfig, neighbors: dict[str, list[str]]) -> dict[str, int]:
    """Return columns such that traffic flows to the right over every link, where possible."""
    steps: dict[tuple[str, str], None] = {}
    for traffic in scenario["traffic"]:
        path = _path(neighbors, traffic["from"], traffic["to"])
        for step in pairwise(path):
            # The first traffic over a link decides which end is left.
            if step[::-1] not in steps:
                steps[step] = None
    columns = dict.fromkeys(neighbors, 0)
    # Each round fixes one more column. In a ring of links, the columns would grow without an end.
    for _ in columns:
        for left, right in steps:
            columns[right] = max(columns[right], columns[left] + 1)
    columns = {node: min(column, len(columns)) for node, column in columns.items()}
    for node in sorted(columns, key=lambda name: -columns[name]):
        after = [columns[right] for left, right in steps if left == node]
        before = [left for left, right in steps if right == node]
        # Place a node that only sends next to its first receiver.
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


def _path(neighbors: dict[str, list[str]], begin: str, end: str) -> list[str]:
    """Return the nodes of a shortest path."""
    came: dict[str, str | None] = {begin: None}
    waiting = deque([begin])
    while waiting and end not in came:
        node = waiting.popleft()
        for neighbor in neighbors[node]:
            if neighbor not in came:
                came[neighbor] = node
                waiting.append(neighbor)
    path, at = [], end if end in came else None
    while at is not None:
        path.append(at)
        at = came[at]
    return path[::-1]


def _rows(columns: dict[str, int], neighbors: dict[str, list[str]]) -> dict[str, float]:
    """Return rows: each node level with the middle of its neighbors, without overlaps."""
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
                node: sum(rows[neighbor] for neighbor in neighbors[node]) / len(neighbors[node])
                if neighbors[node]
                else rows[node]
                for node in nodes
            }
            nodes.sort(key=lambda name: (wish[name], rows[name]))
            rows |= _spread(nodes, wish)
    least = min(rows.values(), default=0.0)
    return {node: row - least for node, row in rows.items()}


def _spread(nodes: list[str], wish: dict[str, float]) -> dict[str, float]:
    """Return rows in order and at least 1 apart, centered on the desired rows."""
    rows: list[float] = []
    for node in nodes:
        rows.append(max(wish[node], rows[-1] + 1) if rows else wish[node])
    shift = sum(wish[node] - row for node, row in zip(nodes, rows, strict=True)) / len(nodes)
    return {node: row + shift for node, row in zip(nodes, rows, strict=True)}
