"""The picture of a port: conditioners, classifier, queues, schedulers, transmit ring, wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perhop import _core
from perhop.core_types import QueueDescription
from perhop.draw import svg, words
from perhop.draw.svg import Picture
from perhop.ports import Port, Queue, queue_names
from perhop.schema_types import ClassConfig, ConditionerConfig

_PAD = 10.0
_LINE = 15.0
_GAP = 46.0
_QUEUE_GAP = 14.0
_SIZE = 11.0
_TOP = 40.0

Lines = list[tuple[str, str]]
# The class of a node that represents a whole port.
_NO_CLASS: ClassConfig = {"name": ""}


@dataclass
class _Node:
    """A class of the port in a picture: a queue, or a scheduler with classes."""

    config: ClassConfig
    lines: Lines
    #: The packets that match: the conditions of the outer classes, then of the class.
    packets: str = "all"
    children: list[_Node] = field(default_factory=list)
    top: float = 0.0
    height: float = 0.0

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    def depth(self) -> int:
        return 1 + max((child.depth() for child in self.children), default=0)

    def leaves(self) -> list[_Node]:
        return [leaf for child in self.children for leaf in child.leaves()] if self.children else [self]


def port_picture(port: Port, described: Sequence[QueueDescription], title: str | None = None) -> Picture:
    """Return the picture of a port; `described` are the descriptions of the scenario's queues."""
    root = _tree(
        port,
        {description["queue"]: description for description in described if description["port"] == port.name},
    )
    leaves = root.leaves()
    top = _TOP
    for leaf in leaves:
        leaf.top, leaf.height = top, _PAD * 2 + _LINE * len(leaf.lines)
        top += leaf.height + _QUEUE_GAP
    bottom = top - _QUEUE_GAP
    named = f", policy {port.policy_name}" if port.policy_name else ""
    name = title or f"port {port.sender} to {port.receiver}"
    title = (title or f"Port {port.sender} → {port.receiver}{named}") + words.overhead(port.policy)
    parts = [svg.text(0, 16, title, size=13, kind="head")]
    middle = (_TOP + bottom) / 2
    x, before = _conditioners(port, middle, parts)
    x = _classifier(leaves, x, middle, bottom, parts, arrow=before)
    width = max(_width(leaf.lines) for leaf in leaves) + 18
    for leaf in leaves:
        parts.append(_queue(leaf, x, width))
    right = _schedulers(root, x + width, parts)
    width = max(_ring(port, right, root.middle, parts), _title_width(title))
    height = max(bottom, root.middle + 40) + 8
    return Picture(width + 2, height, name, _inset(parts))


def conditioner_picture(
    where: str, stages: Sequence[ConditionerConfig], policy: str | None = None
) -> Picture:
    """Return the picture of a chain of conditioners."""
    title = f"{where}, policy {policy}" if policy else where
    parts = [svg.text(0, 16, title, size=13, kind="head")]
    blocks = [words.stage(stage, number) for number, stage in enumerate(stages)]
    height = max(_PAD * 2 + _LINE * len(lines) for lines in blocks)
    x, last = 0.0, None
    for lines in blocks:
        if last is not None:
            parts.append(svg.path(f"M{last:.1f} {_TOP + height / 2:.1f}H{x - 2:.1f}", "flow"))
        wide = _width(lines)
        parts.append(_block(x, _TOP, wide, height, lines))
        last, x = x + wide, x + wide + _GAP
    return Picture(max(last or 0.0, _title_width(title)) + 2, _TOP + height + 8, where, _inset(parts))


def _tree(port: Port, described: Mapping[str, QueueDescription]) -> _Node:
    def node(config: ClassConfig, prefix: str, outer: tuple[str, ...]) -> _Node:
        name = f"{prefix}{config['name']}"
        inner = config.get("queueing")
        if inner:
            within = (*outer, words.matches(config)) if config.get("match") else outer
            children = [node(child, f"{name}/", within) for child in inner["classes"]]
            lines: Lines = [(str(config["name"]), "head"), *words.queueing(inner)]
            return _Node(config, lines, children=children)
        packets = ": ".join((*outer, words.matches(config)))
        # The queues of CAKE's tins have one description.
        found = described.get(name) or described.get(next(iter(queue_names(config, name))))
        return _Node(config, _queue_lines(Queue(port.name, name, config), found), packets)

    if not port.queueing:
        only = _Node(_NO_CLASS, [("fifo", "head"), *words.description(described.get("fifo"))])
        return _Node(_NO_CLASS, [("scheduler", "head"), ("FIFO", "muted")], children=[only])
    children = [node(child, "", ()) for child in port.queueing["classes"]]
    lines: Lines = [("scheduler", "head"), *words.queueing(port.queueing)]
    return _Node(_NO_CLASS, lines, children=children)


def _queue_lines(queue: Queue, described: QueueDescription | None) -> Lines:
    return [(queue.name, "head"), *words.policer(queue), *words.description(described)]


def _conditioners(port: Port, middle: float, parts: list[str]) -> tuple[float, float | None]:
    """Draw the output conditioners; return the start of the next block and the end of the last one."""
    x, last = 0.0, None
    stages = (port.policy or {}).get("conditioners") or []
    for number, stage in enumerate(stages):
        lines = words.stage(stage, number)
        wide, height = _width(lines), _PAD * 2 + _LINE * len(lines)
        if last is not None:
            parts.append(svg.path(f"M{last:.1f} {middle:.1f}H{x - 2:.1f}", "flow"))
        parts.append(_block(x, middle - height / 2, wide, height, lines))
        last, x = x + wide, x + wide + _GAP
    return x, last


def _classifier(
    leaves: list[_Node], x: float, middle: float, bottom: float, parts: list[str], *, arrow: float | None
) -> float:
    """Draw the classifier and its arrows to the queues; return the start of the queues."""
    if arrow is not None:
        parts.append(svg.path(f"M{arrow:.1f} {middle:.1f}H{x - 2:.1f}", "flow"))
    width = svg.width_of("classifier", _SIZE) + 2 * _PAD
    height = max(bottom - _TOP, 34.0) if len(leaves) > 1 else 34.0
    parts.append(svg.rectangle(x, middle - height / 2, width, height, "box"))
    parts.append(svg.text(x + width / 2, middle + 4, "classifier", size=_SIZE, kind="head", anchor="middle"))
    labels = [leaf.packets if len(leaves) > 1 else "all" for leaf in leaves]
    reach = max(svg.width_of(label, 10) for label in labels) + 26
    for leaf, label in zip(leaves, labels, strict=True):
        parts.append(svg.path(f"M{x + width:.1f} {leaf.middle:.1f}H{x + width + reach - 2:.1f}", "flow"))
        parts.append(svg.text(x + width + 8, leaf.middle - 5, label, size=10, kind="muted"))
    return x + width + reach


def _queue(leaf: _Node, x: float, width: float) -> str:
    """Draw a queue: open at its tail, slotted at its head."""
    y, height = leaf.top, leaf.height
    shape = f"M{x:.1f} {y:.1f}H{x + width:.1f}V{y + height:.1f}H{x:.1f}"
    slots = "".join(
        svg.path(f"M{x + width - 6 * slot:.1f} {y:.1f}V{y + height:.1f}", "wire") for slot in (1, 2)
    )
    body = svg.rectangle(x, y, width, height, "paper", radius=0)
    lines = _texts(x + 8, y, leaf.lines)
    return svg.group(f"queue {leaf.lines[0][0]}", [body, svg.path(shape, "wire"), slots, lines])


def _schedulers(root: _Node, x: float, parts: list[str]) -> float:
    """Draw the schedulers from the innermost to the scheduler of the port; return the end of the last one."""
    levels: dict[int, list[_Node]] = {}

    def collect(node: _Node) -> None:
        if node.children:
            for child in node.children:
                collect(child)
            leaves = node.leaves()
            node.top = (leaves[0].middle + leaves[-1].middle) / 2 - (_PAD * 2 + _LINE * len(node.lines)) / 2
            node.height = _PAD * 2 + _LINE * len(node.lines)
            levels.setdefault(node.depth() - 1, []).append(node)

    collect(root)
    ends = {id(leaf): x for leaf in root.leaves()}
    for level in sorted(levels):
        children = [child for node in levels[level] for child in node.children]
        labels = [words.share(child.config) for child in children]
        begin = (
            max(ends[id(child)] for child in children) + max(svg.width_of(label, 10) for label in labels) + 40
        )
        for node in levels[level]:
            wide = _width(node.lines)
            for number, child in enumerate(node.children):
                # Spread the arrow heads vertically.
                into = node.top + node.height * (number + 1) / (len(node.children) + 1)
                out, turn = ends[id(child)], begin - 28.0
                way = f"M{out:.1f} {child.middle:.1f}H{turn:.1f}L{turn + 14:.1f} {into:.1f}H{begin - 2:.1f}"
                parts.append(svg.path(way, "flow"))
                parts.append(
                    svg.text(out + 8, child.middle - 5, words.share(child.config), size=10, kind="muted")
                )
            parts.append(_block(begin, node.top, wide, node.height, node.lines))
            ends[id(node)] = begin + wide
    return ends[id(root)]


def _ring(port: Port, x: float, middle: float, parts: list[str]) -> float:
    """Draw transmit ring and wire; return the end of the picture."""
    lines: Lines = [("transmit ring", "head"), (words.ring(port.interface.get("ring")), "muted")]
    wire: Lines = [(words.quantity(port.rate), "head"), (words.wire(port.link), "muted")]
    delay = _core.quantity(str(port.link.get("delay", "")))
    if delay and delay[0]:
        wire.append((f"delay {words.quantity(str(port.link['delay']))}", "muted"))
    for block in (lines, wire):
        parts.append(svg.path(f"M{x:.1f} {middle:.1f}H{x + _GAP - 14:.1f}", "flow"))
        x += _GAP - 12
        wide, height = _width(block), _PAD * 2 + _LINE * len(block)
        parts.append(_block(x, middle - height / 2, wide, height, block))
        x += wide
    parts.append(svg.path(f"M{x:.1f} {middle:.1f}H{x + 26:.1f}", "flow"))
    parts.append(svg.text(x + 30, middle + 4, port.receiver, size=_SIZE, kind="muted"))
    return x + 40 + svg.width_of(port.receiver, _SIZE)


def _block(x: float, y: float, width: float, height: float, lines: Lines) -> str:
    return svg.rectangle(x, y, width, height, "box") + _texts(x + _PAD, y, lines)


def _texts(x: float, y: float, lines: Lines) -> str:
    return "".join(
        svg.text(x, y + _PAD + _LINE * (index + 0.75), line, size=_SIZE, kind=kind)
        for index, (line, kind) in enumerate(lines)
    )


def _width(lines: Lines) -> float:
    return (
        max(svg.width_of(line, _SIZE) * (1.08 if kind == "head" else 1.0) for line, kind in lines) + 2 * _PAD
    )


def _inset(parts: list[str]) -> str:
    """Return the drawing moved by a pixel, so that no line is cut off at the edge."""
    return svg.moved(1, 0, "".join(parts))


def _title_width(title: str) -> float:
    return svg.width_of(title, 13) * 1.1
