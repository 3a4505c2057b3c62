"""The command `perhop`, and `python -m perhop`."""

import sys
from typing import NoReturn

from perhop.errors import Exit
from perhop.interrupts import so_far


def main() -> NoReturn:
    """Run the command line; an interrupt while its modules load ends it like any other."""
    try:
        from perhop.command import main as run  # lazy: an interrupt during this import is caught below

        run()
    except KeyboardInterrupt:
        sys.stderr.write(f"interrupted: {so_far()}\n")
        sys.exit(int(Exit.INTERRUPTED))


if __name__ == "__main__":
    main()
