"""`perhop bufferbloat`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

from perhop.command.lines import show_lines
from perhop.command.options import Json, Quiet, Seed
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_written, share_bar
from perhop.errors import Exit
from perhop.printable import printable

if TYPE_CHECKING:
    from perhop.bufferbloat import Run, Tested
    from perhop.running import Progress

# The characters of a graph of one line, from low to high, and the width of the graph in characters.
_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTH = 60

Disciplines = Annotated[str, Parameter(name="--qdisc")]
PlotFile = Annotated[Path | None, Parameter(name="--plot")]


def bufferbloat(
    *,
    rate: str,
    rtt: str = "20ms",
    qdisc: Disciplines = "fifo,fq_codel,cake",
    plot: PlotFile = None,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Show the latency of a link under load for several qdiscs, with a grade for each.

    The method is that of public bufferbloat tests: a ping runs while the link is idle for 5 s, while four TCP
    connections download for 10 s, and while four upload for 10 s. The qdisc is at both ends of the link.
    The grades are those of DSLReports, by the mean increase of the round-trip time under load: below 5 ms A+,
    30 ms A, 60 ms B, 200 ms C, 400 ms D, otherwise F.

    Parameters
    ----------
    rate
        Rates of the link, down and up, for example 50/10Mb/s, or one rate for both.
    rtt
        Round-trip time of the idle link. Default: 20ms.
    qdisc
        Qdiscs to compare, separated by commas, each with its options as in tc; fifo is a queue of 1000
        packets. Default: fifo,fq_codel,cake.
    plot
        File for the graph: .html, .svg, .png or .pdf.

    """
    from perhop import bufferbloat as test  # lazy: polars
    from perhop.plot.writing import check_file, write  # lazy: polars

    if plot is not None:
        check_file(plot)
    qdiscs = test.disciplines(qdisc)
    with share_bar("simulating", quiet=quiet) as show:

        def progress(name: str, done: Progress) -> None:
            if show is not None:
                show((qdiscs.index(name) + done.fraction) / len(qdiscs))

        tested = test.test(rate, rtt=rtt, qdiscs=qdiscs, seed=1 if seed is None else seed, progress=progress)
    if plot is not None:
        for file in write([tested.chart()], plot):
            if not quiet:
                print_written(file)
    if json:
        print_json(tested.to_dict())
    elif not quiet:
        print("\n".join(map(printable, [*_table(tested), "", *_graph(tested), ""])))
        show_lines("\n".join(_notes(tested)))
    return Exit.OK


def _table(tested: Tested) -> Iterator[str]:
    width = max(len("qdisc"), *(len(run.qdisc) for run in tested.runs))
    yield f"{'':{width}}         idle       downloading              uploading"
    yield f"{'qdisc':{width}}  grade  RTT ms     Mb/s   RTT ms  more     Mb/s   RTT ms  more"
    for run in tested.runs:
        loads = "   ".join(
            f"{load.rate_bps / 1e6:6.1f} {load.rtt_s * 1e3:8.1f} {load.increase_s * 1e3:+5.0f}"
            for load in (run.download, run.upload)
        )
        yield f"{run.qdisc:{width}}  {run.grade:5}  {run.idle_s * 1e3:6.1f}   {loads}"


def _graph(tested: Tested) -> Iterator[str]:
    """Generate a line with the round-trip times over time for each discipline, on one scale."""
    width = max(len(run.qdisc) for run in tested.runs)
    columns = [list(_columns(run)) for run in tested.runs]
    values = [value for column in columns for value in column if value is not None]
    least, greatest = min(values), max(values)
    span = max(math.log(greatest / least), 1e-9)

    def height(rtt: float | None) -> str:
        if rtt is None:
            return " "
        return _HEIGHTS[min(int(math.log(rtt / least) / span * len(_HEIGHTS)), len(_HEIGHTS) - 1)]

    yield f"{'':{width}}  {_phases(tested)}"
    for run, column in zip(tested.runs, columns, strict=True):
        yield f"{run.qdisc:{width}}  {''.join(map(height, column))}"
    yield (
        f"{'':{width}}  RTT: {_HEIGHTS[0]} {least * 1e3:.1f} ms to {_HEIGHTS[-1]} {greatest * 1e3:.1f} ms, "
        "logarithmic"
    )


def _columns(run: Run) -> Iterator[float | None]:
    """Generate the mean round-trip time of each column; `None` for a column without an answered ping."""
    samples = len(run.rtts)
    for column in range(_WIDTH):
        part = run.rtts[column * samples // _WIDTH : (column + 1) * samples // _WIDTH]
        known = [value for value in part if value is not None]
        yield fmean(known) if known else None


def _phases(tested: Tested) -> str:
    """Return the names of the loads above their columns."""
    times: Sequence[float] = tested.runs[0].times
    begin, end = times[0], times[-1]
    text = [" "] * _WIDTH
    for name, (start, stop) in (("downloading", tested.line.downloads), ("uploading", tested.line.uploads)):
        first, last = (round((at - begin) / (end - begin) * _WIDTH) for at in (start, stop))
        text[first:last] = f"{name:-<{last - first}}"[: last - first]
    return "".join(text)


def _notes(tested: Tested) -> Iterator[str]:
    from perhop.bufferbloat import FIFO, GRADES_SOURCE  # lazy: polars

    yield f"grades: {GRADES_SOURCE}, by the mean increase of the RTT under downloads and uploads"
    yield from (f"{run.qdisc}: {FIFO[run.qdisc]}" for run in tested.runs if run.qdisc in FIFO)
