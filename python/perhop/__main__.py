"""The command `perhop`, and `python -m perhop`."""

import sys
from typing import NoReturn

from perhop.errors import Exit


def main() -> NoReturn:
    """Run the command line; loading it takes a tenth of a second, in which it can be interrupted, too."""
    try:
        from perhop.command import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was written\n")
        sys.exit(int(Exit.INTERRUPTED))
    run()


if __name__ == "__main__":
    main()
