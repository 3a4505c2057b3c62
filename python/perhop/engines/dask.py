"""A Dask cluster: `dask.distributed` sends batches of points to workers and brings the results back.

Dask starts and supervises the workers, moves work from failed workers, and knows Slurm, Kubernetes and SSH
(dask-jobqueue, dask-kubernetes, `SSHCluster`). A batch takes about a second, so that the overhead of a batch
(some milliseconds) is small.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any, TypeVar

from perhop import _core
from perhop.engines.embedded import Embedded
from perhop.engines.work import Assignment, Finished, Task
from perhop.errors import InvalidInputError, PerhopError, PerhopWarning
from perhop.limits import processors

_Found = TypeVar("_Found")

# The target duration of a batch, seconds, and the number of queued batches per thread of a worker.
_BATCH_S = 1.0
_AHEAD = 3
# The interval in which finished batches are returned, seconds.
_EVERY_S = 0.25
# The scheme of addresses with encrypted connections that require a certificate.
_PROTECTED = "tls://"
# The time within which a scheduler must answer, seconds.
_ANSWERS_WITHIN_S = 10.0


class EngineLostError(PerhopError):
    """The cluster does not respond, or sends invalid answers."""


class ExposedClusterWarning(PerhopWarning):
    """A cluster without TLS runs the code of each client that reaches its ports."""


@dataclass(frozen=True)
class Done:
    """The results of a batch from a worker; tables as Parquet."""

    tables: dict[str, bytes]
    ended: list[tuple[int, int]]
    failed: list[tuple[int, str]]
    simulated_s: float
    packet_hops: int
    elapsed_s: float


def work(version: str, task: Task, points: list[Assignment]) -> Done:
    """Simulate some points one after the other in a thread of a worker.

    Raises:
        EngineLostError: the worker has another version of perhop.

    """
    import polars as pl  # lazy: only a cluster needs it, like Dask's own modules

    from perhop.frames import as_parquet  # lazy: polars

    if version != _core.__version__:
        raise EngineLostError(
            f"a worker has perhop {_core.__version__}, but this process has {version}",
            "install the same version on every worker: other versions may give other numbers",
        )
    begin = time.monotonic()
    found = list(Embedded(1).simulate(task, iter(points)))
    names = {name for part in found for name in part.tables}
    tables = {name: pl.concat([part.tables[name] for part in found if name in part.tables]) for name in names}
    return Done(
        {name: as_parquet(table) for name, table in tables.items()},
        [point for part in found for point in part.ended],
        [failure for part in found for failure in part.failed],
        found[-1].simulated_s,
        found[-1].packet_hops,
        time.monotonic() - begin,
    )


class Dask:
    """The engine that simulates points on the workers of a Dask cluster."""

    def __init__(self, scheduler: str | None = None, threads: int | None = None) -> None:
        """Connect to the scheduler at an address; without one, start a cluster within this process.

        Raises:
            InvalidInputError: Dask is not installed.

        """
        try:
            import distributed  # lazy: 20 MB, which few need
        except ModuleNotFoundError as error:
            raise InvalidInputError(
                "the engine dask needs the Python package `distributed`", "pip install 'perhop[dask]'"
            ) from error
        # Dask has no types.
        self._library: Any = distributed
        self._scheduler = scheduler
        self._threads = threads or processors()
        # The client of the current session.
        self._kept: Any = None

    @contextmanager
    def session(self) -> Iterator[Dask]:
        """Use one client, and one local cluster, for all calls within the block.

        Raises:
            InvalidInputError: there is no scheduler at the address.

        """
        with ExitStack() as stack:
            self._kept = self._client(stack)
            try:
                yield self
            finally:
                self._kept = None

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Generator[Finished]:
        """Generate finished points several times a second, until every point has finished.

        Raises:
            InvalidInputError: there is no scheduler at the address.
            EngineLostError: the scheduler does not respond.

        """
        with ExitStack() as stack:
            client = self._kept or self._client(stack)
            yield from _Stream(self._library, client, task, points).finished()

    def _client(self, stack: ExitStack) -> Any:  # noqa: ANN401 - distributed has no types
        if self._scheduler is None:
            from perhop.engines.local import local_client  # lazy: the package distributed

            return stack.enter_context(local_client(self._threads))
        if not self._scheduler.startswith(_PROTECTED):
            warnings.warn(_exposed(self._scheduler), ExposedClusterWarning, stacklevel=2)
        try:
            return stack.enter_context(self._library.Client(self._scheduler, timeout=_ANSWERS_WITHIN_S))
        except (OSError, ValueError, TypeError) as error:
            raise InvalidInputError(
                f"no scheduler answers at `{self._scheduler}`: {error}", _advice(self._scheduler)
            ) from error


def _exposed(scheduler: str) -> str:
    return (
        f"the cluster at `{scheduler}` has no TLS: each client that reaches its ports can run programs with"
        " your rights; start it with certificates and give its address as tls://HOST:PORT"
    )


def _advice(scheduler: str) -> str:
    if scheduler.startswith(_PROTECTED):
        return (
            "start one with `dask scheduler --tls-ca-file ...`, and name this side's certificates in"
            " DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ...__CLIENT__CERT and ...__CLIENT__KEY"
        )
    return "start one with `dask scheduler`, or leave --scheduler out for this machine"


class _Stream:
    """The batches that are sent to the workers, and their results."""

    def __init__(
        self,
        library: Any,  # noqa: ANN401 - distributed has no types
        client: Any,  # noqa: ANN401
        task: Task,
        points: Iterator[Assignment],
    ) -> None:
        self._library, self._client, self._points = library, client, points
        # The task is sent to each worker once, and not with every batch.
        self._task = client.scatter(task, broadcast=True)
        self._sent: dict[Any, list[Assignment]] = {}
        self._again: list[Assignment] = []
        self._point_s: float | None = None
        self._done, self._simulated_s, self._packet_hops = 0, 0.0, 0

    def finished(self) -> Generator[Finished]:
        """Generate finished points until every point has finished; raises `EngineLostError`."""
        try:
            while self._step(self._fill):
                yield self._step(self._collect)
        finally:
            # If the scheduler does not respond, there is nothing to cancel.
            with suppress(OSError, self._library.CancelledError):
                self._client.cancel(list(self._sent))

    def _step(self, step: Callable[[], _Found]) -> _Found:
        """Return the result of a step that communicates with the scheduler."""
        try:
            return step()
        except (self._library.CancelledError, OSError) as error:
            raise EngineLostError(
                "the scheduler of the cluster has stopped",
                "start it and repeat the command, which continues the work",
            ) from error

    def _fill(self) -> bool:
        """Send batches until every worker has enough; return whether any batch is in progress."""
        threads = sum(self._client.nthreads().values()) or 1
        while len(self._sent) < _AHEAD * threads:
            batch = self._next()
            if not batch:
                break
            future = self._client.submit(work, _core.__version__, self._task, batch, pure=False)
            self._sent[future] = batch
        return bool(self._sent)

    def _next(self) -> list[Assignment]:
        if self._again:
            # These points were lost with a worker. They are sent again one at a time, which shows the point
            # that ends the worker.
            return [self._again.pop()]
        size = 1 if self._point_s is None else max(1, round(_BATCH_S / max(self._point_s, 1e-6)))
        return list(islice(self._points, size))

    def _collect(self) -> Finished:
        """Wait for batches, and return the results of the batches that have ended."""
        with suppress(TimeoutError):
            self._library.wait(list(self._sent), timeout=_EVERY_S, return_when="FIRST_COMPLETED")
        ended = [future for future in self._sent if future.done()]
        found = [done for future in ended if (done := self._results_of_batch(future)) is not None]
        return self._together(found)

    def _results_of_batch(self, future: Any) -> Done | None:  # noqa: ANN401
        """Return the results of a batch; `None` if its points must be sent again, one by one."""
        batch = self._sent.pop(future)
        try:
            done: Done = future.result()
        except self._library.KilledWorker as error:
            if len(batch) > 1:
                self._again += batch
                return None
            return Done({}, [], [(batch[0][0], f"the worker of the job failed: {error}")], 0.0, 0, 0.0)
        return done

    def _together(self, found: list[Done]) -> Finished:
        import polars as pl  # lazy: imports of perhop load no polars

        for part in found:
            count = len(part.ended) + len(part.failed)
            self._point_s = part.elapsed_s / max(count, 1)
            self._done += count
            self._simulated_s += part.simulated_s
            self._packet_hops += part.packet_hops
        names = {name for part in found for name in part.tables}
        tables = {
            name: pl.concat(
                [pl.read_parquet(BytesIO(part.tables[name])) for part in found if name in part.tables]
            )
            for name in names
        }
        return Finished(
            tables,
            [point for part in found for point in part.ended],
            [failure for part in found for failure in part.failed],
            float(self._done),
            self._simulated_s,
            self._packet_hops,
        )
