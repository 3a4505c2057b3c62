"""A loss of power at any moment of saving leaves the earlier folder or the new one, whole.

The operations of saving are recorded, and each loss of power is played on a model of a disk: the contents of
a file survive where the file was synchronized after it was written, and else are lost; of the changes of
names those survive that a synchronized folder guarantees, and any number of those after them, in their order,
as a file system with a journal keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from perhop import disk
from test_saving_faults import Disk, save

# What the recorded names are relative to.
_TARGET = "out"


@dataclass
class Model:
    """Names and what they stand for: the number of a file, or `None` for a folder."""

    names: dict[str, int | None] = field(default_factory=dict)
    #: What was written to a file last, by its number.
    contents: dict[int, bytes] = field(default_factory=dict)
    synchronized: dict[int, bytes] = field(default_factory=dict)

    def move(self, old: str, new: str) -> dict[str, int | None]:
        """Take a name and all within it away, and return them under another name."""
        moved = {name: one for name, one in self.names.items() if name == old or name.startswith(f"{old}/")}
        for name in moved:
            del self.names[name]
        return {new + name.removeprefix(old): one for name, one in moved.items()}

    def change(self, name: str, given: tuple[str, ...], number: int) -> None:
        """Change names as an operation does."""
        match name:
            case "write":
                self.names[given[0]] = number
            case "make_folder":
                self.names[given[0]] = None
            case "rename":
                self.names |= self.move(given[0], given[1])
            case "exchange":
                one, other = self.move(given[0], given[1]), self.move(given[1], given[0])
                self.names |= one | other
            case "remove" | "remove_folder":
                del self.names[given[0]]

    def whole(self) -> dict[str, bytes]:
        """What is in the target after the loss; a file that was not synchronized is empty."""
        return {
            name: self.synchronized.get(number, b"")
            for name, number in self.names.items()
            if number is not None and name.startswith(f"{_TARGET}/")
        }


@dataclass
class Recorded:
    """An operation: its name, its paths relative to the folder, and what it wrote."""

    name: str
    given: tuple[str, ...]
    content: bytes = b""

    @property
    def changes_names(self) -> bool:
        return self.name != "sync"


@pytest.fixture
def shim(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def recorded(shim: Disk, tmp_path: Path, *texts: str) -> list[Recorded]:
    """Save each text in turn to the same folder, and return all operations."""
    found: list[Recorded] = []

    def remember(number: int, name: str, given: tuple[Any, ...]) -> None:
        paths = tuple(one.relative_to(tmp_path).as_posix() for one in given if isinstance(one, Path))
        content = Path(given[0]).read_bytes() if name == "write" else b""
        found.append(Recorded(name, paths, content))

    shim.after = remember
    for text in texts:
        save(tmp_path / _TARGET, text)
    return found


def losses(operations: list[Recorded]) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Generate what is left by every loss of power: after how many operations, and what the target holds."""
    for end in range(len(operations) + 1):
        done = operations[:end]
        # A synchronized folder guarantees what happened in it before.
        guaranteed = 0
        for number, one in enumerate(done):
            if one.name == "sync":
                inside = [
                    at for at in range(number) if done[at].changes_names and _is_in(done[at], one.given[0])
                ]
                guaranteed = max([guaranteed, *(at + 1 for at in inside)])
        for kept in range(guaranteed, end + 1):
            yield end, _left(done, kept)


def _is_in(operation: Recorded, folder: str) -> bool:
    return any((Path(path).parent.as_posix()) == folder for path in operation.given)


def _left(done: list[Recorded], kept: int) -> dict[str, bytes]:
    """What the target holds when the names of `kept` operations survive, and all that was synchronized."""
    now, model = Model(), Model()
    for number, one in enumerate(done):
        if one.changes_names:
            now.change(one.name, one.given, number)
            if number < kept:
                model.change(one.name, one.given, number)
        else:
            file = now.names.get(one.given[0])
            if file is not None:
                model.synchronized[file] = done[file].content
    return model.whole()


def expected(text: str, operations: list[Recorded]) -> dict[str, bytes]:
    """The files of the folder, as the first or the second saving wrote them."""
    written = [one for one in operations if one.name == "write"]
    half = written[: len(written) // 2] if text == "old" else written[len(written) // 2 :]
    return {f"{_TARGET}/{one.given[0].partition('/')[2]}": one.content for one in half}


@pytest.mark.parametrize("way", ["exchanged", "renamed"])
def test_any_loss_leaves_a_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "renamed":
        monkeypatch.setattr(disk, "exchange", lambda one, other: False)
    operations = recorded(Disk(monkeypatch), tmp_path, "old", "new")
    if way == "renamed":
        # What was tried in vain.
        operations = [one for one in operations if one.name != "exchange"]
    old, new = expected("old", operations), expected("new", operations)
    second = next(at for at, one in enumerate(operations) if one.name == "write" and one.content == b"new")
    seen = set()
    for end, left in losses(operations):
        if end >= second:
            allowed = [old, new] if way == "exchanged" else [old, new, {}]
            assert left in allowed, (end, operations[end - 1])
        else:
            assert left in ({}, old), (end, operations[end - 1])
        seen.add(("nothing", "old", "new")[[{}, old, new].index(left)])
    assert seen == {"nothing", "old", "new"}
    assert all(left == new for end, left in losses(operations) if end == len(operations)), "it is not kept"


def test_between_two_renames_the_earlier_folder_survives_under_its_hidden_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where folders cannot be exchanged, the next writer puts it back (`test_saving_faults`)."""
    monkeypatch.setattr(disk, "exchange", lambda one, other: False)
    operations = recorded(Disk(monkeypatch), tmp_path, "old", "new")
    renames = [one.given for one in operations if one.name == "rename"]
    assert renames[1][0] == _TARGET
    assert renames[1][1].endswith(".old")
    assert renames[2][1] == _TARGET


@pytest.mark.parametrize("left_out", ["files", "folders"])
def test_the_model_notices_what_is_not_synchronized(tmp_path: Path, shim: Disk, left_out: str) -> None:
    operations = recorded(shim, tmp_path, "old", "new")
    files = {one.given[0] for one in operations if one.name == "write"}
    kept = [
        one for one in operations if one.name != "sync" or (one.given[0] in files) != (left_out == "files")
    ]
    whole = [{}, expected("old", kept), expected("new", kept)]
    torn = [left for _, left in losses(kept) if left not in whole]
    lost = [left for end, left in losses(kept) if end == len(kept) and left != whole[2]]
    assert torn if left_out == "files" else lost
