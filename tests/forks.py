"""Run commands as forks of one process: each has a separate process, without the start of Python."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SERVER = Path(__file__).with_name("fork_server.py")

#: Long enough for a busy machine; only a hanging command exceeds it.
HANGS_AFTER_S = 1000

#: The modules that most commands import.
MODULES = (
    "numpy",
    "polars",
    *(
        f"perhop.command.{name}"
        for name in (
            "bounds",
            "check",
            "compare",
            "convert",
            "design",
            "diff",
            "draw",
            "explain",
            "export",
            "init",
            "plot",
            "report",
            "run",
            "show",
            "study",
            "sweep",
            "test",
            "trace",
            "tune",
            "verify",
        )
    ),
    "perhop.report",
)
#: Additional imports of commands that plot.
PLOTTING = ("numpy.ma", "matplotlib.figure", "matplotlib.backends.backend_svg")

# Prefixes of variables that Python, the C library and loaded modules read at their start, so that a fork
# cannot apply them.
_READ_AT_START = (
    *("PYTHON", "LC_", "LANG", "TZ", "LD_", "GLIBC", "MALLOC", "HOME", "XDG_CONFIG"),
    *("MPL", "OMP_", "OPENBLAS", "POLARS", "RAYON"),
)


@dataclass(frozen=True)
class Ended:
    """The exit code of a command, its standard error, and the resources that it used."""

    code: int
    said: str
    lasted_s: float
    processor_s: float
    megabytes: float


class Forks:
    """Runs commands one after the other.

    With `modules`, the server loads these first, and a command ends as soon as it has written its results.
    Without `modules`, a command imports the modules that it needs and finalizes the interpreter, as it does
    for a user.
    """

    def __init__(
        self, base: Path, modules: Sequence[str] = MODULES, environment: Mapping[str, str] | None = None
    ) -> None:
        self.base = base
        self._environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
        self._requests, theirs = socket.socketpair()
        self._one_at_a_time = threading.Lock()
        with theirs:
            # Without -P, Python would also import modules from the folder of the server, which contains some.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_SERVER), str(theirs.fileno()), *modules],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(self, folder: Path, arguments: Sequence[str], *, shows: bool = False, **more: Any) -> Ended:
        """Run a command in a folder; if `shows`, `said` of the result also contains standard output.

        `more` contains further keys of the request (fork_server.py).
        """
        output = self.base / "said"
        with output.open("wb") as written, Path(os.devnull).open("rb+") as nothing:
            streams = [nothing.fileno(), (written if shows else nothing).fileno(), written.fileno()]
            # No command of these tests takes a minute.
            request = {"environment": self._environment, "is_limited": True, "hangs_after_s": 600, **more}
            ended = self._reply(streams, folder=str(folder), arguments=list(arguments), **request)
        return Ended(said=output.read_text(encoding="utf-8", errors="replace"), **ended)

    def takes(self, environment: Mapping[str, str]) -> bool:
        """Whether a fork with this environment behaves like a process that starts with it."""
        both = environment.keys() | self._environment.keys()
        changed = {name for name in both if environment.get(name) != self._environment.get(name)}
        # The server has loaded OpenBLAS with one thread, which does not change the results.
        return not any(name.startswith(_READ_AT_START) for name in changed - {"OPENBLAS_NUM_THREADS"})

    def completed(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as `subprocess.run` does: its streams are pipes; `given` is its standard input."""
        (source, write), (read_out, out), (read_err, err) = os.pipe(), os.pipe(), os.pipe()
        with ThreadPoolExecutor(3) as threads:
            threads.submit(_write, write, given)
            texts = [threads.submit(_read, end) for end in (read_out, read_err)]
            code = self.ended_with(arguments, folder, environment, (source, out, err))
        return subprocess.CompletedProcess(arguments, code, *(text.result() for text in texts))

    def ended_with(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
    ) -> int:
        """Run a command with these standard streams, close them here, and return its exit code."""
        try:
            ended = self._reply(
                streams,
                folder=str(folder),
                arguments=list(arguments),
                environment=dict(environment),
                is_limited=False,
                hangs_after_s=HANGS_AFTER_S,
            )
        finally:
            # The readers of the other ends wait for this close.
            for end in set(streams):
                os.close(end)
        return int(ended["code"])

    def _reply(self, streams: Sequence[int], **request: Any) -> dict[str, Any]:
        with self._one_at_a_time:
            line = json.dumps(request).encode() + b"\n"
            sent = socket.send_fds(self._requests, [line], streams)
            self._requests.sendall(line[sent:])
            reply = b""
            while not reply.endswith(b"\n"):
                part = self._requests.recv(65536)
                assert part, f"the process of which commands are forks has ended: {self._process.wait()}"
                reply += part
        return json.loads(reply)

    def end(self) -> None:
        """End the server process."""
        self._requests.close()
        self._process.wait(HANGS_AFTER_S)


def _write(end: int, text: str) -> None:
    # A command may end before it has read all of its input.
    with suppress(BrokenPipeError), os.fdopen(end, "w", encoding="utf-8") as pipe:
        pipe.write(text)


def _read(end: int) -> str:
    with os.fdopen(end, encoding="utf-8") as pipe:
        return pipe.read()
