"""Runs of a simulation: the simulator has its own threads; Python reports progress and receives results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from perhop import _core
from perhop.capturing import Captures
from perhop.document import Document, typed
from perhop.errors import InvalidInputError
from perhop.limits import LARGEST_FRAME, processors
from perhop.pacing import Pace
from perhop.rates import platforms, policers, rates
from perhop.results import Results
from perhop.saving import whole_folder

# The interval of polling a run: short enough for a progress bar and Ctrl-C, and long enough for a negligible
# cost.
_WATCH_EVERY_S = 0.1
# The interval of a run that follows a clock: short enough to look continuous.
_PACE_EVERY_S = 0.03
# The maximum number of threads, more than the processors of any machine.
_MOST_THREADS = 4096


#: The number of replications that fits into a budget of packets, from three to ten.
FITTING: Final = "fitting"

#: The engine of a simulation; the results do not depend on it.
Engine = Literal["fast", "parallel", "plain"]


@dataclass(frozen=True)
class Progress:
    """Progress of a run."""

    #: The completed share of the run, from 0 to 1.
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
class ClassState:
    """Counters of one class since the end of the warm-up, with the meanings of the counters in results."""

    received_bytes: int
    offered: int
    delivered: int
    #: The number of dropped packets by cause, in the order of causes in `_core`.
    dropped: list[int]
    #: The sum of the delays of the delivered packets.
    delay_sum_s: float


@dataclass(frozen=True)
class Snapshot:
    """State of the first replication's network at one instant."""

    #: Simulated time.
    time_s: float
    #: The queues by port, then by queue.
    queues: list[QueueState]
    #: IP bytes received by each class since the end of the warm-up.
    received_bytes: dict[str, int]
    #: The other counters of each class since the end of the warm-up.
    counted: Mapping[str, ClassState] = field(default_factory=dict)
    #: The number of snapshots omitted before this one, because the queue of snapshots was full.
    left_out: int = 0


def _replicated(resolved: Document, replications: int) -> dict[str, Any]:
    """Return a scenario with the key `replications` in the position that the schema defines."""
    found: dict[str, Any] = {}
    for key, value in resolved.items():
        found[key] = value
        if key == "seed":
            found["replications"] = replications
    return found | {"replications": replications}


def simulate(
    scenario: Document,
    *,
    seed: int | None = None,
    replications: int | Literal["fitting"] | None = None,
    threads: int | None = None,
    engine: Engine = "fast",
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[[Snapshot], None] | None = None,
    captures: Captures | None = None,
    pace: Pace | None = None,
) -> Results:
    """Simulate a scenario; `perhop.run` describes the arguments and the errors.

    With `watch`, `pace` limits the progress of the first replication at any moment.
    """
    resolved = (captures.chosen_in(scenario) if captures else scenario).embedded()
    resolved["seed"] = resolved["seed"] if seed is None else seed
    times = resolved.get("replications", 1) if replications is None else replications
    _require("seed", resolved["seed"], 0, 2**64 - 1)
    if times != FITTING:
        _require("replications", times, 1, 2**32 - 1)
    if engine not in get_args(Engine):
        raise InvalidInputError(f"`{engine}` is not an engine", help="expected `fast`, `parallel` or `plain`")
    _require("threads", 1 if threads is None else threads, 1, _MOST_THREADS)
    if captures and captures.snap_length is not None:
        _require("snap_length", captures.snap_length, 1, LARGEST_FRAME)
    with (
        whole_folder(captures.folder, "captures", force=captures.force)
        if captures
        else nullcontext() as folder
    ):
        running = _core.start(
            resolved.to_json(),
            resolved.base,
            resolved["seed"],
            0 if times == FITTING else times,
            processors() if threads is None else threads,
            engine=engine,
            watched=watch is not None,
            hold_at=pace.limit_s() if pace is not None else None,
            captures=folder,
            snap_length=captures.snap_length if captures else None,
            most_packets=captures.most_packets if captures else None,
        )
        _wait(running, progress, watch, pace)
        summary, tables, units, files = running.result()
        parts, undivided = running.division() or (1, None)
        captured = json.loads(files)
        if captures and folder:
            captures.seal(folder, resolved, captured)
    counted = json.loads(summary)
    counted["rates"] = rates(resolved, counted, tables["queues"])
    counted["policers"] = policers(resolved, counted)
    if known := platforms(resolved):
        counted["platforms"] = known
    if origin := inferred_from(resolved):
        counted["inferred"] = origin
    return Results(
        summary=counted,
        scenario=typed(_replicated(resolved, counted["replications"])),
        seed=resolved["seed"],
        replications=counted["replications"],
        units=units,
        _columns=tables,
        captured=captured,
        parts=parts,
        undivided=undivided,
    )


def inferred_from(scenario: Document) -> dict[str, Any] | None:
    """Return the origin of an inferred scenario, with the queues of its classes; `None` for others."""
    origin: dict[str, Any] | None = getattr(scenario, "origin", None)
    if origin is None:
        return None
    queues = {name: list(place) for name, place in getattr(scenario, "queues", {}).items()}
    return {**origin, "queues": queues, "not_looked_at": getattr(scenario, "not_looked_at", [])}


def _wait(
    running: _core.Run,
    progress: Callable[[Progress], None] | None,
    watch: Callable[[Snapshot], None] | None,
    pace: Pace | None,
) -> None:
    """Wait for the end of a run; an exception while waiting cancels it."""

    def poll() -> None:
        while watch is not None and (seen := _next_snapshot(running)) is not None:
            watch(seen)
            if pace is not None:
                pace.reach(seen.time_s)
        if pace is not None:
            running.hold_at(pace.limit_s())
        if progress is not None:
            progress(Progress(*running.progress()))

    try:
        while not running.wait(_WATCH_EVERY_S if pace is None else _PACE_EVERY_S):
            poll()
        poll()
    except BaseException:
        running.cancel()
        raise


def _next_snapshot(running: _core.Run) -> Snapshot | None:
    """Return the next snapshot of a run."""
    seen = running.snapshot()
    if seen is None:
        return None
    time_s, queues, classes, left_out = seen
    counted = {row[0]: ClassState(*row[1:]) for row in classes}
    received = {name: state.received_bytes for name, state in counted.items()}
    return Snapshot(time_s, [QueueState(*row) for row in queues], received, counted, left_out)


def _require(name: str, value: int, least: int, greatest: int) -> None:
    if not least <= value <= greatest:
        raise InvalidInputError(
            f"{name} is {value}", help=f"expected a whole number from {least} to {greatest}"
        )
