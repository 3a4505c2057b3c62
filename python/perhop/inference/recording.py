"""A capture as traffic: the packets of each class of the router, at their times."""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from perhop.document import Document
from perhop.errors import ScenarioError
from perhop.inference.headers import Header
from perhop.inference.network import Carried, Network
from perhop.inference.targets import stages
from perhop.inference.traffic import Flow, Traffic
from perhop.schema_types import MatchConfig, PcapConfig, QueueingConfig, TrafficConfig

# The first bytes of captures: pcap in both byte orders, with microseconds and nanoseconds, and pcapng.
_PCAP = {
    b"\xa1\xb2\xc3\xd4": (">", 1e6),
    b"\xd4\xc3\xb2\xa1": ("<", 1e6),
    b"\xa1\xb2\x3c\x4d": (">", 1e9),
    b"\x4d\x3c\xb2\xa1": ("<", 1e9),
}
_PCAPNG = b"\x0a\x0d\x0d\x0a"
# pcapng (draft-ietf-opsawg-pcapng): blocks of interfaces and packets, an interface's resolution of time.
_INTERFACE, _PACKET, _RESOLUTION = 1, 6, 9
# The conditions that look at nothing but headers, and those made of others.
_OF_HEADERS = {"dscp", "precedence", "source", "destination", "protocol", "source-port", "destination-port"}
_OF_OTHERS = {"all", "any", "not"}
# The marks of packets, and the headers that carry them, from the packet outwards.
_CARRIED: dict[str, Carried] = {"mpls-exp": "mpls", "cos": "vlan"}
# The name of traffic whose class is not known.
_WHOLE = "capture"


def is_capture(content: bytes) -> bool:
    """Whether a file is a pcap or pcapng capture."""
    return content[:4] in _PCAP or content[:4] == _PCAPNG


def replayed(network: Network, file: Path, content: bytes) -> Traffic:
    """Return traffic that replays the packets of a capture; raises `ScenarioError` for a damaged one."""
    times = list(_times(content))
    seconds = max(times) - min(times) if times else 0.0
    # As a scenario has it: relative to its own folder.
    path = str(file) if file.is_absolute() else os.path.relpath(file, network.base)
    remarks = []
    own = network.other_subnets
    coming = [] if not own else [_without({"destination": own if len(own) > 1 else own[0]})]
    if own:
        remarks.append(f"left out: packets to the router's other subnets, {', '.join(own)}")
    classes = list(_classes(network))
    if not classes:
        remarks.append(f"all packets are one class, `{_WHOLE}`: a class depends on more than their headers")
        classes = [("", _WHOLE, [])]
    flows = [_flow(path, one, coming) for one in classes]
    kept = _with_packets(network, flows)
    milliseconds = max(math.ceil(1000 * seconds) + 1, 100)
    return Traffic(kept, remarks, milliseconds, tuple(_carried(network, path)))


def _carried(network: Network, path: str) -> Iterator[Carried]:
    """Return the headers that some packets of the capture have."""
    for key, header in _CARRIED.items():
        # All values that there are, and yet no packet matches without the header.
        flow = _flow(path, ("", _WHOLE, [cast("MatchConfig", {key: list(range(8))})]), [])
        try:
            _checked(network, [flow])
        except ScenarioError:
            continue
        yield header


def _without(match: MatchConfig) -> MatchConfig:
    return {"not": match}


def _flow(path: str, one: tuple[str, str, list[MatchConfig]], coming: list[MatchConfig]) -> Flow:
    queue, name, matches = one
    conditions = [*matches, *coming]
    source: PcapConfig = {"file": path}
    if conditions:
        source["match"] = {"all": conditions} if len(conditions) > 1 else conditions[0]
    made: TrafficConfig = {"name": name, "from": "", "to": "", "source": {"pcap": source}}
    return Flow(Header(), made, queue or None, ("", "as captured"), 0.0)


def _classes(network: Network) -> Iterator[tuple[str, str, list[MatchConfig]]]:
    """Return queue, name and conditions of each class, or nothing where headers do not say which class."""
    queueing = network.leaving.side("output").get("queueing")
    if queueing is None or any(_marks(stage) for _, stage in stages(network)):
        return
    if all(_is_of_headers(match) for leaf in network.leaves for match in leaf.matches):
        names: dict[str, int] = {}
        for queue, name, matches in _walked(queueing, "", []):
            names[name] = names.get(name, 0) + 1
            yield queue, f"{name}-{names[name]}" if names[name] > 1 else name, matches


def _walked(
    queueing: QueueingConfig, prefix: str, around: list[MatchConfig]
) -> Iterator[tuple[str, str, list[MatchConfig]]]:
    """Return the queues with all that a packet must meet: the first class that matches is its class."""
    before: list[MatchConfig] = []
    for config in queueing["classes"]:
        path = f"{prefix}{config['name']}"
        match, inner = config.get("match"), config.get("queueing")
        here = [*around, *([match] if match else []), *(_without(one) for one in before)]
        if inner:
            yield from _walked(inner, f"{path}/", here)
        else:
            yield path, config["name"], here
        before += [match] if match else []


def _marks(stage: Mapping[str, Any]) -> bool:
    """Whether a conditioner changes what later classes match."""
    keys = ("green", "yellow", "red", "actions")
    return any(isinstance(action, dict) for key in keys for action in stage.get(key) or [])


def _is_of_headers(match: Any) -> bool:  # noqa: ANN401 - a condition, or a part of one
    if isinstance(match, list):
        return all(_is_of_headers(one) for one in match)
    return all(
        key in _OF_HEADERS or (key in _OF_OTHERS and _is_of_headers(value)) for key, value in match.items()
    )


def _with_packets(network: Network, flows: Sequence[Flow]) -> list[Flow]:
    """Return the flows that have packets in the capture; raises what else is wrong with it."""
    try:
        _checked(network, flows)
    except ScenarioError as error:
        empty = {
            int(found[1])
            for one in error.diagnostics
            if (found := _EMPTY.match(f"{one['path']} {one['message']}"))
        }
        if not empty or len(empty) == len(flows):
            raise
        kept = [flow for number, flow in enumerate(flows) if number not in empty]
        _checked(network, kept)
        return kept
    return list(flows)


# The diagnostic about a replay that no packet of the capture belongs to.
_EMPTY = re.compile(r"traffic\.(\d+)\.\S* none of the")


def _checked(network: Network, flows: Sequence[Flow]) -> None:
    scenario = network.scenario([one.entry for one in flows], [one.header for one in flows], "1s")
    Document(scenario, network.base).check()


def _times(content: bytes) -> Iterator[float]:
    """Return the times of the packets of a capture, in seconds; as far as it is not damaged."""
    if content[:4] in _PCAP:
        order, resolution = _PCAP[content[:4]]
        yield from _times_of_pcap(content, order, resolution)
    else:
        yield from _times_of_pcapng(content)


def _times_of_pcap(content: bytes, order: str, resolution: float) -> Iterator[float]:
    record = struct.Struct(f"{order}IIII")
    place = 24
    while place + record.size <= len(content):
        seconds, parts, kept, _ = record.unpack_from(content, place)
        yield seconds + parts / resolution
        place += record.size + kept


def _times_of_pcapng(content: bytes) -> Iterator[float]:
    place, order = 0, "<"
    resolutions: list[float] = []
    while place + 12 <= len(content):
        if content[place : place + 4] == _PCAPNG:
            order = "<" if content[place + 8 : place + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            resolutions = []
        kind, length = struct.unpack_from(f"{order}II", content, place)
        if length < 12:
            return
        if kind == _INTERFACE:
            resolutions.append(_resolution(content[place + 16 : place + length - 4], order))
        elif kind == _PACKET and place + 20 <= len(content):
            interface, high, low = struct.unpack_from(f"{order}III", content, place + 8)
            if interface < len(resolutions):
                yield (high << 32 | low) / resolutions[interface]
        place += length


def _resolution(options: bytes, order: str) -> float:
    """Return the units of time in a second, from the options of an interface."""
    place = 0
    while place + 4 <= len(options):
        code, length = struct.unpack_from(f"{order}HH", options, place)
        if code == _RESOLUTION and length >= 1:
            value = options[place + 4]
            return float(2 ** (value & 0x7F)) if value & 0x80 else 10.0**value
        place += 4 + length + -length % 4
    return 1e6
