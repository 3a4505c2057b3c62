"""`perhop diff OLDDIR NEWDIR`: the differences between two networks, and the affected packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perhop.command.differences import changed_lines
from perhop.command.lines import limited, show_lines
from perhop.command.terminal import print_json
from perhop.differing import LineChange
from perhop.errors import Exit
from perhop.network.comparing import compared
from perhop.printable import printable
from perhop.quantity import counted

#: Queues are never simulated.
NOT_SIMULATED = "queues were not simulated: delays and losses under load are not compared"
# In text; --json has all.
_MOST_CHANGES = 8
_MOST_LINES = 6
_MOST_PAIRS = 3
_MOST_ASPECTS = 8


def diff_networks(
    old: Path,
    new: Path,
    *,
    platform: str | None,
    assume: Mapping[str, str] | None,
    markdown: bool,
    strict: bool,
    json: bool,
) -> Exit:
    """Show the differences between two folders of configurations."""
    found = compared(old, new, platform=platform, assume=assume)
    if json:
        print_json(_document(old, new, found))
    else:
        lines = [printable(line) for line in _lines(found)]
        if markdown:
            lines = [f"### QoS: `{old.name}` to `{new.name}`", "", "```text", *lines, "```"]
        show_lines("\n".join(lines), {})
    return Exit.NOT_MET if strict and found["differs"] else Exit.OK


def _document(old: Path, new: Path, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of `perhop diff`; `network` has the differences between the folders."""
    kinds = ("moved", "changed", "renamed", "examples", "lines", "not_compared", "remarks", "simulated")
    return {
        "schema_version": 1,
        "old": str(old),
        "new": str(new),
        **{kind: [] for kind in kinds},
        "assumed": found["assumed"],
        "not_looked_at": [*found["not_looked_at"], NOT_SIMULATED],
        "felt": None,
        "network": {key: value for key, value in found.items() if key not in ("assumed", "not_looked_at")},
    }


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    for one in found["only"]:
        yield f"only {one['snapshot']}: {one['kind']} {one['name']}"
    for device in found["devices"]:
        yield from _device(device)
    yield from _end_to_end(found)
    yield from _proof(found)
    yield from limited("not compared", found["not_compared"])
    yield from limited("assumed", found["assumed"])
    yield from limited("not looked at", [*found["not_looked_at"], NOT_SIMULATED])


def _device(device: Mapping[str, Any]) -> Iterator[str]:
    difference = device["difference"]
    both = [LineChange(**one) for one in (*difference["lines"], *difference["not_compared"])]
    irrelevant = sum(line.effect in ("irrelevant", "elsewhere") for line in both)
    aside = f", {irrelevant} of them without effect on this device alone" if irrelevant else ""
    yield f"{device['device']} ({device['new']}): {counted(len(both), 'changed line')}{aside}"
    for title, lines in changed_lines(both):
        yield f"  {title}"
        yield from (f"    {line}" for line in lines[:_MOST_LINES])
        if len(lines) > _MOST_LINES:
            yield f"    and {counted(len(lines) - _MOST_LINES, 'more line')}: --json has all"


def _end_to_end(found: Mapping[str, Any]) -> Iterator[str]:
    changes = found["changes"]
    differing = sum(len(one["pairs"]) * len(one["codepoints"]) for one in changes)
    total = differing + found["same"]
    between = f"end to end, between {counted(found['sites'], 'site')}"
    yield f"{between}: {differing} of {total} pairs and codepoints change"
    yield from _changes(changes)
    if found["witnesses"]:
        yield "packets of other protocols or ports change as well"
        yield from _changes(found["witnesses"])


def _changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for change in changes[:_MOST_CHANGES]:
        pairs = ["{} > {}".format(*pair) for pair in change["pairs"]]
        more = f", and {counted(len(pairs) - _MOST_PAIRS, 'more pair')}" if len(pairs) > _MOST_PAIRS else ""
        yield f"  {', '.join(change['codepoints'])}: {', '.join(pairs[:_MOST_PAIRS])}{more}"
        yield from _aspects(change["what"])
        yield f"    for example {change['packet']}"
    if len(changes) > _MOST_CHANGES:
        yield f"  and {counted(len(changes) - _MOST_CHANGES, 'more change')}: --json has all"


def _aspects(what: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in what[:_MOST_ASPECTS]:
        yield f"    {one['what']}: {one['first'] or 'none'} -> {one['second'] or 'none'}"
    if len(what) > _MOST_ASPECTS:
        yield f"    and {len(what) - _MOST_ASPECTS} more"


def _proof(found: Mapping[str, Any]) -> Iterator[str]:
    proof = found["proof"]
    match proof["verdict"]:
        case "equal" if not found["differs"]:
            yield "nothing differs: proved for all packets between all sites"
        case "equal":
            yield "all packets between all sites are treated equally: proved"
        case "differ":
            yield "packets other than these were not compared one by one"
        case _:
            yield "not decided for all packets:"
    yield from (f"  {line}" for line in limited("not compared", proof["not_decided"]))
