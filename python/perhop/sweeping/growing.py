"""The folder of a growing sweep, and the continuation of an interrupted one.

`sweep.json` and `scenario.json` define the simulated points; every table is a folder of parts (`parts.py`). A
point has ended once it is in the table `points`. When all points have ended, each table is rewritten in parts
that depend only on its rows, and these parts replace the first parts in one step. Then the manifest covers
every file.
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
from perhop.caller import made_folder
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.inputs import parsed_json
from perhop.interrupts import deferred, written
from perhop.loading import has_text, is_file, read_bytes
from perhop.locking import locked, reserve
from perhop.manifest import MANIFEST
from perhop.saving import check_target, replace_file, unseal, whole_folder
from perhop.sweeping import parts
from perhop.sweeping.parts import Label
from perhop.sweeping.plan import FILE, SCHEMA_VERSION, Plan
from perhop.sweeping.verified import verified

# The approximate maximum number of parts of one table: after a quarter of an hour, one part is added per
# second.
_PARTS = 1000
# The minimum time for which finished points are kept in memory is a hundred times the duration of the last
# write, so that writes take a hundredth of the time. `_LONGEST_S` limits it on slow disks.
_SPACING, _LONGEST_S = 100.0, 2.0
# The assumed duration of a write before the first write.
_STORING_S = 0.01


class Growing:
    """The folder of a running sweep, to which finished points are added."""

    def __init__(self, folder: Path, shown: Path, plan: Plan) -> None:
        self._folder, self._shown, self._plan = folder, shown, plan
        self._storing_s = _STORING_S
        parts.clear(folder, MANIFEST)
        for table in self._tables:
            parts.clear(folder / table)
            parts.clear_anew(folder / table)
            if not (folder / table).exists():
                disk.make_folder(folder / table)
                with made_folder(folder / table):
                    disk.sync(folder)
        self._identity = parts.identity(plan.texts())
        self._found = verified(folder, self._identity, plan.tables, len(plan.design))
        self._drop_unused()
        written.append("")
        self._report_progress()

    @property
    def ended(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each point has ended."""
        return self._found.ended

    @property
    def failed(self) -> int:
        """Number of points that failed."""
        return self._found.failed

    @property
    def _tables(self) -> tuple[str, ...]:
        return (*self._plan.tables, parts.POINTS)

    def missing(self) -> Iterator[int]:
        """Generate the points that have not ended, in order."""
        yield from (int(number) for number in np.flatnonzero(~self.ended))

    def interval_s(self, elapsed_s: float) -> float:
        """Return the longest time for which ended points may stay in memory."""
        return max(elapsed_s / _PARTS, min(_SPACING * self._storing_s, _LONGEST_S))

    def add(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Add finished points: `points`, and the kept tables of the points with results.

        Raises:
            OSError: a part cannot be written; the folder is kept.

        """
        begin = time.monotonic()
        points = tables[parts.POINTS]
        rows = {name: tables[name].height if name in tables else 0 for name in self._plan.tables}
        for name in self._plan.tables:
            if rows[name]:
                self._add(name, tables[name], None)
                np.add.at(self._found.rows[name], tables[name]["point"].to_numpy(), 1)
        self._add(parts.POINTS, points, rows)
        self._found.ended[points["point"].to_numpy()] = True
        self._found.failed += points["error"].drop_nulls().len()
        self._storing_s = time.monotonic() - begin
        self._report_progress()

    def complete(self, also: Callable[[Path], None] | None = None) -> None:
        """Rewrite every table in its final form, which does not depend on the writer, and seal the folder.

        Before the end, `also` writes further files into the folder. After an interruption, the folder can be
        continued, even if it was complete before.

        Raises:
            OSError: a file cannot be written.
            UnreadableFileError: a part has changed since it was written or verified.

        """
        for name in self._tables:
            if not parts.is_whole(self._found.digests[name], len(self._plan.design)):
                self._write_anew(name)
        if also is not None:
            unseal(self._folder, self._plan.texts())
            also(self._folder)
        about = {"seed": self._plan.first_seed, "complete": True}
        sealed = manifest.sealed(self._folder, "sweep", about)
        for name in self._tables:
            found = parts.sealed_digests(sealed, name)
            parts.require_unchanged(self._shown / name, self._found.digests[name], found)
        replace_file(self._folder / MANIFEST, sealed, is_result=False)
        written[-1] = f"`{self._shown}`"

    def _add(self, table: str, rows: pl.DataFrame, belonging: Mapping[str, int] | None) -> None:
        label = Label(self._identity, table)
        name, digest = parts.add(self._folder / table, label, rows, belonging)
        self._found.digests[table][name] = digest

    def _write_anew(self, table: str) -> None:
        """Write a table in parts that depend only on its rows."""
        folder, digests = self._folder / table, self._found.digests[table]
        parts.require_unchanged(self._shown / table, digests, parts.digests_of(folder))
        rows = self._rows if table == parts.POINTS else None
        with parts.anew(folder) as new:
            # If every point failed, a table has no parts.
            if digests:
                source = pl.scan_parquet([folder / name for name in sorted(digests)], glob=False)
                digests = parts.write_whole(
                    new, Label(self._identity, table), source, len(self._plan.design), rows
                )
        self._found.digests[table] = digests

    def _rows(self, first: int, last: int) -> dict[str, int]:
        """Return the number of rows in each kept table for the points from `first` to before `last`."""
        return self._found.rows_of(slice(first, last))

    def _drop_unused(self) -> None:
        """Remove unused parts. A complete folder must then be completed again.

        No warning is printed about a part whose writer was killed before it wrote `points`.
        """
        found = self._found
        if not found.ended.all():
            unseal(self._folder, self._plan.texts())
        parts.warn_of_removal(found.wrong, self._folder, self._shown, parts.DAMAGED)
        if not found.wrong:
            parts.warn_of_removal(found.alone, self._folder, self._shown, parts.ALONE)
        for path in (*found.alone, *found.wrong, *found.unused):
            disk.remove(path)

    def _report_progress(self) -> None:
        """Store the progress for the message of a command that ends early."""
        written[-1] = (
            f"`{self._shown}` with {int(self.ended.sum()):,} of {len(self.ended):,} points: "
            "the same command continues from there"
        )


@contextmanager
def growing(target: Path, plan: Plan, *, force: bool = False) -> Iterator[Growing]:
    """Begin a sweep's folder, or continue an existing one, with exclusive access.

    A folder of the same sweep is continued, even a folder of another process. With `force`, a folder with
    other content is renamed to `target.old-1` and so on.

    Raises:
        InvalidInputError: the folder has other content, is being written, or cannot be used.
        OSError: a file cannot be written.

    """
    if not is_continued(target, plan, force=force):
        with whole_folder(target, "sweep", force=force, aside=True) as new:
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
    """Refuse a folder that cannot be used, before the sweep starts, and exclude other writers.

    Raises:
        InvalidInputError: the folder cannot be used.

    """
    if is_continued(target, plan, force=force):
        reserve(target.resolve())
    else:
        check_target(target, "sweep", force=force)


def is_continued(target: Path, plan: Plan, *, force: bool = False) -> bool:
    """Return whether a folder contains exactly this sweep, complete or not.

    Raises:
        InvalidInputError: the folder contains other results, and `force` is not given.

    """
    found = _manifest_of_earlier(target)
    if found is None:
        return False
    texts = plan.texts()
    same = all(has_text(target / name, text) for name, text in texts.items())
    if same and found["perhop"] == _core.__version__:
        return True
    if not force:
        # An unfinished result must not replace a complete result.
        what = _other_sweep(target) if found["kind"] == "sweep" else f"earlier results (`{found['kind']}`)"
        what = f"the same sweep by perhop {found['perhop']}" if same else what
        raise InvalidInputError(
            f"`{target}` has {what}", "choose another folder, or move it aside with --force"
        )
    return False


def _other_sweep(target: Path) -> str:
    """Describe the sweep in a folder that this command cannot continue."""
    try:
        version = parsed_json(read_bytes(target / FILE))["schema_version"]
    except (UnreadableFileError, ValueError, LookupError, TypeError):
        return "another sweep"
    if version == SCHEMA_VERSION:
        return "another sweep"
    return f"a sweep of format {version}, but this version of perhop continues only format {SCHEMA_VERSION}"


def _manifest_of_earlier(target: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder that perhop wrote; `None` for other folders."""
    if not is_file(target / MANIFEST):
        return None
    try:
        return manifest.read(target)
    except UnreadableFileError:
        return None
