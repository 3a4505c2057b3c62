"""Verifying saved results: the checksum of every file, then a repetition of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from perhop import _core
from perhop.document import Document
from perhop.engines import Embedded
from perhop.errors import InvalidInputError, ScenarioError
from perhop.frames import read_parquet
from perhop.quantity import counted
from perhop.results import Results
from perhop.running import Progress, simulate
from perhop.saved import Saved
from perhop.sweeping import Sweep, simulated

_JSON = {"summary.json": "summary", "scenario.json": "scenario"}
# The value of a missing path; `None` is a JSON value.
_MISSING = object()


@dataclass(frozen=True)
class Difference:
    """A file that differs after a repeated run."""

    file: str
    #: The number of different cells of a table or values of a JSON file, and the number of all.
    differing: int
    of: int
    #: The first difference, as text.
    first: str

    def __str__(self) -> str:
        """Return the file, the number of differences and the first difference as text."""
        if not self.differing:
            return f"{self.file}: {self.first}"
        what = "cell" if self.file.endswith(".parquet") else "value"
        return f"{self.file}: {self.differing} of {counted(self.of, what)} differ, first {self.first}"


@dataclass(frozen=True)
class Repeated:
    """A saved run and its differences from a repeated run."""

    #: The folder of the run within the verified folder; empty for the verified folder.
    name: str
    #: The version of perhop that saved the run.
    version: str
    seed: int
    replications: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Verified:
    """A folder with unchanged files, and its repeated runs."""

    saved: Saved
    repeated: tuple[Repeated, ...]

    @property
    def identical(self) -> bool:
        """Whether every repeated run gave the same results."""
        return not any(run.differences for run in self.repeated)

    def to_json(self) -> dict[str, Any]:
        """Return the verification as plain data."""
        return {
            "schema_version": 1,
            "folder": str(self.saved.folder),
            "kind": self.saved.kind,
            "files": len(self.saved.contents),
            "saved_by": self.saved.manifest["perhop"],
            "verified_by": _core.__version__,
            "identical": self.identical if self.repeated else None,
            "repeated": [
                {
                    "folder": run.name,
                    "seed": run.seed,
                    "replications": run.replications,
                    "differences": [vars(difference) for difference in run.differences],
                }
                for run in self.repeated
            ],
        }


def verify(
    folder: str | PathLike[str],
    *,
    repeat: bool = True,
    base: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Verified:
    """Check every file of saved results, then repeat their simulated runs, including every point of a sweep.

    Live runs, captures, and a study's evaluation of its runs are checked only by their checksums. Relative
    paths of traces start at `base`, by default the folder of each run.

    Raises:
        InvalidInputError: the folder contains no results, or a saved scenario cannot run without its traces.
        UnreadableFileError: a file is missing, damaged or cannot be read.

    """
    saved = Saved.open(folder)
    if repeat and saved.kind == "sweep":
        return Verified(saved, (_repeated_sweep(Path(folder), base, threads, progress),))
    runs = list(_runs(saved)) if repeat else []
    done: dict[bytes, Repeated] = {}
    found = []
    for number, (name, run) in enumerate(runs):
        key = run.contents["manifest.json"]
        if key not in done:
            share = _share(progress, number, len(runs))
            done[key] = _repeated(run, Path(base or run.folder), threads, share)
        found.append(Repeated(**{**vars(done[key]), "name": name}))
    return Verified(saved, tuple(found))


def _runs(saved: Saved) -> Iterator[tuple[str, Saved]]:
    """Generate the simulated runs in a folder, each with its name within the folder."""
    if saved.kind == "run":
        yield "", saved
    for name in saved.inner():
        inside = saved.within(name)
        if inside.kind == "run":
            yield name, inside


def _repeated_sweep(
    folder: Path,
    base: str | PathLike[str] | None,
    threads: int | None,
    progress: Callable[[Progress], None] | None,
) -> Repeated:
    """Simulate the points of a sweep that have ended, and compare every table."""
    before = Sweep.load(folder)
    plan = before.plan if base is None else before.plan.at(Path(base))
    now = simulated(plan, Embedded(threads), progress, before.points["point"].to_list())
    differences: list[Difference] = []
    old, new = before.encoded(), now.encoded()
    for name in old:
        if old[name] != new[name]:
            tables = (read_parquet(Path(name), content, {}) for content in (old[name], new[name]))
            differences += _of_table(name, *tables)
    version = Saved.open(folder).manifest["perhop"]
    return Repeated("", version, before.seed, before.replications, tuple(differences))


def _repeated(
    run: Saved, base: Path, threads: int | None, progress: Callable[[Progress], None] | None
) -> Repeated:
    before = Results.from_saved(run)
    try:
        now = simulate(
            Document(before.scenario, base),
            seed=before.seed,
            replications=before.replications,
            threads=threads,
            progress=progress,
        )
    except ScenarioError as error:
        why = "; ".join(
            diagnostic["message"] for diagnostic in error.diagnostics if diagnostic["severity"] == "error"
        )
        raise InvalidInputError(
            f"the files of `{run.folder}` are unchanged, but the scenario cannot run: {why}",
            "if the traces have moved, give the folder of their paths with --base",
        ) from error
    differences = (*_of_json(before, now), *_of_tables(before, now))
    return Repeated("", run.manifest["perhop"], before.seed, before.replications, differences)


def _of_json(before: Results, now: Results) -> Iterator[Difference]:
    for file, attribute in _JSON.items():
        old, new = (dict(_values(_simulated(getattr(each, attribute)))) for each in (before, now))
        paths = list(dict.fromkeys([*old, *new]))
        wrong = [path for path in paths if old.get(path, _MISSING) != new.get(path, _MISSING)]
        if wrong:
            first = f"{wrong[0]}: {_shown(old, wrong[0])} was saved, {_shown(new, wrong[0])} is now"
            yield Difference(file, len(wrong), len(paths), first)


def _simulated(document: Mapping[str, object]) -> dict[str, object]:
    """Return a document without the origin of an inferred scenario, which a repeated run lacks."""
    return {key: value for key, value in document.items() if key != "inferred"}


def _shown(values: Mapping[str, object], path: str) -> str:
    return repr(values[path]) if path in values else "nothing"


def _values(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Generate the scalars of a JSON value by their paths."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _values(member, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for number, element in enumerate(value):
            yield from _values(element, f"{path}.{number}")
    else:
        yield path, value


def _of_tables(before: Results, now: Results) -> Iterator[Difference]:
    for name in dict.fromkeys([*before.names, *now.names]):
        file = f"{name}.parquet"
        if name not in now.names or name not in before.names:
            yield Difference(file, 0, 0, "is not written now" if name in before.names else "was not saved")
        elif before.encoded(name) != now.encoded(name):
            # The columns are not checked, because another version may have had other columns.
            saved = read_parquet(Path(file), before.encoded(name), {})
            yield from _of_table(file, saved, now.table(name))


def _of_table(file: str, before: pl.DataFrame, now: pl.DataFrame) -> Iterator[Difference]:
    """Compare two tables cell by cell, because another version may encode the same cells differently."""
    if before.columns != now.columns:
        changed = sorted({*before.columns} ^ {*now.columns}) or ["their order"]
        yield Difference(file, 0, 0, f"has other columns now: {', '.join(changed)}")
    if before.height != now.height:
        yield Difference(file, 0, 0, f"had {counted(before.height, 'row')} and has {now.height} now")
        return
    count, first = 0, ""
    for column in (name for name in before.columns if name in now.columns):
        old, new = (_plain(table[column]) for table in (before, now))
        rows = old.ne_missing(new).arg_true() if old.dtype == new.dtype else pl.Series(range(old.len()))
        if rows.len():
            row = int(rows[0])
            first = first or f"{column} in row {row}: {old[row]!r} was saved, {new[row]!r} is now"
            count += rows.len()
    if count:
        yield Difference(file, count, before.height * before.width, first)


def _plain(values: pl.Series) -> pl.Series:
    """Return names as text, because the same names may have other codes."""
    return values if values.dtype.is_numeric() else values.cast(pl.String)


def _share(
    progress: Callable[[Progress], None] | None, number: int, total: int
) -> Callable[[Progress], None] | None:
    """Return the callback for one of several runs."""
    if progress is None:
        return None

    def report(now: Progress) -> None:
        progress(Progress((number + now.fraction) / total, now.simulated_s, now.packet_hops))

    return report
