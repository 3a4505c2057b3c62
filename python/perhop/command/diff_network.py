"""`perhop diff OLDDIR NEWDIR`: the differences between two networks, and the affected packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from perhop.batch import Job, simulate_all
from perhop.command.differences import changed_lines
from perhop.command.effects import effect_on_classes
from perhop.command.lines import limited, show_lines
from perhop.command.terminal import print_json, progress_bar
from perhop.configuration import LoadLevel
from perhop.differing import Felt, LineChange, felt_in
from perhop.errors import Exit
from perhop.limits import processors
from perhop.network import Network
from perhop.network.comparing import compared
from perhop.network.running import pair_results
from perhop.network.same_traffic import SameTraffic
from perhop.printable import printable
from perhop.quantity import counted

#: The remark of a comparison without `--simulate`.
NOT_SIMULATED = "perhop simulated no queues, so delays and losses under load are not compared"
# The default number of replications: an estimate of random variation needs several.
_REPLICATIONS = 10
# The maximum number of changes in text; --json has all.
_MOST_CHANGES = 8
_MOST_LINES = 6
_MOST_PAIRS = 3
_MOST_ASPECTS = 8


@dataclass(frozen=True)
class NetworkLoad:
    """The traffic and the random streams of both simulations."""

    traffic: Path | None = None
    level: LoadLevel | None = None
    seed: int | None = None
    replications: int | None = None


@dataclass(frozen=True)
class _Simulated:
    """The figures of pairs and classes in both networks, pairs in one network, and the worst hops."""

    felt: Felt
    lost: list[str]
    places: list[str]


def diff_networks(
    networks: tuple[Network, Network],
    load: NetworkLoad | None,
    *,
    markdown: bool,
    strict: bool,
    json: bool,
) -> Exit:
    """Show the differences between two folders of configurations, with a load simulated in both."""
    old, new = (network.folder for network in networks)
    found = compared(*networks)
    done = None if load is None else _simulated(networks, load)
    if done is None:
        found["not_looked_at"].append(NOT_SIMULATED)
    else:
        found["not_looked_at"] += done.lost
    if json:
        print_json(_document(old, new, found, done))
    else:
        lines = [printable(line) for line in _lines(found, done, old.name)]
        if markdown:
            lines = [f"### QoS: `{old.name}` to `{new.name}`", "", "```text", *lines, "```"]
        show_lines("\n".join(lines), {})
    differs = found["differs"] or (
        done is not None and any(felt_class.differs for felt_class in done.felt.classes)
    )
    return Exit.NOT_MET if strict and differs else Exit.OK


def _simulated(networks: tuple[Network, Network], load: NetworkLoad) -> _Simulated:
    """Simulate both networks with the same traffic."""
    both = SameTraffic.of_networks(*networks, traffic=load.traffic, load=load.level)
    scenarios = [run.scenario for run in (both.old, both.new)]
    seed = int(scenarios[0]["seed"]) if load.seed is None else load.seed
    jobs = [Job(scenario, seed, load.replications or _REPLICATIONS) for scenario in scenarios]
    with progress_bar("simulating both networks", quiet=False) as progress:
        done = simulate_all(jobs, processors(), progress)
    before, after = (done[job.key] for job in jobs)
    felt = felt_in(before, after)
    affected = {felt_class.name for felt_class in felt.classes if felt_class.differs}
    rows = {row["name"]: row for row in pair_results(both.new.pairs, after, [])}
    hops = [(name, row["loss_at"] or row["delay_at"]) for name, row in rows.items() if name in affected]
    places = [
        f"{name}: at {at['device']} {at['interface']} {at['queue'] or ''}".rstrip() for name, at in hops if at
    ]
    return _Simulated(replace(felt, load=load.level or "busy"), both.lost, places)


def _document(old: Path, new: Path, found: Mapping[str, Any], done: _Simulated | None) -> dict[str, Any]:
    """Return the document of `perhop diff`; `network` has the differences between the folders."""
    kinds = ("moved", "changed", "renamed", "examples", "lines", "not_compared", "remarks", "simulated")
    return {
        "schema_version": 1,
        "old": str(old),
        "new": str(new),
        **{kind: [] for kind in kinds},
        "assumed": found["assumed"],
        "not_looked_at": found["not_looked_at"],
        "felt": None if done is None else asdict(done.felt),
        "network": {key: value for key, value in found.items() if key not in ("assumed", "not_looked_at")},
    }


def _lines(found: Mapping[str, Any], done: _Simulated | None, old: str) -> Iterator[str]:
    for part in found["only"]:
        yield f"only {part['snapshot']}: {part['kind']} {part['name']}"
    for device in found["devices"]:
        yield from _device(device)
    yield from _end_to_end(found)
    yield from _proof(found)
    if done is not None:
        yield from effect_on_classes(done.felt, old)
        yield from limited("most of the loss or delay", done.places)
    yield from limited("not compared", found["not_compared"])
    yield from limited("assumed", found["assumed"])
    yield from limited("not looked at", found["not_looked_at"])


def _device(device: Mapping[str, Any]) -> Iterator[str]:
    difference = device["difference"]
    both = [LineChange(**change) for change in (*difference["lines"], *difference["not_compared"])]
    irrelevant = sum(line.effect in ("irrelevant", "elsewhere") for line in both)
    aside = f"; {irrelevant} without an effect on the device itself" if irrelevant else ""
    yield f"{device['device']} ({device['new']}): {counted(len(both), 'changed line')}{aside}"
    for title, lines in changed_lines(both):
        yield f"  {title}"
        yield from (f"    {line}" for line in lines[:_MOST_LINES])
        if len(lines) > _MOST_LINES:
            yield f"    and {counted(len(lines) - _MOST_LINES, 'more line')}: --json has all"


def _end_to_end(found: Mapping[str, Any]) -> Iterator[str]:
    changes = found["changes"]
    differing = sum(len(change["pairs"]) * len(change["codepoints"]) for change in changes)
    total = differing + found["same"]
    if found["sites"] < 2:
        yield "end to end: nothing is compared, because fewer than two sites are in both networks"
        return
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
    for aspect in what[:_MOST_ASPECTS]:
        yield f"    {aspect['what']}: {aspect['first'] or 'none'} -> {aspect['second'] or 'none'}"
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
            yield "perhop compared no other packets one by one"
        case _:
            yield "not decided for all packets:"
    yield from (f"  {line}" for line in limited("not compared", proof["not_decided"]))
