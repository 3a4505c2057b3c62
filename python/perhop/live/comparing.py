"""A scenario run on real packets beside its simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from perhop.compare import Comparison, Tolerances, compare
from perhop.live import rights
from perhop.live.measuring import measure
from perhop.live.priority import in_real_time
from perhop.live.running import Watching
from perhop.running import Progress, simulate
from perhop.scenario import Scenario


@dataclass(frozen=True)
class Watched:
    """Who is told how far the two are."""

    simulated: Callable[[Progress], None] | None = None
    #: Called with the share that is over, from 0 to 1.
    live: Callable[[float], None] | None = None


def live_beside_simulated(
    scenario: Scenario,
    *,
    seed: int | None = None,
    replications: int,
    live_replications: int = 1,
    threads: int | None = None,
    tolerances: Tolerances | None = None,
    watched: Watched | None = None,
) -> Comparison:
    """Simulate a scenario and run it on real packets, with the same seed, one after the other.

    Not at the same time: a simulation takes all processors, and a laboratory needs them when packets are due.
    """
    # First of all: a process of several threads, as a simulation has, gets no user namespace.
    rights.obtain()
    watched = watched or Watched()
    simulated = simulate(
        scenario, seed=seed, replications=replications, threads=threads, progress=watched.simulated
    )
    with in_real_time():
        measured = measure(
            scenario, seed=seed, replications=live_replications, watching=Watching(progress=watched.live)
        )
    if measured.results is None:
        raise AssertionError("the traffic of the scenario was run")
    return compare(simulated, replace(measured.results, summary=measured.summary()), tolerances)
