"""The picture of a network: nodes, links and traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from perhop import _core
from perhop.draw import svg, words
from perhop.draw.layout import places
from perhop.ports import ports
from perhop.quantity import bits_per_second
from perhop.schema_types import LinkConfig, ScenarioConfig

_COLUMN, _ROW = 210.0, 92.0
_NODE_HEIGHT = 44.0
_MARGIN = 28.0
_LINE = 19.0
# The rates, relative to the slowest link, from which lines are drawn wider.
_DECADES = (10.0, 100.0)
# The height of a chip with the gap below it, the horizontal overlap of a chip and its node, and the gap
# between chips and other elements.
_CHIP, _UNDER, _APART = 17.0, 14.0, 24.0


@dataclass(frozen=True)
class _Chip:
    """The mark of a policy at one end of a link."""

    label: str
    title: str

    @property
    def width(self) -> float:
        return svg.width_of(self.label, 10) + 10


# The policies of a node on one of its sides; true is the right side.
_Chips = Mapping[tuple[str, bool], list[_Chip]]


def topology(scenario: ScenarioConfig) -> tuple[float, float, str]:
    """Return width, height and content of the picture of a scenario's network and traffic."""
    at = places(scenario)
    widths = {node: max(svg.width_of(node, 13) + 30, 86.0) for node in at}
    chips = _policy_chips(scenario, at)
    scenario = _as_driven(scenario)
    reach = _reach(widths, chips)
    center = _centers(scenario, at, reach, chips)
    slowest = min((_rate(link) for link in scenario["links"]), default=0.0)
    parts = [
        _link(link, center, widths, reach, kind=_width_kind(_rate(link), slowest))
        if any(_rate(link) > slowest for link in scenario["links"])
        else _link(link, center, widths, reach, kind="wire")
        for link in scenario["links"]
    ]
    parts += [_drawn(chips[end], center[end[0]], widths[end[0]], right=end[1]) for end in chips]
    parts += [_node(scenario, node, center[node], widths[node]) for node in at]
    deepest = {node: max(len(chips.get((node, side), [])) for side in (False, True)) for node in at}
    bottom = max(y + _CHIP * max(deepest[node] - 1, 0) for node, (_, y) in center.items())
    bottom += _NODE_HEIGHT / 2 + _MARGIN
    lines, longest = _traffic(scenario, bottom + 6)
    right = max(x + reach[node, True] for node, (x, _) in center.items())
    return (
        max(right, longest) + _MARGIN,
        bottom + 12 + _LINE * len(scenario["traffic"]) + 12,
        "".join([*parts, *lines]),
    )


def _as_driven(scenario: ScenarioConfig) -> ScenarioConfig:
    """Return the scenario with the effective rate of each link, the lower rate of its two interfaces.

    A circuit of 2 Mb/s on a port of 149 Mb/s has 2 Mb/s.
    """
    driven = {(port.sender, port.receiver): port.rate for port in ports(scenario)}
    links = []
    for link in scenario["links"]:
        first, second = link["between"]
        rates = (driven[first, second], driven[second, first])
        links.append({**link, "rate": min(rates, key=bits_per_second)})
    return cast(ScenarioConfig, {**scenario, "links": links})


def _reach(widths: Mapping[str, float], chips: _Chips) -> dict[tuple[str, bool], float]:
    """Return how far each node and its chips extend to the left and right of its center."""
    found = {}
    for node, width in widths.items():
        for side in (False, True):
            beyond = max((chip.width for chip in chips.get((node, side), [])), default=0.0) - _UNDER
            found[node, side] = width / 2 + max(beyond, 0.0)
    return found


def _centers(
    scenario: ScenarioConfig,
    at: Mapping[str, tuple[int, float]],
    reach: Mapping[tuple[str, bool], float],
    chips: _Chips,
) -> dict[str, tuple[float, float]]:
    """Return the center of each node, with room between columns for chips and link labels."""
    columns: dict[int, list[str]] = {}
    for node, (column, _) in at.items():
        columns.setdefault(column, []).append(node)
    # The label of a sloping link is next to the chips, that of a level link above them.
    labels: dict[int, float] = {}
    for link in scenario["links"]:
        (_, first), (column, second) = sorted(
            (at[node] for node in link["between"]), key=lambda place: place[0]
        )
        if first != second:
            labels[column] = max(labels.get(column, 0.0), svg.width_of(_label(link), 11))
    x, before, places_of = _MARGIN, 0.0, dict[int, float]()
    for number, column in enumerate(sorted(columns)):
        left = max(reach[node, False] for node in columns[column])
        apart = labels.get(column, 0.0) + _APART
        x += left if number == 0 else max(_COLUMN, before + left + apart)
        places_of[column] = x
        before = max(reach[node, True] for node in columns[column])
    most = max((len(some) for some in chips.values()), default=0)
    row = max(_ROW, _NODE_HEIGHT + _CHIP * most + _APART)
    return {
        node: (places_of[column], _MARGIN + row * level + _NODE_HEIGHT / 2)
        for node, (column, level) in at.items()
    }


def _label(link: LinkConfig) -> str:
    parts = [words.quantity(str(link["rate"]))]
    if (_core.quantity(str(link.get("delay", ""))) or (0.0,))[0]:
        parts.append(words.quantity(str(link["delay"])))
    if link.get("loss"):
        parts.append(f"loss {100 * link['loss']:g} %")
    return " · ".join(parts)


def _width_kind(rate: float, slowest: float) -> str:
    """Return the kind of a link's line: color for the slowest links, more width for faster decades."""
    if rate <= slowest:
        return "wire slow"
    faster = rate / max(slowest, 1.0)
    return "wire wide" if faster < _DECADES[0] else "wire wider" if faster < _DECADES[1] else "wire widest"


def _rate(link: LinkConfig) -> float:
    return bits_per_second(str(link["rate"]))


def _link(
    link: LinkConfig,
    center: Mapping[str, tuple[float, float]],
    widths: Mapping[str, float],
    reach: Mapping[tuple[str, bool], float],
    *,
    kind: str,
) -> str:
    first, second = sorted(link["between"], key=lambda node: center[node][0])
    (x1, y1), (x2, y2) = center[first], center[second]
    if abs(x2 - x1) > 1:
        x1, x2 = x1 + widths[first] / 2, x2 - widths[second] / 2
        bend = (x2 - x1) * 0.45
        way = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    else:
        bend = 0.0
        way = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    label = _label(link)
    # The label is in the middle of the space between the chips at the ends of the link.
    free = x1 - widths[first] / 2 + reach[first, True], x2 + widths[second] / 2 - reach[second, False]
    t = _place_of(sum(free) / 2, x1, x1 + bend, x2 - bend, x2) if abs(y2 - y1) > 1 and bend else 0.5
    middle_x = _bezier(t, x1, x1 + bend, x2 - bend, x2)
    middle_y = _bezier(t, y1, y1, y2, y2)
    return svg.group(
        f"link {first} to {second}: {label}, {words.wire(link)}",
        [
            svg.path(way, kind),
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


def _place_of(wanted: float, *points: float) -> float:
    """Return the parameter at which a cubic curve that runs to the right reaches `wanted`."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if _bezier(middle, *points) < wanted else (low, middle)
    return low


def _bezier(t: float, *points: float) -> float:
    """Return a coordinate of a cubic Bézier curve at parameter `t`."""
    a, b, c, d = points
    s = 1.0 - t
    return s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d


def _policy_chips(scenario: ScenarioConfig, at: Mapping[str, tuple[int, float]]) -> _Chips:
    """Return a mark for each policy, by node and side of the link."""
    found: dict[tuple[str, bool], list[_Chip]] = {}
    for port in ports(scenario):
        for side in ("output", "input"):
            name = port.interface.get(side)
            if name:
                right = at[port.receiver][0] >= at[port.sender][0]
                # The policies of a router's own configuration begin with the name of the router, which the
                # node shows.
                short = str(name).removeprefix(f"{port.sender} ")
                chip = _Chip(
                    f"{'▸' if side == 'output' else '◂'} {short}",
                    f"{side} policy of {port.sender} towards {port.receiver}: {name}",
                )
                found.setdefault((port.sender, right), []).append(chip)
    return found


def _drawn(chips: list[_Chip], center: tuple[float, float], width: float, *, right: bool) -> str:
    """Draw the chips of a node under the end of the links on one side of it."""
    (x, y), parts = center, []
    for number, chip in enumerate(chips):
        left = x + width / 2 - _UNDER if right else x - width / 2 + _UNDER - chip.width
        top = y + _NODE_HEIGHT / 2 - 5 + _CHIP * number
        box = svg.rectangle(left, top, chip.width, 15, "chip", radius=7.5)
        parts.append(
            svg.group(chip.title, [box, svg.text(left + 5, top + 11, chip.label, size=10, kind="chip-text")])
        )
    return "".join(parts)


def _node(scenario: ScenarioConfig, node: str, place: tuple[float, float], width: float) -> str:
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
    caption = svg.text(x, y + 13, below, size=10, kind="muted", anchor="middle") if below else ""
    what = settings.get("description") or ("host" if host else "router")
    return svg.group(f"{node}: {what} {below}".strip(), [shape, name, caption])


def _traffic(scenario: ScenarioConfig, top: float) -> tuple[list[str], float]:
    lines, longest = [], 0.0
    name = max((svg.width_of(str(flow["name"]), 12.8) for flow in scenario["traffic"]), default=0.0) + 14
    for index, flow in enumerate(scenario["traffic"]):
        several = f"{flow['count']} flows of " if flow.get("count", 1) > 1 else ""
        dscp = (
            f", DSCP {flow['dscp']}"
            if str(flow.get("dscp", "0")) not in ("0", "be", "cs0", "default")
            else ""
        )
        entry = f"{flow['from']} → {flow['to']}: {several}{words.source(flow['source'])}{dscp}"
        y = top + _LINE * (index + 1)
        lines.append(svg.text(_MARGIN, y, str(flow["name"]), size=12, kind="head"))
        lines.append(svg.text(_MARGIN + name, y, entry, size=12, kind="muted"))
        longest = max(longest, _MARGIN + name + svg.width_of(entry, 12))
    return lines, longest
