"""`perhop plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from perhop import plot as plots
from perhop.command.options import Against, Classes, LogY, Series, pairs
from perhop.command.parameter import Parameter
from perhop.command.sweep_plots import requested_plot
from perhop.command.terminal import print_written
from perhop.errors import Exit, InvalidInputError
from perhop.plot.chart import Chart
from perhop.plot.look import Look
from perhop.plot.overlay import numbered_names, overlaid
from perhop.plot.studies import STUDY_KINDS, study_charts
from perhop.plot.writing import Destination, check_file, write
from perhop.results import Results
from perhop.saved import kind_of
from perhop.sweeping import Sweep

# The kinds that overlay several runs.
_OVERLAID = ("throughput", "delay", "ipdv", "delay-cdf", "delay-histogram")


def plot(
    kind: str,
    folders: Annotated[list[Path], Parameter(name="dir", negative=())],
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    against: Against = None,
    series: Series = None,
    class_: Classes = None,
    log_x: Annotated[bool, Parameter(negative=())] = False,
    log_y: LogY = False,
    title: str | None = None,
    label: Annotated[list[str] | None, Parameter(negative=())] = None,
    size: str | None = None,
    font: str | None = None,
) -> Exit:
    """Plot results that `perhop run -o` wrote.

    Parameters
    ----------
    kind
        For a run: throughput, throughput-stacked, drops, queue, drop-curve, delay, ipdv, delay-cdf,
        delay-histogram, cwnd, page-load-cdf. For several runs: share. For a sweep: share or any metric, for
        example delay_p99; heat-map:METRIC, parallel:METRIC, pareto:CLASS.METRIC,CLASS.METRIC. For a study:
        published (compared with measured figures), curve.
    folders
        A folder of results. Several runs appear in one plot (throughput, delay, ipdv, delay-cdf,
        delay-histogram). For share: a folder of a sweep, or several runs that differ in one parameter.
    output
        File to write: .svg, .png, .pdf, .pgf for LaTeX, or .html for an interactive plot. Several plots get a
        page each in .pdf, share one page in .html, and are written to numbered files in other formats.
        Default: KIND.svg, or KIND.html if there are several plots or matplotlib is not installed.
    log_x
        For sweeps and delay-cdf: use a logarithmic x axis.
    title
        Title of the plot; '' for none. Default: a title from the results.
    label
        Show TEXT instead of NAME, as NAME=TEXT. NAME is a class, a run, a line, a parameter, or the axis x or
        y. May be given several times.
    size
        Width of a picture, for example 3.4in, 85mm or 8.5cm, or width and height, for example '3.4in x
        2.5in'.
    font
        Font of a picture, its size or both, for example serif, 8pt or 'Times New Roman 8pt'. For other
        settings of matplotlib, use a matplotlibrc file.

    """
    look = Look.parse(title, pairs(label, "--label", "x='Rate of the line'"), size, font)
    if len(folders) == 1 and kind not in STUDY_KINDS and kind_of(folders[0]) == "sweep":
        request = requested_plot(kind, output, against, series, class_, log=(log_x, log_y))
        check_file(request.where.file)
        return _written(request.charts(Sweep.load(folders[0])), request.where, look)
    where = Destination.usual(kind) if output is None else Destination(output)
    check_file(where.file)
    if kind in STUDY_KINDS:
        charts = [chart for folder in folders for chart in study_charts(folder, kind)]
        return _written(charts, where, look)
    results = [Results.load(folder) for folder in folders]
    if kind == "share":
        if against is None:
            raise InvalidInputError("share needs --against", "give the path of the parameter that differs")
        charts = [plots.share(results, against)]
    elif len(results) > 1:
        each = [plots.charts(result, kind, log_x=log_x) for result in results]
        if kind not in _OVERLAID:
            raise InvalidInputError(
                f"{kind} needs one folder of results, not {len(results)}",
                f"{', '.join(_OVERLAID)} show several runs in one plot; share compares them",
            )
        charts = [overlaid([chart for (chart,) in each], numbered_names([folder.name for folder in folders]))]
    else:
        charts = plots.charts(results[0], kind, log_x=log_x)
    return _written(charts, where, look)


def _written(charts: Sequence[Chart], where: Destination, look: Look) -> Exit:
    for file in write(charts, where.file_for(charts), look):
        print_written(file)
    return Exit.OK
