"""Starting, watching and ending processes in the nodes of a testbed."""

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

# Time for a process to write its results after SIGTERM.
_END_WITHIN_S = 5.0
_POLL_EVERY_S = 0.01
# Number of characters of a failed process's output in its error message.
_LAST_OUTPUT = 2000
# A forwarder that made a forbidden system call (SIGSYS, seccomp(2)).
_BREACH = "was killed by SIGSYS: it made a system call that forwarding does not need"
_REPORT_IT = "a frame may have taken it over, or this system needs another call; report it (SECURITY.md)"


class Child:
    """A process in a node. The process ends with this process; Ctrl-C on the terminal has no effect on it."""

    def __init__(self, node: str, name: str, place: Place, what: list[str], log: Path) -> None:
        self.node = node
        #: The name of the process in messages.
        self.name = name
        #: The file that receives the output of the process.
        self.log = log
        self._is_confined = what[0] in ("forward", "bridge")
        self._read = 0
        with log.open("wb") as output:
            # Standard input is a pipe without a writer. It closes when this process ends, which ends perhop's
            # own programs.
            self.process = subprocess.Popen(
                place.command(*what),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for the signal that ended the process; `None` while the process runs."""
        return self.process.poll()

    def new_output(self) -> str:
        """Return the output since the last call."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        self._read += len(new)
        return new.decode("utf-8", errors="replace")

    def failure(self) -> PerhopError:
        """Return the error for a process that ended too early."""
        output = self.log.read_text(encoding="utf-8", errors="replace").strip()[-_LAST_OUTPUT:]
        code = self.code
        if self._is_confined and code == -signal.SIGSYS:
            return PerhopError(f"{self.name} {_BREACH}", _REPORT_IT)
        how = (
            f"was killed by {signal.Signals(-code).name}"
            if code is not None and code < 0
            else f"ended with code {code}"
        )
        return PerhopError(f"{self.name} {how}" + (f": {output}" if output else ""))

    def request_end(self) -> None:
        """Send SIGTERM to the process group."""
        self._signal(signal.SIGTERM)

    def end_now(self) -> None:
        """Send SIGKILL to the process group."""
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Wait for the end of the process and release its resources."""
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def _signal(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


def end(children: Iterable[Child]) -> list[Child]:
    """End processes with SIGTERM, or with SIGKILL if that has no effect; return the killed processes."""
    every = list(children)
    running = [child for child in every if child.code is None]
    for child in running:
        child.request_end()
    until = time.monotonic() + _END_WITHIN_S
    while (unresponsive := [child for child in running if child.code is None]) and time.monotonic() < until:
        time.sleep(_POLL_EVERY_S)
    for child in unresponsive:
        child.end_now()
    for child in every:
        child.close()
    return unresponsive
