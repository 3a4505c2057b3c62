"""Signals at random moments of whole runs: results stay whole, nothing hidden remains, and messages are true.

`PERHOP_SIGNALS` sets their number: 300, or 10,000 where something of saving has changed.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import HANGS_AFTER_S, leftovers
from perhop.saved import Saved

SIGNALS = int(os.environ.get("PERHOP_SIGNALS", "300"))
# Tests that share them, so that several processors do.
PARTS = 3
# What a command may end with: done, an exit code of its own, or, once all is written, by the signal itself.
ENDINGS = {0, *(128 + number for number in (1, 2, 15)), *(-number for number in (1, 2, 15))}

# Runs in a process of its own, which has loaded no more than the command line: each run is a child of it, and
# spared the start of Python. A line on its input is the number of a run and its seed.
_RUNNER = """\
import os, sys
import perhop.command
from perhop.__main__ import main

for line in sys.stdin:
    number, seed = line.split()
    child = os.fork()
    if child == 0:
        said = os.open(f"{number}.err", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["perhop", "run", "scenario.yaml", "--seed", seed, "-o", "out"]
        main()
    print(child, flush=True)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Runner:
    """Starts runs one after the other in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUNNER],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, number: int, sent: signal.Signals | None = None, after_s: float = 0.0) -> tuple[int, str]:
        """Return how a run ended and what it said; a signal is sent after so many seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{number} {number + 1}\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        if sent is not None:
            time.sleep(after_s)
            # Its parent has not waited for it where it has ended before, so the number is still its own.
            with suppress(ProcessLookupError):
                os.kill(child, sent)
        ended = int(self._process.stdout.readline())
        file = self.folder / f"{number}.err"
        said = file.read_text()
        file.unlink()
        return ended, said

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.communicate(timeout=HANGS_AFTER_S)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_results_survive_signals_at_any_time(scenario: Path, part: int) -> None:
    folder = scenario.parent
    scenario.rename(folder / "scenario.yaml")
    with Runner(folder) as runner:
        _survive(folder, runner, random.Random(part))


def _survive(folder: Path, runner: Runner, draw: random.Random) -> None:
    begin = time.monotonic()
    for number in range(3):
        assert runner.run(number)[0] == 0
    usual_s = (time.monotonic() - begin) / 3
    endings = set()
    for number in range(3, 3 + SIGNALS // PARTS):
        before = Saved.open(folder / "out").manifest["seed"]
        # Half of them in the last third, in which numpy and polars are loaded and results saved.
        after_s = usual_s * (draw.uniform(0.0, 1.1) if draw.random() < 0.5 else draw.uniform(0.6, 1.1))
        sent = draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        ended, said = runner.run(number, sent, after_s)
        told = f"{sent.name} after {after_s:.3f} s of {usual_s:.3f}: {ended}, {said}"
        assert ended in ENDINGS, told
        assert not re.search("internal error|Traceback|Panic|panicked", said), told
        assert leftovers(folder) == [], told
        assert {path.name for path in folder.iterdir()} == {"out", "scenario.yaml"}, told
        after = Saved.open(folder / "out").manifest["seed"]
        assert after in (before, number + 1), told
        if "nothing was written" in said:
            assert after == before, told
        if "written" in said.replace("nothing was written", "") or ended == 0:
            assert after == number + 1, told
        endings.add((ended, after == before))
    if SIGNALS >= 300:
        assert len(endings) > 2, endings


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_from_its_very_start(scenario: Path, number: signal.Signals) -> None:
    """Also while Python itself starts, where only nothing being left behind can be asked for."""
    draw = random.Random(2)
    line = [sys.executable, "-m", "perhop", "run", str(scenario), "-o", "out", "-q"]
    for _ in range(10):
        process = subprocess.Popen(
            line,
            cwd=scenario.parent,
            stderr=subprocess.PIPE,
        )
        time.sleep(draw.uniform(0.0, 1.0))
        process.send_signal(number)
        process.communicate(timeout=HANGS_AFTER_S)
        assert leftovers(scenario.parent) == []
        if (scenario.parent / "out").exists():
            Saved.open(scenario.parent / "out")
