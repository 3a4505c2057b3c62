"""`perhop check --fix`: a configuration with corrected lines."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path

from perhop.checking import Checked
from perhop.command.terminal import colors, print_note
from perhop.configuration import read
from perhop.errors import InvalidInputError
from perhop.printable import printable
from perhop.quantity import counted

_COLORS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_PLAIN = "\x1b[0m"


def write_fixed(found: Checked, target: Path, *, quiet: bool) -> None:
    """Write the configuration of `found`, with corrected lines, to a new file `target`. Show the changes.

    Raises:
        InvalidInputError: the file is not a router configuration, or `target` exists.

    """
    if found.router is None:
        raise InvalidInputError(
            f"{found.file}: --fix corrects only router configurations",
            "edit the scenario; its messages name the corrections",
        )
    if target.exists():
        raise InvalidInputError(f"{target} exists", "--fix never overwrites a file; choose another name")
    before = read(found.file).splitlines(keepends=True)
    after = list(before)
    fixed = {
        finding.line: finding.fixed
        for finding in found.findings
        if finding.line and finding.fixed is not None
    }
    for line, text in fixed.items():
        ending = before[line - 1][len(before[line - 1].rstrip("\r\n")) :]
        after[line - 1] = text + ending
    with target.open("x", encoding="utf-8", newline="") as file:
        file.writelines(after)
    if not quiet:
        print()
        for row in unified_diff(before, after, str(found.file), str(target), n=2):
            print(_colored(row.rstrip("\r\n")))
    print_note(f"{target}: {counted(len(fixed), 'line')} fixed")


def _colored(row: str) -> str:
    shown = printable(row)
    color = _COLORS.get(row[:1])
    return f"{color}{shown}{_PLAIN}" if color and colors(sys.stdout) else shown
