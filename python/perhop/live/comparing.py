"""Comparing a live run of a scenario with its simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from perhop.compare import Comparison, Tolerances, compare
from perhop.deprecation import former_name
from perhop.document import Document
from perhop.live import rights
from perhop.live.measuring import measure
from perhop.live.priority import in_real_time
from perhop.live.running import Watching
from perhop.running import Progress, simulate


@dataclass(frozen=True)
class Watched:
    """Callbacks for the progress of the simulation and of the live run."""

    simulated: Callable[[Progress], None] | None = None
    #: Called with the completed share of the live run, from 0 to 1.
    live: Callable[[float], None] | None = None


def compare_with_simulation(
    scenario: Document,
    *,
    seed: int | None = None,
    replications: int,
    live_replications: int = 1,
    threads: int | None = None,
    tolerances: Tolerances | None = None,
    watched: Watched | None = None,
) -> Comparison:
    """Simulate a scenario, run it live with the same seed, and compare the results.

    The live run follows the simulation, because the simulation would delay the packets of the testbed.

    Raises:
        MissingCapabilityError: this user may not create networks.
        ScenarioError: the scenario needs a feature that real packets cannot have.
        PerhopError: a process of the testbed failed.

    """
    # The rights are obtained before the simulation starts threads, because only a process with one thread can
    # enter a user namespace.
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
        raise AssertionError("a live run with traffic has results")
    return compare(simulated, replace(measured.results, summary=measured.summary()), tolerances)


live_beside_simulated = former_name("live_beside_simulated", compare_with_simulation)
