"""The possible contents of a disk after a loss of power: a model of a file system that replays changes.

After a completed synchronization of a file, the contents that it had when the synchronization started
survive. Later writes may survive, be lost, or become zeros of the same length (the file system had stored the
length but not the data). Likewise for the names in a folder: changes before the start of a completed
synchronization of the folder survive. Of the later changes, the first ones survive, up to a number for all
folders together, as in a file system with a journal, or for each folder separately, because POSIX requires no
more.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from system_calls import Change

#: Files by their paths relative to the folder, and folders as `None`.
Tree = dict[str, bytes | None]
#: The fates of contents that were not synchronized.
Unsynchronized = Literal["kept", "lost", "zeros"]
#: Returns the surviving files at a path, by their path relative to it; the relative path of a file is empty.
Left = Callable[[str], Tree]
_ROOT = 0


@dataclass
class _File:
    content: bytes
    #: The content that is certain to survive; `None` before the first synchronization.
    kept: bytes | None
    #: The contents after each write, by the line of the log in which the write ended.
    history: list[tuple[int, bytes]] = field(default_factory=list)

    def after(self, loss: Unsynchronized) -> bytes:
        if loss == "kept":
            return self.content
        if loss == "zeros":
            return (self.kept or b"")[: len(self.content)].ljust(len(self.content), b"\0")
        return self.kept or b""


@dataclass
class _Folder:
    #: The names in the folder before all changes, and after each change.
    states: list[dict[str, int]]
    #: The lines in which the changes ended.
    ended: list[int] = field(default_factory=list)
    #: The number of changes that are certain to survive.
    kept: int = 0

    @property
    def now(self) -> dict[str, int]:
        return self.states[-1]


class Disk:
    """A folder and its content."""

    def __init__(self, before: Tree) -> None:
        self._files: dict[int, _File] = {}
        self._folders: dict[int, _Folder] = {_ROOT: _Folder([{}])}
        for path, content in sorted(before.items()):
            above, name = self._above(path)
            above.now[name] = self._new_folder() if content is None else self._new_file(content, content)

    def _new_file(self, content: bytes, kept: bytes | None) -> int:
        number = len(self._files) + len(self._folders)
        self._files[number] = _File(content, kept, [(-1, content)])
        return number

    def _new_folder(self) -> int:
        number = len(self._files) + len(self._folders)
        self._folders[number] = _Folder([{}])
        return number

    def _above(self, path: str) -> tuple[_Folder, str]:
        *folders, name = path.split("/")
        at = _ROOT
        for folder in folders:
            at = self._folders[at].now[folder]
        return self._folders[at], name

    def _find(self, path: str) -> int | None:
        if path == ".":
            return _ROOT
        above, name = self._above(path)
        return above.now.get(name)

    def apply(self, change: Change) -> None:
        """Apply a recorded call."""
        first = self._find(change.paths[0])
        match change.what:
            case "write":
                assert first is not None
                self._write(self._files[first], change)
            case "sync":
                assert first is not None
                self._synchronize(first, change)
            case "create" | "truncate" if first is not None:
                if change.what == "truncate":
                    self._files[first].content = b""
                    self._files[first].history.append((change.ended, b""))
            case "create" | "truncate":
                self._name(change, {0: self._new_file(b"", None)})
            case "make":
                self._name(change, {0: self._new_folder()})
            case "remove":
                self._name(change, {0: None})
            case "link":
                self._name(change, {1: first})
            case "rename":
                self._name(change, {0: None, 1: first})
            case "exchange":
                self._name(change, {0: self._find(change.paths[1]), 1: first})
            case _:
                raise ValueError(change.what)

    @staticmethod
    def _write(file: _File, change: Change) -> None:
        at = len(file.content) if change.at is None else change.at
        before = file.content.ljust(at, b"\0")
        file.content = before[:at] + change.content + before[at + len(change.content) :]
        file.history.append((change.ended, file.content))

    def _synchronize(self, number: int, change: Change) -> None:
        if number in self._files:
            file = self._files[number]
            file.kept = [content for ended, content in file.history if ended < change.begun][-1]
        else:
            folder = self._folders[number]
            folder.kept = max(folder.kept, bisect_left(folder.ended, change.begun))

    def _name(self, change: Change, names: Mapping[int, int | None]) -> None:
        """Change names, all in one folder, in one step."""
        places = [self._above(change.paths[index]) for index in names]
        folder = places[0][0]
        assert all(parent is folder for parent, _ in places), (
            "names in two folders are not changed in one step"
        )
        after = dict(folder.now)
        for (_, name), number in zip(places, names.values(), strict=True):
            if number is None:
                del after[name]
            else:
                after[name] = number
        folder.states.append(after)
        folder.ended.append(change.ended)

    def now(self) -> Tree:
        """The content of the folder without a loss."""
        return self._left({}, "kept", ".")

    def losses(self, draw: random.Random) -> Iterator[Left]:
        """Generate the possible losses of power, each as the content that it leaves at a path."""
        every = {number: len(folder.ended) for number, folder in self._folders.items()}
        kept = {number: folder.kept for number, folder in self._folders.items()}
        for surviving in (*self._in_one_order(), *self._each_on_its_own(kept, every, draw)):
            for loss in get_args(Unsynchronized):
                yield partial(self._left, surviving, loss)

    def _in_one_order(self) -> list[dict[int, int]]:
        lines = sorted({line for folder in self._folders.values() for line in folder.ended})
        certain = max(
            (folder.ended[folder.kept - 1] for folder in self._folders.values() if folder.kept), default=-1
        )
        return [
            {number: bisect_left(folder.ended, line) for number, folder in self._folders.items()}
            for line in [*(line for line in lines if line > certain), lines[-1] + 1 if lines else 0]
        ]

    @staticmethod
    def _each_on_its_own(
        kept: dict[int, int], every: dict[int, int], draw: random.Random
    ) -> Iterator[dict[int, int]]:
        """Vary one folder while the others keep all changes or the minimum; draw a few other losses."""
        for number, most in every.items():
            for count in range(kept[number], most + 1):
                yield kept | {number: count}
                yield every | {number: count}
        for _ in range(5):
            yield {number: draw.randint(kept[number], every[number]) for number in every}

    def _left(self, surviving: Mapping[int, int], loss: Unsynchronized, path: str) -> Tree:
        """Return the content of a path after the given number of changes of each folder, by default all."""
        at = _ROOT
        for name in path.split("/") if path != "." else ():
            found = self._survivors(at, surviving).get(name) if at in self._folders else None
            if found is None:
                return {}
            at = found
        if at in self._files:
            return {"": self._files[at].after(loss)}
        return dict(self._below(at, surviving, loss))

    def _survivors(self, folder: int, surviving: Mapping[int, int]) -> dict[str, int]:
        return self._folders[folder].states[surviving.get(folder, -1)]

    def _below(
        self, at: int, surviving: Mapping[int, int], loss: Unsynchronized
    ) -> Iterator[tuple[str, bytes | None]]:
        waiting = [("", at)]
        while waiting:
            begin, number = waiting.pop()
            for name, inside in self._survivors(number, surviving).items():
                if inside in self._files:
                    yield begin + name, self._files[inside].after(loss)
                else:
                    yield begin + name, None
                    waiting.append((f"{begin}{name}/", inside))


def tree(folder: Path) -> Tree:
    """The content of a folder on the disk by path; for a file, under the empty path."""
    if folder.is_file():
        return {"": folder.read_bytes()}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
