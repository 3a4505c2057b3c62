"""`perhop export`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from perhop import interchange
from perhop.command.options import Force, Output
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_written
from perhop.errors import Exit
from perhop.manifest import MANIFEST
from perhop.results import Results


def export(
    format: Literal["csv", "iperf3", "flent"],
    folder: Annotated[Path, Parameter(name="dir")],
    /,
    *,
    output: Output = None,
    force: Annotated[
        Force,
        Parameter(
            help="For csv: if the output folder has files that no export wrote, rename it to DIR.old-1 "
            "(DIR.old-2 and so on) and write a new one. Without --force, such files are an error."
        ),
    ] = False,
    replication: int = 0,
) -> Exit:
    """Export results to the formats of other programs.

    Parameters
    ----------
    format
        csv: all tables; iperf3: flows in the format of iperf3 --json; flent: throughput and delay over time
        for each class and direction. The title of a flent file is the name of the folder, its date the time
        at which the results were saved.
    folder
        A folder that `perhop run -o` wrote.
    output
        File to write, or a folder for csv. Default: DIR.csv, DIR.iperf3.json or DIR.flent.gz.
    replication
        Number of the replication in the results, from 0; csv exports all.

    """
    suffix = {"csv": ".csv", "iperf3": ".iperf3.json", "flent": ".flent.gz"}[format]
    target = output or Path(folder.resolve().name + suffix)
    results = Results.load(folder)
    if format == "csv":
        interchange.write_csv(results, target, force=force)
    elif format == "iperf3":
        interchange.write_iperf3(results, target, replication=replication)
    else:
        # Results have no date, so that equal runs give equal bytes. The date of the run is the date of its
        # folder.
        written = datetime.fromtimestamp((folder / MANIFEST).stat().st_mtime, UTC)
        title = folder.resolve().name
        interchange.write_flent(results, target, replication=replication, title=title, date=written)
    print_written(target)
    return Exit.OK
