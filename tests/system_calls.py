"""The system calls by which a real process changes a folder, recorded by strace, in the order of their ends.

Calls that change nothing (reading, looking up names) are not recorded, nor are failed calls. An unknown call
that could change the folder raises an exception, so that no change is overlooked.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from programs import needs

needs_strace = needs("strace")

# All calls that change names or contents. A traced command lasts a second if `close` and reads are not
# traced.
_TRACED = (
    "open,openat,creat,write,pwrite64,writev,pwritev,ftruncate,truncate,fallocate,copy_file_range,sendfile,"
    "fsync,fdatasync,sync_file_range,syncfs,sync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,"
    "rmdir,link,linkat,symlink,symlinkat,mknod,mknodat"
)
_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<given>.*)\) += (?P<result>-?\d+)(?P<path><[^>]*>)?.*")
_BEGUN = re.compile(r"(?P<pid>\d+) +(?P<begun>\w+\(.*) <unfinished \.\.\.>")
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. \w+ resumed>(?P<rest>.*)")
# Strings and, in angle brackets, the paths of descriptors are in hexadecimal.
_HEX = r"((?:\\x[0-9a-f]{2})*)"


@dataclass(frozen=True)
class Change:
    """A call that changed the folder: its kind, the paths in the folder, and the written bytes."""

    #: create, truncate, write, sync, make, rename, exchange, link or remove.
    what: str
    paths: tuple[str, ...]
    content: bytes = b""
    #: The offset of the content; `None` is the end of all bytes that this process has written.
    at: int | None = None
    #: The lines of the log in which the call began and ended: calls may overlap.
    begun: int = 0
    ended: int = 0


@dataclass(frozen=True)
class Recorded:
    """The exit code of a command, and its changes."""

    code: int
    said: str
    changes: tuple[Change, ...]


def record(line: Sequence[str], folder: Path, log: Path, *inject: str) -> Recorded:
    """Run a command in a folder and return all changes in it; `inject` are faults in strace's syntax."""
    faults = [option for fault in inject for option in ("-e", f"inject={fault}")]
    ended = subprocess.run(
        ["strace", "-f", "-y", "-xx", "-s", "100000000", "-o", log, "-e", f"trace={_TRACED}", *faults, *line],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    with log.open() as lines:
        changes = tuple(_changes(_calls(lines), folder))
    return Recorded(ended.returncode, ended.stderr, changes)


def _calls(lines: Iterator[str]) -> Iterator[tuple[re.Match[str], int, int]]:
    """Generate the calls in the order in which they ended, each with the lines of its begin and its end."""
    begun: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines):
        whole, begin = line.rstrip("\n"), number
        if found := _BEGUN.fullmatch(whole):
            begun[found["pid"]] = (found["begun"], number)
            continue
        if found := _RESUMED.fullmatch(whole):
            before, begin = begun.pop(found["pid"])
            whole = f"{found['pid']} {before}{found['rest']}"
        if found := _LINE.fullmatch(whole):
            yield found, begin, number
        elif not re.match(r"\d+ +(\+\+\+|---)|\d+ +\w+\(.*\) += \?", whole):
            raise ValueError(f"not understood: {whole[:200]}")


def _changes(calls: Iterator[tuple[re.Match[str], int, int]], folder: Path) -> Iterator[Change]:
    for call, begun, ended in calls:
        if int(call["result"]) >= 0:
            for change in _change(call, folder):
                yield replace(change, begun=begun, ended=ended)


def _change(call: re.Match[str], folder: Path) -> Iterator[Change]:
    name, given = call["name"], call["given"]
    descriptor = re.match(rf"\d+<{_HEX}>", given)
    changed = _inside(_bytes(descriptor[1]), folder) if descriptor else None
    # Written bytes may resemble names.
    paths = [] if descriptor and '"' in given and "write" in name else _paths(given, folder)
    names = [inner for inner in (_inside(path, folder) for path in paths) if inner]
    match name:
        case "open" | "openat" | "creat":
            # A file without a name is invisible.
            if names and "O_TMPFILE" not in given and re.search("O_CREAT|O_TRUNC", given):
                yield Change("truncate" if "O_TRUNC" in given else "create", tuple(names))
        case "write" | "writev" | "pwrite64" if changed:
            written = b"".join(map(_bytes, re.findall(rf'"{_HEX}"', given)))[: int(call["result"])]
            at = int(given.rpartition(", ")[2]) if name == "pwrite64" else None
            yield Change("write", (changed,), written, at)
        case "fsync" | "fdatasync" if changed:
            yield Change("sync", (changed,))
        case "mkdir" | "mkdirat" if names:
            yield Change("make", tuple(names))
        case "unlink" | "unlinkat" | "rmdir" if names:
            yield Change("remove", tuple(names))
        case "link" | "linkat" if names:
            yield Change("link", tuple(names))
        case "rename" | "renameat" | "renameat2" if names:
            yield Change("exchange" if "RENAME_EXCHANGE" in given else "rename", tuple(names))
        case _ if changed or names:
            raise ValueError(f"a change that is not understood: {call[0][:200]}")


def _paths(given: str, folder: Path) -> Iterator[str]:
    """Generate the names in a call's arguments as whole paths."""
    for above, path in re.findall(rf'(?:(?:AT_FDCWD|\d+)<{_HEX}>, )?"{_HEX}"', given):
        base = Path(os.fsdecode(_bytes(above))) if above else folder
        yield os.path.normpath(base / os.fsdecode(_bytes(path)))


def _inside(path: str | bytes, folder: Path) -> str | None:
    """Return a path relative to the folder: empty for the folder, `None` for a path outside it."""
    text = os.fsdecode(path)
    if text == str(folder):
        return "."
    return text.removeprefix(f"{folder}/") if text.startswith(f"{folder}/") else None


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
