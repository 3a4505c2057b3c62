"""`perhop verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from perhop import _core
from perhop.command.lines import show_lines
from perhop.command.options import Json, Quiet, Threads
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, progress_bar
from perhop.errors import Exit
from perhop.quantity import counted
from perhop.repeating import Verified
from perhop.repeating import verify as verify_folder


def verify(
    folder: Annotated[Path, Parameter(name="dir")],
    /,
    *,
    repeat: Annotated[bool, Parameter(negative="--no-repeat")] = True,
    base: Path | None = None,
    threads: Threads = None,
    json: Json = False,
    quiet: Annotated[
        Quiet, Parameter(help="Show no progress and no findings; the exit code is the result.")
    ] = False,
) -> Exit:
    """Check saved results against their checksums, and check that a repeated run gives the same results.

    perhop checks every file against its SHA-256, repeats the saved scenario with its seed, and compares all
    tables cell by cell. Exits with code 0 if all is identical, 2 if a file is missing or damaged, 4 if the
    repeated run differs.

    Parameters
    ----------
    folder
        A folder that perhop wrote with -o: a run, a sweep, a comparison or a study. All its runs are
        repeated, except live runs and captures, whose files are only checked.
    repeat
        Repeat the runs; --no-repeat only checks the files.
    base
        Folder for relative paths of traces. Default: the folder of results.

    """
    with progress_bar(f"verifying {folder}", quiet=quiet) as progress:
        found = verify_folder(folder, repeat=repeat, base=base, threads=threads, progress=progress)
    if json:
        print_json(found.to_json())
    elif not quiet:
        _show(found, repeat=repeat)
    return Exit.OK if found.identical else Exit.NOT_MET


def _show(found: Verified, *, repeat: bool) -> None:
    folder, version = found.saved.folder, found.saved.manifest["perhop"]
    by = f"perhop {version}" + ("" if version == _core.__version__ else f", verified by {_core.__version__}")
    show_lines(f"{folder}: {counted(len(found.saved.contents), 'file')} as saved by {by}")
    for repeated in found.repeated:
        name = folder / repeated.name
        ran = f"seed {repeated.seed}, {counted(repeated.replications, 'replication')}"
        show_lines(f"{name}: {'different' if repeated.differences else 'identical'} when repeated ({ran})")
        for difference in repeated.differences:
            show_lines(f"  {difference}")
    if repeat and not found.repeated:
        show_lines(f"{folder}: not repeated: {found.saved.kind} without simulated runs")
