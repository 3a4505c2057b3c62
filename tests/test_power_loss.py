"""A loss of power at any moment of any command that writes leaves the earlier result or the new one,
complete.

The system calls of real processes are recorded (`system_calls`) and replayed on a model of a disk
(`disk_model`); after each of them, the model computes every possible loss. The recording is complete: the
model without a loss ends with the content of the real folder.

`PERHOP_POWER=all` tries every loss after every call of every command, with and without an earlier result,
and starts the next writer from every remaining content; otherwise a sample of them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import command_line, leftovers
from disk_model import Disk, Tree, tree
from forks import Forks
from live_testbed import needs_rights, own_run
from perhop.disk import LeftoverWarning
from perhop.results import Results
from perhop.saved import Saved
from seeds import drawing
from system_calls import Change, Recorded, needs_strace, record
from tiers import touched
from writing import COMMANDS, GROWING, Writing, lay_out, save_runs, trees, untrue_of_growing

pytestmark = needs_strace

ALL = os.environ.get("PERHOP_POWER") == "all"
# Remains of a loss, which the next writer completes.
SAMPLE = 12
# The number of losses of power that are tried after each call.
MOST = 30


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs as the input of other commands."""
    base = tmp_path_factory.mktemp("runs")
    save_runs(base)
    return base


@dataclass(frozen=True)
class Played:
    """Two successive commands: the folder before, and the changes of each."""

    first: Tree
    recorded: Recorded
    #: The content of each target before and after the second command.
    old: dict[str, Tree]
    new: dict[str, Tree]


def play(writing: Writing, runs: Path, tmp_path: Path, *inject: str, twice: bool = True) -> Played:
    """Run a command, twice if it has to replace a result, and record the last run."""
    folder = tmp_path / "folder"
    lay_out(folder, writing, runs)
    lines = [command_line(writing.line.format(seed=seed).split()) for seed in (1, 2)]
    if twice:
        subprocess.run(lines[0], cwd=folder, check=True)
    before = tree(folder)
    old = {target: tree(folder / target) for target in writing.targets}
    recorded = record(lines[1], folder, tmp_path / "log", *inject)
    assert recorded.code == 0, recorded.said
    (tmp_path / "log").unlink()
    new = {target: tree(folder / target) for target in writing.targets}
    # The model, applied to the whole recording, yields the real folder.
    disk = Disk(before)
    for change in recorded.changes:
        disk.apply(change)
    assert disk.now() == tree(folder)
    assert all(new[target] for target in writing.targets)
    assert leftovers(folder) == []
    return Played(before, recorded, old, new)


@dataclass
class Found:
    """The results of the losses of power."""

    count: int
    #: The outcomes that occurred: no result, the old one, the new one.
    seen: set[str]
    #: Losses after which a target was neither old nor new, and losses after the end that removed the new
    #: result.
    torn: list[tuple[int, str]]
    taken: list[str]
    #: All that was left in the folder, for some of the losses.
    whole: list[Tree]


def lose_power(played: Played, changes: Iterable[Change], seed: int = 1) -> Found:
    """Simulate each loss of power before the first change and after each change."""
    draw, disk = drawing(f"losses {seed}"), Disk(played.first)
    found = Found(0, set(), [], [], [])
    everything = [None, *changes]
    for number, change in enumerate(everything):
        if change is not None:
            disk.apply(change)
        losses = list(disk.losses(draw))
        if not ALL and change is not everything[-1]:
            losses = draw.sample(losses, min(MOST, len(losses)))
        for left in losses:
            found.count += 1
            for target, new in played.new.items():
                inside = left(target)
                if inside == new:
                    found.seen.add("new")
                elif inside == played.old[target]:
                    found.seen.add("old" if inside else "nothing")
                    if change is everything[-1]:
                        found.taken.append(target)
                else:
                    found.torn.append((number, target))
            if ALL or draw.random() < 0.03:
                found.whole.append(left("."))
    return found


@pytest.mark.parametrize("twice", [True, pytest.param(False, marks=pytest.mark.touched)])
@pytest.mark.parametrize("name", touched(COMMANDS, but=["run"]))
def test_any_loss_leaves_a_whole_result(
    name: str, twice: bool, runs: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    played = play(COMMANDS[name], runs, tmp_path, twice=twice)
    found = lose_power(played, played.recorded.changes)
    assert (found.torn, found.taken) == ([], [])
    assert found.seen == {"old" if twice else "nothing", "new"}
    assert found.count > len(played.recorded.changes)
    record_property("changes", len(played.recorded.changes))
    record_property("losses", found.count)


@pytest.mark.touched
@needs_rights
@own_run
def test_any_loss_of_a_live_run(runs: Path, tmp_path: Path) -> None:
    """Hosts and forwarders of a live run are separate processes, which write to the folder of the run."""
    live = "live run overload.yaml --duration 1s --set measure.warmup=0s -q --seed {seed} -o out"
    played = play(Writing(live, ("out",)), runs, tmp_path)
    found = lose_power(played, played.recorded.changes)
    assert (found.torn, found.taken, found.seen) == ([], [], {"old", "new"})


@pytest.mark.touched
@pytest.mark.parametrize("name", ["run"])
def test_a_disk_that_cannot_exchange_names(name: str, runs: Path, tmp_path: Path) -> None:
    """Between two renames the target may be missing; the earlier folder then has its hidden name."""
    played = play(COMMANDS[name], runs, tmp_path, "renameat2:error=EINVAL")
    assert sum(change.what == "rename" for change in played.recorded.changes) == 2
    played.new["out"], nothing = played.new["out"], Tree()
    draw, disk, seen = drawing("no exchange"), Disk(played.first), set()
    for change in played.recorded.changes:
        disk.apply(change)
        for left in disk.losses(draw):
            inside = left("out")
            assert inside in (played.old["out"], played.new["out"], nothing)
            if inside == nothing:
                hidden = [path for path in left(".") if path.startswith(".out-") and path.endswith(".old")]
                assert left(hidden[0]) == played.old["out"]
                seen.add("nothing")
    assert seen == {"nothing"}


@pytest.mark.parametrize("what", ["files", "folders"])
def test_a_missing_synchronization_is_detected(what: str, runs: Path, tmp_path: Path) -> None:
    played = play(COMMANDS["run"], runs, tmp_path)
    files = {change.paths[0] for change in played.recorded.changes if change.what == "write"}
    kept = [
        change
        for change in played.recorded.changes
        if change.what != "sync" or (change.paths[0] in files) != (what == "files")
    ]
    assert len(kept) < len(played.recorded.changes)
    found = lose_power(played, kept)
    assert found.torn if what == "files" else found.taken


@pytest.mark.touched
@pytest.mark.parametrize(
    "name", ["run", "run-captures-inside", "compare"] if ALL else ["run-captures-inside"]
)
def test_the_next_writer_recovers_from_any_state(name: str, runs: Path, tmp_path: Path) -> None:
    """The next writer leaves a complete result and no hidden files; files of others become visible."""
    played = play(COMMANDS[name], runs, tmp_path)
    losses = lose_power(played, played.recorded.changes).whole
    different = list({str(sorted(state.items(), key=str)): state for state in losses}.values())
    chosen = different if ALL else drawing("next writer").sample(different, min(SAMPLE, len(different)))
    result = Results.load(runs / "run-1")
    for number, left in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        for path, content in sorted(left.items()):
            if content is None:
                (folder / path).mkdir()
            else:
                (folder / path).write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftoverWarning)
            result.save(folder / "out")
        assert Saved.open(folder / "out").contents == Saved.open(runs / "run-1").contents
        # The name of a lock is not a result; the next writer reuses the lock.
        assert leftovers(folder) == []
        shutil.rmtree(folder)
    assert len(chosen) >= 10


@pytest.mark.parametrize("name", touched(GROWING, but=[]))
def test_a_folder_that_grows_goes_on_after_any_loss(name: str, runs: Path, tmp_path: Path) -> None:
    """The remains of any loss can be read, and the same command continues and ends with the same bytes."""
    writing = GROWING[name]
    played = play(writing, runs, tmp_path, twice=False)
    losses = lose_power(played, played.recorded.changes).whole
    different = list({str(sorted(state.items(), key=str)): state for state in losses}.values())
    chosen = different if ALL else drawing("growing").sample(different, min(SAMPLE, len(different)))
    assert len(chosen) >= 5
    forks = Forks(runs)
    for number, left in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        for path, content in sorted(left.items()):
            if content is None:
                (folder / path).mkdir()
            else:
                (folder / path).write_bytes(content)
        assert [*untrue_of_growing(-signal.SIGKILL, "", folder, writing, played.new)] == []
        ended = forks.run(folder, writing.line.format(seed=2).split())
        assert ended.code == 0, ended.said
        assert trees(folder, writing) == played.new
        assert leftovers(folder) == []
        shutil.rmtree(folder)
    forks.end()
