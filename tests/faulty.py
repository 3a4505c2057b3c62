"""Run commands in which one system call fails or is the last.

The commands are forks of one loaded process, because a fork starts fast.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from forks import MODULES, PLOTTING, Forks
from programs import needs

needs_compiler = needs("cc")
_SOURCE = Path(__file__).with_name("faults.c")

#: The effects at a call, as numbered in faults.c.
COUNT, FAIL, FAIL_FROM, SIGNAL = range(4)


@dataclass(frozen=True)
class Call:
    """A call that touched the folder."""

    name: str
    needs_space: bool
    path: str


@dataclass(frozen=True)
class Ended:
    """The end of a command."""

    code: int
    said: str
    calls: tuple[Call, ...]


class Faulty:
    """Runs commands in a folder."""

    def __init__(self, base: Path) -> None:
        library = base / "faults.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", str(_SOURCE), "-o", library, "-ldl"], check=True)
        self._forks = Forks(base, (*MODULES, *PLOTTING), {"LD_PRELOAD": str(library)})

    def run(self, folder: Path, line: str, *, at: int = -1, action: int = COUNT, value: int = 0) -> Ended:
        """Run a command; call number `at` fails with the error `value`, or meets the signal `value`."""
        log = self._forks.base / "log"
        ended = self._forks.run(folder, line.split(), fault=[at, action, value], log=str(log))
        calls = (row.split(" ", 2) for row in log.read_text().splitlines())
        return Ended(
            ended.code,
            ended.said,
            tuple(Call(name, needs == "1", path) for name, needs, path in calls),
        )

    def end(self) -> None:
        self._forks.end()
