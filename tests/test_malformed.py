"""Malformed inputs end in exit code 2 and a message, soon and in little memory; never in a traceback.

`PERHOP_MALFORMED` is their number: 300, or 10,000 where a reader has changed.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from conftest import HANGS_AFTER_S
from malformed import Inputs

NUMBER = int(os.environ.get("PERHOP_MALFORMED", "300"))
# What a refusal may take. Time is that of the processor: the machine may be busy.
MOST_S = 2.0
MOST_MB = 200
# What is valid after all may be work; nothing may take more than this.
VALID_S = 30

# Forks for every line on its input. What commands import is there already, but no thread runs yet.
_RUNNER = """\
import json, os, resource, sys
import numpy, polars
import perhop.command
import perhop.command.check, perhop.command.compare, perhop.command.export, perhop.command.plot
import perhop.command.report, perhop.command.run, perhop.command.verify
from perhop.__main__ import main

for line in sys.stdin:
    arguments = json.loads(line)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 2)
        os.dup2(2, 1)
        sys.argv = ["perhop", *arguments]
        try:
            main()
        except SystemExit as ended:
            # All is written and said; to take the interpreter apart takes ten times as long as a command.
            os._exit(int(ended.code))
    _, status, used = os.wait4(child, 0)
    ended = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
    print(json.dumps(ended), flush=True)
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it said on standard error, and what it took."""

    code: int
    said: str
    seconds: float
    megabytes: float


class Runner:
    """Runs commands in a folder, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUNNER],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: tuple[str, ...]) -> Ended:
        _stream(self._process.stdin).write(json.dumps(arguments) + "\n")
        _stream(self._process.stdin).flush()
        code, seconds, megabytes = json.loads(_stream(self._process.stdout).readline())
        said = (self._folder / "said").read_text(encoding="utf-8", errors="replace")
        return Ended(code, said, seconds, megabytes)

    def end(self) -> None:
        self._process.communicate(timeout=HANGS_AFTER_S)


def _stream(given: IO[str] | None) -> IO[str]:
    assert given is not None
    return given


def _wrong(ended: Ended) -> Iterator[str]:
    """Generate what is not as promised."""
    if re.search("internal error|Traceback|Panic|panicked|Exception ignored", ended.said):
        yield "what it says is for its developers"
    if ended.code not in (0, 2):
        yield f"exit code {ended.code}"
    if ended.code == 2 and not re.search(r"\berror|\bnot ok|\bnot supported", ended.said):
        yield "no message"
    if ended.seconds > (MOST_S if ended.code == 2 else VALID_S):
        yield f"{ended.seconds:.1f} s"
    if ended.megabytes > MOST_MB and ended.code != 0:
        yield f"{ended.megabytes:.0f} MB"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_malformed_inputs_are_refused(
    tmp_path: Path, part: int, record_property: Callable[[str, object], None]
) -> None:
    inputs, runner = Inputs(tmp_path), Runner(tmp_path)
    wrong, codes = [], Counter[str]()
    most_s, most_mb = 0.0, 0.0
    for number in range(NUMBER // 3):
        seed = f"{part}/{number}"
        for arguments in inputs.draw(random.Random(seed)):
            ended = runner.run(arguments)
            found = [*_wrong(ended)]
            if found:
                wrong.append(f"{seed} {' '.join(arguments)}: {'; '.join(found)}: {ended.said[:300]}")
            codes[f"{arguments[0]} {ended.code}"] += 1
            if ended.code == 2:
                most_s, most_mb = max(most_s, ended.seconds), max(most_mb, ended.megabytes)
    runner.end()
    record_property("ended", dict(codes))
    record_property("most_s", most_s)
    record_property("most_mb", most_mb)
    assert wrong == []
