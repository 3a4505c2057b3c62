"""Pictures of scenarios as SVG: the network, and what each port and conditioner does, with its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from perhop.draw import svg
from perhop.draw.policy import conditioner_picture, port_picture
from perhop.draw.topology import topology
from perhop.ports import ports, resolved

__all__ = ["draw", "network", "policies"]

_MARGIN = 28.0


def draw(scenario: Mapping[str, Any]) -> str:
    """Return one SVG: the network, and below it every policy at work in it."""
    width, height, content = topology(scenario)
    parts, y = [content], height + 12
    for part_width, part_height, part in _policy_parts(scenario):
        parts.append(svg.moved(_MARGIN, y, part))
        width, y = max(width, part_width + 2 * _MARGIN), y + part_height + 28
    return svg.picture(width, y, str(scenario["name"]), "".join(parts))


def network(scenario: Mapping[str, Any]) -> str:
    """Return the SVG of nodes, links and traffic."""
    width, height, content = topology(scenario)
    return svg.picture(width, height, f"{scenario['name']}: the network", content)


def policies(scenario: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and SVG of every port and every conditioner that a policy configures."""
    found = []
    for name, (width, height, content) in zip(_policy_names(scenario), _policy_parts(scenario), strict=True):
        found.append((name, svg.picture(width + 2, height, name, svg.moved(1, 0, content))))
    return found


def _policy_names(scenario: Mapping[str, Any]) -> list[str]:
    return [name for name, _ in _places(scenario)]


def _policy_parts(scenario: Mapping[str, Any]) -> list[tuple[float, float, str]]:
    return [part for _, part in _places(scenario)]


def _places(scenario: Mapping[str, Any]) -> list[tuple[str, tuple[float, float, str]]]:
    from perhop import _core

    scenario = resolved(scenario)
    curves = _core.drop_curves(json.dumps(dict(scenario)))
    found = []
    for port in ports(scenario):
        entering = port.interface.get("input")
        stages = scenario["policies"][entering].get("conditioners") if entering else None
        if stages:
            where = f"{port.sender}, entering from {port.receiver}"
            found.append((where, conditioner_picture(str(entering), where, stages)))
        if port.policy:
            found.append((f"port {port.sender} to {port.receiver}", port_picture(port, curves)))
    return found
