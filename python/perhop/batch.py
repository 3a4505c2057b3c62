"""Simulating many scenarios in parallel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Event

from perhop import _core
from perhop.document import Document
from perhop.interrupts import deferred
from perhop.results import Results
from perhop.running import Progress, simulate

# The interval between checks for finished jobs.
_POLL_EVERY_S = 0.05


@dataclass(frozen=True)
class Job:
    """One scenario to be simulated; several callers may share its results."""

    scenario: Document
    seed: int
    replications: int

    @cached_property
    def length_s(self) -> float:
        """Simulated time of all replications."""
        duration = _core.quantity(str(self.scenario["duration"]))
        # An invalid duration fails when the job runs, and the error names its place.
        return self.replications * duration[0] if duration else 0.0

    @cached_property
    def key(self) -> str:
        """The identity of the results: jobs with equal keys give equal results."""
        return f"{self.seed} {self.replications} {self.scenario.to_json()}"


class _Stopped(Exception):  # noqa: N818 - not an error: it ends the workers when the user stops
    """The user stopped the work."""


def simulate_all(
    jobs: Sequence[Job], threads: int, progress: Callable[[Progress], None] | None
) -> dict[str, Results]:
    """Simulate each distinct job once and return the results by key.

    Each thread works on one job; with fewer jobs than threads, the remaining threads work on replications.
    The results do not depend on the number of threads.
    """
    # The longest job comes first, so that it does not start last and run alone while other threads wait.
    distinct = sorted({job.key: job for job in jobs}.values(), key=lambda job: -job.length_s)
    total = sum(job.replications for job in distinct)
    state = {job.key: Progress(0.0, 0.0, 0) for job in distinct}
    each = max(1, threads // max(len(distinct), 1))
    stop = Event()

    def simulate_job(job: Job) -> Results:
        def watch(now: Progress) -> None:
            if stop.is_set():
                raise _Stopped
            state[job.key] = now

        watch(state[job.key])
        return simulate(
            job.scenario, seed=job.seed, replications=job.replications, threads=each, progress=watch
        )

    def so_far() -> Progress:
        now = [(job, state[job.key]) for job in distinct]
        return Progress(
            sum(job.replications * at.fraction for job, at in now) / max(total, 1),
            math.fsum(at.simulated_s for _, at in now),
            sum(at.packet_hops for _, at in now),
        )

    with ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            # A starting thread must not be interrupted.
            with deferred():
                futures = [pool.submit(simulate_job, job) for job in distinct]
            while not all(future.done() for future in futures):
                _raise_first(future.exception() for future in futures if future.done())
                if progress is not None:
                    progress(so_far())
                time.sleep(_POLL_EVERY_S)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return {job.key: future.result() for job, future in zip(distinct, futures, strict=True)}


def _raise_first(errors: Iterable[BaseException | None]) -> None:
    for error in errors:
        if error is not None:
            raise error
