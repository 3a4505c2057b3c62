"""Runs commands as forks of one process: each in a process of its own, without the start of Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import HANGS_AFTER_S

_SERVER = Path(__file__).with_name("fork_server.py")

#: What most commands import.
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
#: What commands that plot import besides.
PLOTTING = ("numpy.ma", "matplotlib.figure", "matplotlib.backends.backend_svg")


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it said on standard error, and what it took."""

    code: int
    said: str
    lasted_s: float
    processor_s: float
    megabytes: float


class Forks:
    """Runs commands one after the other.

    With `modules`, these are loaded before, and a command ends as soon as all is written and said. Without,
    a command imports what it needs and takes the interpreter apart at its end, as it does for a user.
    """

    def __init__(
        self, base: Path, modules: Sequence[str] = MODULES, environment: Mapping[str, str] | None = None
    ) -> None:
        self.base = base
        # Without -P the folder of the server would be searched for modules, and this one has some.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SERVER), *modules],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, arguments: Sequence[str], *, shows: bool = False, **told: Any) -> Ended:
        """Run a command in a folder; with `shows`, what it prints is a part of what it says.

        What else is told is what happens to it (fork_server.py).
        """
        said = self.base / "said"
        files = {"said": str(said), "printed": str(said) if shows else os.devnull}
        request = {"folder": str(folder), "arguments": list(arguments), **files, **told}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        ended = json.loads(self._process.stdout.readline())
        return Ended(said=said.read_text(encoding="utf-8", errors="replace"), **ended)

    def end(self) -> None:
        """End the process of which the commands are forks."""
        self._process.communicate(timeout=HANGS_AFTER_S)
