"""The files of a growing table: parts that appear whole, named by their first point and their content.

A part is written under a hidden name, put on the disk and renamed, so that whoever reads `*.parquet` in the
folder (DuckDB, polars, pandas) sees whole parts only, at any time. The name holds a checksum of the content:
a part that a loss of power damaged is told by it and left out.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

import polars as pl

from perhop import disk
from perhop.frames import as_parquet
from perhop.interrupts import deferred
from perhop.loading import damaged
from perhop.manifest import digest
from perhop.saving import named, put_on_disk

#: The table of the points that have ended, of which a part is written after those of the other tables.
POINTS = "points"
_SHORT = 16
_NAME = re.compile(rf"(\d{{9}})-([0-9a-f]{{{_SHORT}}})\.parquet")
_HIDDEN = ".new"
#: Points of one part of a complete table.
POINTS_OF_A_PART = 8192


def name_of(first: int, content: bytes) -> str:
    """Return the name of a part, given its first point."""
    return f"{first:09}-{digest(content)[:_SHORT]}.parquet"


def add(folder: Path, table: pl.DataFrame) -> None:
    """Add a part, which must have rows; it is there as a whole or not at all.

    Raises:
        OSError: it cannot be written; the parts that are there remain.

    """
    content = as_parquet(table)
    name = name_of(int(table["point"][0]), content)
    hidden = folder / f".{name}{_HIDDEN}"
    try:
        disk.write(hidden, content)
        disk.sync(hidden)
        disk.rename(hidden, folder / name)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    disk.sync(folder)


def clear(folder: Path, name: str = "") -> None:
    """Remove what a killed writer left of the files in a folder whose names begin so."""
    for path in folder.glob(f".{name}*{_HIDDEN}"):
        disk.remove(path)


@contextmanager
def anew(folder: Path) -> Iterator[Path]:
    """Give a hidden folder, which at the end takes the place of a folder within one that grows.

    Raises:
        OSError: a file cannot be written; the folder remains as it was.

    """
    clear_anew(folder)
    new = _hidden(folder)
    try:
        with named(new, folder):
            disk.make_folder(new)
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
    # What is left would be taken for a part of the folder around it.
    clear_anew(folder)


def clear_anew(folder: Path) -> None:
    """Remove what a folder was before it was written anew, or was to be, but nothing that is not perhop's."""
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
    """Put complete files into a folder where a file system cannot exchange two names.

    The old parts are removed first: a reader may find points missing for a moment, and never twice. Should
    the process be killed in between, the points that are missing are simulated again.
    """
    old = list(folder.glob("*.parquet"))
    disk.remove_all([path for path in old if not (new / path.name).exists()])
    for path in sorted(new.iterdir()):
        disk.rename(path, folder / path.name)
    disk.sync(folder)


def is_intact(name: str, content: bytes) -> bool:
    """Whether a part's content is what its name says."""
    found = _NAME.fullmatch(name)
    return found is not None and found[2] == digest(content)[:_SHORT]


def intact(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Generate the parts that are as they were written, in order of their names."""
    for path in sorted(folder.glob("*.parquet")):
        content = path.read_bytes()
        if is_intact(path.name, content):
            yield path, content


def in_one(folder: Path, contents: Mapping[str, bytes]) -> pl.DataFrame:
    """Return the table whose parts in a folder are given by name, sorted by point.

    Raises:
        UnreadableFileError: a part is none of a table with points.

    """
    try:
        frames = [pl.read_parquet(BytesIO(content)) for content in contents.values()]
        return pl.concat(frames).sort("point", maintain_order=True) if frames else pl.DataFrame()
    # What is no Parquet at all may also be a panic of its reader.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise damaged(folder, str(error).splitlines()[0]) from error


def is_whole(folder: Path, points: int) -> bool:
    """Whether a complete table is one part, added at once: then writing it anew would give the same bytes."""
    names = [_NAME.fullmatch(path.name) for path in folder.glob("*.parquet")]
    return points <= POINTS_OF_A_PART and [name and int(name[1]) for name in names] == [0]


def write_whole(folder: Path, source: pl.LazyFrame, points: int) -> None:
    """Write a complete table, whose bytes depend on its rows alone, a part after the other."""
    for first in range(0, points, POINTS_OF_A_PART):
        part = source.filter(pl.col("point").is_between(first, first + POINTS_OF_A_PART - 1))
        table = part.collect().sort("point", maintain_order=True)
        if table.height:
            content = as_parquet(table)
            disk.write(folder / name_of(first, content), content)
