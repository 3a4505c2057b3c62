"""`perhop export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from perhop.command.terminal import say_written
from perhop.errors import Exit


def export(
    format: Literal["csv", "iperf3", "flent"],
    folder: Annotated[Path, Parameter(name="dir")],
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    replication: int = 0,
) -> Exit:
    """Write results in the format of other programs.

    Parameters
    ----------
    format
        csv: every table; iperf3: flows as iperf3 prints them; flent: throughput and delay over time.
    folder
        A folder that `perhop run -o` wrote.
    output
        File to write, for csv a folder; by default DIR.csv, DIR.iperf3.json or DIR.flent.gz in this folder.
    replication
        Which replication, from 0; csv has them all.

    """
    from perhop import exchange
    from perhop.results import Results

    suffix = {"csv": ".csv", "iperf3": ".iperf3.json", "flent": ".flent.gz"}[format]
    target = output or Path(folder.resolve().name + suffix)
    results = Results.load(folder)
    if format == "csv":
        exchange.write_csv(results, target)
    elif format == "iperf3":
        exchange.write_iperf3(results, target, replication=replication)
    else:
        exchange.write_flent(results, target, replication=replication)
    say_written(target)
    return Exit.OK
