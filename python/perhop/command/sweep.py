"""`perhop sweep`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

from perhop.command.options import (
    Against,
    Classes,
    Duration,
    Force,
    Json,
    LogY,
    Opened,
    Output,
    Overrides,
    Quiet,
    Replications,
    ScenarioFile,
    Scheduler,
    Seed,
    Series,
    Threads,
    Watch,
    changes,
)
from perhop.command.parameter import Number, Parameter
from perhop.command.plotting import Plots
from perhop.command.sweep_plots import PlotRequest, check_parameters, requested_plots
from perhop.command.sweep_progress import counted_points, paged, watching
from perhop.command.sweep_table import show_failures, show_sweep
from perhop.command.terminal import print_json, print_note, print_written, show_inferred, show_warnings
from perhop.engines import Name, named
from perhop.errors import Exit
from perhop.plot.chart import Chart
from perhop.quantity import counted
from perhop.sampling import Method
from perhop.scenario import Scenario
from perhop.sweeping import Sweep, Until, design_of, plan_of, simulated, stored
from perhop.sweeping.growing import check_folder

# The maximum number of points of a sweep that is read again and shown. A larger sweep may exceed the memory.
_READ = 20_000


def sweep(
    scenario: ScenarioFile,
    /,
    *,
    set_: Annotated[
        Overrides,
        Parameter(
            help="The values of a parameter, as path=value,value,... or path=start:stop:step or "
            "path=log(start,stop,n); a single value applies to all points. May be given several "
            "times."
        ),
    ] = None,
    zip_: Annotated[bool, Parameter(name="--zip", negative=())] = False,
    sample: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    method: Method = "sobol",
    seed: Annotated[
        Seed,
        Parameter(help="Seed of all random streams, the same at every point. Default: the scenario's seed."),
    ] = None,
    replications: Replications = None,
    until: str | None = None,
    at_most: Annotated[int, Parameter(validator=Number(gte=2, lt=2**32))] = 100,
    independent: Annotated[bool, Parameter(negative=())] = False,
    duration: Duration = None,
    table: Annotated[list[str] | None, Parameter(negative=())] = None,
    output: Output = None,
    force: Annotated[
        Force,
        Parameter(
            help="If the output folder has files that this sweep did not write, rename it to DIR.old-1 "
            "(DIR.old-2 and so on) and write a new one. Without --force, such files are an error."
        ),
    ] = False,
    plot: Annotated[list[str] | None, Parameter(negative=())] = None,
    against: Against = None,
    series: Series = None,
    class_: Classes = None,
    log_x: Annotated[bool, Parameter(negative=())] = False,
    log_y: LogY = False,
    watch: Watch = None,
    open_: Opened = True,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
    engine: Name = "embedded",
    scheduler: Scheduler = None,
) -> Exit:
    """Simulate a scenario for every combination of parameter values, or for a sample of them.

    With -o, each result is saved at once; the same command continues an interrupted sweep. A point that fails
    is reported, and the other points are simulated.

    Parameters
    ----------
    scenario
        The scenario file, or a router configuration, for which perhop infers hosts and traffic and reports
        what it inferred; - reads standard input.
    zip_
        Combine the first values of all parameters, then the second values, and so on, instead of every
        combination.
    sample
        Draw this number of points. Each --set is then path=start:stop, path=log(start,stop) or a list of
        names.
    method
        How points are drawn: sobol (a larger sample contains the points of a smaller one) or latin-hypercube.
    replications
        Number of runs of each point with different random draws; two or more give confidence bands. With
        --until this is the minimum.
    until
        Add replications to each point until a 95 % confidence interval is narrow enough, for example
        'voice.delay_p99 within 1ms' or 'bulk.throughput within 5%'.
    at_most
        With --until: the maximum number of replications of a point.
    independent
        Draw other random numbers at each point. By default all points use the same random numbers, so that
        differences between points show with fewer replications.
    table
        A table of results to keep for each point in addition to classes, for example queues or tcp. May be
        given several times.
    output
        Folder for sweep.json, scenario.json and the tables as Parquet. perhop adds the results of each point
        when the point ends.
    plot
        Plot METRIC, or METRIC=FILE, for example delay_p99=delay.svg; heat-map:METRIC;
        parallel:METRIC; pareto:CLASS.METRIC,CLASS.METRIC. FILE alone (.svg, .png, .pdf or .html) plots the
        share of each class in the throughput. May be given several times.
    log_x
        Use a logarithmic x axis.
    watch
        Show the chart of the first --plot during the sweep, in the terminal; --watch=web shows it in the
        browser. Without --plot, the browser shows the share of each class in the throughput.
    open_
        With --watch=web: open the browser if there is a display; --no-open only prints the link.
    engine
        Where points run: embedded, on threads of this process; dask, on the workers of a Dask cluster.

    """
    chosen = requested_plots(plot, against, series, class_, log=(log_x, log_y), made=output)
    where = named(engine, threads=threads, scheduler=scheduler)
    # The scenario is read once, because it may be standard input.
    loaded = Scenario.load(scenario)
    rule = None if until is None else Until.parse(until, at_most)
    design = design_of(changes(set_, duration), together=zip_, sample=sample, method=method, seed=seed or 0)
    check_parameters(design, against, series)
    for plot_request in chosen:
        plot_request.check(design)
    plan = plan_of(
        loaded,
        design,
        seed=seed,
        replications=replications,
        until=rule,
        independent=independent,
        tables=table or (),
    )
    if output is not None:
        check_folder(output, plan, force=force)
    show_inferred(loaded, scenario)
    show_warnings(loaded)
    held = _Held(output)
    plots = Plots(
        output, [(plot_request.where, partial(held.charts, plot_request)) for plot_request in chosen]
    )
    request = chosen[0] if watch and chosen else None
    with paged(plan, request, opened=open_) if watch == "web" else nullcontext() as page:
        with watching(plan, request, quiet=quiet) if page is None else nullcontext(page.add) as progress:
            if output is None:
                held.sweep = simulated(plan, where, progress)
            else:
                also = plots.write_into if plots.are_inside else None
                ran = stored(plan, where, output, force=force, progress=progress, also=also)
        if page is not None:
            page.finish(f"{counted_points(len(design))} have ended; the results are in the terminal")
        if output is not None and not quiet:
            if before := len(plan.design) - ran:
                print_note(f"{counted(before, 'point was', 'points were')} already complete")
            print_written(output)
        if output is not None and len(design) > _READ and not json:
            if not quiet:
                print_note(f"{len(design):,} points are not shown: read or plot {output}")
            code = Exit.OK
        else:
            code = _show_results(held.read(), output, json=json, quiet=quiet)
        # The plots are written last, so that an error in one does not lose the results.
        plots.write_rest(quiet=quiet)
        sys.stdout.flush()
    return code


class _Held:
    """The results of a sweep, in memory, or in a folder that is read when first needed."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.sweep: Sweep | None = None

    def read(self) -> Sweep:
        """Return the sweep."""
        if self.sweep is None and self._folder is not None:
            self.sweep = Sweep.load(self._folder)
        assert self.sweep is not None, "a sweep without a folder is in memory"
        return self.sweep

    def charts(self, request: PlotRequest) -> list[Chart]:
        """Return the charts of a plot."""
        return request.charts(self.read())


def _show_results(found: Sweep, output: Path | None, *, json: bool, quiet: bool) -> Exit:
    """Show the results of a sweep, and report failed points."""
    show_failures(found.failures, output)
    if json:
        print_json(found.to_json())
    elif not quiet and not _is_lost(found):
        show_sweep(found)
    return Exit.FAILED if _is_lost(found) else Exit.OK


def _is_lost(sweep: Sweep) -> bool:
    """Whether every point failed."""
    return sweep.failures.height == sweep.points.height
