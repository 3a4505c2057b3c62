"""`perhop compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from perhop.command.options import Json, Output, Overrides, Quiet, Replications, Seed, Threads, changes
from perhop.command.terminal import beside, print_json, say_written, show_warnings
from perhop.errors import Exit, InvalidInputError
from perhop.saving import check_target

if TYPE_CHECKING:
    from perhop.compare import Comparison

# As often is simulated where the scenario itself asks for one run: chance needs several to be seen.
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
    """Lay a run on real packets beside the simulation of the same scenario, or two saved results.

    Per class: throughput, shares, drops by cause, delays and their variation, and whether a difference is
    one that chance explains or tolerance allows.

    Parameters
    ----------
    what
        A scenario file, or two folders with results of one scenario.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Of every random stream, in both.
    replications
        How often it is simulated; by default as the scenario says, and 10 times where that is once.
    live_replications
        How often it is run on real packets; once.
    duration
        How long, with its unit, as in 10s; by default as the scenario says.
    output
        Folder for the comparison and both results; `perhop report` shows it.
    strict
        End with exit code 4 if anything is beyond its tolerance, or the run on real packets not trustworthy.
    json
        Print the comparison as one JSON document.
    quiet
        Show neither progress nor table.
    threads
        How many replications are simulated at the same time.

    """
    from perhop.live import rights
    from perhop.live.comparing import live_beside_simulated
    from perhop.scenario import Scenario

    if output is not None:
        check_target(output)
    if len(what) == 2:
        if set_ or seed is not None or replications or live_replications or duration:
            raise InvalidInputError(
                "two results are compared as they are", "options that change runs do not apply"
            )
        found = _saved(*what)
    elif len(what) == 1:
        scenario = Scenario.load(what[0], changes(set_, duration))
        show_warnings(scenario.warnings)
        # Before anything starts a thread: a process of several gets no user namespace.
        rights.obtain()
        asked = int(scenario["replications"])
        times = replications or (asked if asked > 1 else _REPLICATIONS)
        with beside(scenario["name"], quiet=quiet) as watched:
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
            f"{len(what)} files to compare", "give one scenario or two folders with results"
        )
    if output is not None:
        found.save(output)
        if not quiet:
            say_written(output)
    if json:
        print_json(found.to_json())
    elif not quiet:
        from perhop.command.compare_table import show

        show(found)
    return Exit.CLAIMS_NOT_MET if strict and not found.agrees else Exit.OK


def _saved(first: Path, second: Path) -> Comparison:
    from perhop.compare import compare
    from perhop.results import Results

    return compare(Results.load(first), Results.load(second))
