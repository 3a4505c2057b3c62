"""`perhop trace FOLDER`: the path of a packet through a network, and the fates of codepoints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from perhop.command.lines import show_lines
from perhop.command.terminal import print_json, print_json_rows
from perhop.errors import Exit, InvalidInputError
from perhop.network import Network, packet_between
from perhop.printable import printable

_CAUSES = {
    "access-list": "an access list denies it",
    "conditioner": "a conditioner drops it",
    "route": "a route discards it",
}


def trace_network(
    folder: Path,
    ends: tuple[str | None, str | None],
    packets: Sequence[str],
    routes: Path | None,
    *,
    json: bool,
) -> Exit:
    """Show the path of each packet, and the path of its reply."""
    network = Network.read(folder, routes)
    if not (ends[0] and ends[1]):
        raise InvalidInputError(
            f"{folder} is a network, which needs --from and --to",
            "addresses, or hosts of network.yaml: --from 10.1.0.5 --to 10.9.0.20; or --matrix",
        )
    source, destination = network.address(ends[0], "--from"), network.address(ends[1], "--to")
    walks = []
    for packet in packets or ["udp"]:
        there = network.walk(packet_between(source, destination, packet))
        back = _reply(network, packet_between(destination, source, _reversed(packet)), ends[1])
        walks.append({"there": there, "back": back})
    if json:
        print_json({"schema_version": 1, "walks": walks})
    else:
        for walk in walks:
            show_lines("\n".join(map(printable, walk_lines(walk["there"], "there"))), {})
            show_lines("\n".join(map(printable, walk_lines(walk["back"], "back"))), {})
    return Exit.OK


def _reply(network: Network, packet: str, sender: str) -> dict[str, Any]:
    """Return the path of a reply; an error names the option, because the user wrote no reply."""
    try:
        return network.walk(packet)
    except InvalidInputError as error:
        raise InvalidInputError(f"the reply from --to {sender}: {error}", error.help) from error


def _reversed(packet: str) -> str:
    """Return a packet with its ports exchanged."""
    words = packet.split() or ["udp"]
    if ">" not in words:
        return packet
    place = words.index(">")
    ports = [words[place - 1] if place > 1 else "", words[place + 1] if place + 1 < len(words) else ""]
    exchanged = [word for word in (ports[1], ">", ports[0]) if word]
    if exchanged[-1] == ">":
        exchanged.pop()
    return " ".join([words[0], *exchanged, *words[place + 2 :]])


def walk_lines(walk: Mapping[str, Any], direction: str) -> Iterator[str]:
    """Generate the lines about the paths of a packet."""
    yield f"{direction}: {walk['packet']}"
    paths = walk["paths"]
    for number, path in enumerate(paths, 1):
        if len(paths) > 1:
            yield f"  path {number} of {len(paths)}"
        for place, hop in enumerate(path["hops"], 1):
            yield from _hop(place, hop)
        yield f"  {end_text(path)}"
        sent, received = walk["packet"].split(" dscp ")[1].split()[0], path["dscp"]
        yield f"  mark: {mark_text(sent, received, path['changes'])}"
        yield from (f"  exp: {text}" for text in _exp_text(path))
    yield from (f"  assumed: {text}" for text in walk["assumed"])
    yield from (f"  not looked at: {text}" for text in walk["not_looked_at"])


def _hop(place: int, hop: Mapping[str, Any]) -> Iterator[str]:
    arrives = hop["arrives"] or "sends it"
    leaves = f" -> {hop['leaves']}" if hop["leaves"] else ""
    yield f"  {place}. {hop['device']}  {arrives}{leaves}"
    for stage in hop["stages"]:
        yield from (f"       {line}" for line in _stage(stage))
    if hop["labels"]:
        labels = ", ".join(f"{label['label']} exp {label['exp']}" for label in hop["labels"])
        yield f"       leaves with labels: {labels}"


def _stage(stage: Mapping[str, Any]) -> Iterator[str]:
    """Generate the lines of a stage, if the stage decides about the packet."""
    match stage["stage"]:
        case "access-list" if stage["decision"] == "deny":
            yield f"{stage['side']} access list {stage['list']} denies the packet"
        case "class":
            yield f"{stage['side']} policy {stage['policy']}: class {stage['class']}"
        case "conditioner":
            yield f"{stage['side']} conditioner {stage['name']}: {stage['packet']}"
        case "forwarding":
            hop = f", next hop {stage['next_hop']}" if stage["next_hop"] else ""
            prefix = f" {stage['prefix']}" if stage["prefix"] else ""
            yield f"{stage['route']} route{prefix}{hop}"
        case "encapsulation":
            yield f"{stage['interface']} adds a header: {stage['packet']}"
        case "labels":
            yield f"{_operation(stage)}: {stage['because']}"
        case "queue":
            yield f"waits in {'queue ' + stage['queue'] if stage['queue'] else 'the only queue'}"
        case _:
            return
    for line in stage.get("lines", []):
        yield f"  line {line['line']}: {line['text']}"


def _operation(stage: Mapping[str, Any]) -> str:
    """Return the operation on labels, and the resulting labels."""
    labels = ", ".join(stage["labels"])
    match stage["operation"]:
        case "impose":
            return f"adds labels {labels}"
        case "swap":
            return f"swaps the label at the top, labels {labels}"
        case "pop":
            return f"removes the label above {labels}" if labels else "removes the last label"
        case _:
            return "no label"


def end_text(path: Mapping[str, Any]) -> str:
    """Return the end of a path."""
    match path["end"]:
        case "delivered" if path["interface"]:
            return f"delivered behind {path['device']}:{path['interface']}"
        case "delivered":
            return f"delivered to {path['device']}"
        case "dropped":
            return f"dropped at {path['device']}: {_CAUSES[path['cause']]}"
        case "leaves-snapshot":
            hop = f" to {path['next_hop']}" if path["next_hop"] else ""
            return f"leaves via {path['device']}:{path['interface']}{hop}, which is not in the folder"
        case "path-unknown":
            return f"path unknown at {path['device']}: {path['because']}; {path['help']}"
        case _:
            return f"loops: the packet comes back to {path['device']}"


def _exp_text(path: Mapping[str, Any]) -> Iterator[str]:
    """Generate the fate of the EXP of a path with labels."""
    exps = [hop["labels"][0]["exp"] for hop in path["hops"] if hop["labels"]]
    if exps and not path["exp_changes"]:
        yield f"{exps[0]}, kept"
    for change in path["exp_changes"]:
        lines = ", ".join(f"line {line['line']}" for line in change["lines"])
        where = f", {lines}" if lines else ", the label below"
        yield f"{change['from']} -> {change['to']} at {change['device']}{where}"


def mark_text(sent: str, received: str, changes: Sequence[Mapping[str, Any]]) -> str:
    """Return the codepoint at the receiver, and the places that change it."""
    if not changes:
        return f"dscp {received}, kept"
    places = "; ".join(
        f"{change['from']} -> {change['to']} at {change['device']}, "
        + (", ".join(f"line {line['line']}" for line in change["lines"]) or "a line that is not known")
        for change in changes
    )
    kept = "set again" if received == sent else "changed"
    return f"dscp {received}, {kept}: {places}"


def trace_matrix(folder: Path, routes: Path | None, *, json: bool) -> Exit:
    """Show whether each codepoint is kept, changed or lost between all sites."""
    network = Network.read(folder, routes)
    rows = network.matrix()
    if json:
        print_json_rows("matrix", rows)
        return Exit.OK
    first = next(rows, None)
    if first is None:
        raise InvalidInputError(
            f"{folder}: fewer than two sites", "name hosts in network.yaml: `hosts: {phone: 10.1.0.5}`"
        )
    show_lines("\n".join(map(printable, _matrix(chain([first], rows)))), {})
    return Exit.OK


def _matrix(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Generate the table: a line for each pair of sites and each fate, with its codepoints."""
    by_fate: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in rows:
        by_fate[row["from"], row["to"], _fate(row)].extend(row["dscp"])
    width = max(len(f"{source} > {destination}") for source, destination, _ in by_fate)
    for (source, destination, fate), codepoints in by_fate.items():
        pair = f"{source} > {destination}"
        yield f"{pair:<{width}}  {fate}: {', '.join(codepoints)}"


def _fate(row: Mapping[str, Any]) -> str:
    exp = f", exp {_changed(row['exp'])}" if "exp" in row else ""
    if row["fate"] == "lost":
        return f"lost ({end_text(row['at'])}){exp}"
    return f"{_changed(row)}{exp}"


def _changed(fate: Mapping[str, Any]) -> str:
    """Return whether a mark is kept, or the place that changes it."""
    if fate["fate"] == "kept":
        return "kept"
    at = fate["at"]
    lines = ", ".join(f"line {line['line']}" for line in at["lines"])
    return f"changed to {at['to']} at {at['device']}{' ' + lines if lines else ''}"
