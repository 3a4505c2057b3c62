"""`perhop diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from perhop.command.options import Assume, Json, Platform, Replications, Seed, assumptions
from perhop.command.terminal import print_json
from perhop.differing import Changed, Difference, Moved, difference, simulated
from perhop.errors import Exit
from perhop.printable import printable
from perhop.quantity import counted, number

# Random variation needs several.
_REPLICATIONS = 10
At = Annotated[str | None, Parameter(name="--at")]
Out = Annotated[str | None, Parameter(name="--out")]


def diff(
    old: Path,
    new: Path,
    /,
    *,
    scenario: Path | None = None,
    at: At = None,
    out: Out = None,
    markdown: Annotated[bool, Parameter(negative=())] = False,
    strict: bool = False,
    seed: Seed = None,
    replications: Replications = None,
    platform: Platform = None,
    assume: Assume = None,
    json: Json = False,
) -> Exit:
    """Show what a change of a router's configuration changes, before it is deployed.

    Packets that wait in another queue than before, each with an example; what queues and policers have; their
    guarantees by network calculus; and, with a scenario, what each class gets in a simulation.

    Parameters
    ----------
    old
        The running configuration of a Cisco IOS router as it is.
    new
        The same with the change.
    scenario
        A scenario with that router: it is simulated with each of them.
    at
        The interface by which packets arrive, whose input policy they meet.
    out
        Only this interface; by default all that have an output policy.
    markdown
        Print Markdown, for a comment on a change.
    strict
        Exit code 4 if anything differs.
    seed
        With --scenario: seed for all random streams, in both.
    replications
        With --scenario: number of simulations of each; default 10.
    platform
        The platform whose rules apply; by default recognized.
    assume
        What a class-map matches, as in 'VOICE = dscp ef', in place of its own criteria; may be given several
        times.
    json
        Print everything as one JSON document.

    """
    found = difference(old, new, at=at, out=out, platform=platform, assume=assumptions(assume))
    if scenario is not None:
        rows = simulated(scenario, old, new, seed=seed, replications=replications or _REPLICATIONS)
        found = replace(found, simulated=rows)
    if json:
        print_json({"schema_version": 1, "old": str(old), "new": str(new), **asdict(found)})
    else:
        lines = _markdown(old, new, found) if markdown else _text(found)
        print("\n".join(lines))
    return Exit.CLAIMS_NOT_MET if strict and found else Exit.OK


def _text(found: Difference) -> Iterator[str]:
    if not found:
        yield "nothing differs"
    for interface, several in groupby(found.moved, key=lambda one: one.interface):
        yield printable(f"{interface}: packets that wait elsewhere")
        for one in several:
            yield printable(f"  {_queue(one.before)} -> {_queue(one.after)}: {one.packet}")
    for interface, changes in groupby(found.changed, key=lambda one: one.interface):
        yield printable(f"{interface}: what has changed")
        for change in changes:
            yield printable(f"  {_change(change)}")
    if found.simulated:
        real = [row for row in found.simulated if row["inside_interval"] is False]
        alike = len(found.simulated) - len(real)
        yield f"simulated: {counted(len(real), 'figure')} differ, {alike} by no more than chance"
        for row in real:
            yield printable(
                f"  {row['class']}, {row['quantity']}: {_figure(row, 'first')} -> {_figure(row, 'second')}"
            )
    yield from (printable(remark) for remark in found.remarks)


def _markdown(old: Path, new: Path, found: Difference) -> Iterator[str]:
    yield f"### QoS: {_code(old.name)} to {_code(new.name)}"
    if not found:
        yield "\nNothing differs."
    if found.moved:
        yield "\n| interface | queue before | queue after | for example |\n|---|---|---|---|"
        yield from (_moved_row(one) for one in found.moved)
    if found.changed:
        yield "\n| interface | part | what | before | after |\n|---|---|---|---|---|"
        yield from (_changed_row(one) for one in found.changed)
    real = [row for row in found.simulated if row["inside_interval"] is False]
    if found.simulated:
        total = len(found.simulated)
        yield f"\nSimulated: {counted(len(real), 'figure')} of {total} differ by more than chance."
    if real:
        yield "\n| class | figure | before | after |\n|---|---|---:|---:|"
        for row in real:
            cells = [row["class"], row["quantity"], _figure(row, "first"), _figure(row, "second")]
            yield _row(cells)
    yield from (f"\n{_cell(remark)}" for remark in found.remarks)


def _moved_row(moved: Moved) -> str:
    return _row([moved.interface, _queue(moved.before), _queue(moved.after), _code(moved.packet)])


def _changed_row(changed: Changed) -> str:
    return _row([changed.interface, changed.part, changed.what, changed.before or "-", changed.after or "-"])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;")


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', '')}`"


def _queue(name: str | None) -> str:
    return name or "no class"


def _change(change: Changed) -> str:
    if change.before is None:
        return f"new: {change.part} {change.what} {change.after}"
    if change.after is None:
        return f"gone: {change.part} {change.what} {change.before}"
    return f"{change.part}, {change.what}: {change.before} -> {change.after}"


def _figure(row: dict[str, Any], which: str) -> str:
    sample = row[which]
    interval = sample.get("ci95")
    half = f" ± {number((interval[1] - interval[0]) / 2)}" if interval else ""
    mean = sample["mean"]
    return "none" if mean is None else f"{number(mean)}{half} {row['unit']}".rstrip()
