"""The picture of a network: nodes, links, what is offered to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop import _core
from perhop.draw import svg, words
from perhop.draw.layout import places
from perhop.ports import ports

_COLUMN, _ROW = 210.0, 92.0
_NODE_HEIGHT = 44.0
_MARGIN = 28.0
_LINE = 19.0


def topology(scenario: Mapping[str, Any]) -> tuple[float, float, str]:
    """Return width, height and content of the picture of a scenario's network and traffic."""
    at = places(scenario)
    widths = {node: max(svg.width_of(node, 13) + 30, 86.0) for node in at}
    center = {
        node: (_MARGIN + _COLUMN * column + 60, _MARGIN + _ROW * row + _NODE_HEIGHT / 2)
        for node, (column, row) in at.items()
    }
    slowest = min((_rate(link) for link in scenario["links"]), default=0.0)
    several = any(_rate(link) > slowest for link in scenario["links"])
    parts = [
        _link(link, center, widths, slow=several and _rate(link) == slowest) for link in scenario["links"]
    ]
    parts += [_policy_chips(scenario, center, widths)]
    parts += [_node(scenario, node, center[node], widths[node]) for node in at]
    width = max(x + widths[node] / 2 for node, (x, _) in center.items()) + _MARGIN
    bottom = max(y for _, y in center.values()) + _NODE_HEIGHT / 2 + _MARGIN
    lines, longest = _traffic(scenario, bottom + 6)
    return (
        max(width, longest + _MARGIN),
        bottom + 12 + _LINE * len(scenario["traffic"]) + 12,
        "".join([*parts, *lines]),
    )


def _rate(link: Mapping[str, Any]) -> float:
    found = _core.quantity(str(link["rate"]))
    return found[0] if found else 0.0


def _link(
    link: Mapping[str, Any],
    center: Mapping[str, tuple[float, float]],
    widths: Mapping[str, float],
    *,
    slow: bool,
) -> str:
    first, second = sorted(link["between"], key=lambda node: center[node][0])
    (x1, y1), (x2, y2) = center[first], center[second]
    if abs(x2 - x1) > 1:
        x1, x2 = x1 + widths[first] / 2, x2 - widths[second] / 2
        bend = (x2 - x1) * 0.45
        way = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    else:
        way = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    said = [words.quantity(str(link["rate"]))]
    if (_core.quantity(str(link.get("delay", ""))) or (0.0,))[0]:
        said.append(words.quantity(str(link["delay"])))
    if link.get("loss"):
        said.append(f"loses {100 * link['loss']:g} %")
    label = " · ".join(said)
    middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 2
    return svg.group(
        f"link {first} to {second}: {label}, {words.values(link.get('framing', 'raw'))}",
        [
            svg.path(way, "wire slow" if slow else "wire"),
            svg.rectangle(
                middle_x - svg.width_of(label, 11) / 2 - 4,
                middle_y - 19,
                svg.width_of(label, 11) + 8,
                15,
                "paper",
                radius=3,
            ),
            svg.text(middle_x, middle_y - 8, label, size=11, kind="muted", anchor="middle"),
        ],
    )


def _policy_chips(
    scenario: Mapping[str, Any],
    center: Mapping[str, tuple[float, float]],
    widths: Mapping[str, float],
) -> str:
    """Return a mark for each policy, under the end of the link that it works at."""
    parts, used = [], dict[tuple[str, bool], int]()
    for port in ports(scenario):
        for side in ("output", "input"):
            name = port.interface.get(side)
            if not name:
                continue
            x, y = center[port.sender]
            right = center[port.receiver][0] >= x
            place = used.setdefault((port.sender, right), 0)
            used[port.sender, right] += 1
            label = f"{'▸' if side == 'output' else '◂'} {name}"
            wide = svg.width_of(label, 10) + 10
            left = x + widths[port.sender] / 2 - 14 if right else x - widths[port.sender] / 2 + 14 - wide
            top = y + _NODE_HEIGHT / 2 - 5 + 17 * place
            parts.append(
                svg.group(
                    f"{side} policy of {port.sender} towards {port.receiver}: {name}",
                    [
                        svg.rectangle(left, top, wide, 15, "chip", radius=7.5),
                        svg.text(left + 5, top + 11, label, size=10, kind="chip-text"),
                    ],
                )
            )
    return "".join(parts)


def _node(scenario: Mapping[str, Any], node: str, place: tuple[float, float], width: float) -> str:
    (x, y), host = place, node in scenario["hosts"]
    settings = scenario["hosts"].get(node) or scenario.get("routers", {}).get(node) or {}
    below = str(settings.get("address") or "") if host else ""
    shape = svg.rectangle(
        x - width / 2,
        y - _NODE_HEIGHT / 2,
        width,
        _NODE_HEIGHT,
        "host" if host else "router",
        radius=6 if host else 22,
    )
    name = svg.text(x, y + (4.5 if not below else -1), node, size=13, kind="head", anchor="middle")
    said = svg.text(x, y + 13, below, size=10, kind="muted", anchor="middle") if below else ""
    what = settings.get("description") or ("host" if host else "router")
    return svg.group(f"{node}: {what} {below}".strip(), [shape, name, said])


def _traffic(scenario: Mapping[str, Any], top: float) -> tuple[list[str], float]:
    lines, longest = [], 0.0
    name = max((svg.width_of(str(one["name"]), 12.8) for one in scenario["traffic"]), default=0.0) + 14
    for index, one in enumerate(scenario["traffic"]):
        several = f"{one['count']} times " if one.get("count", 1) > 1 else ""
        dscp = (
            f", DSCP {one['dscp']}" if str(one.get("dscp", "0")) not in ("0", "be", "cs0", "default") else ""
        )
        said = f"{one['from']} → {one['to']}: {several}{words.source(one['source'])}{dscp}"
        y = top + _LINE * (index + 1)
        lines.append(svg.text(_MARGIN, y, str(one["name"]), size=12, kind="head"))
        lines.append(svg.text(_MARGIN + name, y, said, size=12, kind="muted"))
        longest = max(longest, _MARGIN + name + svg.width_of(said, 12))
    return lines, longest
