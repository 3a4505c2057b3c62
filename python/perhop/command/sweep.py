"""`perhop sweep`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop.command.options import Force, Json, Output, Overrides, Quiet, Replications, Seed, Threads, changes
from perhop.command.plotting import Plots
from perhop.command.sweep_table import show_sweep
from perhop.command.terminal import print_json, progress_bar, say_written, show_inferred, show_warnings
from perhop.errors import Exit, InvalidInputError
from perhop.plot.writing import check_file
from perhop.saving import check_target
from perhop.scenario import Scenario
from perhop.sweeping import sweep as simulate

_OPENING, _CLOSING = "([{", ")]}"


def sweep(
    scenario: Path,
    /,
    *,
    set_: Overrides = None,
    seed: Seed = None,
    replications: Replications = None,
    duration: str | None = None,
    output: Output = None,
    force: Force = False,
    plot: Annotated[list[Path] | None, Parameter(negative=())] = None,
    against: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> Exit:
    """Simulate a scenario for every combination of the values of some parameters.

    Parameters
    ----------
    scenario
        The scenario file, or a router configuration, for which hosts and traffic are inferred and reported;
        - is standard input.
    set_
        The values of a parameter, as path=value,value,...; may be given several times. A single value is set
        at every point.
    seed
        Seed for all random streams at every point; by default the scenario's own.
    replications
        Number of runs of each point with other random draws; two or more give confidence bands.
    duration
        Simulated time of each point with its unit, as in 60s.
    output
        Folder for sweep.json, sweep.csv and the results of every point; it appears complete or not at all.
    force
        Where the output folder holds anything but an earlier result, move it aside as DIR.old-1, DIR.old-2
        and so on, in place of refusing.
    plot
        File for a plot of each class's share, .svg, .png, .pdf or .html; may be given several times.
    against
        The parameter on the x axis of the plot; by default the first with several values.
    json
        Print values and results of all points as one JSON document.
    quiet
        Show neither progress nor table.
    threads
        Number of simulations that run at the same time; the results do not depend on it.

    """
    values = {path: split(value) for path, value in changes(set_, duration).items()}
    for file in plot or []:
        check_file(file, made=output)
    if against is not None and len(values.get(against, [])) < 2:
        raise InvalidInputError(
            f"--against: `{against}` has fewer than two values", f"give --set {against}=value,value"
        )
    if output is not None:
        check_target(output, force=force)
    # Read once: it may be standard input.
    loaded = Scenario.load(scenario)
    show_inferred(loaded, scenario)
    show_warnings(loaded.warnings)
    with progress_bar(loaded["name"], quiet=quiet) as watch:
        found = simulate(
            loaded, values, seed=seed, replications=replications, threads=threads, progress=watch
        )
    plots = Plots(output, [(file, partial(found.share, against=against)) for file in plot or []])
    if output is not None:
        found.save(output, force=force, also=plots.write_into)
        if not quiet:
            say_written(output)
    if json:
        print_json(found.to_json())
    elif not quiet:
        show_sweep(found)
    plots.write_rest(quiet=quiet)
    return Exit.OK


def split(text: str) -> list[str]:
    """Split values at commas; a comma within brackets or quotes is part of its value."""
    values, depth, quote = [""], 0, ""
    for letter in text:
        if letter == "," and not depth and not quote:
            values.append("")
            continue
        values[-1] += letter
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in _OPENING) - (letter in _CLOSING)
    values = [value.strip() for value in values]
    if not all(values):
        raise InvalidInputError(f"`{text}` contains an empty value", "separate values by single commas")
    return values
