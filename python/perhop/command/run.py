"""`perhop run`."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from perhop.command.options import Json, Output, Overrides, Quiet, Replications, Seed, Threads, pairs
from perhop.errors import Exit
from perhop.saving import check_target

if TYPE_CHECKING:
    from perhop.results import Results


def run(
    scenario: Path,
    /,
    *,
    set_: Overrides = None,
    seed: Seed = None,
    replications: Replications = None,
    duration: str | None = None,
    output: Output = None,
    plot: Annotated[list[str] | None, Parameter(negative=())] = None,
    watch: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> Exit:
    """Simulate a scenario and show what each class of traffic got.

    Parameters
    ----------
    scenario
        The scenario file, or a router's configuration, around which hosts and traffic are then guessed;
        - is standard input.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Of every random stream; by default the scenario's own.
    replications
        How often the experiment is repeated with other random draws; from two on, with confidence intervals.
    duration
        Simulated time with its unit, as in 60s.
    output
        Folder for summary.json and the tables as Parquet; it appears as a whole or not at all.
    plot
        Plot the results: KIND, or KIND=FILE as in delay-cdf=delay.html; by default KIND.svg in the output
        folder, or here (KIND.html where matplotlib is not installed). May be given several times;
        `perhop plot --help` names the kinds.
    watch
        Show queues and shares as they evolve, in a terminal; the first replication takes longer for it.
    json
        Print the summary as one JSON document.
    quiet
        Show neither progress nor table.
    threads
        How many replications run at the same time; the results do not depend on it.

    """
    from perhop.command.terminal import progress_bar, show_guess, show_warnings
    from perhop.command.watching import watching
    from perhop.running import simulate
    from perhop.scenario import Scenario

    wanted = [_plot(one, output) for one in plot or []]
    if output is not None:
        check_target(output)
    changes = pairs(set_) | ({} if duration is None else {"duration": duration})
    loaded = Scenario.load(scenario, changes)
    show_guess(loaded, scenario)
    show_warnings(loaded.warnings)
    with watching(loaded, quiet=quiet) if watch else progress_bar(loaded["name"], quiet=quiet) as shown:
        progress, see = shown if isinstance(shown, tuple) else (shown, None)
        results = simulate(
            loaded, seed=seed, replications=replications, threads=threads, progress=progress, watch=see
        )
    if output is not None:
        results.save(output)
        if not quiet:
            print(f"written to {output}", file=sys.stderr)
    if json:
        print(json_text.dumps(results.summary, ensure_ascii=False, allow_nan=False))
    elif not quiet:
        from perhop.command.class_table import show_classes

        show_classes(results)
    # Last of all: whatever a plot lacks, the results are saved and shown.
    _write_plots(results, wanted, quiet=quiet)
    return Exit.OK


def _plot(argument: str, output: Path | None) -> tuple[str, Path]:
    """Return kind and file of `KIND` or `KIND=FILE`; refuses what could not be written in the end."""
    from perhop.plot.kinds import check_kind
    from perhop.plot.writing import check_suffix, usual_suffix

    kind, equals, file = argument.partition("=")
    check_kind(kind)
    target = Path(file) if equals else (output or Path()) / (kind + usual_suffix())
    check_suffix(target)
    return kind, target


def _write_plots(results: Results, wanted: list[tuple[str, Path]], *, quiet: bool) -> None:
    from perhop import plot
    from perhop.plot.writing import write

    for kind, file in wanted:
        for written in write(plot.charts(results, kind), file):
            if not quiet:
                print(f"written to {written}", file=sys.stderr)
