"""Signals at random moments of every command that writes.

Results are complete, no hidden files remain, and the messages are true. `PERHOP_SIGNALS` is the number of
signals for each command: 30, or 10,000 after a change of the code that saves results.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import HANGS_AFTER_S, leftovers
from disk_model import Tree
from forks import MODULES, PLOTTING, Ended, Forks
from perhop.errors import Exit
from perhop.interrupts import ENDING
from perhop.saved import Saved
from seeds import drawing
from tiers import touched
from writing import COMMANDS, GROWING, Writing, lay_out, save_runs, trees, untrue, untrue_of_growing

SIGNALS = int(os.environ.get("PERHOP_SIGNALS", "30"))
# One in this number of commands imports its modules, as for a user; the others have them loaded.
IMPORTS = 50
# A signal is sent at a random moment of the usual time of a command, or up to a tenth later, after its end.
LATEST = 1.1
# How often the folder of a command that grows is removed before the next signal, and completed after it.
BEGINS, COMPLETES = 0.5, 0.3
# The allowed exit codes: success, the code of the command, or, once all is written, the code of the signal.
ENDINGS = {Exit.OK, Exit.INTERRUPTED, *(-number for number in ENDING)}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("base")
    save_runs(found)
    return found


@pytest.fixture(scope="module")
def forks(base: Path) -> Iterator[tuple[Forks, Forks]]:
    """A fork server with all modules loaded, and one without modules."""
    found = Forks(base, (*MODULES, *PLOTTING)), Forks(base, ())
    yield found
    for server in found:
        server.end()


class Disturbed:
    """A command in a folder, run with two seeds and disturbed by signals."""

    def __init__(self, writing: Writing, folder: Path) -> None:
        self.folder, self._writing = folder, writing
        self._usual_s: dict[Forks, float] = {}
        #: The content of the targets, by seed, and the other files of the folder.
        self._made: dict[int, dict[str, Tree]] = {}
        self._names: set[str] = set()

    def first(self, forks: Forks) -> None:
        """Run the command undisturbed, to measure its time and to read its files."""
        for seed in (1, 2):
            ended = self._run(forks, seed)
            assert ended.code == 0, ended.said
            self._made[seed] = trees(self.folder, self._writing)
            self._usual_s[forks] = ended.lasted_s
        assert all(self._made[1][target] != self._made[2][target] for target in self._writing.targets)
        self._names = {path.name for path in self.folder.iterdir()}

    def _run(self, forks: Forks, seed: int, **options: object) -> Ended:
        return forks.run(self.folder, self._writing.line.format(seed=seed).split(), **options)

    def once(self, forks: Forks, draw: random.Random) -> tuple[str, Iterator[str]]:
        """Return the exit code of the command, and generate the violated guarantees."""
        old = trees(self.folder, self._writing)
        seed = 2 if old == self._made[1] else 1
        sent, after_s = draw.choice(ENDING), self._usual_s[forks] * draw.uniform(0.0, LATEST)
        ended = self._run(forks, seed, signal=sent, after_s=after_s)
        if ended.code == 0:
            # The machine may be busier than before, or less.
            self._usual_s[forks] += 0.1 * (ended.lasted_s - self._usual_s[forks])
        found = trees(self.folder, self._writing)
        return f"{ended.code}{'' if found == old else ', written'}", self._wrong(ended, old, seed, found)

    def _wrong(self, ended: Ended, old: dict[str, Tree], seed: int, found: dict[str, Tree]) -> Iterator[str]:
        wrong = [*untrue(ended.code, ended.said, old, self._made[seed], found)]
        if ended.code not in ENDINGS:
            wrong.append("another exit code")
        if leftovers(self.folder):
            wrong.append(f"{leftovers(self.folder)} remain")
        if {path.name for path in self.folder.iterdir()} != self._names:
            wrong.append("a name is gone, or a new one there")
        yield from (
            f"{fault}; code {ended.code} after {ended.lasted_s:.4f} s: {ended.said}" for fault in wrong
        )


class Grown:
    """A command whose folder grows, disturbed by a series of signals."""

    def __init__(self, writing: Writing, folder: Path) -> None:
        self.folder, self._writing = folder, writing
        #: Its duration with an empty folder, and with a complete one.
        self._usual_s: dict[tuple[Forks, bool], float] = {}
        self._complete: dict[str, Tree] = {}
        self._names: set[str] = set()

    def first(self, forks: Forks) -> None:
        """Run the command undisturbed, to measure its time and to read its files."""
        self._remove()
        for is_complete in (False, True):
            ended = self._run(forks)
            assert ended.code == 0, ended.said
            self._usual_s[forks, is_complete] = ended.lasted_s
            self._complete = trees(self.folder, self._writing)
        self._names = {path.name for path in self.folder.iterdir()}

    def _run(self, forks: Forks, **options: object) -> Ended:
        return forks.run(self.folder, self._writing.line.format(seed=1).split(), **options)

    def _remove(self) -> None:
        for target in self._writing.targets:
            shutil.rmtree(self.folder / target, ignore_errors=True)

    def once(self, forks: Forks, draw: random.Random) -> tuple[str, Iterator[str]]:
        """Return the numbers of points before and after, and generate the violated guarantees."""
        if draw.random() < BEGINS:
            self._remove()
        was = self._stage()
        sent = draw.choice(ENDING)
        after_s = self._usual_s[forks, was == "complete"] * draw.uniform(0.0, LATEST)
        ended = self._run(forks, signal=sent, after_s=after_s)
        stage = f"{was} to {self._stage()}, {ended.code}"
        wrong = [*untrue_of_growing(ended.code, ended.said, self.folder, self._writing, self._complete)]
        if ended.code not in ENDINGS:
            wrong.append("another exit code")
        if leftovers(self.folder):
            wrong.append(f"{leftovers(self.folder)} remain")
        if draw.random() < COMPLETES:
            again = self._run(forks)
            if again.code or self._stage() != "complete":
                wrong.append(f"not completed by the next: {again.said}")
        return stage, (f"{fault}; {stage} after {ended.lasted_s:.4f} s: {ended.said}" for fault in wrong)

    def _stage(self) -> str:
        if trees(self.folder, self._writing) == self._complete:
            return "complete"
        return "begun" if {path.name for path in self.folder.iterdir()} == self._names else "nothing"


@pytest.mark.parametrize("name", touched([*COMMANDS, *GROWING], but=["run", "tune"]))
def test_results_survive_signals_at_any_time(
    name: str,
    base: Path,
    forks: tuple[Forks, Forks],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    folder, draw = tmp_path / "folder", drawing(f"{name} {SIGNALS}")
    writing = (COMMANDS | GROWING)[name]
    lay_out(folder, writing, base)
    disturbed = Grown(writing, folder) if name in GROWING else Disturbed(writing, folder)
    for server in forks:
        disturbed.first(server)
    endings, wrong = Counter[str](), []
    for number in range(SIGNALS):
        ending, found = disturbed.once(forks[number % IMPORTS == 0], draw)
        endings[ending] += 1
        wrong += [f"{number}: {fault}" for fault in found]
    record_property("endings", dict(endings))
    assert wrong == []
    # Signals that arrive only before or only after the work of the command all lead to the same exit code.
    assert len(endings) >= 2, endings


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_survives_signals_from_its_start(scenario: Path, number: signal.Signals) -> None:
    """Signals also arrive while Python starts, when perhop guarantees only that no files remain."""
    draw = drawing("start")
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
