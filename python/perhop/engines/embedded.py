"""The threads of this process: the simulator runs the points without Python."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import TYPE_CHECKING

from perhop import _core
from perhop.engines.work import Assignment, Finished, Task
from perhop.interrupts import deferred
from perhop.limits import processors

if TYPE_CHECKING:
    import polars as pl

    from perhop.arrays import Column

# The interval in which finished points are returned, seconds. A killed process loses at most this time, and
# the cost of taking the points (about a millisecond) is negligible.
_EVERY_S = 0.25
# The number of points queued at the start. Later the queue covers some intervals, so that no thread waits for
# Python.
_AHEAD = 64
_INTERVALS = 3


class Embedded:
    """The engine that simulates points on the threads of this process."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or processors()

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Generator[Finished]:
        """Generate finished points several times a second, until every point has finished."""
        batch = _core.Batch(
            task.scenario,
            task.base,
            self._threads,
            list(task.tables),
            seed=task.seed,
            replications=task.replications,
            until=task.until,
        )
        ahead = _AHEAD * self._threads
        try:
            while True:
                room = max(0, ahead - batch.unfinished())
                new = [(number, list(changes)) for number, changes in islice(points, room)]
                batch.submit(new)
                finished = _finished_points(batch)
                ahead = max(ahead, _INTERVALS * len(finished.ended))
                yield finished
                if not new and room and not finished.ended and not finished.failed and not batch.unfinished():
                    return
        finally:
            batch.cancel()

    def session(self) -> AbstractContextManager[Embedded]:
        """Do nothing, because starting threads is cheap."""
        return nullcontext(self)


def _finished_points(batch: _core.Batch) -> Finished:
    """Return the finished points.

    The first columns import numpy from Rust. Signals are deferred, because an interrupted import cannot end
    cleanly.
    """
    with deferred():
        tables, ended, failed = batch.take(_EVERY_S)
    done, simulated_s, packet_hops = batch.progress()
    return Finished(
        {name: as_frame(columns) for name, columns in tables.items()},
        ended,
        failed,
        done,
        simulated_s,
        packet_hops,
    )


def as_frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """Return columns of the simulator as a frame with names as text, so that frames can be concatenated."""
    import polars as pl  # lazy: imports of perhop load no polars
    import polars.selectors as cs  # lazy: only sweeps need frames

    from perhop import frames  # lazy: polars

    return frames.frame(columns).with_columns(cs.enum().cast(pl.String))
