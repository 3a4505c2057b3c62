"""Policies as a configuration of IOS, read back to see what it does not say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from perhop.configuration import LINUX, checked
from perhop.convert.difference import Difference, differences, with_counted_labels
from perhop.convert.ios_conditioner import is_rate_limit, rate_limit_line
from perhop.convert.ios_match import InexpressibleError, ios_name
from perhop.convert.ios_policy import CHOICES, Choice, Writer
from perhop.convert.policies import CONTROL_PLANE, Attached, Remark, Source
from perhop.core_types import RouterReport

#: The platform that a configuration is written for where the file says none.
DEFAULT_PROFILE = "hqf"
# What tells the platform when the configuration is read again.
_SIGNS = {
    "pre-hqf": "version 12.2",
    "7500-vip": "boot system flash slot0:rsp-jsv-mz.121-5.T8.bin",
    "hqf": "version 15.2",
    "ios-xe": "version 16.9",
}
# Lines of an interface or circuit without which its policies would mean something else.
_KEPT = re.compile(
    r"(no )?(bandwidth|encapsulation|ip address|ipv6 address|ipv6 enable|tunnel|mtu|ip mtu|ip tcp adjust-mss|"
    r"clock rate|tx-ring-limit|vbr-nrt|vbr-rt|cbr|ubr|abr|protocol ip|ppp multilink|multilink-group|"
    r"frame-relay|channel-group|switchport|native|shutdown|max-reserved-bandwidth|ip add|ipv6 add)\b"
)
_ATTACHING = re.compile(r"(?:serv\S*|rate-l\S*)\s+(?:type\s+\S+\s+)?(in|out)p?u?t?\s")
_PROMPT = re.compile(r"^\S+\([^)]*\)#\s*")
# The line that attaches a policy to the peers of a tunnel, which is a port of its own.
_GROUP = "ip nhrp map group "
# Bytes of `account user-defined`: -63 to 63.
_MOST_ACCOUNTED = 63
# Interfaces made for policies that are attached to none: which bytes they count besides those of IP.
_MADE = {14: "GigabitEthernet0/0", 4: "Serial0/0/0"}
_ETHERNET_XE = "GigabitEthernet0/0/0"


@dataclass
class Block:
    """An interface or circuit of the source with what is to stand in it."""

    text: str
    kept: list[str]
    inside: list[int] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    def attach(self, lines: list[str], policy: str | None) -> None:
        """Add the lines that attach a policy, or name the policy in the line that the block is."""
        if self.text.startswith(_GROUP) and policy is not None:
            self.text = f"{self.text.rpartition(' ')[0]} {policy}"
        else:
            self.added += lines


def to_ios(source: Source, platform: str | None = None) -> tuple[str, list[Remark]]:
    """Return a configuration with the policies of `source`, and what it does not say.

    Each policy is written in the ways that IOS has for it, and read again: the way that differs least is
    taken, and every difference that remains is a remark.
    """
    if source.profile == LINUX:
        source = _without_devices(source)
    of_router = source.profile if source.profile in _SIGNS else None
    profile = (platform if platform != LINUX else None) or of_router or DEFAULT_PROFILE
    best = {number: _best(source, one, profile) for number, one in enumerate(source.attached)}
    text, remarks = _written(source, list(enumerate(source.attached)), profile, best)
    report = checked(text, profile)
    for one in source.attached:
        found = _read_again(report, one, source)
        remarks += [
            Remark(f"{path}: {given}", one.where, f"the router would have {other}")
            for path, given, other in found
            if not _explained(path, one.where, remarks)
        ]
    remarks += [
        Remark(diagnostic["message"], f"line {diagnostic['line']} of the output", diagnostic["router"])
        for diagnostic in report["diagnostics"]
        if diagnostic["severity"] == "error"
    ]
    return text, list(dict.fromkeys(remarks))


def _without_devices(source: Source) -> Source:
    """Return the policies of devices of Linux without these: a router has interfaces of its own."""
    attached = tuple(
        replace(one, name=str(one.interface), interface=None, port=None) for one in source.attached
    )
    return replace(source, attached=attached, profile=None, report=None, text=None)


def _best(source: Source, one: Attached, profile: str) -> Choice:
    """Return the choice of unsaid lines with which a policy, read again, differs least."""
    counts: list[tuple[int, Choice]] = []
    waiting = list(CHOICES)
    while waiting:
        choice = waiting.pop(0)
        text, _ = _written(source, [(0, one)], profile, {0: choice})
        report = checked(text, profile)
        found = _read_again(report, one, source)
        if not found:
            return choice
        bytes_ = next((int(given) - int(other) for path, given, other in found if path == "overhead"), 0)
        if bytes_ and not choice.account and abs(bytes_) <= _MOST_ACCOUNTED:
            waiting.append(replace(choice, account=bytes_))
        counts.append((len(found), choice))
    return min(counts, key=lambda one: one[0])[1]


def _explained(path: str, where: str, remarks: list[Remark]) -> bool:
    """Whether a difference follows from what was said of its class already."""
    classes = re.findall(r"\[([^\]]*)\]", path)
    said = [remark.where for remark in remarks]
    if path.startswith("queueing.limit") and where in said:
        return True
    return any(place.startswith(f"{where}, class {name}") for name in classes for place in said)


def _read_again(report: RouterReport, one: Attached, source: Source) -> list[Difference]:
    """Return what the policy of the written configuration has otherwise than the source's."""
    name = _interface(one, source)
    ports = report["router"]["ports"]
    port = next((port for port in ports if port["name"] == name), None)
    if port is None:
        # The only circuit of an interface is called like the interface.
        port = next((port for port in ports if port["name"] == str(name).partition(" ")[0]), None)
    if port is None:
        return [("interface", str(name), "nothing")]
    again = port[one.direction or "output"]
    given: Mapping[str, Any] = cast("Mapping[str, Any]", one.policy)
    if one.port is None and not given.get("queueing"):
        again = cast(Any, {key: value for key, value in again.items() if key != "queueing"})
    # Where an input policy sets groups, which one policy by itself does not show, labels begin above them.
    if one.direction != "input":
        given, again = with_counted_labels(given), cast(Any, with_counted_labels(again))
    return differences({"overhead": 0, **given}, {"overhead": 0, **again})


def _interface(one: Attached, source: Source) -> str:
    if one.interface is not None:
        return one.interface
    overhead = int(one.policy.get("overhead") or 0)
    made = _MADE.get(overhead, _MADE[4])
    number = source.attached.index(one) if one in source.attached else 0
    kind, _, _ = made.partition("0/0")
    return f"{kind}0/{number}" if kind.startswith("Gig") else f"{kind}0/{number}/0"


def _written(
    source: Source, chosen: list[tuple[int, Attached]], profile: str, choices: Mapping[int, Choice]
) -> tuple[str, list[Remark]]:
    writer = Writer(profile)
    blocks: dict[int, Block] = {}
    names: dict[str, tuple[Any, int | None]] = {}
    remarks: list[Remark] = []
    for number, one in chosen:
        writer.choice = choices[number]
        block = _block(blocks, source, one)
        if one.port is not None and not _attaches(source, one):
            continue
        attached, found = _limits(one, writer)
        remarks += found
        name = _free(names, one)
        if name not in names:
            names[name] = (one.policy, one.rate_bps)
            written = writer.policy(name, cast("Mapping[str, Any]", one.policy), one.rate_bps, one.where)
        else:
            written = ios_name(name)
        if written is not None:
            attached.append(f"service-policy {_way(one)} {written}")
        attached += _plain_queue(one)
        blocks[block].attach(attached, written)
    lines = ["!", _SIGNS[profile], "!", *writer.lines()]
    known = {one.text.removeprefix("interface ") for one in blocks.values()}
    for name in sorted(writer.class_maps.interfaces - known):
        lines += [f"interface {name}", "!"]
    inner = {number for one in blocks.values() for number in one.inside}
    for number in sorted(set(blocks) - inner, key=abs):
        lines += [*_block_lines(blocks, number, 0), "!"]
    return "\n".join([*lines, "end"]) + "\n", [*writer.remarks, *remarks]


def _way(one: Attached) -> str:
    return "input" if one.interface == CONTROL_PLANE else one.direction or "output"


def _free(names: Mapping[str, tuple[Any, int | None]], one: Attached) -> str:
    number, wanted = 1, "limits" if " " in one.name else one.name
    while True:
        name = wanted if number == 1 else f"{wanted}-{number}"
        if names.get(name, (one.policy, one.rate_bps)) == (one.policy, one.rate_bps):
            return name
        number += 1


def _limits(one: Attached, writer: Writer) -> tuple[list[str], list[Remark]]:
    """Return the `rate-limit` lines of an interface."""
    lines: list[str] = []
    remarks = []
    for number, stage in enumerate(one.policy.get("conditioners") or [], start=1):
        config = cast("Mapping[str, Any]", stage)
        if not is_rate_limit(config):
            continue
        try:
            line, listed = rate_limit_line(config, one.direction or "output", number, writer.tables)
            if listed:
                writer.class_maps.access_list(config["match"], listed)
            lines.append(line)
        except InexpressibleError as error:
            where = f"{one.where}, class {config.get('name')}"
            remarks.append(Remark(error.construct, where, error.why))
    return lines, remarks


def _plain_queue(one: Attached) -> list[str]:
    """Return the lines of an interface whose policy does not queue, for the queue that it has then."""
    queueing = one.policy.get("queueing")
    if not queueing or len(queueing["classes"]) != 1 or one.direction == "input":
        return []
    config = cast("Mapping[str, Any]", queueing["classes"][0])
    limit = ((config.get("buffer") or {}).get("tail-drop") or {}).get("limit", "")
    is_said = str(limit).endswith(" packets") and limit != "40 packets"
    if is_said and one.interface != CONTROL_PLANE and not config.get("shape"):
        return [f"hold-queue {limit.split()[0]} out"]
    return []


def _block(blocks: dict[int, Block], source: Source, one: Attached) -> int:
    """Return the number of the block that a policy stands in; makes it and those around it."""
    if one.port is None or source.report is None:
        number = -1 - len(blocks)
        name = _interface(one, source)
        kilobits = [] if one.rate_bps is None else [f"bandwidth {max(round(one.rate_bps / 1000), 1)}"]
        blocks[number] = Block(f"interface {name}", kilobits)
        return number
    lines = {line["number"]: line for line in source.report["lines"]}
    number, inner = one.port["line"], None
    opened = number
    while number in lines:
        if number not in blocks:
            below = [line for line in lines.values() if line.get("block") == number]
            texts = [_PROMPT.sub("", line["text"].strip()) for line in below]
            kept = [text for text in texts if _KEPT.match(text)]
            blocks[number] = Block(_PROMPT.sub("", lines[number]["text"].strip()), kept)
        if inner is not None and inner not in blocks[number].inside:
            blocks[number].inside.append(inner)
        inner, number = number, lines[number].get("block") or 0
    return opened


def _attaches(source: Source, one: Attached) -> bool:
    """Whether the policy is attached in the block of its port, and not in one around it."""
    if source.report is None or one.port is None:
        return True
    for line in source.report["lines"]:
        text = _PROMPT.sub("", line["text"].strip())
        if line["number"] == one.port["line"] and text.startswith(_GROUP):
            return True
        found = _ATTACHING.match(text) if line.get("block") == one.port["line"] else None
        if found and _way(one).startswith(found[1]):
            return True
    return False


def _block_lines(blocks: Mapping[int, Block], number: int, depth: int) -> list[str]:
    block, space = blocks[number], " " * depth
    inside = [line for inner in block.inside for line in _block_lines(blocks, inner, depth + 1)]
    return [f"{space}{block.text}", *(f"{space} {one}" for one in [*block.kept, *block.added]), *inside]
