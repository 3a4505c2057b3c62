"""Progress of a simulation and of the live run that is compared with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perhop.command.terminal import share_bar
from perhop.live.comparing import Watched


@contextmanager
def compared_bar(title: str, *, quiet: bool) -> Iterator[Watched]:
    """Show the progress of a simulation and of the live run after it; give the callbacks for both."""
    with share_bar(title, quiet=quiet) as tell:
        if tell is None:
            yield Watched()
        else:
            yield Watched(lambda now: tell(now.fraction / 2), lambda share: tell((1 + share) / 2))
