"""`perhop report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from perhop.command.options import Back
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_written
from perhop.errors import Exit, InvalidInputError
from perhop.page import is_page
from perhop.report import write


def report(
    folders: Annotated[list[Path], Parameter(name="dir", negative=())],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], show_default=True)] = Path("report.html"),
    back: Back = False,
) -> Exit:
    """Write a report of results as one self-contained HTML file.

    Parameters
    ----------
    folders
        Folders that `perhop run -o` or `perhop study run -o` wrote, or folders that contain such folders.
    output
        File to write, .html. An existing file is replaced only if perhop wrote it.

    """
    check_page(output)
    write(folders, output, back=back)
    print_written(output)
    return Exit.OK


def check_page(output: Path) -> None:
    """Refuse a file name that does not end in .html, and a file that perhop did not write."""
    if output.suffix not in (".html", ".htm", ""):
        raise InvalidInputError(f"`{output}` does not end in .html", "a report is an HTML file")
    if not output.is_file() or is_page(output):
        return
    raise InvalidInputError(
        f"`{output}` exists and was not written by perhop", "choose another name, or remove it first"
    )
