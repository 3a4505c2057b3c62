"""Every system call of a command on its folder fails, or is its last one, or is interrupted by a signal.

In every case, the old or the new result is complete, no hidden file remains, the message is correct, and the
next command completes the work of a killed command.

`PERHOP_FAULTS` is the number of calls for each command and fault: 4, or `all`.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import command_line, leftovers
from disk_model import Tree, tree
from faulty import FAIL, FAIL_FROM, SIGNAL, Call, Ended, Faulty, needs_compiler
from perhop.errors import Exit
from seeds import drawing
from system_calls import needs_strace, record
from tiers import touched
from writing import COMMANDS, GROWING, Writing, lay_out, save_runs, trees, untrue, untrue_of_growing

pytestmark = needs_compiler

SAMPLE = os.environ.get("PERHOP_FAULTS", "4")
# The exit codes after a signal; once the message is printed, the signal itself may end the command.
_BY_SIGNAL = {number: {Exit.OK, Exit.INTERRUPTED, -number} for number in (1, 2, 15)}


@dataclass(frozen=True)
class Fault:
    """The effect at a call."""

    what: str
    action: int
    value: int


FAULTS = {
    "EIO": Fault("error", FAIL, errno.EIO),
    "ENOSPC": Fault("error", FAIL_FROM, errno.ENOSPC),
    "SIGKILL": Fault("killed", SIGNAL, signal.SIGKILL),
    "SIGTERM": Fault("signal", SIGNAL, signal.SIGTERM),
    "SIGINT": Fault("signal", SIGNAL, signal.SIGINT),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("base")
    save_runs(found)
    return found


@pytest.fixture(scope="module")
def faulty(base: Path) -> Iterator[Faulty]:
    found = Faulty(base)
    yield found
    found.end()


@dataclass(frozen=True)
class Case:
    """A command in a folder with earlier results, and the folder after it ran without a fault."""

    writing: Writing
    line: str
    before: Path
    old: dict[str, Tree]
    new: dict[str, Tree]
    #: The folder if the plot in the results cannot be written.
    plotless: dict[str, Tree]
    calls: tuple[Call, ...]


@pytest.fixture(params=touched(COMMANDS, but=("run", "report")))
def case(request: pytest.FixtureRequest, faulty: Faulty, base: Path, tmp_path: Path) -> Case:
    writing = COMMANDS[request.param]
    before, folder = tmp_path / "before", tmp_path / "folder"
    lay_out(before, writing, base)
    ended = faulty.run(before, writing.line.format(seed=1))
    assert ended.code == 0, ended.said
    shutil.copytree(before, folder)
    line = writing.line.format(seed=2)
    ended = faulty.run(folder, line)
    assert ended.code == 0, ended.said
    old, new = (trees(at, writing) for at in (before, folder))
    assert all(old[target] != new[target] for target in writing.targets)
    plotless = new
    if writing.plot is not None:
        assert faulty.run(folder, line.replace(writing.plot[0], "")).code == 0
        plotless = trees(folder, writing)
        assert plotless["out"] != new["out"]
    shutil.rmtree(folder)
    return Case(writing, line, before, old, new, plotless, ended.calls)


def test_every_system_call_may_fail(
    case: Case, faulty: Faulty, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    count, wrong = 0, []
    for name, fault in FAULTS.items():
        numbers = [
            number for number, call in enumerate(case.calls) if fault.action != FAIL_FROM or call.needs_space
        ]
        draw = drawing(name)
        for at in numbers if SAMPLE == "all" else draw.sample(numbers, min(int(SAMPLE), len(numbers))):
            folder = tmp_path / "folder"
            shutil.copytree(case.before, folder)
            ended = faulty.run(folder, case.line, at=at, action=fault.action, value=fault.value)
            for problem in _wrong(case, fault, folder, ended, case.calls[at]):
                wrong.append(f"{name} at {at} ({case.calls[at]}): {problem}; code {ended.code}: {ended.said}")
            if fault.what == "killed":
                again = faulty.run(folder, case.line)
                if again.code or any(tree(folder / target) != case.new[target] for target in case.new):
                    wrong.append(f"{name} at {at} ({case.calls[at]}): not finished by the next: {again.said}")
                if leftovers(folder):
                    wrong.append(f"{name} at {at} ({case.calls[at]}): {leftovers(folder)} after the next")
            shutil.rmtree(folder)
            count += 1
    record_property("faults", count)
    assert wrong == []


@needs_strace
@pytest.mark.parametrize(
    "case", touched(["run-plots-captures", "report", "export-csv"], but=["report"]), indirect=True
)
def test_every_call_is_counted(case: Case, faulty: Faulty, base: Path, tmp_path: Path) -> None:
    """Every change of the folder uses a system call that the tests can fail."""
    folder = tmp_path / "folder"
    shutil.copytree(case.before, folder)
    recorded = record(command_line(case.line.split()), folder, base / "strace")
    assert recorded.code == 0, recorded.said
    names = {
        "sync": ("fsync", "fdatasync"),
        "write": ("write", "writev", "pwrite64"),
        "make": ("mkdir", "mkdirat"),
        "remove": ("unlink", "unlinkat", "rmdir"),
    }
    for what, calls in names.items():
        made = sum(change.what == what for change in recorded.changes)
        counted = sum(call.name in calls for call in case.calls)
        # Failed calls are counted and not recorded.
        assert counted >= made, what
    assert sum(change.what in ("rename", "exchange") for change in recorded.changes) == sum(
        call.name.startswith("rename") for call in case.calls
    )


def _promised(case: Case, ended: Ended, found: dict[str, Tree]) -> dict[str, Tree]:
    """Return the files that the command must leave: without the plot if the message reports its failure."""
    if case.writing.plot is not None and ended.code == Exit.WRITE_FAILED:
        folder, _, name = case.writing.plot[1].rpartition("/")
        says_so = re.search(rf"^error: {folder}(/{name})?: ", ended.said, re.MULTILINE)
        if says_so and found[folder] == case.plotless[folder]:
            return case.plotless
    return case.new


def _wrong(case: Case, fault: Fault, folder: Path, ended: Ended, call: Call) -> Iterator[str]:
    """Generate the broken promises."""
    found = trees(folder, case.writing)
    yield from untrue(ended.code, ended.said, case.old, _promised(case, ended, found), found)
    if fault.what == "killed":
        if ended.code not in (-signal.SIGKILL, 0):
            yield "it was not killed"
        return
    usual = (
        {Exit.OK, Exit.INVALID_INPUT, Exit.WRITE_FAILED} if fault.what == "error" else _BY_SIGNAL[fault.value]
    )
    if ended.code not in usual:
        yield "another exit code"
    # Files that could not be removed or renamed are reported.
    hidden = [name for name in leftovers(folder) if name not in ended.said]
    if hidden and not (call.name in ("unlink", "unlinkat", "rmdir") and fault.what == "error"):
        yield f"{hidden} remain"


@pytest.mark.parametrize("is_complete", [False, pytest.param(True, marks=pytest.mark.touched)])
@pytest.mark.parametrize("name", touched(GROWING, but=["sweep"]))
def test_every_call_of_a_command_whose_folder_grows(
    name: str, is_complete: bool, faulty: Faulty, base: Path, tmp_path: Path
) -> None:
    """After any disturbance, the same command continues and ends with the same folder and no hidden files."""
    before, folder = tmp_path / "before", tmp_path / "folder"
    writing = GROWING[name]
    lay_out(before, writing, base)
    line = writing.line.format(seed=1)
    if is_complete:
        assert faulty.run(before, line).code == 0
    shutil.copytree(before, folder)
    calls = faulty.run(folder, line).calls
    new = trees(folder, writing)
    shutil.rmtree(folder)
    wrong = []
    for kind, fault in FAULTS.items():
        numbers = [at for at, call in enumerate(calls) if fault.action != FAIL_FROM or call.needs_space]
        draw = drawing(kind)
        for at in numbers if SAMPLE == "all" else draw.sample(numbers, min(2 * int(SAMPLE), len(numbers))):
            shutil.copytree(before, folder)
            ended = faulty.run(folder, line, at=at, action=fault.action, value=fault.value)
            where = f"{kind} at {at} ({calls[at]})"
            found = untrue_of_growing(ended.code, ended.said, folder, writing, new)
            wrong += [f"{where}: {problem}; code {ended.code}: {ended.said}" for problem in found]
            again = faulty.run(folder, line)
            if again.code or trees(folder, writing) != new or leftovers(folder):
                wrong.append(f"{where}: not finished by the next: {again.said} {leftovers(folder)}")
            shutil.rmtree(folder)
    assert wrong == []
