"""`perhop diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from perhop.command.options import Assume, Json, Platform, Replications, Seed, assumptions
from perhop.command.terminal import print_json, progress_bar, say_written
from perhop.differing import Changed, Difference, Moved, difference, opened, simulated
from perhop.errors import Exit, InvalidInputError
from perhop.printable import as_code, in_markdown, printable
from perhop.quantity import counted, number

if TYPE_CHECKING:
    from perhop.compare import Comparison

At = Annotated[str | None, Parameter(name="--at")]
Out = Annotated[str | None, Parameter(name="--out")]
# What makes both be simulated.
_SIMULATE = "add --simulate for two scenarios, --scenario FILE for two configurations"


def diff(
    old: Path,
    new: Path,
    /,
    *,
    scenario: Path | None = None,
    simulate: Annotated[bool, Parameter(negative=())] = False,
    chart: Path | None = None,
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
    """Show what a change of a router's configuration or of a scenario changes, before it is deployed.

    Packets that wait in another queue than before, each with an example; what queues and policers have; their
    guarantees by network calculus; and what each class gets in a simulation of each.

    Parameters
    ----------
    old
        The running configuration of a Cisco IOS router as it is, Linux' queueing as tc has it, or a scenario.
    new
        The same with the change.
    scenario
        Of configurations: a scenario with that router, which is simulated with each of them.
    simulate
        Of two scenarios: simulate both, with the same seed.
    chart
        With --scenario or --simulate: draw throughput, drops and delays of each class in both, with 95 %
        confidence intervals, to this file: .html has all charts; of .svg, .png and .pdf the second has -2
        after its name, and so on.
    at
        The interface by which packets arrive, whose input policy they meet; in scenarios NODE:NEIGHBOR, or
        NODE to compare that node alone.
    out
        Only this interface; by default all that have a policy. In scenarios a neighbor of the node of --at.
    markdown
        Print Markdown, for a comment on a change.
    strict
        Exit code 4 if anything differs.
    seed
        With --scenario or --simulate: seed for all random streams, in both; by default that of the first.
    replications
        With --scenario or --simulate: number of simulations of each; default 10.
    platform
        Of configurations: the platform whose rules apply; by default recognized.
    assume
        Of configurations: what a class-map matches, as in 'VOICE = dscp ef', in place of its own criteria;
        may be given several times.
    json
        Print everything as one JSON document.

    """
    simulates = simulate or scenario is not None
    if not simulates and (seed is not None or replications is not None):
        raise InvalidInputError("--seed and --replications are for simulations", _SIMULATE)
    if chart is not None:
        _check_chart(chart, simulates=simulates)
    # Read once: one may be standard input.
    sides = opened(old, new)
    found = difference(*sides, at=at, out=out, platform=platform, assume=assumptions(assume))
    comparison = None
    if simulates:
        with progress_bar(f"simulating {old.name} and {new.name}", quiet=False) as progress:
            comparison = simulated(*sides, scenario, seed=seed, replications=replications, progress=progress)
        found = found.including(comparison)
    if json:
        print_json({"schema_version": 1, "old": str(old), "new": str(new), **asdict(found)})
    else:
        lines = _markdown(old, new, found) if markdown else _text(found)
        print("\n".join(lines))
    # Last, so that an error in a chart does not lose what was found.
    if chart is not None and comparison is not None:
        _draw(comparison, old, new, chart)
    return Exit.CLAIMS_NOT_MET if strict and found else Exit.OK


def _check_chart(file: Path, *, simulates: bool) -> None:
    """Refuse a chart without a simulation, or of a file that could not be written, before anything runs."""
    from perhop.plot.writing import check_file  # lazy: polars, which only charts need

    if not simulates:
        raise InvalidInputError("--chart shows what each class gets in a simulation", _SIMULATE)
    check_file(file)


def _draw(comparison: Comparison, old: Path, new: Path, file: Path) -> None:
    from perhop.plot.comparisons import compared  # lazy: polars, which only charts need
    from perhop.plot.writing import write  # lazy: as above

    names = (old.name, new.name) if old.name != new.name else (str(old), str(new))
    for written in write(compared(comparison, names), file):
        say_written(written)


def _text(found: Difference) -> Iterator[str]:
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
    if not found:
        yield _nothing(found)


def _nothing(found: Difference) -> str:
    return "nothing else differs" if found.remarks else "nothing differs"


def _markdown(old: Path, new: Path, found: Difference) -> Iterator[str]:
    yield f"### QoS: {as_code(old.name)} to {as_code(new.name)}"
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
            said = [row["class"], row["quantity"], _figure(row, "first"), _figure(row, "second")]
            yield _row([*map(in_markdown, said)])
    yield from (f"\n{in_markdown(remark)}" for remark in found.remarks)
    if not found:
        yield f"\n{_nothing(found).capitalize()}."


def _moved_row(moved: Moved) -> str:
    cells = map(in_markdown, (moved.interface, _queue(moved.before), _queue(moved.after)))
    return _row([*cells, as_code(moved.packet)])


def _changed_row(changed: Changed) -> str:
    said = (changed.interface, changed.part, changed.what, changed.before, changed.after)
    return _row(["-" if one is None else in_markdown(one) for one in said])


def _row(cells: list[str]) -> str:
    # A cell ends at a bar, in code as well (GitHub Flavored Markdown, section 4.10).
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _queue(name: str | None) -> str:
    return name or "no class"


def _change(change: Changed) -> str:
    for said, value, other in (("new", change.after, change.before), ("gone", change.before, change.after)):
        if other is None:
            return " ".join(filter(None, [f"{said}:", change.part, change.what, value]))
    return f"{change.part}, {change.what}: {change.before} -> {change.after}"


def _figure(row: dict[str, Any], which: str) -> str:
    sample = row[which]
    interval = sample.get("ci95")
    half = f" ± {number((interval[1] - interval[0]) / 2)}" if interval else ""
    mean = sample["mean"]
    return "none" if mean is None else f"{number(mean)}{half} {row['unit']}".rstrip()
