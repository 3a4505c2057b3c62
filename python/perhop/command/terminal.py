"""What is shown on a terminal: consoles, progress, warnings."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from perhop._core import Warnings
    from perhop.live.comparing import Watched
    from perhop.running import Progress
    from perhop.scenario import Scenario

# A table that goes into a file or a pipe is as wide as it needs to be.
_WIDTH_OF_A_FILE = 200


def colors(stream: TextIO) -> bool:
    """Return whether text for `stream` may carry colors: a terminal, and no NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def console(stream: TextIO | None = None) -> Console:
    """Return a console for `stream` (by default stdout) that is as readable in a file as on a terminal."""
    from rich.console import Console

    stream = sys.stdout if stream is None else stream
    width = None if stream.isatty() else _WIDTH_OF_A_FILE
    # No emoji: names have colons, and ":two:" is a 2 in a box to rich.
    return Console(file=stream, width=width, highlight=False, emoji=False)


def print_json(document: object) -> None:
    """Print the one document that `--json` asks for."""
    print(json.dumps(document, ensure_ascii=False, allow_nan=False))


def say_written(file: Path) -> None:
    """Say on stderr which file or folder is there now."""
    print(f"written to {file}", file=sys.stderr)


def show_warnings(warnings: Warnings | None) -> None:
    """Print what is suspicious about a scenario on stderr."""
    if warnings:
        print(warnings.colored if colors(sys.stderr) else warnings, file=sys.stderr)


def show_guess(scenario: Scenario, file: Path) -> None:
    """Print on stderr what was guessed around a router's configuration, and how it is changed."""
    from perhop.configuration import STANDARD_INPUT

    if scenario.guessed:
        print(scenario.guessed, file=sys.stderr)
        if file != STANDARD_INPUT:
            print(f"to change any of it: perhop init --from {file}", file=sys.stderr)


@contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show how far a run is on stderr; give what to call with its progress, or None if nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[work]}"),
        TimeRemainingColumn(compact=True),
        console=console(sys.stderr),
        transient=True,
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(title, total=1.0, work="")

        def show(progress: Progress) -> None:
            rate = progress.packet_hops / max(time.monotonic() - started, 1e-3)
            work = f"{progress.simulated_s:,.0f} s at {rate / 1e6:.1f} M packet-hops/s"
            bar.update(task, completed=progress.fraction, work=work)

        yield show


@contextmanager
def share_bar(title: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """Show on stderr which share is done; give what to call with it, or None if nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def beside(title: str, *, quiet: bool) -> Iterator[Watched]:
    """Show how far a simulation and a run on real packets after it are; give whom to tell."""
    from perhop.live.comparing import Watched

    with share_bar(title, quiet=quiet) as tell:
        if tell is None:
            yield Watched()
        else:
            yield Watched(lambda now: tell(now.fraction / 2), lambda share: tell((1 + share) / 2))
