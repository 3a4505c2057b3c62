"""The valid parts of a growing sweep: they match their names, and their tables belong together.

A part is valid if its checksum matches, which binds the part to the plan (`parts.py`). The name of a part of
`points` also covers the number of rows of its points in each other table. If a part of another table is
missing, the number differs, and the points are simulated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from perhop.sweeping import parts
from perhop.sweeping.parts import POINTS, Label, Part

# A function that takes a table and a valid part of this table.
Reader = Callable[[str, Part], None]
_Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class _Known:
    """A part that matches its name, without its content."""

    part: Part
    #: The distinct points of the part.
    points: _Numbers
    #: The number of failed points of the part.
    failed: int = 0


@dataclass
class Verified:
    """The valid parts of a sweep, and their content."""

    #: Whether each point has ended.
    ended: npt.NDArray[np.bool_]
    #: The number of failed points.
    failed: int = 0
    #: The SHA-256 by table and part.
    digests: dict[str, dict[str, str]] = field(default_factory=dict)
    #: The number of rows of each point, by table.
    rows: dict[str, npt.NDArray[np.uint32]] = field(default_factory=dict)
    #: Parts that do not match their names, because they are damaged or belong to another sweep.
    wrong: list[Path] = field(default_factory=list)
    #: Parts of `points` that match their names, but lack some of their rows in other tables.
    alone: list[Path] = field(default_factory=list)
    #: Parts that match their names but are not used, because a part that belongs to them is missing.
    unused: list[Path] = field(default_factory=list)

    def rows_of(self, points: _Numbers | slice) -> dict[str, int]:
        """Return the number of rows of some points in each table."""
        return {table: int(counts[points].sum()) for table, counts in self.rows.items()}


def verified(
    folder: Path, identity: str, tables: Sequence[str], size: int, reader: Reader | None = None
) -> Verified:
    """Read every part of a sweep of `size` points, and return the used parts.

    Raises:
        OSError: a part cannot be read; a `FileNotFoundError` if a writer is replacing it.

    """
    found = Verified(np.zeros(size, dtype=bool))
    # A writer adds `points` last. In this order, the reader never reads a part of `points` without its parts
    # in other tables.
    points = _known(folder, Label(identity, POINTS), found, np.zeros(size, dtype=np.uint32), reader)
    known: dict[str, list[_Known]] = {}
    for table in tables:
        found.rows[table] = np.zeros(size, dtype=np.uint32)
        known[table] = _known(folder, Label(identity, table), found, found.rows[table], reader)
    belonging = [entry for entry in points if parts.has_rows(entry.part, found.rows_of(entry.points))]
    found.alone = [entry.part.path for entry in points if entry not in belonging]
    known[POINTS] = belonging
    for entry in belonging:
        found.ended[entry.points] = True
    _drop_torn(known, found)
    found.failed = sum(entry.failed for entry in known[POINTS])
    for table, entries in known.items():
        found.digests[table] = {entry.part.path.name: entry.part.digest for entry in entries}
    return found


def _known(
    folder: Path, label: Label, found: Verified, rows: npt.NDArray[np.uint32], reader: Reader | None
) -> list[_Known]:
    """Return the parts of a table that match their names and share no points, and count their rows."""
    known = []
    for path in parts.listed(folder / label.table):
        part = parts.read(path, label)
        if part is None:
            found.wrong.append(path)
            continue
        columns = ["point", "error"] if label.table == POINTS else ["point"]
        table = pl.read_parquet(BytesIO(part.content), columns=columns)
        points, counts = np.unique(table["point"].to_numpy(), return_counts=True)
        if rows[points].any():
            found.unused.append(path)
            continue
        rows[points] = counts
        failed = table["error"].drop_nulls().len() if label.table == POINTS else 0
        if reader is not None:
            reader(label.table, part)
        known.append(_Known(Part(path, b"", part.digest, part.own, part.rows), points, failed))
    return known


def _drop_torn(known: dict[str, list[_Known]], found: Verified) -> None:
    """Drop parts with a point that has not ended, then all parts that share points with dropped parts."""
    is_torn = True
    while is_torn:
        is_torn = False
        for table, entries in known.items():
            torn = [entry for entry in entries if not found.ended[entry.points].all()]
            for entry in torn:
                found.ended[entry.points] = False
                if table != POINTS:
                    found.rows[table][entry.points] = 0
            if torn:
                is_torn = True
                found.unused += [entry.part.path for entry in torn]
                known[table] = [entry for entry in entries if entry not in torn]
