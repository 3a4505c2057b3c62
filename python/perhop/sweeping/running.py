"""Simulation of the points of a plan, and the stores of their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from perhop.engines import Engine, Finished
from perhop.running import Progress
from perhop.sweeping import parts
from perhop.sweeping.growing import growing
from perhop.sweeping.plan import Plan
from perhop.sweeping.swept import Sweep, empty_table, points_table


@dataclass(frozen=True)
class Advance(Progress):
    """Progress of a sweep."""

    #: The number of points that have ended, including those of an earlier process, and the number of all
    #: points.
    done: int
    of: int
    #: The number of failed points among the ended points.
    failed: int
    #: The points per second of this process; `None` before the first point.
    rate: float | None
    #: The newly finished rows by table, without rows of earlier processes.
    new: dict[str, pl.DataFrame]


class Store(Protocol):
    """The destination of the results of points."""

    @property
    def ended(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each point has ended."""
        ...

    @property
    def failed(self) -> int:
        """Number of points that failed."""
        ...

    def missing(self) -> Iterator[int]:
        """Generate the points that have not ended."""
        ...

    def interval_s(self, elapsed_s: float) -> float:
        """Return the longest time for which ended points may stay in memory."""
        ...

    def add(self, tables: dict[str, pl.DataFrame]) -> None:
        """Add finished points."""
        ...


class _Memory:
    """Results that are kept in memory."""

    def __init__(self, plan: Plan, wanted: Sequence[int]) -> None:
        self._wanted = wanted
        self.ended = np.zeros(len(plan.design), dtype=bool)
        self.failed = 0
        self.tables: dict[str, list[pl.DataFrame]] = {name: [] for name in (*plan.tables, parts.POINTS)}

    def missing(self) -> Iterator[int]:
        """Generate the wanted points."""
        yield from self._wanted

    def interval_s(self, elapsed_s: float) -> float:
        """Return 0, because ended points are added at once."""
        return 0.0

    def add(self, tables: dict[str, pl.DataFrame]) -> None:
        """Add finished points."""
        for name, table in tables.items():
            self.tables[name].append(table)
        self.ended[tables[parts.POINTS]["point"].to_numpy()] = True
        self.failed += tables[parts.POINTS]["error"].drop_nulls().len()


def simulated(
    plan: Plan,
    engine: Engine,
    progress: Callable[[Advance], None] | None = None,
    points: Sequence[int] | None = None,
) -> Sweep:
    """Simulate every point, or the given points, in memory, and return their results."""
    memory = _Memory(plan, range(len(plan.design)) if points is None else points)
    _run(plan, engine, memory, progress)
    tables = {
        name: pl.concat(found).sort("point", maintain_order=True) if found else empty_table(name)
        for name, found in memory.tables.items()
    }
    return Sweep(plan, tables)


def stored(
    plan: Plan,
    engine: Engine,
    folder: Path,
    *,
    force: bool = False,
    progress: Callable[[Advance], None] | None = None,
    also: Callable[[Path], None] | None = None,
) -> int:
    """Simulate the points that a folder lacks, add them to the growing folder, and complete it.

    `also` writes further files into the folder before it is sealed. Returns the number of simulated points.

    Raises:
        InvalidInputError: the folder cannot be used, or has other content.
        OSError: a file cannot be written; the folder is kept, and the next call continues it.

    """
    with growing(folder, plan, force=force) as store:
        missing = int((~store.ended).sum())
        if missing:
            _run(plan, engine, store, progress)
        store.complete(also)
        return missing


def _run(plan: Plan, engine: Engine, store: Store, progress: Callable[[Advance], None] | None) -> None:
    """Simulate the points that a store lacks; finished points are added, at first several times a second."""
    collected = _Collected(plan)
    before, begin, last = int(store.ended.sum()), time.monotonic(), time.monotonic()
    points = plan.assignments(store.missing())
    try:
        with closing(engine.simulate(plan.task, points)) as running:
            for finished in running:
                collected.add(finished)
                now, new = time.monotonic(), {}
                if collected.points and now - last >= store.interval_s(now - begin):
                    last, new = now, collected.taken()
                    store.add(new)
                if progress is not None:
                    progress(_advance(store, finished, before, now - begin, new))
    finally:
        # The last points are also stored after an interruption or the end of the engine.
        last_ones = collected.taken() if collected.points else None
        if last_ones is not None:
            store.add(last_ones)
    if last_ones is not None and progress is not None:
        progress(_advance(store, finished, before, time.monotonic() - begin, last_ones))


def _advance(
    store: Store, finished: Finished, before: int, elapsed_s: float, new: dict[str, pl.DataFrame]
) -> Advance:
    done, total = int(store.ended.sum()), len(store.ended)
    return Advance(
        fraction=min(1.0, max(done, before + finished.points_done) / total),
        simulated_s=finished.simulated_s,
        packet_hops=finished.packet_hops,
        done=done,
        of=total,
        failed=store.failed,
        rate=(done - before) / elapsed_s if done > before else None,
        new=new,
    )


class _Collected:
    """The finished points that are not stored yet."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._columns = plan, plan.columns()
        self._clear()

    def _clear(self) -> None:
        self._tables: dict[str, list[pl.DataFrame]] = {}
        self._ended: list[tuple[int, int]] = []
        self._failed: list[tuple[int, str]] = []

    @property
    def points(self) -> int:
        """The number of points."""
        return len(self._ended) + len(self._failed)

    def add(self, finished: Finished) -> None:
        """Collect the finished points of an engine."""
        for name, table in finished.tables.items():
            self._tables.setdefault(name, []).append(table)
        self._ended += finished.ended
        self._failed += finished.failed

    def taken(self) -> dict[str, pl.DataFrame]:
        """Return the collected rows as tables, sorted by point, and clear the collection."""
        tables = {
            name: pl.concat(found).sort("point", maintain_order=True) for name, found in self._tables.items()
        }
        tables[parts.POINTS] = points_table(self._plan, self._columns, self._ended, self._failed)
        self._clear()
        return tables
