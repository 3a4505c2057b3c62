"""The picture of a network of devices: hundreds of them in layers around the one with most links.

The layers are the distances from that device, counted in links. The order within a layer follows the mean
place of the neighbors (Sugiyama, Tagawa and Toda 1981). A layer with many devices has several rows, so that
the picture stays about as wide as high. A label is inside the box of its device.
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
# Passes that order the devices of a layer by their neighbors.
_SWEEPS = 6


@dataclass(frozen=True)
class Look:
    """The look of a link, and the place in a page that it leads to."""

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


def devices_picture(summary: Mapping[str, Any], looks: Mapping[int, Look] | None = None) -> Picture:
    """Return the picture of a network's summary; `looks` are those of links by their places in it."""
    nodes, edges = _graph(summary)
    boxes = _boxes(nodes, edges, {device["name"] for device in summary["devices"]})
    looks = looks or {}
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
    """Return the nodes and, for each link, its edges: one, or one from each end to a node for the link."""
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
    widths = {node: _width(node) if node in devices else 2 * _SEGMENT for node in nodes}
    cell = max(widths.values(), default=0.0) + _GAP
    columns = max(3, math.ceil(math.sqrt(2 * len(nodes))))
    boxes: dict[str, _Box] = {}
    y = _MARGIN + _BOX_HEIGHT / 2
    for layer in _ordered(_layers(nodes, neighbors), neighbors):
        rows = math.ceil(len(layer) / columns)
        # Rows of about equal length.
        length = math.ceil(len(layer) / rows)
        for row in range(rows):
            members = layer[row * length : (row + 1) * length]
            left = _MARGIN + cell * (columns - len(members)) / 2
            for place, node in enumerate(members):
                x = left + cell * (place + 0.5)
                boxes[node] = _Box(x, y, widths[node], node not in devices)
            y += _BOX_HEIGHT + _ROW_GAP
        y += _LAYER_GAP - _ROW_GAP
    return boxes


def _width(name: str) -> float:
    return svg.width_of(name, _NAME) + 18


def _layers(nodes: Sequence[str], neighbors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the nodes by their distance from the node with most links, each part of the network below."""
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
                node: sum(at[one] for one in neighbors[node]) / len(neighbors[node])
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
    way = f"M{near.x:.1f} {near.y:.1f}L{far.x:.1f} {far.y:.1f}"
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
