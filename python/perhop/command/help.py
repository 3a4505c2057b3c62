"""`perhop help`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from perhop.command import app
from perhop.command.help_pages import lay_out_examples
from perhop.errors import Exit, InvalidInputError


def help_(
    command: Annotated[list[str] | None, Parameter(negative=())] = None,
    /,
) -> Exit:
    """Show the help of a command, as `--help` after it does.

    Parameters
    ----------
    command
        The command, for example run or study run. Default: perhop itself.

    """
    words = command or []
    _, _, unknown = app.parse_commands(words)
    if unknown:
        raise InvalidInputError(f"there is no command `{' '.join(words)}`", "`perhop help` lists them")
    lay_out_examples(app, words)
    app.help_print(words)
    return Exit.OK
