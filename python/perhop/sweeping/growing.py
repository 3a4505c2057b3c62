"""The folder of a sweep while it grows, and how an interrupted one is continued.

`sweep.json` and `scenario.json` say what is simulated; every table is a folder of parts (`parts.py`). A point
has ended once it is in the table `points`. When all have, each table is written anew in parts that depend on
nothing but its rows, exchanged with the first ones in one step, and the manifest covers every file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from perhop import _core, disk, manifest
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.interrupts import deferred, written
from perhop.loading import is_file
from perhop.locking import locked, reserve
from perhop.manifest import MANIFEST
from perhop.saving import check_target, replace_file, unseal, whole_folder
from perhop.sweeping import parts
from perhop.sweeping.plan import Plan

# Parts of one table at most, about: after a quarter of an hour a part is added every second.
_PARTS = 1000
# What ended points are kept back for at least: a hundred times what storing the last ones took, so that a
# hundredth of the time goes there; but no longer than that many seconds, however slow the disk.
_SPACING, _LONGEST_S = 100.0, 2.0
# What is assumed before the first.
_STORING_S = 0.01


class Growing:
    """A sweep's folder, to which what has ended is added."""

    def __init__(self, folder: Path, shown: Path, plan: Plan) -> None:
        self._folder, self._shown, self._plan = folder, shown, plan
        self._storing_s = _STORING_S
        parts.clear(folder, MANIFEST)
        for table in self._tables:
            parts.clear(folder / table)
            parts.clear_anew(folder / table)
        found = [pl.read_parquet(content) for _, content in parts.intact(folder / parts.POINTS)]
        #: Whether each point has ended.
        self.ended = np.zeros(len(plan.design), dtype=bool)
        self.failed = 0
        for part in found:
            self.ended[part["point"].to_numpy()] = True
            self.failed += part["error"].drop_nulls().len()
        self._drop_unfinished()
        written.append("")
        self._tell()

    @property
    def _tables(self) -> tuple[str, ...]:
        return (*self._plan.tables, parts.POINTS)

    def missing(self) -> Iterator[int]:
        """Generate the points that have not ended, in order."""
        yield from (int(number) for number in np.flatnonzero(~self.ended))

    def interval_s(self, elapsed_s: float) -> float:
        """Return how long ended points may be kept back."""
        return max(elapsed_s / _PARTS, min(_SPACING * self._storing_s, _LONGEST_S))

    def add(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Add what has ended: `points`, and the kept tables of those that gave results.

        Raises:
            OSError: it cannot be written; what is there remains.

        """
        begin = time.monotonic()
        for name in self._tables:
            table = tables.get(name)
            if table is not None and table.height:
                parts.add(self._folder / name, table)
        points = tables[parts.POINTS]
        self.ended[points["point"].to_numpy()] = True
        self.failed += points["error"].drop_nulls().len()
        self._storing_s = time.monotonic() - begin
        self._tell()

    def complete(self, also: Callable[[Path], None] | None = None) -> None:
        """Write every table anew, as it is whatever wrote it, and seal the folder.

        `also` writes further files into the folder before. Until the end, an interruption leaves a folder
        that can be continued, also where it was complete before.

        Raises:
            OSError: a file cannot be written.

        """
        for name in self._tables:
            if parts.is_whole(self._folder / name, len(self._plan.design)):
                continue
            with parts.anew(self._folder / name) as new:
                # Where every point failed, a table has no part.
                if any((self._folder / name).glob("*.parquet")):
                    source = pl.scan_parquet(str(self._folder / name / "*.parquet"))
                    parts.write_whole(new, source, len(self._plan.design))
        if also is not None:
            unseal(self._folder, self._plan.texts())
            also(self._folder)
        about = {"seed": self._plan.first_seed, "complete": True}
        sealed = manifest.sealed(self._folder, "sweep", about)
        replace_file(self._folder / MANIFEST, sealed, is_result=False)
        written[-1] = f"`{self._shown}`"

    def _drop_unfinished(self) -> None:
        """Remove parts whose points are not in `points`: their writer was killed between the two."""
        for name in self._plan.tables:
            for path, content in parts.intact(self._folder / name):
                if not self.ended[pl.read_parquet(content)["point"].unique().to_numpy()].any():
                    disk.remove(path)

    def _tell(self) -> None:
        """Remember how far it is, for the message of a command that ends early."""
        written[-1] = (
            f"`{self._shown}` with {int(self.ended.sum()):,} of {len(self.ended):,} points: "
            "the same command goes on from there"
        )


@contextmanager
def growing(target: Path, plan: Plan, *, force: bool = False) -> Iterator[Growing]:
    """Begin a sweep's folder, or continue the one that is there; other writers are kept away.

    A folder that holds the same sweep is continued, whoever wrote it. With `force`, one that holds anything
    else is moved aside to `target.old-1` and so on.

    Raises:
        InvalidInputError: the folder holds something else, is being written, or cannot be used.
        OSError: a file cannot be written.

    """
    if not is_continued(target, plan, force=force):
        with whole_folder(target, force=force, aside=True) as new:
            for name, text in plan.texts().items():
                disk.write(new / name, text)
            for name in (*plan.tables, parts.POINTS):
                disk.make_folder(new / name)
            manifest.seal(new, "sweep", {"seed": plan.first_seed, "complete": False})
        written.pop()
    folder = target.resolve()
    # A signal must not leave the lock behind.
    with deferred() as signals, locked(folder), signals.admitted():
        yield Growing(folder, target, plan)


def check_folder(target: Path, plan: Plan, *, force: bool = False) -> None:
    """Refuse a folder that cannot be used for a sweep, before it starts, and keep other writers from it.

    Raises:
        InvalidInputError: the folder cannot be used.

    """
    if is_continued(target, plan, force=force):
        reserve(target.resolve())
    else:
        check_target(target, force=force)


def is_continued(target: Path, plan: Plan, *, force: bool = False) -> bool:
    """Return whether a folder holds this very sweep, complete or not.

    Raises:
        InvalidInputError: it holds other results, and `force` is not given.

    """
    found = _found(target)
    if found is None:
        return False
    texts = plan.texts()
    same = all(is_file(target / name) and (target / name).read_text() == text for name, text in texts.items())
    if same and found["perhop"] == _core.__version__:
        return True
    if not force:
        # A complete result must not make way for one that has only begun.
        what = "another sweep" if found["kind"] == "sweep" else f"earlier results (`{found['kind']}`)"
        what = f"the same sweep by perhop {found['perhop']}" if same else what
        raise InvalidInputError(
            f"`{target}` holds {what}", "choose another folder, or move it aside with --force"
        )
    return False


def _found(target: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder that perhop wrote, `None` for anything else."""
    if not is_file(target / MANIFEST):
        return None
    try:
        return manifest.read(target)
    except UnreadableFileError:
        return None
