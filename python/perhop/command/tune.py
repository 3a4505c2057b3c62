"""`perhop tune`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from perhop.command.options import (
    Duration,
    Force,
    Json,
    Output,
    Overrides,
    Quiet,
    ScenarioFile,
    Scheduler,
    Seed,
    Threads,
    changes,
    pairs,
)
from perhop.command.terminal import console, new_bar, print_json, say_written, show_inferred, show_warnings
from perhop.command.tune_table import show_tuning
from perhop.engines import Name, named
from perhop.errors import Exit
from perhop.printable import printable
from perhop.scenario import Scenario
from perhop.tuning import Searched, answer, question_of
from perhop.tuning.storing import check_folder

Varied = Annotated[list[str] | None, Parameter(negative=())]
Count = Annotated[int, Parameter(validator=Number(gte=2, lt=2**32))]


def tune(
    scenario: ScenarioFile,
    /,
    *,
    goal: Varied = None,
    vary: Varied = None,
    set_: Annotated[
        Overrides,
        Parameter(
            help="Set the value at a path in every trial, as path=value; may hold {name} for what is varied."
        ),
    ] = None,
    start: Varied = None,
    trials: Annotated[int, Parameter(validator=Number(gte=1, lte=1_000_000))] = 200,
    least: Count = 2,
    replications: Count = 10,
    seed: Annotated[
        Seed, Parameter(help="Seed of every trial and of the search; by default the scenario's own.")
    ] = None,
    duration: Duration = None,
    output: Output = None,
    force: Annotated[
        Force,
        Parameter(
            help="Where the output folder holds anything but this tuning, move it aside as DIR.old-1, "
            "DIR.old-2 and so on, in place of refusing."
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
    engine: Name = "embedded",
    scheduler: Scheduler = None,
) -> Exit:
    """Find values of parameters that meet goals, and show the trade-off where goals compete.

    Points are tried with few replications, and those that may be the answer with more. With -o, trials are
    kept as they come, and an interrupted search goes on where it was by the same command. Exits with code 4
    if no trial meets every condition.

    Parameters
    ----------
    scenario
        The scenario file, or a router configuration, for which hosts and traffic are inferred and reported;
        - is standard input.
    goal
        A condition, as 'voice.delay_p99 <= 20ms', 'gold.share of gold,silver = 60% within 3%', or a wish, as
        'bulk.loss as small as possible' or 'links.1.rate as small as possible'; may be given several times.
    vary
        What a parameter may be, as path=low:high, path=low:high:step, path=log(low,high) or path=a,b,c. In
        place of a path a name, which stands for {name} and {2*name} in the values of --set.
    start
        A value to begin with, as path=value or name=value, beside those of the scenario and of the formulas
        for WRED.
    trials
        Different points at most; a space that has no more is tried whole.
    least
        Replications of each trial at first.
    replications
        Replications of the trials that the answer is chosen from.
    output
        Folder for the trials and the answer: trials.parquet, result.json, and the results of the chosen
        values in best.
    engine
        Where it runs: embedded, on the threads of this process, or dask, on the workers of a Dask cluster.

    """
    where = named(engine, threads=threads, scheduler=scheduler)
    loaded = Scenario.load(scenario)
    asked = question_of(
        loaded,
        goal or [],
        pairs(vary, "--vary", "links.1.rate=1Mb/s:4Mb/s"),
        changes(set_, duration),
        trials=trials,
        least=least,
        most=max(least, replications),
        seed=seed,
    )
    if output is not None:
        check_folder(output, asked, force=force)
    show_inferred(loaded, scenario)
    show_warnings(loaded.warnings)
    with _progress(str(loaded["name"]), quiet=quiet) as progress:
        begin = pairs(start, "--start", "min=15")
        found = answer(asked, where, output, start=begin, force=force, progress=progress)
    if output is not None and not quiet:
        say_written(output)
    if json:
        print_json(found.to_json())
    elif not quiet:
        show_tuning(found, str(scenario))
    return Exit.OK if found.met else Exit.NOT_MET


@contextmanager
def _progress(title: str, *, quiet: bool) -> Iterator[Callable[[Searched], None] | None]:
    """Show the progress of a tuning on stderr; give the callback, `None` if nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = new_bar(console(sys.stderr), "work", "elapsed")
    with bar:
        task = bar.add_task(printable(title), total=1.0, work="")

        def show(now: Searched) -> None:
            failed = f", {now.failed:,} failed" if now.failed else ""
            work = f"{now.phase}: {now.trials:,} of {now.of:,} trials, {now.runs:,} runs{failed}"
            bar.update(task, completed=now.fraction, work=work)

        yield show
