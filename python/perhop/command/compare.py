"""`perhop compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop.command.comparing import compared_bar
from perhop.command.options import Json, Output, Overrides, Quiet, Replications, Seed, Threads, changes
from perhop.command.terminal import print_json, say_written, show_warnings
from perhop.compare import Comparison
from perhop.compare import compare as compare_results
from perhop.errors import Exit, InvalidInputError
from perhop.live import rights
from perhop.live.comparing import live_beside_simulated
from perhop.results import Results
from perhop.saving import check_target
from perhop.scenario import Scenario

# Number of simulations where the scenario has one replication: random variation needs several.
_REPLICATIONS = 10


def compare(
    what: Annotated[list[Path], Parameter(name="scenario|dir", negative=())],
    /,
    *,
    set_: Overrides = None,
    seed: Seed = None,
    replications: Replications = None,
    live_replications: Replications = None,
    duration: str | None = None,
    output: Output = None,
    strict: bool = False,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> Exit:
    """Compare a live run of a scenario with its simulation, or two saved results.

    For each class: throughput, shares, drops by cause, delay and delay variation, and whether a difference is
    within random variation or the tolerance.

    Parameters
    ----------
    what
        A scenario file, or two folders with results of one scenario.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Seed for all random streams, in both.
    replications
        Number of simulations; by default the scenario's replications, or 10 where that is 1.
    live_replications
        Number of live runs; default 1.
    duration
        Duration with its unit, as in 10s; by default the scenario's own.
    output
        Folder for the comparison and both results, for `perhop report`.
    strict
        Exit with code 4 if a figure exceeds its tolerance or the live run is not trustworthy.
    json
        Print the comparison as one JSON document.
    quiet
        Show neither progress nor table.
    threads
        Number of replications simulated at the same time.

    """
    if output is not None:
        check_target(output)
    if len(what) == 2:
        if set_ or seed is not None or replications or live_replications or duration:
            raise InvalidInputError(
                "two saved results are compared as they are", "leave out the options that change runs"
            )
        found = _saved(*what)
    elif len(what) == 1:
        scenario = Scenario.load(what[0], changes(set_, duration))
        show_warnings(scenario.warnings)
        # Before any thread starts: only a process with one thread can enter a user namespace.
        rights.obtain()
        asked = int(scenario["replications"])
        times = replications or (asked if asked > 1 else _REPLICATIONS)
        with compared_bar(scenario["name"], quiet=quiet) as watched:
            found = live_beside_simulated(
                scenario,
                seed=seed,
                replications=times,
                live_replications=live_replications or 1,
                threads=threads,
                watched=watched,
            )
    else:
        raise InvalidInputError(
            f"{len(what)} arguments to compare", "give one scenario or two folders of results"
        )
    if output is not None:
        found.save(output)
        if not quiet:
            say_written(output)
    if json:
        print_json(found.to_json())
    elif not quiet:
        from perhop.command.compare_table import show  # lazy: rich, which --json does not need

        show(found)
    return Exit.CLAIMS_NOT_MET if strict and not found.agrees else Exit.OK


def _saved(first: Path, second: Path) -> Comparison:
    return compare_results(Results.load(first), Results.load(second))
