"""The command `perhop`, and `python -m perhop`."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from perhop.errors import Exit
from perhop.interrupts import so_far


def main() -> NoReturn:
    """Run the command line; an interrupt while its modules load ends it like any other."""
    _leave_out_current_folder()
    try:
        from perhop.command import main as run  # lazy: an interrupt during this import is caught below

        run()
    except KeyboardInterrupt:
        sys.stderr.write(f"interrupted: {so_far()}\n")
        sys.exit(int(Exit.INTERRUPTED))


def _leave_out_current_folder() -> None:
    """Remove the current folder from the path, unless it contains perhop; `python -m perhop` adds it.

    Files in it, such as `json.py`, would replace modules of Python. `-I` does this from the start.
    """
    # Without a current folder, `sys.path` has no entry for it.
    with suppress(FileNotFoundError):
        here = Path.cwd()
        if Path(sys.path[0]) == here and Path(__file__).resolve().parents[1] != here:
            del sys.path[0]


if __name__ == "__main__":
    main()
