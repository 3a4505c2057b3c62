"""Pictures of scenarios as SVG: the network, and each port and conditioner with its parameters."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perhop import _core
from perhop.document import typed
from perhop.draw import svg
from perhop.draw.policy import conditioner_picture, port_picture
from perhop.draw.svg import Picture
from perhop.draw.topology import topology
from perhop.ports import ports, resolved
from perhop.schema_types import ScenarioConfig

__all__ = ["Picture", "draw", "network", "policies", "port"]

_MARGIN = 28.0


def draw(scenario: ScenarioConfig | Mapping[str, Any]) -> str:
    """Return one SVG: the network, and below it every policy in use."""
    width, height, content = topology(typed(scenario))
    return stacked(str(scenario["name"]), Picture(width, height, "", content), policies(scenario)).svg()


def stacked(title: str, first: Picture | None, below: Sequence[Picture]) -> Picture:
    """Return pictures stacked vertically; the pictures `below` have a margin."""
    parts, width, y = ([first.content], first.width, first.height + 12) if first else ([], 0.0, _MARGIN)
    for picture in below:
        parts.append(svg.moved(_MARGIN, y, picture.content))
        width, y = max(width, picture.width + 2 * _MARGIN), y + picture.height + 28
    return Picture(width, y, title, "".join(parts))


def network(scenario: ScenarioConfig | Mapping[str, Any]) -> Picture:
    """Return the picture of nodes, links and traffic."""
    width, height, content = topology(typed(scenario))
    return Picture(width, height, f"{scenario['name']}: the network", content)


def policies(scenario: ScenarioConfig | Mapping[str, Any], at: Container[str] | None = None) -> list[Picture]:
    """Return the picture of every port and conditioner with a policy, or only of the ports called `at`."""
    scenario = resolved(scenario)
    described = json.loads(_core.queue_descriptions(json.dumps(dict(scenario))))
    found = []
    for port in ports(scenario):
        if at is not None and port.name not in at:
            continue
        entering = port.interface.get("input")
        stages = scenario["policies"][entering].get("conditioners") if entering else None
        if stages:
            where = f"{port.sender}, entering from {port.receiver}"
            found.append(conditioner_picture(where, stages, str(entering)))
        if port.policy:
            found.append(port_picture(port, described))
    return found


def port(
    scenario: ScenarioConfig | Mapping[str, Any], name: str, interface: str | None = None
) -> Picture | None:
    """Return the picture of the port called `name`; `None` without such a port.

    With `interface`, the picture has that name and omits the assumed neighbor.
    """
    scenario = resolved(scenario)
    found = next((candidate for candidate in ports(scenario) if candidate.name == name), None)
    if found is None:
        return None
    described = json.loads(_core.queue_descriptions(json.dumps(dict(scenario))))
    if interface is None:
        return port_picture(found, described)
    alone = replace(found, receiver="")
    own = [description | {"port": alone.name} for description in described if description["port"] == name]
    return port_picture(alone, own, f"{interface}: output")
