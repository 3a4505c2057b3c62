"""`perhop compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from perhop.command.comparing import compared_bar, compared_with_router
from perhop.command.options import (
    Assume,
    Duration,
    Force,
    Interface,
    Json,
    Load,
    Output,
    Over,
    Overrides,
    Platform,
    Policy,
    Quiet,
    Replications,
    ScenarioFile,
    Seed,
    Threads,
    Traffic,
    assumptions,
    changes,
)
from perhop.command.parameter import Number, Parameter
from perhop.command.terminal import print_json, print_written, show_warnings
from perhop.compare import Comparison
from perhop.compare import compare as compare_results
from perhop.errors import Exit, InvalidInputError
from perhop.live import rights
from perhop.live.comparing import compare_with_simulation
from perhop.results import Results
from perhop.saving import check_target
from perhop.scenario import RouterOptions, Scenario
from perhop.show.comparison import Tolerances

# Number of simulations if the scenario has one replication: random variation needs several.
_REPLICATIONS = 10
Tolerated = Annotated[float | None, Parameter(validator=Number(gte=0))]


def compare(
    what: Annotated[list[ScenarioFile], Parameter(name="scenario|dir", negative=())],
    /,
    *,
    set_: Overrides = None,
    seed: Annotated[Seed, Parameter(help="Seed of all random streams, for both runs.")] = None,
    replications: Replications = None,
    live_replications: Replications = None,
    duration: Duration = None,
    router: Path | None = None,
    percent: Tolerated = None,
    points: Tolerated = None,
    interface: Annotated[
        Interface,
        Parameter(help="With --router and a configuration: the output interface, as for `perhop run`."),
    ] = None,
    platform: Platform = None,
    assume: Assume = None,
    rate: str | None = None,
    policy: Policy = None,
    traffic: Annotated[
        Traffic,
        Parameter(
            help="With --router and a configuration: file with the offered load; `perhop run --help` lists "
            "the formats. Default: the load that the router's output shows."
        ),
    ] = None,
    load: Load = None,
    over: Over = None,
    output: Output = None,
    force: Force = False,
    strict: bool = False,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> Exit:
    """Compare a live run of a scenario with its simulation, two saved results, or a router with a run.

    The output has throughput, shares, drops by cause, delay and delay variation of each class, and whether a
    difference is within random variation or the tolerance. With --router, the output of
    `show policy-map interface` of a real router is compared with the output of a run.

    Parameters
    ----------
    what
        A scenario file, or two folders with results of one scenario. With --router: a scenario, a router
        configuration, or a folder with results.
    replications
        Number of simulations. Default: the number in the scenario, or 10 if that is 1.
    live_replications
        Number of live runs. Default: 1.
    router
        File with the output of a real device: `show policy-map interface`, `show interfaces queue` and others
        of Junos, `tc -s qdisc show`, or `qos queue stats` of a Catalyst.
    percent
        With --router: tolerance for rates, percent. Default: 5.
    points
        With --router: tolerance for shares, percentage points. Default: 2.
    rate
        With --router and a configuration: the line rate, or the rate of the interface that perhop adds for a
        policy.
    over
        The time for which the counters of the output have counted, or the time between the two outputs of
        --traffic, for example 300s. Default: perhop uses the rates that the output prints.
    output
        Folder for the comparison and both results; `perhop report` reads it.
    strict
        End with exit code 4 if a figure exceeds its tolerance, the live run is not trustworthy, or a router
        and its run differ.

    """
    options: RouterOptions = {
        "interface": interface,
        "platform": platform,
        "assume": assumptions(assume),
        "rate": rate,
        "policy": policy,
        "traffic": traffic,
        "load": load,
        "over": over,
    }
    runs = _Runs(changes(set_, duration), seed, replications, live_replications, threads)
    if router is not None:
        if output is not None or replications or live_replications or threads:
            raise InvalidInputError(
                "a router is compared with one simulated run",
                "leave out --output and the options for several runs",
            )
        tolerances = Tolerances(
            Tolerances.percent if percent is None else percent,
            Tolerances.points if points is None else points,
        )
        agrees = compared_with_router(
            router, what, tolerances, changed=runs.changed, seed=seed, quiet=quiet, json=json, options=options
        )
        return Exit.NOT_MET if strict and not agrees else Exit.OK
    if given := [name for name, value in options.items() if value]:
        raise InvalidInputError(
            f"--{given[0]} applies only to a comparison with a router", "add --router FILE"
        )
    if percent is not None or points is not None:
        raise InvalidInputError(
            "--percent and --points apply only to a comparison with a router", "add --router FILE"
        )
    if output is not None:
        check_target(output, "comparison", force=force)
    found = _saved(what, runs) if len(what) == 2 else _live(what, runs, quiet=quiet)
    if output is not None:
        found.save(output, force=force)
        if not quiet:
            print_written(output)
    if json:
        print_json(found.to_json())
    elif not quiet:
        from perhop.command.compare_table import show  # lazy: rich, which --json does not need

        show(found)
    return Exit.NOT_MET if strict and not found.agrees else Exit.OK


@dataclass(frozen=True)
class _Runs:
    """The options of the runs."""

    changed: dict[str, str]
    seed: int | None
    replications: int | None
    live_replications: int | None
    threads: int | None


def _saved(folders: list[Path], runs: _Runs) -> Comparison:
    if runs.changed or runs.seed is not None or runs.replications or runs.live_replications:
        raise InvalidInputError(
            "options that change a run do not apply to saved results", "leave them out, or give a scenario"
        )
    first, second = folders
    return compare_results(Results.load(first), Results.load(second))


def _live(what: list[Path], runs: _Runs, *, quiet: bool) -> Comparison:
    if len(what) != 1:
        raise InvalidInputError(
            f"compare takes one scenario or two results, not {len(what)} arguments",
            "give one scenario or two folders of results",
        )
    scenario = Scenario.load(what[0], runs.changed)
    show_warnings(scenario)
    # The rights are obtained before any thread starts, because only a process with one thread can enter a
    # user namespace.
    rights.obtain()
    configured = int(scenario.get("replications", 1))
    times = runs.replications or (configured if configured > 1 else _REPLICATIONS)
    with compared_bar(scenario["name"], quiet=quiet) as watched:
        return compare_with_simulation(
            scenario,
            seed=runs.seed,
            replications=times,
            live_replications=runs.live_replications or 1,
            threads=runs.threads,
            watched=watched,
        )
