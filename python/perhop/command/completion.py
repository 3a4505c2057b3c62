"""`perhop completion`."""

from __future__ import annotations

from typing import Literal

from perhop.command import app
from perhop.errors import Exit


def completion(shell: Literal["bash", "zsh", "fish"], /) -> Exit:
    """Print the completion script for a shell.

    Parameters
    ----------
    shell
        The shell.

    """
    print(app.generate_completion(prog_name="perhop", shell=shell))
    return Exit.OK
