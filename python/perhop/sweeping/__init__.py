"""Sweeps: a scenario simulated at many points. Each point changes the values of some parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path

from perhop import sampling
from perhop.document import as_text
from perhop.engines import Embedded, Engine
from perhop.errors import InvalidInputError, ScenarioError
from perhop.layout import TABLES
from perhop.sampling import Design
from perhop.scenario import Scenario
from perhop.sweeping.plan import Plan
from perhop.sweeping.running import Advance, simulated, stored
from perhop.sweeping.swept import Sweep
from perhop.sweeping.until import Until

__all__ = ["Advance", "Plan", "Sweep", "Until", "plan_of", "simulated", "stored", "sweep"]

# The maximum number of values that are checked one by one before the first simulation.
_CHECKED = 200


def sweep(
    scenario: str | PathLike[str] | Scenario,
    values: Mapping[str, Sequence[object] | object],
    *,
    zip: bool = False,
    sample: int | None = None,
    method: sampling.Method = "sobol",
    seed: int | None = None,
    replications: int | None = None,
    until: str | None = None,
    at_most: int = 100,
    independent: bool = False,
    tables: Iterable[str] = (),
    output: str | PathLike[str] | None = None,
    force: bool = False,
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Callable[[Advance], None] | None = None,
) -> Sweep:
    """Simulate a scenario at many points: by default for every combination of `values`.

        perhop.sweep("edge.perhop.yaml", {"links.1.rate": ["1 Mb/s", "2 Mb/s", "4 Mb/s"]}, replications=10)

    Args:
        scenario: a scenario file, a router configuration, or a scenario.
        values: by path, a list of values, or a text in the syntax of `perhop sweep --set`: `"1Mb/s,2Mb/s"`,
            `"1Mb/s:4Mb/s:500kb/s"`, `"log(1ms,1s,7)"`. A single value is set at every point.
        zip: combine the first values of all lists, then the second values, instead of every combination.
        sample: number of points, drawn from the ranges `"1Mb/s:4Mb/s"`, `"log(1ms,1s)"` and lists of names.
        method: the method of drawing the points: `sobol` or `latin-hypercube`.
        seed: seed of every point (common random numbers); by default the scenario's own.
        replications: runs of each point, each with other random draws; with `until` the minimum.
        until: a stop rule, for example `"voice.delay_p99 within 1ms"`: replications are added until the
            half-width of the 95 % interval is at most this value.
        at_most: maximum number of replications of a point with `until`.
        independent: draw other random numbers at each point.
        tables: tables of results to keep in addition to `classes`, for example `queues`.
        output: a folder in which the results grow; the same sweep in it is continued.
        force: rename a folder that has other files.
        engine: the engine, see `perhop.engines.named`; by default the threads of this process.
        threads: number of threads of the default engine; by default one for each processor.
        progress: called several times a second.

    Failed points are listed in `failures`; the other points are simulated.

    Raises:
        ScenarioError: a path does not exist or a value does not fit.
        InvalidInputError: no parameter has several values, or an argument is out of range.
        OSError: a result cannot be written; the same call continues the sweep.

    """
    loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    rule = None if until is None else Until.parse(until, at_most)
    plan = plan_of(
        loaded,
        design_of(values, together=zip, sample=sample, method=method, seed=seed or 0),
        seed=seed,
        replications=replications,
        until=rule,
        independent=independent,
        tables=tables,
    )
    if output is not None:
        stored(plan, engine or Embedded(threads), Path(output), force=force, progress=progress)
        return Sweep.load(output)
    return simulated(plan, engine or Embedded(threads), progress)


def design_of(
    values: Mapping[str, Sequence[object] | object],
    *,
    together: bool = False,
    sample: int | None = None,
    method: sampling.Method = "sobol",
    seed: int = 0,
) -> Design:
    """Return the points that `values` describe; `sweep` describes the arguments and the errors."""
    if sample is not None and together:
        raise InvalidInputError("--sample and --zip exclude each other", "give only one of the two")
    if sample is not None:
        ranges = {path: _texts(found) for path, found in values.items()}
        draw = sampling.sobol if method == "sobol" else sampling.latin_hypercube
        return _several(draw(ranges, sample, seed))
    lists = {path: _values(path, found) for path, found in values.items()}
    return _several(sampling.zipped(lists) if together else sampling.grid(lists))


def plan_of(
    scenario: Scenario,
    design: Design,
    *,
    seed: int | None = None,
    replications: int | None = None,
    until: Until | None = None,
    independent: bool = False,
    tables: Iterable[str] = (),
) -> Plan:
    """Return the plan of a sweep, after a check of the values that do not depend on each other.

    Raises:
        ScenarioError: a path does not exist or a value does not fit.
        InvalidInputError: there is no such table or class.

    """
    kept = tuple(dict.fromkeys(["classes", *tables]))
    for name in kept:
        if name not in TABLES:
            raise InvalidInputError(f"no table `{name}`", f"tables: {', '.join(TABLES)}")
    for path, given in (("seed", seed), ("replications", replications)):
        if given is not None and path in design.written:
            raise InvalidInputError(f"`{path}` is given twice", f"give --{path}, or --set {path}=...")
    if "replications" in design.parameters:
        # Replications are a result of each point, so they cannot distinguish points.
        raise InvalidInputError("`replications` cannot be swept", "give --replications, or --until")
    _check(scenario, design)
    if until is not None:
        classes = {entry["class"] if "class" in entry else entry["name"] for entry in scenario["traffic"]}
        if until.class_name not in classes:
            raise InvalidInputError(
                f"there is no class `{until.class_name}`", f"classes: {', '.join(sorted(classes))}"
            )
    return Plan(scenario.embedded(), design, seed, replications, until, kept, independent)


def _check(scenario: Scenario, design: Design) -> None:
    """Check the first point, and every single value if there are few values.

    A value that does not fit the first values of the other parameters may fit their last values. Then only
    some points fail.
    """
    first, last = design[0], design[len(design) - 1]
    scenario.changed(first)
    lists = {path: list(design.texts(path)) for path in design.parameters}
    if sum(map(len, lists.values())) > _CHECKED:
        return
    for path, texts in lists.items():
        for text in texts[1:]:
            try:
                scenario.changed({**first, path: text})
            except ScenarioError:
                with suppress(ScenarioError):
                    scenario.changed({**last, path: text})
                    continue
                raise


def _several(design: Design) -> Design:
    if not design.parameters:
        raise InvalidInputError(
            "no parameter has several values",
            "give one at least two values, for example --set links.1.rate=1Mb/s,2Mb/s,4Mb/s",
        )
    # The number is checked before anything takes memory, because `len` of a design fails beyond the size of
    # an index.
    if design.count > sampling.MOST_POINTS:
        raise InvalidInputError(
            f"the sweep has {design.count} points, more than {sampling.MOST_POINTS}",
            "give fewer values or a larger step, or draw points with --sample 1000",
        )
    return design


def _values(path: str, found: Sequence[object] | object) -> list[str]:
    if isinstance(found, str):
        return sampling.split(found, path)
    texts = _texts(found)
    if not texts:
        raise InvalidInputError(f"`{path}` has no value", "give each path one or several values")
    return texts


def _texts(found: Sequence[object] | object) -> list[str]:
    several = isinstance(found, Sequence) and not isinstance(found, str)
    return [as_text(value) for value in (found if several else [found])]  # type: ignore[attr-defined]
