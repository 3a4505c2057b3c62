"""The picture of a network: hundreds of devices in layers around the device with most links.

The layers are the distances from that device, counted in links. The order within a layer follows the mean
place of the neighbors (Sugiyama, Tagawa and Toda 1981). Devices with one link are listed in columns below
their neighbor, so that their lines do not cross others. A wide layer has several rows. A label is inside the
box of its device.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perhop.draw import svg
from perhop.draw.svg import Picture

_MARGIN = 24.0
_BOX_HEIGHT, _GAP, _ROW_GAP, _LAYER_GAP = 34.0, 22.0, 26.0, 64.0
_NAME, _NOTE = 12.0, 9.0
# The radius of a wire with more than two ends.
_SEGMENT = 5.0
# The space for the line to the left of a column.
_TRUNK = 16.0
# The width of the picture, divided by the side of a square of the same area.
_SHAPE = 1.25
# The kinds of links, from best to worst.
_RANKS = ("wire", "good", "doubtful", "bad")
# Passes that order the devices of a layer by their neighbors.
_SWEEPS = 6


@dataclass(frozen=True)
class Look:
    """The style of a link, and its target in a page."""

    kind: str = "wire"
    title: str = ""
    target: str | None = None


@dataclass(frozen=True)
class _Box:
    """A device, or a wire with several ends, at its place."""

    x: float
    y: float
    width: float
    is_segment: bool
    #: The line that leads down to a device in a column; `None` for devices in layers.
    trunk: float | None = None


@dataclass(frozen=True)
class _Block:
    """A device, and the devices below it that have no other link."""

    node: str
    leaves: Sequence[str]
    #: The width of a column below.
    column: float
    own: float

    @property
    def columns(self) -> int:
        """The number of columns below, for a block that is about as wide as it is high."""
        if not self.leaves:
            return 0
        high = _BOX_HEIGHT + _ROW_GAP
        return max(1, round(math.sqrt(len(self.leaves) * high / self.column)))

    @property
    def rows(self) -> int:
        """The number of devices in a column."""
        return math.ceil(len(self.leaves) / self.columns) if self.leaves else 0

    @property
    def width(self) -> float:
        """The width with a gap."""
        return max(self.own, self.columns * self.column) + _GAP

    @property
    def height(self) -> float:
        """The height with a gap."""
        return (1 + self.rows) * (_BOX_HEIGHT + _ROW_GAP)

    def boxes(self, left: float, top: float) -> dict[str, _Box]:
        """Return the places of the devices of the block, from its corner at `left` and `top`."""
        middle = left + self.width / 2
        found = {self.node: _Box(middle, top + _BOX_HEIGHT / 2, self.own, self.own <= 2 * _SEGMENT)}
        first = middle - self.columns * self.column / 2
        for place, leaf in enumerate(self.leaves):
            column, row = divmod(place, self.rows)
            trunk = first + column * self.column + _TRUNK / 2
            width = _width(leaf)
            y = top + (1 + row) * (_BOX_HEIGHT + _ROW_GAP) + _BOX_HEIGHT / 2
            found[leaf] = _Box(trunk + _TRUNK / 2 + width / 2, y, width, is_segment=False, trunk=trunk)
        return found


def devices_picture(summary: Mapping[str, Any], looks: Mapping[int, Look] | None = None) -> Picture:
    """Return the picture of a network's summary; `looks` has the style of each link, by index."""
    nodes, edges = _graph(summary)
    boxes = _boxes(nodes, edges, {device["name"] for device in summary["devices"]})
    looks = looks or {}
    # Lines to columns share their path: the worst link is on top.
    edges.sort(key=lambda edge: _RANKS.index(looks.get(edge[0], Look()).kind))
    lines = [
        _line(boxes[near], boxes[far], looks.get(link, Look()), summary["links"][link])
        for link, near, far in edges
    ]
    sites: dict[str, list[str]] = {}
    for site in summary["sites"]:
        sites.setdefault(site["device"], []).append(site["subnet"] or site["name"])
    drawn = [_box(name, box, sites.get(name, [])) for name, box in boxes.items()]
    width = max((box.x + box.width / 2 for box in boxes.values()), default=0.0) + _MARGIN
    height = max((box.y for box in boxes.values()), default=0.0) + _BOX_HEIGHT / 2 + _MARGIN
    return Picture(width, height, "The network", "".join([*lines, *drawn]))


def _graph(summary: Mapping[str, Any]) -> tuple[list[str], list[tuple[int, str, str]]]:
    """Return the nodes and the edges of links: one edge, or an edge from each end to a node for the link."""
    nodes = [device["name"] for device in summary["devices"]]
    edges = []
    for place, link in enumerate(summary["links"]):
        ends = list(dict.fromkeys(end["device"] for end in link["ends"]))
        if len(ends) == 2:
            edges.append((place, ends[0], ends[1]))
        elif len(ends) > 2:
            segment = f"link {place}"
            nodes.append(segment)
            edges += [(place, segment, end) for end in ends]
    return nodes, edges


def _boxes(nodes: Sequence[str], edges: Sequence[tuple[int, str, str]], devices: set[str]) -> dict[str, _Box]:
    """Return the place of each node."""
    neighbors: dict[str, list[str]] = {node: [] for node in nodes}
    for _, near, far in edges:
        neighbors[near].append(far)
        neighbors[far].append(near)
    inner, leaves = _inner(nodes, neighbors, devices)
    within = {node: [neighbor for neighbor in neighbors[node] if neighbor in inner] for node in inner}
    blocks = {
        node: _Block(
            node,
            leaves[node],
            max(map(_width, leaves[node]), default=0.0) + _TRUNK + _GAP / 2,
            _width(node) if node in devices else 2 * _SEGMENT,
        )
        for node in inner
    }
    area = sum(block.width * (block.height + _LAYER_GAP) for block in blocks.values())
    widest = max([*(block.width for block in blocks.values()), _SHAPE * math.sqrt(area)])
    boxes: dict[str, _Box] = {}
    y = _MARGIN
    for layer in _ordered(_layers(inner, within), within):
        for row in _wrapped([blocks[node] for node in layer], widest):
            x = _MARGIN + (widest - sum(block.width for block in row)) / 2
            for block in row:
                boxes |= block.boxes(x, y)
                x += block.width
            y += max(block.height for block in row)
        y += _LAYER_GAP - _ROW_GAP
    return boxes


def _inner(
    nodes: Sequence[str], neighbors: Mapping[str, Sequence[str]], devices: set[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the nodes in layers, and for each node the devices without another link."""
    leaves: dict[str, list[str]] = {node: [] for node in nodes}
    inner = []
    for node in nodes:
        around = set(neighbors[node])
        other = next(iter(around), None)
        # If both ends have only this link, the first is in a layer.
        is_pair = other is not None and set(neighbors[other]) == {node} and node < other
        if other is not None and len(around) == 1 and node in devices and not is_pair:
            leaves[other].append(node)
        else:
            inner.append(node)
    return inner, leaves


def _wrapped(blocks: Sequence[_Block], widest: float) -> list[list[_Block]]:
    """Return the blocks of a layer in rows of at most a width."""
    rows: list[list[_Block]] = []
    room = 0.0
    for block in blocks:
        if not rows or block.width > room:
            rows.append([])
            room = widest
        rows[-1].append(block)
        room -= block.width
    return rows


def _width(name: str) -> float:
    return svg.width_of(name, _NAME) + 18


def _layers(nodes: Sequence[str], neighbors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return layers of nodes by distance from the node with most links; unconnected networks are below."""
    layers: list[list[str]] = []
    left = dict.fromkeys(nodes)
    while left:
        root = max(left, key=lambda node: len(neighbors[node]))
        first = len(layers)
        waiting, distance = deque([root]), {root: 0}
        del left[root]
        while waiting:
            node = waiting.popleft()
            place = first + distance[node]
            if place == len(layers):
                layers.append([])
            layers[place].append(node)
            for neighbor in neighbors[node]:
                if neighbor in left:
                    del left[neighbor]
                    distance[neighbor] = distance[node] + 1
                    waiting.append(neighbor)
    return layers


def _ordered(layers: list[list[str]], neighbors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the layers with neighbors near each other: the barycenter method, down and up in turn."""
    at = {node: place / max(len(layer), 1) for layer in layers for place, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            middle = {
                node: sum(at[neighbor] for neighbor in neighbors[node]) / len(neighbors[node])
                if neighbors[node]
                else at[node]
                for node in layer
            }
            layer.sort(key=lambda node: (middle[node], node))
            at |= {node: place / len(layer) for place, node in enumerate(layer)}
    return layers


def _line(near: _Box, far: _Box, look: Look, link: Mapping[str, Any]) -> str:
    ends = " - ".join(f"{end['device']}:{end['interface']}" for end in link["ends"])
    title = f"{ends}{': ' if look.title else ''}{look.title}"
    if near.trunk is not None:
        near, far = far, near
    way = f"M{near.x:.1f} {near.y:.1f}"
    if far.trunk is None:
        way += f"L{far.x:.1f} {far.y:.1f}"
    else:
        # The line runs across the space between the device and the columns, then down next to the column.
        way += f"V{near.y + (_BOX_HEIGHT + _ROW_GAP) / 2:.1f}H{far.trunk:.1f}V{far.y:.1f}H{far.x:.1f}"
    drawn = svg.group(title, [svg.path(way, f"{look.kind} tunnel" if link["is_tunnel"] else look.kind)])
    return svg.linked(look.target, drawn) if look.target else drawn


def _box(name: str, box: _Box, sites: Sequence[str]) -> str:
    left, top = box.x - box.width / 2, box.y - _BOX_HEIGHT / 2
    if box.is_segment:
        square = svg.rectangle(left, box.y - _SEGMENT, 2 * _SEGMENT, 2 * _SEGMENT, "host", radius=_SEGMENT)
        return svg.group(name, [square])
    shape = svg.rectangle(left, top, box.width, _BOX_HEIGHT, "router", radius=10)
    note = f"{len(sites)} {'site' if len(sites) == 1 else 'sites'}" if sites else ""
    parts = [
        shape,
        svg.text(box.x, box.y + (0 if note else 4), name, size=_NAME, kind="head", anchor="middle"),
    ]
    if note:
        parts.append(svg.text(box.x, box.y + 12, note, size=_NOTE, kind="muted", anchor="middle"))
    return svg.group(", ".join([name, *sites]), parts)
