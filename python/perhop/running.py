"""Running a simulation: the simulator has its own threads; Python reports progress and takes the results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal, get_args

from perhop import _core
from perhop.capturing import LARGEST_FRAME, Captures
from perhop.document import Document, typed
from perhop.errors import InvalidInputError
from perhop.interrupts import deferred
from perhop.rates import platforms, policers, rates
from perhop.results import Results
from perhop.saving import whole_folder

# Interval of polling a run: short enough for a progress bar and Ctrl-C, long enough to cost nothing.
_WATCH_EVERY_S = 0.1
# Above the number of processors of any machine.
_MOST_THREADS = 4096


#: What carries the packets of a simulation; the results do not depend on it.
Engine = Literal["fast", "plain"]


@dataclass(frozen=True)
class Progress:
    """Progress of a run."""

    #: Share that is done, from 0 to 1.
    fraction: float
    #: Simulated time, summed over replications.
    simulated_s: float
    #: Packets forwarded by a node so far.
    packet_hops: int


@dataclass(frozen=True)
class QueueState:
    """Occupancy of one queue."""

    port: str
    queue: str
    packets: int
    #: IP bytes.
    bytes: int


@dataclass(frozen=True)
class Snapshot:
    """State of the first replication's network at one instant."""

    #: Simulated time.
    time_s: float
    #: By port, then by queue.
    queues: list[QueueState]
    #: IP bytes received by each class since the end of the warm-up.
    received_bytes: dict[str, int]


def simulate(
    scenario: Document,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    engine: Engine = "fast",
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[[Snapshot], None] | None = None,
    captures: Captures | None = None,
) -> Results:
    """Simulate a scenario; `perhop.run` describes the arguments and the errors."""
    resolved = (captures.chosen_in(scenario) if captures else scenario).embedded()
    resolved["seed"] = resolved["seed"] if seed is None else seed
    resolved["replications"] = resolved["replications"] if replications is None else replications
    _require("seed", resolved["seed"], 0, 2**64 - 1)
    _require("replications", resolved["replications"], 1, 2**32 - 1)
    if engine not in get_args(Engine):
        raise InvalidInputError(f"engine is `{engine}`", help="expected `fast` or `plain`")
    _require("threads", 1 if threads is None else threads, 1, _MOST_THREADS)
    if captures and captures.snap_length is not None:
        _require("snap_length", captures.snap_length, 1, LARGEST_FRAME)
    with whole_folder(captures.folder, force=captures.force) if captures else nullcontext() as folder:
        running = _core.start(
            resolved.to_json(),
            resolved.base,
            resolved["seed"],
            resolved["replications"],
            processors() if threads is None else threads,
            engine=engine,
            watched=watch is not None,
            captures=folder,
            snap_length=captures.snap_length if captures else None,
            most_packets=captures.most_packets if captures else None,
        )
        _wait(running, progress, watch)
        summary, tables, units, files = _taken(running)
        captured = json.loads(files)
        if captures and folder:
            captures.seal(folder, resolved, captured)
    counted = json.loads(summary)
    counted["rates"] = rates(resolved, counted, tables["queues"])
    counted["policers"] = policers(resolved)
    if known := platforms(resolved):
        counted["platforms"] = known
    return Results(
        summary=counted,
        scenario=typed(dict(resolved)),
        seed=resolved["seed"],
        replications=resolved["replications"],
        units=units,
        _columns=tables,
        captured=captured,
    )


def _wait(
    running: _core.Run,
    progress: Callable[[Progress], None] | None,
    watch: Callable[[Snapshot], None] | None,
) -> None:
    """Wait for the end of a run; an exception while waiting cancels it."""

    def poll() -> None:
        if progress is not None:
            progress(Progress(*running.progress()))
        seen = running.snapshot() if watch is not None else None
        if watch is not None and seen is not None:
            time_s, queues, received = seen
            watch(Snapshot(time_s, [QueueState(*one) for one in queues], dict(received)))

    try:
        while not running.wait(_WATCH_EVERY_S):
            poll()
        poll()
    except BaseException:
        running.cancel()
        raise


def _taken(running: _core.Run) -> tuple[str, dict[str, Any], dict[str, dict[str, str]], str]:
    """Return the results of a run.

    The first columns load numpy from within Rust, which cannot end cleanly when a signal interrupts that.
    """
    with deferred():
        return running.result()


def _require(name: str, value: int, least: int, greatest: int) -> None:
    if not least <= value <= greatest:
        raise InvalidInputError(
            f"{name} is {value}", help=f"expected a whole number from {least} to {greatest}"
        )


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
