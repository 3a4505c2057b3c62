"""The results of each class in simulations of both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from perhop.batch import Job, simulate_all
from perhop.compare import Comparison, compare
from perhop.differing.felt import Felt, felt_briefly
from perhop.differing.same_load import SameLoad
from perhop.differing.sides import Side, Source, opened
from perhop.errors import InvalidInputError, PerhopError
from perhop.limits import processors
from perhop.running import Progress
from perhop.scenario import Scenario

# A single replication does not show the random variation.
_REPLICATIONS = 10


def simulated(
    old: Source,
    new: Source,
    scenario: Path | None = None,
    *,
    seed: int | None = None,
    replications: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    load: SameLoad | None = None,
) -> Comparison:
    """Return the figures of each class in simulations of both sides, with the same seed.

    Args:
        old: a scenario, or a router configuration.
        new: the scenario or configuration with the change.
        scenario: for router configurations: a scenario with that router; by default one is inferred.
        seed: seed for all random streams; by default the seed of the scenario; with two scenarios, the seed
        of `old`.
        replications: number of simulations of each; by default 10.
        progress: a function that receives the progress.
        load: for router configurations without `scenario`: how the scenario is inferred.

    Raises:
        ScenarioError: a scenario is not valid.
        InvalidInputError: no router of the scenario, or more than one, matches; a scenario is missing or not
            expected; or the two have no class in common.

    """
    first, second = opened(old, new)
    if first.scenario and second.scenario:
        if scenario is not None:
            raise InvalidInputError(
                "--scenario is only for the configurations of a router, but both files are scenarios",
                "give --simulate instead of --scenario",
            )
        both = [first.scenario, second.scenario]
    elif scenario is None:
        both = list((load or SameLoad()).scenarios(first, second))
    else:
        both = _with_router(scenario, Path(first.name), Path(second.name))
    seed = int(both[0]["seed"]) if seed is None else seed
    jobs = [Job(side, seed, replications or _REPLICATIONS) for side in both]
    done = simulate_all(jobs, processors(), progress)
    before, after = (done[job.key] for job in jobs)
    return compare(before, after)


def felt_by_default(
    old: Side, new: Side, load: SameLoad, *, seed: int | None, replications: int | None
) -> Felt:
    """Return the effect on each class of two router configurations, or the reason for its absence."""
    try:
        before, after = load.scenarios(old, new)
        felt = felt_briefly(before, after, seed=seed, replications=replications)
    except PerhopError as error:
        felt = Felt(reason=str(error).strip().splitlines()[0].removeprefix("error: "))
    return replace(felt, load=load.level)


def _with_router(scenario: Path, old: Path, new: Path) -> list[Scenario]:
    """Return a scenario with each of two configurations of its router."""
    loaded = Scenario.load(scenario)
    routers = [
        (name, config["configuration"].get("file"))
        for name, config in loaded.get("routers", {}).items()
        if config.get("configuration")
    ]
    own = [name for name, file in routers if file and (scenario.parent / file).resolve() == old.resolve()]
    chosen = own or [name for name, _ in routers]
    if len(chosen) != 1:
        names = ", ".join(name for name, _ in routers) or "none"
        raise InvalidInputError(
            f"{scenario}: {len(chosen)} routers could be the one that {old} configures",
            f"routers with a configuration: {names}; write {old} as the `configuration` of one router",
        )
    path = f"routers.{chosen[0]}.configuration.file"
    return [Scenario.load(scenario, {path: str(file.resolve())}) for file in (old, new)]
