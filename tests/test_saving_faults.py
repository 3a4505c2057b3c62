"""Saving a folder with a signal, an error or a loss of power at each of its operations.

Afterwards the folder must be complete, with the old or the new content; no hidden file may remain, and every
file that is reported as written must be in place.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import leftovers
from perhop import disk, interrupts, manifest
from perhop.saved import Saved
from perhop.saving import replace_file, whole_folder

# All operations on the disk while a folder is saved.
OPERATIONS = ("write", "make_folder", "rename", "link", "remove", "remove_folder", "sync", "exchange")
# More operations than these tests need to save their folder.
MANY = 100

Operation = Callable[..., Any]


def save(target: Path, text: str) -> None:
    with whole_folder(target, "run") as new:
        disk.write(new / "one.txt", text)
        disk.make_folder(new / "inner")
        disk.write(new / "inner" / "two.txt", text * 1000)
        manifest.seal(new / "inner", "tables", {})
        manifest.seal(new, "run", {})


def content(target: Path) -> str:
    """The content of the folder; any damage raises."""
    saved = Saved.open(target)
    text = saved.content("one.txt").decode()
    assert saved.content("inner/two.txt").decode() == text * 1000
    assert sorted(path.name for path in target.iterdir()) == ["inner", "manifest.json", "one.txt"]
    return text


class Disk:
    """The operations of `perhop.disk`, with calls of `before` and `after` for each."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.before: Callable[[int, str, tuple[Any, ...]], None] = lambda number, name, given: None
        self.after: Callable[[int, str, tuple[Any, ...]], None] = lambda number, name, given: None
        self._one_at_a_time = threading.Lock()
        for name in OPERATIONS:
            patch.setattr(disk, name, self._observed(name, getattr(disk, name)))

    def _observed(self, name: str, operation: Operation) -> Operation:
        def observed(*given: Any) -> Any:
            with self._one_at_a_time:
                number, self.count = self.count, self.count + 1
                self.before(number, name, given)
                found = operation(*given)
                self.after(number, name, given)
                return found

        return observed


@pytest.fixture(autouse=True)
def handled() -> Iterator[None]:
    """Handlers by which signals end the saving, as they end a command."""

    def terminated(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in interrupts.ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, terminated)
    signal.signal(signal.SIGHUP, terminated)
    interrupts.written.clear()
    yield
    interrupts.written.clear()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(params=["exchanged", "renamed"])
def shim(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The operations, on a file system that can exchange two names, and on one that cannot."""
    if request.param == "renamed":
        monkeypatch.setattr(disk, "exchange", lambda folder, other: False)
    return Disk(monkeypatch)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_signal_at_every_step(tmp_path: Path, shim: Disk, number: signal.Signals, moment: str) -> None:
    seen = set()
    for step in range(MANY):
        target = tmp_path / f"{step}" / "out"
        save(target, "old")
        interrupts.written.clear()
        shim.count = 0

        def send(at: int, name: str, given: object, step: int = step) -> None:
            if at == step:
                os.kill(os.getpid(), number)

        setattr(shim, moment, send)
        try:
            save(target, "new")
            ended = "done"
        except (KeyboardInterrupt, SystemExit):
            ended = "stopped"
        finally:
            setattr(shim, moment, lambda at, name, given: None)
        found = content(target)
        assert leftovers(target.parent) == [], step
        assert [path.name for path in target.parent.iterdir()] == ["out"]
        assert interrupts.written == ([f"`{target}`"] if found == "new" else []), step
        seen.add((ended, found))
        if step >= shim.count:
            assert (ended, found) == ("done", "new")
            break
        assert ended == "stopped", f"the signal at step {step} was lost"
    # Stops before and after the decisive step occurred, and complete runs.
    assert seen == {("stopped", "old"), ("stopped", "new"), ("done", "new")}


def test_two_signals_at_once(tmp_path: Path, shim: Disk) -> None:
    """The second signal must not interrupt the cleanup after the first."""
    save(tmp_path / "out", "old")

    def send(at: int, name: str, given: object) -> None:
        if name in ("exchange", "remove"):
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)

    shim.after = send
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        save(tmp_path / "out", "new")
    assert content(tmp_path / "out") == "new"
    assert leftovers(tmp_path) == []


def test_a_signal_does_not_break_a_thread_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception from a signal would leave a lock locked, and the threads would wait forever."""
    save(tmp_path / "out", "old")
    interrupts.written.clear()
    sync_all, done = disk.sync_all, []

    def disturbed(paths: Sequence[Path]) -> None:
        signal.raise_signal(signal.SIGTERM)
        sync_all(paths)
        done.extend(paths)

    monkeypatch.setattr(disk, "sync_all", disturbed)
    with pytest.raises(SystemExit):
        save(tmp_path / "out", "new")
    assert len(done) == 6
    assert content(tmp_path / "out") == "old"
    assert (interrupts.written, leftovers(tmp_path)) == ([], [])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS], ids=errno.errorcode.get)
@pytest.mark.filterwarnings("ignore::perhop.disk.LeftoverWarning")
def test_an_error_at_every_step(tmp_path: Path, shim: Disk, code: int) -> None:
    failed = 0
    for step in range(MANY):
        target = tmp_path / f"{step}" / "out"
        save(target, "old")
        interrupts.written.clear()
        shim.count = 0

        def fail(at: int, name: str, given: tuple[Any, ...], step: int = step) -> None:
            if at == step:
                if name == "write":
                    given[0].write_text("ha")
                raise OSError(code, os.strerror(code), str(given[0]))

        shim.before = fail
        try:
            save(target, "new")
        except OSError as error:
            failed += 1
            assert error.errno == code
            # The message names the user's path.
            assert str(error.filename).startswith(str(target)), step
            assert "/." not in str(error.filename)
        finally:
            shim.before = lambda at, name, given: None
        found = content(target)
        assert leftovers(target.parent) == [], step
        assert interrupts.written == ([f"`{target}`"] if found == "new" else []), step
        # Files that could not be removed have visible names.
        assert {path.name for path in target.parent.iterdir()} <= {"out", "out.old-1"}
        if step >= shim.count:
            break
    assert failed > 10


def test_files_that_cannot_be_removed_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "out", "old")

    def refuse(file: Path) -> None:
        raise OSError(errno.EACCES, "Permission denied", str(file))

    monkeypatch.setattr(disk, "remove", refuse)
    with pytest.warns(disk.LeftoverWarning, match=r"out\.old-1"):
        save(tmp_path / "out", "new")
    assert content(tmp_path / "out") == "new"
    assert content(tmp_path / "out.old-1") == "old"


def test_a_new_folder_that_cannot_be_listed_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the folder counted as empty, its files would be missing in the manifest and not be synchronized."""
    save(tmp_path / "out", "old")
    scan, failing = os.scandir, [0]

    def refuse(folder: Any) -> Any:
        if ".new" in str(folder):
            failing[0] -= 1
            if failing[0] == 0:
                raise OSError(errno.EIO, "Input/output error", str(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    for number in range(1, 6):
        failing[0] = number
        with pytest.raises(OSError, match="Input/output error"):
            save(tmp_path / "out", "new")
        failing[0] = 0
        assert content(tmp_path / "out") == "old"
    assert leftovers(tmp_path) == []


def test_an_error_while_a_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    file.write_text("earlier")
    shim = Disk(monkeypatch)
    for step in range(4):

        def fail(at: int, name: str, given: tuple[Any, ...], step: int = step) -> None:
            if at == step:
                raise OSError(errno.ENOSPC, "No space left on device", str(given[0]))

        shim.count, shim.before = 0, fail
        with pytest.raises(OSError, match=r"report\.html'") as raised:
            replace_file(file, "later")
        assert raised.value.filename == str(file)
        assert leftovers(tmp_path) == []
        # The last step synchronizes the name to the disk; the file is in place before it.
        assert file.read_text() == ("later" if step == 3 else "earlier")


def test_the_next_writer_completes_an_interrupted_save(tmp_path: Path) -> None:
    save(tmp_path / "out", "old")
    # Killed while it wrote; killed after the exchange of the folders; killed between two renames.
    (tmp_path / f".out-{1:012x}.new").mkdir()
    (tmp_path / f".out-{1:012x}.new" / "half").write_text("half of")
    save(tmp_path / "other", "older")
    (tmp_path / "other").rename(tmp_path / f".out-{2:012x}.new")
    save(tmp_path / "out", "new")
    assert (content(tmp_path / "out"), leftovers(tmp_path)) == ("new", [])
    (tmp_path / "out").rename(tmp_path / f".out-{3:012x}.old")

    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "out", "run"):
        raise ZeroDivisionError
    assert content(tmp_path / "out") == "new", "the earlier result is back, although nothing was written"
    assert leftovers(tmp_path) == []
