"""`perhop tune`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

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
from perhop.command.parameter import Number, Parameter
from perhop.command.terminal import console, new_bar, print_json, print_written, show_inferred, show_warnings
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
        Parameter(help="Set a value in every trial, as path=value, where {name} is a variable of --vary."),
    ] = None,
    start: Varied = None,
    trials: Annotated[int, Parameter(validator=Number(gte=1, lte=1_000_000))] = 200,
    least: Count = 2,
    replications: Count = 10,
    seed: Annotated[
        Seed, Parameter(help="Seed of every trial and of the search. Default: the scenario's seed.")
    ] = None,
    duration: Duration = None,
    output: Output = None,
    force: Annotated[
        Force,
        Parameter(
            help="If the output folder has files that this tuning did not write, rename it to DIR.old-1 "
            "(DIR.old-2 and so on) and write a new one. Without --force, such files are an error."
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
    engine: Name = "embedded",
    scheduler: Scheduler = None,
) -> Exit:
    """Find parameter values that meet goals, and show the trade-off between competing goals.

    Each point is tried with few replications; candidates for the answer get more. With -o, each trial is
    saved at once; the same command continues an interrupted search. Exits with code 4 if no trial meets every
    condition.

    Parameters
    ----------
    scenario
        The scenario file, or a router configuration, for which perhop infers hosts and traffic and reports
        what it inferred; - reads standard input.
    goal
        A condition, for example 'voice.delay_p99 <= 20ms' or 'gold.share of gold,silver = 60% within 3%', or
        an objective, for example 'bulk.loss as small as possible' or 'links.1.rate as small as possible'. May
        be given several times.
    vary
        A parameter and its range, as path=low:high, path=low:high:step, path=log(low,high) or path=a,b,c. A
        name instead of the path defines a variable for --set, which uses it as {name} or {2*name}.
    start
        A value to try first, as path=value or name=value, in addition to those of the scenario and of the
        formulas for WRED.
    trials
        Maximum number of different points. If the parameters have fewer combinations, all are tried.
    least
        Replications of each trial in the first round.
    replications
        Replications of the trials among which perhop chooses the answer.
    output
        Folder for the trials and the answer: trials.parquet, result.json, and the results with the chosen
        values in `best`.
    engine
        Where trials run: embedded, on threads of this process; dask, on the workers of a Dask cluster.

    """
    where = named(engine, threads=threads, scheduler=scheduler)
    loaded = Scenario.load(scenario)
    question = question_of(
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
        check_folder(output, question, force=force)
    show_inferred(loaded, scenario)
    show_warnings(loaded)
    with _progress(str(loaded["name"]), quiet=quiet) as progress:
        begin = pairs(start, "--start", "min=15")
        found = answer(question, where, output, start=begin, force=force, progress=progress)
    if output is not None and not quiet:
        print_written(output)
    if json:
        print_json(found.to_json())
    elif not quiet:
        show_tuning(found, str(scenario))
    return Exit.OK if found.met else Exit.NOT_MET


@contextmanager
def _progress(title: str, *, quiet: bool) -> Iterator[Callable[[Searched], None] | None]:
    """Show the progress of a tuning on stderr; yield the callback, or `None` if nothing is shown."""
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
