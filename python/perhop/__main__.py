"""The command `perhop`, and `python -m perhop`."""

import sys
from typing import NoReturn

from perhop.errors import Exit


def main() -> NoReturn:
    """Run the command line; an interrupt while its modules load ends it like any other."""
    try:
        from perhop.command import main as run  # lazy: an interrupt during this import is caught below
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was written\n")
        sys.exit(int(Exit.INTERRUPTED))
    run()


if __name__ == "__main__":
    main()
