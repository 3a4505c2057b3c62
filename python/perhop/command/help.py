"""`perhop help`."""

from __future__ import annotations

from typing import Annotated

from perhop.command import overview
from perhop.command.commands import COMMANDS
from perhop.command.parameter import Parameter
from perhop.errors import Exit


def help_(
    command: Annotated[list[str] | None, Parameter(negative=())] = None,
    /,
) -> Exit:
    """Show the help of a command, like COMMAND --help.

    Parameters
    ----------
    command
        The command, for example run or study run. Default: perhop itself.

    """
    words = command or []
    if overview.shows_group(words, COMMANDS):
        return Exit.OK
    from perhop.command import parser  # lazy: cyclopts

    parser.show_help(words)
    return Exit.OK
