"""Processes in the nodes of a laboratory: started, watched, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from perhop.errors import PerhopError
from perhop.live.inside import Place

# How long a process gets to write its results after it was asked to end.
_END_WITHIN_S = 5.0
_LOOK_EVERY_S = 0.01
# Of what a failed process said, this much is repeated.
_LAST_WORDS = 2000


class Child:
    """A process in a node. It dies with this one, and Ctrl-C on the terminal does not reach it."""

    def __init__(self, node: str, name: str, place: Place, what: list[str], log: Path) -> None:
        self.node = node
        #: What it is, for messages.
        self.name = name
        #: Where its output goes.
        self.log = log
        self._read = 0
        with log.open("wb") as output:
            # A pipe as standard input whose other end nobody writes to: it closes with this process, which
            # perhop's own programs take as the end.
            self.process = subprocess.Popen(
                place.command(*what),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, negative for the signal that ended it; `None` while it runs."""
        return self.process.poll()

    def said(self) -> str:
        """Return what it has written since this was last asked."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        self._read += len(new)
        return new.decode("utf-8", errors="replace")

    def failure(self) -> PerhopError:
        """Return what to say of it when it ended before its time."""
        words = self.log.read_text(encoding="utf-8", errors="replace").strip()[-_LAST_WORDS:]
        code = self.code
        how = (
            f"was ended by {signal.Signals(-code).name}"
            if code is not None and code < 0
            else f"ended with code {code}"
        )
        return PerhopError(f"{self.name} {how}" + (f": {words}" if words else ""))

    def ask_to_end(self) -> None:
        """Ask it, and all of its process group, to end."""
        self._signal(signal.SIGTERM)

    def end_now(self) -> None:
        """End it, and all of its process group, without asking."""
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Wait for its end and let go of it."""
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def _signal(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


def end(children: Iterable[Child]) -> list[Child]:
    """Ask processes to end, and end those that do not; returns the latter."""
    every = list(children)
    running = [child for child in every if child.code is None]
    for child in running:
        child.ask_to_end()
    until = time.monotonic() + _END_WITHIN_S
    while (deaf := [child for child in running if child.code is None]) and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_S)
    for child in deaf:
        child.end_now()
    for child in every:
        child.close()
    return deaf
