"""Runs commands of which one system call fails or is the last, quickly: as forks of one loaded process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from conftest import HANGS_AFTER_S

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
_SOURCE = Path(__file__).with_name("faults.c")

#: What happens at a call, as faults.c numbers it.
COUNT, FAIL, FAIL_FROM, SIGNAL = range(4)

# Forks for every line on its input. What commands import is there already, but no thread runs yet.
_RUNNER = """\
import atexit, ctypes, json, os, sys
import numpy, polars
import perhop.command
import perhop.command.compare, perhop.command.draw, perhop.command.export, perhop.command.plot
import perhop.command.report, perhop.command.run, perhop.command.study, perhop.command.sweep
from perhop.__main__ import main

arm = ctypes.CDLL(None).faults_arm
arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
for line in sys.stdin:
    told = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(told["folder"])
        os.dup2(os.open(told["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        # Where no reader of a log can mistake it for one of the command.
        log = os.dup2(os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 900)
        sys.argv = ["perhop", *told["arguments"]]
        arm(told["folder"].encode(), told["at"], told["action"], told["value"], log)
        try:
            main()
        except SystemExit as ended:
            # All is written and said; to take the interpreter apart takes ten times as long as a command.
            atexit._run_exitfuncs()
            os._exit(int(ended.code))
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@dataclass(frozen=True)
class Call:
    """A call that touched the folder."""

    name: str
    needs_space: bool
    path: str


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    said: str
    calls: tuple[Call, ...]


class Faulty:
    """Runs commands in a folder."""

    def __init__(self, base: Path) -> None:
        self._base = base
        library = base / "faults.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", str(_SOURCE), "-o", library, "-ldl"], check=True)
        self._process = subprocess.Popen(
            ["env", f"LD_PRELOAD={library}", sys.executable, "-c", _RUNNER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, line: str, *, at: int = -1, action: int = COUNT, value: int = 0) -> Ended:
        """Run a command; call number `at` fails with the error `value`, or meets the signal `value`."""
        told: dict[str, Any] = {
            "folder": str(folder),
            "arguments": line.split(),
            "at": at,
            "action": action,
            "value": value,
            "said": str(self._base / "said"),
            "log": str(self._base / "log"),
        }
        _stream(self._process.stdin).write(json.dumps(told) + "\n")
        _stream(self._process.stdin).flush()
        code = int(_stream(self._process.stdout).readline())
        calls = (one.split(" ", 2) for one in (self._base / "log").read_text().splitlines())
        return Ended(
            code,
            (self._base / "said").read_text(),
            tuple(Call(name, needs == "1", path) for name, needs, path in calls),
        )

    def end(self) -> None:
        self._process.communicate(timeout=HANGS_AFTER_S)


def _stream(given: IO[str] | None) -> IO[str]:
    assert given is not None
    return given
