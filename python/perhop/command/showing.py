"""Runs whose counters are shown, or compared with the counters of real routers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from perhop.command.terminal import progress_bar, show_inferred, show_warnings
from perhop.configuration import LoadLevel
from perhop.errors import InvalidInputError
from perhop.manifest import MANIFEST
from perhop.results import Results
from perhop.running import simulate
from perhop.scenario import RouterOptions, Scenario
from perhop.show.output import sampled


def counter_options(
    traffic: str | PathLike[str] | None,
    load: LoadLevel | None,
    over: str | None,
    *,
    interface: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> RouterOptions:
    """Return the options of a run whose counters are shown."""
    return {
        "interface": interface,
        "platform": platform,
        "assume": assume,
        "rate": None,
        "policy": None,
        "traffic": traffic,
        "load": load,
        "over": over,
    }


def results_of(
    source: Path,
    changed: dict[str, str],
    commands: Sequence[str],
    *,
    seed: int | None,
    quiet: bool,
    options: RouterOptions | None = None,
) -> Results:
    """Return saved results, or results of a run of a scenario or a router configuration with its options.

    A run also measures the counters that `commands` of its devices print.
    """
    if (source / MANIFEST).exists():
        if changed or seed is not None or (options is not None and any(options.values())):
            raise InvalidInputError(
                "options that change a run do not apply to saved results",
                "leave them out, or give a scenario",
            )
        return Results.load(source)
    scenario = (
        Scenario.load(source, changed) if options is None else Scenario.load(source, changed, **options)
    )
    show_inferred(scenario, source, options)
    show_warnings(scenario)
    with progress_bar(scenario["name"], quiet=quiet) as progress:
        return simulate(sampled(scenario, commands), seed=seed, replications=1, progress=progress)
