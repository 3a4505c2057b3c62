"""`perhop trace`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

from perhop.command.lines import show_lines
from perhop.command.network_trace import trace_matrix, trace_network
from perhop.command.options import Assume, Json, Platform, RoutesFile, ScenarioFile, assumptions
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json
from perhop.draw import words
from perhop.errors import Exit, InvalidInputError, UnknownNameError
from perhop.printable import printable
from perhop.quantity import counted
from perhop.tracing import Answer, Node, Traced, node, packets, traced

Packets = Annotated[list[str] | None, Parameter(name="--packet", negative=())]
Capture = Annotated[Path | None, Parameter(name="--pcap")]
At = Annotated[str | None, Parameter(name="--at")]
Out = Annotated[str | None, Parameter(name="--out")]
Routes = Annotated[list[str] | None, Parameter(name="--route", negative=())]
From = Annotated[str | None, Parameter(name="--from")]
To = Annotated[str | None, Parameter(name="--to")]
Matrix = Annotated[bool, Parameter(name="--matrix", negative=())]
Reach = Annotated[str | None, Parameter(name="--reach")]
# The queue of packets without a class.
_NOWHERE = "no queue"
_CAUSES = {
    "access-list": "the access list denies the packet",
    "conditioner": "the conditioner drops the packet",
    "route": "the route discards the packet",
}


def trace(
    file: ScenarioFile,
    /,
    *,
    packet: Packets = None,
    pcap: Capture = None,
    reach: Reach = None,
    at: At = None,
    out: Out = None,
    json: Json = False,
    platform: Platform = None,
    assume: Assume = None,
    route: Routes = None,
    from_: From = None,
    to: To = None,
    matrix: Matrix = False,
    routes: RoutesFile = None,
) -> Exit:
    """Trace a packet through a configuration, or find a packet that reaches a class.

    Nothing is simulated.

    Parameters
    ----------
    file
        A router configuration, commands or output of Linux tc, a scenario, or a folder of configurations (a
        network).
    packet
        The packet, for example 'tcp 10.1.2.3:443 > 10.9.8.7:50123 dscp af21 len 1500'. May be given several
        times.
    pcap
        Classify the packets of this capture, and show their number for each class.
    reach
        A queue: show a packet that reaches it, or report that no packet does. `all` does so for every queue.
    at
        The input interface, whose input policy applies; in a scenario NODE:NEIGHBOR. Default: the interface
        that leads to the source, otherwise the only interface with an input policy.
    out
        The output interface. Default: the interface of the route to the destination, otherwise the only
        interface with an output policy.
    route
        An additional route to a next hop or an interface, for example '10.2.0.0/16 = Gi0/1'. May be given
        several times.
    from_
        For a folder of configurations: the sender, an address or a host of network.yaml.
    to
        For a folder of configurations: the receiver. Write the packet without addresses, as in 'udp 16384 >
        16384 dscp ef'.
    matrix
        For a folder of configurations: show whether each codepoint is kept, changed or lost between all
        sites.

    """
    of_device = {
        "--pcap": pcap, "--reach": reach, "--at": at, "--out": out, "--platform": platform,
        "--assume": assume, "--route": route,
    }  # fmt: skip
    of_network = {"--from": from_, "--to": to, "--matrix": matrix, "--routes": routes}
    misplaced = [name for name, value in (of_device if file.is_dir() else of_network).items() if value]
    if misplaced:
        kind = "a network of several devices" if file.is_dir() else "not a folder of configurations"
        other = ", ".join(of_network if file.is_dir() else of_device)
        raise InvalidInputError(
            f"{misplaced[0]} does not apply: {file} is {kind}",
            f"options that apply: --packet, --json, {other}",
        )
    if file.is_dir():
        if matrix:
            return trace_matrix(file, routes, json=json)
        return trace_network(file, (from_, to), packet or (), routes, json=json)
    if not (packet or pcap or reach):
        raise InvalidInputError(
            "nothing to trace",
            "give --packet 'udp 10.1.0.1:5000 > 10.2.0.1:5004 dscp ef', --pcap FILE, or --reach all",
        )
    choices = {"at": at, "out": out, "platform": platform, "assume": assumptions(assume)}
    document: dict[str, Any] = {"schema_version": 2}
    place = traced(file, routes=route or (), **choices)  # type: ignore[arg-type]
    if packet:
        answers = [place.answer(text) for text in packet]
        document["packets"] = answers
        document["neighbors"] = place.neighbors()
        if not json:
            show_lines("\n\n".join("\n".join(_answer(answer)) for answer in answers), {})
    if pcap:
        document["classes"], document["not_looked_at"] = classes, ignored = _classes(place, pcap)
        if not json:
            show_lines("\n".join([*_table(classes), *_ignored(ignored)]), {})
    if reach:
        of_queues = node(file, **choices)  # type: ignore[arg-type]
        document["reach"] = reached = _reached(of_queues, reach)
        document["not_looked_at"] = ignored = place.open_lines(of_queues.crossed())
        if not json:
            show_lines("\n".join([*_witnesses(reached), *_ignored(ignored)]), {})
    if json:
        print_json(document)
    return Exit.OK


def _answer(answer: Answer) -> Iterator[str]:
    """Generate the lines about a packet: the common stages of all paths once, then the paths."""
    yield printable(answer["packet"])
    paths = answer["paths"]
    shared = 0 if len(paths) == 1 else _shared([path["stages"] for path in paths])
    for stage in paths[0]["stages"][:shared]:
        yield from map(printable, _stage(stage))
    for number, path in enumerate(paths, 1):
        indent = "" if len(paths) == 1 else "  "
        if indent:
            yield f"path {number} of {len(paths)}"
        for line in _path(path, shared):
            yield printable(f"{indent}{line}")
    yield from (printable(f"assumed: {text}") for text in answer["assumed"])
    yield from _ignored(answer["not_looked_at"])


def _ignored(lines: Iterable[str]) -> Iterator[str]:
    yield from (printable(f"not looked at: {line}") for line in lines)


def _shared(stages: list[list[Mapping[str, Any]]]) -> int:
    """Return the number of common stages at the beginning of all paths."""
    alike = (all(stage == together[0] for stage in together) for together in zip(*stages, strict=False))
    return sum(1 for _ in takewhile(bool, alike))


def _path(path: Mapping[str, Any], shared: int) -> Iterator[str]:
    for stage in path["stages"][shared:]:
        yield from _stage(stage)
    match path["end"]:
        case "dropped":
            yield f"dropped: {_CAUSES[path['cause']]}"
        case "delivered":
            yield "delivered: the packet is for the device itself"
        case "leaves":
            yield "leaves via an interface that is not known"


def _stage(stage: Mapping[str, Any]) -> Iterator[str]:
    match stage["stage"]:
        case "entrance":
            interface = stage["interface"]
            yield f"arrives on {interface}: {stage['because']}" if interface else stage["because"]
        case "access-list":
            yield f"{stage['side']} access list {stage['list']}: {stage['decision']}"
        case "class":
            line = f", line {stage['line']}" if stage["line"] else ""
            yield f"{stage['side']} policy {stage['policy']}: class {stage['class']}{line}"
        case "conditioner":
            meter = f", {stage['color']} of {words.values(stage['meter'])}" if stage["meter"] else ""
            actions = ", ".join(map(words.values, stage["actions"])) or "transmit"
            yield f"{stage['side']} conditioner {stage['name']}{meter}: {actions}"
            yield f"    {stage['packet']}"
        case "forwarding":
            yield _forwarding(stage)
        case "encapsulation":
            seen = f"classified by the {stage['classified_by']} header"
            yield f"gets a second header at {stage['interface']}: {seen}"
            yield f"    {stage['packet']}"
        case "queue":
            yield _queue(stage)
            for entry in stage["classes"]:
                yield f"    {entry['name']}: {_class(entry)}"
    # The lines of a queue's class are already printed with its class and conditioner.
    if stage["stage"] != "queue":
        for line in stage.get("lines", stage.get("criteria", [])):
            yield f"    line {line['line']}: {line['text']}"


def _forwarding(stage: Mapping[str, Any]) -> str:
    destination, interface = stage["destination"], stage["interface"]
    hop = f", next hop {stage['next_hop']}" if stage["next_hop"] else ""
    match stage["route"]:
        case "own" if stage["prefix"]:
            return f"{destination} is in {stage['prefix']}, which the device receives"
        case "own":
            return f"{destination} is an address of the device, on {interface}"
        case "connected":
            return f"{destination} is in {stage['prefix']}: out via {interface}"
        case "discard":
            return f"{destination}: the route {stage['prefix']} discards"
        case "chosen":
            return f"out via {interface}, chosen with --out"
        case "unknown":
            return f"no route to {destination}" + (f": out via {interface}" if interface else "")
        case kind:
            return f"{destination} has the {kind} route {stage['prefix']}{hop}: out via {interface}"


def _queue(stage: Mapping[str, Any]) -> str:
    if stage["queue"]:
        return f"waits at {stage['interface']} in queue {stage['queue']}"
    return f"waits at {stage['interface']} in its only queue"


def _class(config: dict[str, Any]) -> str:
    """Return the elements of a class: its scheduler and share, policer, shaper, and buffer manager."""
    parts = [words.scheduler(config["scheduler"])]
    parts += [words.values(config["share"])] if config.get("share") else []
    parts += [_turn(config["turn"])] if config.get("turn") else []
    for key, label in (("police", "policed to"), ("shape", "shaped to"), ("fair-queueing", "fair queueing")):
        if config.get(key):
            parts.append(f"{label} {words.values(config[key])}")
    if config.get("buffer"):
        parts.append(words.values(config["buffer"]))
    return "; ".join(parts)


def _turn(turn: Mapping[str, Any]) -> str:
    """Return the quantum of a class of HTB, and how the kernel computes it."""
    quantum = f"quantum {turn['quantum']}"
    if turn["of_rate"] is None:
        return f"{quantum} as written"
    made = f"rate / r2q {turn['rate_to_quantum']}"
    if turn["of_rate"] == turn["quantum"]:
        return f"{quantum} = {made}"
    return f"{quantum}, the limit of HTB ({made} = {turn['of_rate']})"


def _classes(place: Traced, capture: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the queues of the packets of a capture, with counts and one packet of each.

    The second value has the ignored parts of the configuration that may change the paths.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    examples: dict[tuple[str, ...], str] = {}
    ignored: dict[str, None] = {}
    for text, count in packets(capture):
        answer = place.answer(text)
        ignored |= dict.fromkeys(answer["not_looked_at"])
        ends = tuple(sorted({_end(path) for path in answer["paths"]}))
        counts[ends] += count
        examples.setdefault(ends, text)
    total = sum(counts.values())
    classes = [
        {"queues": list(ends), "packets": count, "share": count / total, "example": examples[ends]}
        for ends, count in counts.most_common()
    ]
    return classes, list(ignored)


def _end(path: Mapping[str, Any]) -> str:
    match path["end"]:
        case "dropped" | "delivered":
            return str(path["end"])
        case _:
            return path["queue"] or _NOWHERE


def _table(classes: list[dict[str, Any]]) -> Iterator[str]:
    total = sum(row["packets"] for row in classes)
    yield counted(total, "packet")
    for row in classes:
        ends = " or ".join(row["queues"])
        yield printable(f"{row['packets']:>10}  {100 * row['share']:5.1f} %  {ends}")
        yield printable(f"{'':>21}{row['example']}")


def _reached(place: Node, wanted: str) -> dict[str, str | None]:
    found = place.reach()
    if wanted == "all":
        return found
    chosen = {
        name: packet for name, packet in found.items() if name == wanted or name.split("/")[-1] == wanted
    }
    if not chosen:
        none = "none: interfaces with errors have no queues, see `perhop check`"
        raise UnknownNameError(f"there is no queue `{wanted}`", f"queues: {', '.join(found) or none}")
    return chosen


def _witnesses(reached: dict[str, str | None]) -> Iterator[str]:
    for queue, packet in reached.items():
        yield printable(f"{queue}: {packet or 'no packet reaches this queue'}")
