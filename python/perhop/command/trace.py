"""`perhop trace`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from perhop.command.options import Assume, Json, Platform, ScenarioFile, assumptions
from perhop.command.terminal import print_json
from perhop.draw import words
from perhop.errors import Exit, InvalidInputError, UnknownNameError
from perhop.printable import printable
from perhop.quantity import counted
from perhop.tracing import Branch, Matched, Node, Story, node, packets

Packets = Annotated[list[str] | None, Parameter(name="--packet", negative=())]
Capture = Annotated[Path | None, Parameter(name="--pcap")]
At = Annotated[str | None, Parameter(name="--at")]
Out = Annotated[str | None, Parameter(name="--out")]
Reach = Annotated[str | None, Parameter(name="--reach")]
# Where packets wait that no class takes.
_NOWHERE = "no queue"


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
) -> Exit:
    """Show what becomes of a packet, or a packet that gets to a class, without running anything.

    Parameters
    ----------
    file
        The running configuration of a Cisco IOS router, commands or output of Linux' tc, or a scenario.
    packet
        The packet, as in 'tcp 10.1.2.3:443 > 10.9.8.7:50123 dscp af21 len 1500'; may be given several times.
    pcap
        Tell the packets of this capture by class, with their counts.
    reach
        A queue: show a packet that gets there, or say that none does; `all` for every queue.
    at
        The interface by which packets arrive, whose input policy they meet; in a scenario NODE:NEIGHBOR.
    out
        The interface by which they leave; by default the one that has an output policy.
    json
        Print everything as one JSON document.
    platform
        The platform whose rules apply to a router's configuration; by default recognized.
    assume
        What a class-map matches, as in 'VOICE = dscp ef', in place of its own criteria; may be given several
        times.

    """
    if not (packet or pcap or reach):
        raise InvalidInputError(
            "nothing to trace",
            "give --packet 'udp 10.1.0.1:5000 > 10.2.0.1:5004 dscp ef', --pcap FILE, or --reach all",
        )
    place = node(file, at=at, out=out, platform=platform, assume=assumptions(assume))
    document: dict[str, Any] = {"schema_version": 1, "arrives": place.arrives, "leaves": place.leaves}
    if packet:
        stories = [place.story(one) for one in packet]
        document["packets"] = [asdict(story) for story in stories]
        if not json:
            print("\n\n".join("\n".join(_story(place, story)) for story in stories))
    if pcap:
        document["classes"] = classes = _classes(place, pcap)
        if not json:
            print("\n".join(_table(classes)))
    if reach:
        document["reach"] = reached = _reached(place, reach)
        if not json:
            print("\n".join(_witnesses(reached)))
    if json:
        print_json(document)
    return Exit.OK


def _story(place: Node, story: Story) -> Iterator[str]:
    yield printable(story.packet)
    if place.arrives:
        yield printable(f"arrives by {place.arrives}")
    for side, matched in (("input", story.input), ("output", story.output)):
        for one in matched:
            yield from _matched(place, side, one)
    several = len(story.branches) > 1
    for number, branch in enumerate(story.branches, 1):
        if several:
            yield f"way {number} of {len(story.branches)}"
        for line in _branch(place, branch):
            yield f"  {line}" if several else line


def _matched(place: Node, side: str, matched: Matched) -> Iterator[str]:
    line = f", line {matched.line}" if matched.line else ""
    yield printable(f"{side} policy {matched.policy}: class {matched.name}{line}")
    for number in matched.criteria:
        yield printable(f"    line {number}: {place.lines.get(number, '')}")


def _branch(place: Node, branch: Branch) -> Iterator[str]:
    for step in branch.steps:
        meter = f", {step.color}" if step.color else ""
        actions = ", ".join(map(words.values, step.actions)) or "transmit"
        yield printable(f"{step.side} conditioner {step.name}{meter}: {actions}")
        yield printable(f"    {step.packet}")
    if branch.dropped:
        yield "dropped"
        return
    if place.leaves is None:
        yield "leaves; no interface with an output policy"
    elif branch.queue is None:
        yield printable(f"waits at {place.leaves} in its only queue" if not _has_queues(place) else _NOWHERE)
    else:
        yield printable(f"waits at {place.leaves} in queue {branch.queue}")
        for one in branch.classes:
            yield printable(f"    {one['name']}: {_class(one)}")


def _class(config: dict[str, Any]) -> str:
    """Return what a class has: its scheduler and share, policer, shaper, and how its queue is managed."""
    parts = [words.scheduler(config["scheduler"])]
    parts += [words.values(config["share"])] if config.get("share") else []
    for key, said in (("police", "policed to"), ("shape", "shaped to"), ("fair-queueing", "fair queueing")):
        if config.get(key):
            parts.append(f"{said} {words.values(config[key])}")
    if config.get("buffer"):
        parts.append(words.values(config["buffer"]))
    return "; ".join(parts)


def _has_queues(place: Node) -> bool:
    return bool((place.output or {}).get("queueing"))


def _classes(place: Node, capture: Path) -> list[dict[str, Any]]:
    """Return the queues of the packets of a capture, with counts and one packet of each."""
    counts: Counter[tuple[str, ...]] = Counter()
    examples: dict[tuple[str, ...], str] = {}
    for text, count in packets(capture):
        ends = tuple(sorted({_end(branch) for branch in place.story(text).branches}))
        counts[ends] += count
        examples.setdefault(ends, text)
    total = sum(counts.values())
    return [
        {"queues": list(ends), "packets": count, "share": count / total, "example": examples[ends]}
        for ends, count in counts.most_common()
    ]


def _end(branch: Branch) -> str:
    return "dropped" if branch.dropped else branch.queue or _NOWHERE


def _table(classes: list[dict[str, Any]]) -> Iterator[str]:
    total = sum(one["packets"] for one in classes)
    yield counted(total, "packet")
    for one in classes:
        ends = " or ".join(one["queues"])
        yield printable(f"{one['packets']:>10}  {100 * one['share']:5.1f} %  {ends}")
        yield printable(f"{'':>21}{one['example']}")


def _reached(place: Node, wanted: str) -> dict[str, str | None]:
    found = place.reach()
    if wanted == "all":
        return found
    chosen = {name: one for name, one in found.items() if name == wanted or name.split("/")[-1] == wanted}
    if not chosen:
        raise UnknownNameError(f"there is no queue `{wanted}`", f"queues: {', '.join(found) or 'none'}")
    return chosen


def _witnesses(reached: dict[str, str | None]) -> Iterator[str]:
    for queue, packet in reached.items():
        yield printable(f"{queue}: {packet or 'no packet gets there'}")
