"""Creating, entering, emptying and removing named network namespaces."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from perhop.live import kernel
from perhop.live.owner import PREFIX, Owner

_FOLDER = Path("/run/netns")
# Number of characters of a node's name in the namespace's name.
_LONGEST_NODE = 40
# Time for killed processes to disappear, and the interval of polling.
_GONE_WITHIN_S = 2.0
_POLL_EVERY_S = 0.01


def names(owner: Owner, nodes: Iterable[str]) -> dict[str, str]:
    """Return a distinct name for the namespace of each node, valid for `ip netns`."""
    found: dict[str, str] = {}
    for index, node in enumerate(nodes):
        plain = re.sub(r"[^A-Za-z0-9_.-]", "_", node)[:_LONGEST_NODE]
        name = f"{PREFIX}{owner.tag}-{plain}"
        found[node] = f"{name}-{index}" if plain != node or name in found.values() else name
    return found


def path(name: str) -> Path:
    """Return the file of a namespace."""
    return _FOLDER / name


def make(name: str) -> None:
    """Create a network namespace; raises `OSError`."""
    from pyroute2 import netns  # lazy: optional package

    netns.create(name)


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Move this thread into a named namespace for the duration of the block."""
    with inside_of(path(name)):
        yield


@contextmanager
def inside_of(file: Path) -> Iterator[None]:
    """Move this thread into the namespace of a file for the duration of the block."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        kernel.enter(file, kernel.NEW_NETWORK)
        yield
    finally:
        kernel.enter_open(home, "the process's own network namespace", kernel.NEW_NETWORK)
        os.close(home)


def existing() -> list[tuple[Owner, str]]:
    """Return the namespaces of all testbeds, with their owners."""
    try:
        found = sorted(file.name for file in _FOLDER.iterdir())
    except (FileNotFoundError, PermissionError):
        return []
    owned = ((Owner.of_name(name), name) for name in found)
    return [(owner, name) for owner, name in owned if owner is not None]


def current() -> tuple[int, int]:
    """Return the identity of this process's network namespace: device and inode of its file."""
    return _identity(Path("/proc/self/ns/net"))


def file_of(identity: Iterable[int]) -> Path | None:
    """Return a file of the namespace with this identity: a named file, or the file of a process."""
    wanted = tuple(identity)
    named = _FOLDER.glob("*")
    of_processes = (process / "ns" / "net" for process in Path("/proc").iterdir() if process.name.isdigit())
    for file in chain(named, of_processes):
        with suppress(OSError):
            if _identity(file) == wanted:
                return file
    return None


def processes(namespaces: Iterable[str]) -> list[int]:
    """Return the ids of the processes in namespaces; this process's own namespace is omitted."""
    wanted = set()
    for name in namespaces:
        with suppress(FileNotFoundError):
            wanted.add(_identity(path(name)))
    wanted.discard(current())
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            with suppress(OSError):
                if _identity(process / "ns" / "net") in wanted:
                    found.append(int(process.name))
    return found


def empty(namespaces: list[str]) -> int:
    """Kill every process in namespaces; return the number of killed processes.

    A program started in a host may have left processes outside its process group.
    """
    killed: set[int] = set()
    until = time.monotonic() + _GONE_WITHIN_S
    while (found := processes(namespaces)) and time.monotonic() < until:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed.update(found)
        time.sleep(_POLL_EVERY_S)
    return len(killed)


def remove(name: str) -> None:
    """Remove a namespace and its devices; do nothing if it does not exist."""
    # If no namespace is mounted on the name, the name is an ordinary file: `unmount` fails and `unlink`
    # works.
    with suppress(OSError):
        kernel.unmount(path(name))
    with suppress(FileNotFoundError):
        path(name).unlink()


def _identity(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino
