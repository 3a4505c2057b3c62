"""`perhop report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop.command.terminal import say_written
from perhop.errors import Exit
from perhop.report import write


def report(
    folders: Annotated[list[Path], Parameter(name="dir", negative=())],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], show_default=True)] = Path("report.html"),
) -> Exit:
    """Write a report of results as one self-contained HTML file.

    Parameters
    ----------
    folders
        Folders that `perhop run -o` or `perhop study run -o` wrote, or folders of such folders.
    output
        File to write.

    """
    write(folders, output)
    say_written(output)
    return Exit.OK
