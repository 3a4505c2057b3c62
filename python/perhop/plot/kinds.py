"""The kinds of plots of a run, by their names for `--plot`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from perhop.errors import InvalidInputError, ScenarioError, UnreadableFileError
from perhop.plot.chart import Chart
from perhop.plot.distributions import delay_cdf, delay_histogram, drop_curve, page_load_cdf
from perhop.plot.over_time import (
    congestion_window,
    delay,
    drops,
    ipdv,
    queue,
    sampled_queues,
    throughput,
)
from perhop.plot.sampled import is_sampled, sampling_settings
from perhop.results import Results
from perhop.schema_types import ScenarioConfig


def _queues(results: Results) -> list[Chart]:
    return [queue(results, *sampled_queue) for sampled_queue in sampled_queues(results)] or [queue(results)]


def _drop_curves(results: Results) -> list[Chart]:
    found = results.all_drop_curves()
    return [drop_curve(results, curve["port"], curve["queue"]) for curve in found] or [drop_curve(results)]


#: The kinds by name: functions that return all charts of a kind.
KINDS: dict[str, Callable[[Results], list[Chart]]] = {
    "throughput": lambda results: [throughput(results)],
    "throughput-stacked": lambda results: [throughput(results, stacked=True)],
    "drops": lambda results: [drops(results)],
    "queue": _queues,
    "drop-curve": _drop_curves,
    "delay": lambda results: [delay(results)],
    "ipdv": lambda results: [ipdv(results)],
    "delay-cdf": lambda results: [delay_cdf(results)],
    "delay-histogram": lambda results: [delay_histogram(results)],
    "cwnd": lambda results: [congestion_window(results)],
    "page-load-cdf": lambda results: [page_load_cdf(results)],
}

# The table of samples that a kind needs.
_TABLES = {
    "throughput": "throughput",
    "throughput-stacked": "throughput",
    "drops": "throughput",
    "queue": "queues",
    "delay": "delays",
    "ipdv": "delays",
    "cwnd": "connections",
}


def check_kind(kind: str) -> None:
    """Refuse an unknown kind; raises `InvalidInputError`."""
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        others = "for a sweep: share; for a study: published, curve, ellipse, trace"
        help = f"did you mean `{near[0]}`?" if near else f"for a run: {', '.join(KINDS)}; {others}"
        raise InvalidInputError(f"there is no plot `{kind}`", help)


def settings_for(scenario: ScenarioConfig | Mapping[str, Any], kinds: Iterable[str]) -> dict[str, str]:
    """Return the additional measurements, by path, so that a run of a scenario has samples for these kinds.

    Raises:
        InvalidInputError: there is nothing to sample for a kind.

    """
    found: dict[str, str] = {}
    for table in dict.fromkeys(_TABLES[kind] for kind in kinds if kind in _TABLES):
        if not is_sampled(scenario, table):
            found |= sampling_settings(scenario, table)
    return found


def charts(results: Results, kind: str, *, log_x: bool = False) -> list[Chart]:
    """Return all charts of a kind: one, or one per queue; for `delay-cdf` a second one with a log axis.

    Raises:
        InvalidInputError: the kind is unknown, or the results have no samples for it.
        UnreadableFileError: a table cannot be read.

    """
    check_kind(kind)
    if log_x:
        if kind != "delay-cdf":
            raise InvalidInputError(f"--log-x is for sweeps and delay-cdf, not {kind}", "leave it out")
        return [delay_cdf(results, log_x=True)]
    return KINDS[kind](results)


def possible(results: Results) -> list[Chart]:
    """Return all charts that the results have samples for."""
    found: list[Chart] = []
    for make in KINDS.values():
        try:
            # A single class is not stacked.
            found += [chart for chart in make(results) if not (chart.stacked and len(chart.marks) < 2)]
        except (UnreadableFileError, ScenarioError):
            raise
        except InvalidInputError:
            continue
    return found
