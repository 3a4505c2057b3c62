"""`perhop plot`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop.errors import Exit, InvalidInputError


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
        throughput, throughput-stacked, queue, drop-curve, delay, ipdv, delay-cdf, delay-histogram, cwnd;
        or share, of several runs.
    folders
        A folder of results; for share several, which differ in a parameter.
    output
        File to write, .svg, .png, .pdf, or .html to zoom and point into; by default KIND.svg.
    against
        For share: the path of the parameter that differs, as for `perhop run --set`.

    """
    from perhop import plot as plots
    from perhop.plot.writing import check_suffix, write
    from perhop.results import Results

    file = output or Path(f"{kind}.svg")
    check_suffix(file)
    results = [Results.load(folder) for folder in folders]
    if kind == "share":
        if against is None:
            raise InvalidInputError(
                "share against what?", "give --against with the path of the parameter that differs"
            )
        charts = [plots.share(results, against)]
    elif len(results) > 1:
        raise InvalidInputError(
            f"{kind} shows one folder of results, not {len(results)}", "share compares several"
        )
    else:
        charts = plots.charts(results[0], kind)
    for written in write(charts, file):
        print(f"written to {written}", file=sys.stderr)
    return Exit.OK
