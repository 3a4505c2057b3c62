"""`perhop diff`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from perhop.command.diff_network import NetworkLoad, diff_networks
from perhop.command.differences import markdown_of, text_of
from perhop.command.lines import show_lines
from perhop.command.options import (
    Assume,
    Json,
    Load,
    Platform,
    Replications,
    RoutesFile,
    Seed,
    assumptions,
)
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_written, progress_bar
from perhop.differing import difference, felt_by_default, felt_in, load_of, opened, simulated
from perhop.errors import Exit, InvalidInputError
from perhop.manifest import MANIFEST
from perhop.network.comparing import opened as opened_networks

if TYPE_CHECKING:
    from perhop.compare import Comparison

At = Annotated[str | None, Parameter(name="--at")]
Out = Annotated[str | None, Parameter(name="--out")]
# The remedy that enables both simulations.
_SIMULATE = "add --simulate, or --scenario FILE for two configurations in a network of your own"


def diff(
    old: Path,
    new: Path,
    /,
    *,
    scenario: Path | None = None,
    routes: RoutesFile = None,
    traffic: Annotated[
        Path | None,
        Parameter(
            help="For folders of configurations with --simulate: a matrix of traffic between sites, as in "
            "perhop run. Default: every access link of the old network has the load of --load."
        ),
    ] = None,
    simulate: Annotated[bool | None, Parameter(negative="--no-simulate")] = None,
    level: Annotated[
        Load,
        Parameter(
            help="For configurations without --scenario: offered load of each class, as a fraction of its "
            "guaranteed rate in the old configuration: quiet (70 %), busy (90 %, the default) or overload "
            "(120 %)."
        ),
    ] = None,
    chart: Path | None = None,
    at: At = None,
    out: Out = None,
    markdown: Annotated[bool, Parameter(negative=())] = False,
    strict: bool = False,
    seed: Annotated[
        Seed,
        Parameter(
            help="Seed of all random streams in both simulations. Default: the seed of the first scenario."
        ),
    ] = None,
    replications: Replications = None,
    platform: Platform = None,
    assume: Assume = None,
    json: Json = False,
) -> Exit:
    """Show the effects of a change to a router configuration or a scenario before it is deployed.

    The output has the changed lines with their effects; packets that change their queue, each with an
    example; the changed parameters of interfaces, queues and policers; changed guarantees by network
    calculus; and the results of each class in a simulation of both. Changed lines that perhop does not model
    are listed. For two folders of configurations, it shows the end-to-end changes by pairs of sites; with
    --simulate, also the loss and delay of each pair and class in both networks under one load.

    Parameters
    ----------
    old
        The configuration before the change: a router configuration, commands or output of Linux tc, a
        scenario, or a folder of configurations.
    new
        The configuration after the change.
    scenario
        For configurations: a scenario with that router. perhop simulates it with each configuration.
    simulate
        Simulate both with the same seed and the same traffic; for configurations, perhop infers the traffic
        from the old configuration. Without this option, perhop simulates two configurations briefly if that
        takes less than 2 million packet-hops.
    chart
        With --scenario or --simulate: write a chart of throughput, drops and delays of each class in both,
        with 95 % confidence intervals. A .html or .pdf file has all charts; the second .svg or .png file is
        named with -2, and so on.
    at
        The input interface, whose input policy applies. Default: input policies apply only where they have
        changed. In scenarios NODE:NEIGHBOR, or NODE to compare only that node.
    out
        Compare only this output interface. Default: all. In scenarios: a neighbor of the node of --at.
    markdown
        Print Markdown, for a comment in a code review.
    strict
        End with exit code 4 if anything differs.
    replications
        Number of simulations of each configuration. Default: 10; for brief simulations at most 5.

    """
    if old.is_dir() or new.is_dir():
        _refuse_results(old, new)
        _check_options_of_folders(
            {
                "--scenario": scenario,
                "--chart": chart,
                "--at": at,
                "--out": out,
            }
        )
        return diff_networks(
            opened_networks(old, new, routes, platform=platform, assume=assumptions(assume)),
            _network_load(NetworkLoad(traffic, level, seed, replications), simulate),
            markdown=markdown,
            strict=strict,
            json=json,
        )
    if routes is not None or traffic is not None:
        raise InvalidInputError(
            "--routes and --traffic are for two folders of configurations", "leave them out"
        )
    simulates = bool(simulate) or scenario is not None
    if simulate is False and scenario is not None:
        raise InvalidInputError("--no-simulate contradicts --scenario", "leave one of the two out")
    if chart is not None:
        _check_chart(chart, simulates=simulates)
    # Each side is read once, because one may be standard input.
    sides = opened(old, new)
    is_brief = simulate is None and not simulates and sides[0].scenario is None
    if not simulates and not is_brief and (seed is not None or replications is not None):
        raise InvalidInputError("--seed and --replications are for simulations", _SIMULATE)
    assumed = assumptions(assume)
    found = difference(*sides, at=at, out=out, platform=platform, assume=assumed)
    comparison = None
    load = load_of(found, out=out, options={"platform": platform, "assume": assumed, "load": level})
    if simulates:
        with progress_bar(f"simulating {old.name} and {new.name}", quiet=False) as progress:
            comparison = simulated(
                *sides, scenario, seed=seed, replications=replications, progress=progress, load=load
            )
        found = found.including(comparison)
        if sides[0].scenario is None and scenario is None:
            felt = felt_in(comparison.first, comparison.second)
            found = replace(found, felt=replace(felt, load=load.level))
    elif is_brief and found:
        found = replace(found, felt=felt_by_default(*sides, load, seed=seed, replications=replications))
    if json:
        print_json({"schema_version": 1, "old": str(old), "new": str(new), **asdict(found)})
    elif markdown:
        print("\n".join(markdown_of(old, new, found)))
    else:
        show_lines("\n".join(text_of(found, old.name)), {})
    # The chart is written last, so that an error in it does not lose the differences.
    if chart is not None and comparison is not None:
        _draw(comparison, old, new, chart)
    return Exit.NOT_MET if strict and found else Exit.OK


def _refuse_results(old: Path, new: Path) -> None:
    """Refuse folders of results, which `perhop compare` compares."""
    for side in (old, new):
        if (side / MANIFEST).is_file():
            raise InvalidInputError(
                f"`{side}` is a folder of results, and diff compares configurations and scenarios",
                f"to compare two results: perhop compare {old} {new}",
            )


def _check_options_of_folders(options: Mapping[str, object]) -> None:
    """Refuse options that do not apply to two networks."""
    given = [name for name, value in options.items() if value]
    if given:
        raise InvalidInputError(
            f"{given[0]} is for two configurations or scenarios, not for folders",
            "leave it out; options of networks are --simulate, --load, --traffic and --routes",
        )


def _network_load(load: NetworkLoad, simulate: bool | None) -> NetworkLoad | None:
    """Return the load of a simulation of two networks; refuse a load without a simulation."""
    if not simulate and load != NetworkLoad():
        raise InvalidInputError(
            "--traffic, --load, --seed and --replications are for simulations", "add --simulate"
        )
    return load if simulate else None


def _check_chart(file: Path, *, simulates: bool) -> None:
    """Refuse a chart without a simulation, or with a file that cannot be written, before anything runs."""
    from perhop.plot.writing import check_file  # lazy: polars, which only charts need

    if not simulates:
        raise InvalidInputError("--chart shows the results of each class in a simulation", _SIMULATE)
    check_file(file)


def _draw(comparison: Comparison, old: Path, new: Path, file: Path) -> None:
    from perhop.plot.comparisons import compared  # lazy: polars, which only charts need
    from perhop.plot.writing import write  # lazy: the same reason

    names = (old.name, new.name) if old.name != new.name else (str(old), str(new))
    for written in write(compared(comparison, names), file):
        print_written(written)
