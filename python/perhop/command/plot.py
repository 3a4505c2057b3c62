"""`perhop plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop import plot as plots
from perhop.command.terminal import say_written
from perhop.errors import Exit, InvalidInputError
from perhop.plot.studies import STUDY_KINDS, study_charts
from perhop.plot.writing import check_file, usual_suffix, write
from perhop.results import Results
from perhop.saved import kind_of
from perhop.sweeping import Sweep


def plot(
    kind: str,
    folders: Annotated[list[Path], Parameter(name="dir", negative=())],
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    against: str | None = None,
) -> Exit:
    """Plot results that `perhop run -o` wrote.

    Parameters
    ----------
    kind
        For a run: throughput, throughput-stacked, queue, drop-curve, delay, ipdv, delay-cdf, delay-histogram,
        cwnd. For a sweep or several runs: share. For a study: published (and measured figures), curve.
    folders
        A folder of results; for share a folder of a sweep, or several runs that differ in a parameter.
    output
        File to write, .svg, .png, .pdf, or .html for an interactive plot; by default KIND.svg, or KIND.html
        if matplotlib is not installed.
    against
        For share: the path of the parameter on the x axis, as for `perhop run --set`; by default the first
        of a sweep.

    """
    file = output or Path(kind + usual_suffix())
    check_file(file)
    if kind in STUDY_KINDS:
        return _written(write([one for folder in folders for one in study_charts(folder, kind)], file))
    if kind == "share" and len(folders) == 1 and kind_of(folders[0]) == "sweep":
        return _written(write(Sweep.load(folders[0]).share(against=against), file))
    results = [Results.load(folder) for folder in folders]
    if kind == "share":
        if against is None:
            raise InvalidInputError("share needs --against", "give the path of the parameter that differs")
        charts = [plots.share(results, against)]
    elif len(results) > 1:
        raise InvalidInputError(
            f"{kind} takes one folder of results, not {len(results)}", "share compares several"
        )
    else:
        charts = plots.charts(results[0], kind)
    return _written(write(charts, file))


def _written(files: list[Path]) -> Exit:
    for file in files:
        say_written(file)
    return Exit.OK
