"""The files of a growing table: complete parts, named by their first point and their checksum.

A part is written under a hidden name, written to the disk and renamed, so that a reader of `*.parquet` in the
folder (DuckDB, polars, pandas) always reads complete parts. The checksum in the name of a part covers its
content, table, first point and sweep (`Label`). A damaged part or a part of another sweep does not match its
name and is not used.
"""

from __future__ import annotations

import json
import re
import shutil
import stat
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

import polars as pl

from perhop import _core, disk
from perhop.caller import made_folder
from perhop.errors import UnreadableFileError
from perhop.frames import as_parquet
from perhop.interrupts import deferred
from perhop.loading import damaged
from perhop.manifest import digest
from perhop.saving import named, put_on_disk

#: The table of the points that have ended. Its parts are written after the parts of the other tables.
POINTS = "points"
#: The reasons for the removal of a part.
DAMAGED = "is damaged, or a part of something else"
ALONE = "has lost parts of other tables that belong to it"
_SHORT = 16
_NAME = re.compile(rf"(\d{{9,}})-([0-9a-f]{{{_SHORT}}})(?:-([0-9a-f]{{{_SHORT}}}))?\.parquet")
_HIDDEN = ".new"
#: The number of points of one part of a complete table.
POINTS_OF_A_PART = 8192


@dataclass(frozen=True)
class Label:
    """The identity of a part: its sweep or tuning, and its table."""

    #: The value of `identity` for the sweep.
    identity: str
    table: str


@dataclass(frozen=True)
class Part:
    """A part whose content matches its name."""

    path: Path
    content: bytes
    #: The SHA-256 of the content.
    digest: str
    #: The two checksums in the name of a part: of the part itself, and of its rows in other tables. The
    #: second checksum is empty if there are no such rows.
    own: str
    rows: str


def identity(texts: Mapping[str, str], version: str = _core.__version__) -> str:
    """Return the identity of a sweep or tuning: a hash of its describing files and the version of perhop."""
    files = [[name, digest(text.encode())] for name, text in sorted(texts.items())]
    return digest(json.dumps([version, files]).encode())


def name_of(label: Label, first: int, content_digest: str, rows: Mapping[str, int] | None = None) -> str:
    """Return the name of a part, given its first point and the SHA-256 of its content.

    `rows` is the number of rows in each other table for the points of the part.
    """
    own = _checksum(label, first, content_digest)
    return f"{first:09}-{own}{'' if rows is None else '-' + _rows_checksum(own, rows)}.parquet"


def _checksum(label: Label, first: int, content_digest: str) -> str:
    return digest(json.dumps([label.identity, label.table, first, content_digest]).encode())[:_SHORT]


def _rows_checksum(own: str, rows: Mapping[str, int]) -> str:
    """Return the checksum of the rows in other tables, bound to the checksum of the part itself."""
    return digest(json.dumps([own, sorted(rows.items())]).encode())[:_SHORT]


def add(
    folder: Path, label: Label, table: pl.DataFrame, rows: Mapping[str, int] | None = None
) -> tuple[str, str]:
    """Add a part, which must have rows, and return its name and SHA-256.

    The part appears completely or not at all.

    Raises:
        OSError: the part cannot be written; the existing parts remain.

    """
    content = as_parquet(table)
    name = name_of(label, int(table["point"][0]), digest(content), rows)
    hidden = folder / f".{name}{_HIDDEN}"
    try:
        disk.write(hidden, content)
        disk.sync(hidden)
        disk.rename(hidden, folder / name)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    disk.sync(folder)
    return name, digest(content)


def clear(folder: Path, name: str = "") -> None:
    """Remove the remains of a killed writer from a folder; only names that begin with `name`."""
    for path in folder.glob(f".{name}*{_HIDDEN}"):
        disk.remove(path)


@contextmanager
def anew(folder: Path) -> Iterator[Path]:
    """Yield a hidden folder, which replaces a folder of a growing result at the end of the block.

    Raises:
        OSError: a file cannot be written; the folder remains unchanged.

    """
    clear_anew(folder)
    new = _hidden(folder)
    try:
        with named(new, folder):
            disk.make_folder(new)
            with made_folder(new):
                yield new
                with deferred() as signals:
                    put_on_disk(new, signals)
        with deferred():
            if not folder.exists():
                disk.rename(new, folder)
            elif not disk.exchange(new, folder):
                _merge(new, folder)
            disk.sync(folder.parent)
    except BaseException:
        with suppress(OSError):
            clear_anew(folder)
        raise
    # The remains would look like a file of the outer folder.
    clear_anew(folder)


def clear_anew(folder: Path) -> None:
    """Remove the earlier or unfinished parts of a rewritten folder, and no files of the user."""
    hidden = _hidden(folder)
    if not hidden.exists():
        return
    if folder.exists():
        for path in hidden.iterdir():
            if not _NAME.fullmatch(path.name) and not (folder / path.name).exists():
                disk.rename(path, folder / path.name)
    shutil.rmtree(hidden)


def _hidden(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}")


def _merge(new: Path, folder: Path) -> None:
    """Put complete files into a folder whose file system cannot exchange two names.

    The old parts are removed first, so a reader may miss points for a moment, but never reads them twice. If
    the process is killed between the two steps, the missing points are simulated again.
    """
    disk.remove_all([path for path in listed(folder) if not (new / path.name).exists()])
    for path in sorted(new.iterdir()):
        disk.rename(path, folder / path.name)
    disk.sync(folder)


def is_name(name: str) -> bool:
    """Whether a file has the name of a part; files with other names belong to the user."""
    return _NAME.fullmatch(name) is not None


def first_of(name: str) -> int:
    """Return the first point of a part, given its name."""
    return int(name.partition("-")[0])


def listed(folder: Path) -> list[Path]:
    """Return the files with names of parts, in order."""
    return sorted(path for path in folder.glob("*.parquet") if is_name(path.name))


def read(path: Path, label: Label) -> Part | None:
    """Return a part, or `None` if its content does not match its name; raises `OSError`."""
    found = _NAME.fullmatch(path.name)
    if found is None or not stat.S_ISREG(path.lstat().st_mode):
        return None
    content = path.read_bytes()
    content_digest = digest(content)
    if found[2] != _checksum(label, int(found[1]), content_digest):
        return None
    return Part(path, content, content_digest, found[2], found[3] or "")


def has_rows(part: Part, rows: Mapping[str, int]) -> bool:
    """Whether the part was written with this number of rows of its points in each other table."""
    return part.rows == _rows_checksum(part.own, rows)


def in_one(folder: Path, contents: Mapping[str, bytes]) -> pl.DataFrame:
    """Return the table whose parts in a folder are given by name, sorted by point.

    Raises:
        UnreadableFileError: a part does not have the form of a table with points.

    """
    try:
        frames = [pl.read_parquet(BytesIO(content)) for content in contents.values()]
        return pl.concat(frames).sort("point", maintain_order=True) if frames else pl.DataFrame()
    # The reader of Parquet may panic on other files.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise damaged(folder, str(error).splitlines()[0]) from error


def is_whole(names: Collection[str], points: int) -> bool:
    """Whether the table has a single part that starts at point 0; rewriting gives the same bytes."""
    return points <= POINTS_OF_A_PART and [first_of(name) for name in names] == [0]


def write_whole(
    folder: Path,
    label: Label,
    source: pl.LazyFrame,
    points: int,
    rows: Callable[[int, int], Mapping[str, int]] | None = None,
) -> dict[str, str]:
    """Write a complete table, part by part. The bytes depend only on the rows.

    `rows(first, last)` returns the number of rows in each other table for the points from `first` to before
    `last`. Returns the SHA-256 of each part by name.
    """
    digests = {}
    for first in range(0, points, POINTS_OF_A_PART):
        last = first + POINTS_OF_A_PART
        part = source.filter(pl.col("point").is_between(first, last - 1))
        table = part.collect().sort("point", maintain_order=True)
        if table.height:
            content = as_parquet(table)
            belonging = None if rows is None else rows(first, last)
            name = name_of(label, first, digest(content), belonging)
            disk.write(folder / name, content)
            digests[name] = digest(content)
    return digests


def require_unchanged(folder: Path, digests: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Refuse parts that differ from the verified or written parts.

    Both mappings give the SHA-256 of each part by its name; `found` describes the current content of the
    folder.

    Raises:
        UnreadableFileError: a part has changed or is missing, or there is an additional part.

    """
    for name in sorted({*digests, *found}):
        if digests.get(name) != found.get(name):
            how = "changed" if name in digests and name in found else "is gone"
            reason = f"it {how} meanwhile" if name in digests else "it does not belong to this table"
            raise UnreadableFileError(
                f"`{folder / name}` is damaged: {reason}", "repeat the command, which repairs it"
            )


def warn_of_removal(paths: Sequence[Path], folder: Path, shown: Path, why: str) -> None:
    """Warn that parts of a folder are removed; do nothing without parts. Messages call the folder `shown`."""
    if paths:
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
        first = shown / paths[0].relative_to(folder)
        message = f"`{first}`{more} {why}: removed, and its points are simulated again"
        warnings.warn(message, disk.LeftoverWarning, stacklevel=2)


def digests_of(folder: Path) -> dict[str, str]:
    """Return the current SHA-256 of the parts in a folder by name; raises `OSError`."""
    return {path.name: digest(path.read_bytes()) for path in listed(folder)}


def sealed_digests(text: str, table: str) -> dict[str, str]:
    """Return the SHA-256 of the parts of a table by name, as the text of a manifest states it."""
    files = {PurePosixPath(name): entry["sha256"] for name, entry in json.loads(text)["files"].items()}
    inside = {path: digest for path, digest in files.items() if path.parent == PurePosixPath(table)}
    return {path.name: digest for path, digest in inside.items() if is_name(path.name)}
