"""`perhop playground`."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

from perhop.command.options import Output
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_note, print_written
from perhop.errors import Exit
from perhop.playground import page
from perhop.saving import replace_file


def playground(*, teacher: Annotated[bool, Parameter(negative=())] = False, output: Output = None) -> Exit:
    """Open a page that runs scenarios and configurations in the browser, packet by packet, offline.

    Parameters
    ----------
    teacher
        Open the teacher's page, which has the solutions of the lessons and reads the result sheets of
        students.
    output
        Write the page to this file instead of opening it; any static host can serve it.

    """
    text = page("teachers" if teacher else "students")
    if output is not None:
        replace_file(output, text)
        print_written(output)
        return Exit.OK
    # The file stays, because the browser reads it after this process has ended.
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perhop"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ("playground-teacher.html" if teacher else "playground.html")
    replace_file(file, text)
    if webbrowser.open(file.as_uri()):
        print_note(f"opened {file}")
    else:
        print_note(f"no browser opened: open {file} in one, or write the page with -o")
    return Exit.OK
