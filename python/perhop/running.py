"""Running a scenario: the simulator works in threads of its own, Python watches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from perhop import _core
from perhop.capturing import LARGEST_FRAME, Captures
from perhop.errors import InvalidInputError
from perhop.saving import MANIFEST, whole_folder
from perhop.scenario import Scenario

if TYPE_CHECKING:
    from perhop.results import Results

# How often a run is looked at: often enough for a progress bar and for Ctrl-C, too rarely to cost anything.
_WATCH_EVERY_S = 0.1
# More than any machine has.
_MOST_THREADS = 4096


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    #: From 0 to 1.
    fraction: float
    #: Simulated time, summed over replications.
    simulated_s: float
    #: Packets passed on by a node so far.
    packet_hops: int


@dataclass(frozen=True)
class QueueState:
    """What waits in one queue."""

    port: str
    queue: str
    packets: int
    #: IP bytes.
    bytes: int


@dataclass(frozen=True)
class Snapshot:
    """The network of the first replication at one instant of a run."""

    #: Simulated time.
    time_s: float
    #: By port, then by queue.
    queues: list[QueueState]
    #: IP bytes that each class received since the warm-up ended.
    received_bytes: dict[str, int]


def run(
    scenario: str | PathLike[str] | Scenario,
    *,
    seed: int | None = None,
    replications: int | None = None,
    duration: str | None = None,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[[Snapshot], None] | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_links: Sequence[str] | None = None,
    snap_length: int | None = None,
) -> Results:
    """Simulate a scenario, given as a file or as a `Scenario`.

    Args:
        scenario: a scenario file, or a scenario.
        seed: of every random stream; by default the scenario's own.
        replications: how many times, each with other random draws; by default the scenario's own.
        duration: simulated time with its unit (`"60 s"`); by default the scenario's own.
        set: values to replace, by their path: `{"links.0.rate": "2 Mb/s"}`.
        threads: how many replications run at the same time; by default one for each processor.
        progress: called several times a second.
        watch: called several times a second with a snapshot of the first replication, which it slows down.
        pcap: a folder for captures of the first replication, one pcapng file for each link.
        pcap_links: directions of links to capture, as `["C1->E3"]`; by default those of the scenario's
            `measure.captures`, else of all links with a policy at one of their ends.
        snap_length: bytes kept of each captured frame; by default its headers.

    Raises:
        ScenarioError: the scenario is wrong; it says what and where.

    The results depend on the scenario and the seed, and on nothing else.

    """
    changes = dict(set or {})
    if duration is not None:
        changes["duration"] = duration
    if isinstance(scenario, Scenario):
        changed = scenario.changed(changes)
    else:
        changed = Scenario.load(scenario, changes)
    return simulate(
        changed,
        seed=seed,
        replications=replications,
        threads=threads,
        progress=progress,
        watch=watch,
        captures=Captures.of(pcap, pcap_links, snap_length),
    )


def simulate(
    scenario: Scenario,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[[Snapshot], None] | None = None,
    captures: Captures | None = None,
) -> Results:
    """Simulate a scenario as it is; `run` says what the arguments mean."""
    from perhop.results import Results

    resolved = (captures.chosen_in(scenario) if captures else scenario).embedded()
    resolved["seed"] = resolved["seed"] if seed is None else seed
    resolved["replications"] = resolved["replications"] if replications is None else replications
    _require("seed", resolved["seed"], 0, 2**64 - 1)
    _require("replications", resolved["replications"], 1, 2**32 - 1)
    _require("threads", 1 if threads is None else threads, 1, _MOST_THREADS)
    if captures and captures.snap_length is not None:
        _require("snap_length", captures.snap_length, 1, LARGEST_FRAME)
    with whole_folder(captures.folder) if captures else nullcontext() as folder:
        running = _core.start(
            resolved.to_json(),
            resolved.base,
            resolved["seed"],
            resolved["replications"],
            processors() if threads is None else threads,
            watched=watch is not None,
            captures=folder,
            snap_length=captures.snap_length if captures else None,
            most_packets=captures.most_packets if captures else None,
        )
        _wait(running, progress, watch)
        summary, tables, units, files = running.result()
        captured = json.loads(files)
        if captures and folder:
            (folder / MANIFEST).write_text(captures.manifest(resolved, captured), encoding="utf-8")
    return Results(
        summary=json.loads(summary),
        scenario=dict(resolved),
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
    """Wait for the end of a run; whatever interrupts that stops the run."""

    def look() -> None:
        if progress is not None:
            progress(Progress(*running.progress()))
        seen = running.snapshot() if watch is not None else None
        if watch is not None and seen is not None:
            time_s, queues, received = seen
            watch(Snapshot(time_s, [QueueState(*one) for one in queues], dict(received)))

    try:
        while not running.wait(_WATCH_EVERY_S):
            look()
        look()
    except BaseException:
        running.cancel()
        raise


def _require(name: str, value: int, least: int, greatest: int) -> None:
    if not least <= value <= greatest:
        raise InvalidInputError(f"{name} is {value}", help=f"a whole number from {least} to {greatest}")


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
