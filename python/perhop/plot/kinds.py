"""The kinds of plots of a run, by their names for `--plot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from perhop.errors import InvalidInputError, ScenarioError, UnreadableFileError
from perhop.plot.chart import Chart
from perhop.plot.distributions import delay_cdf, delay_histogram, drop_curve
from perhop.plot.over_time import (
    check_asked,
    congestion_window,
    delay,
    ipdv,
    queue,
    sampled_queues,
    throughput,
)
from perhop.results import Results
from perhop.schema_types import ScenarioConfig


def _queues(results: Results) -> list[Chart]:
    return [queue(results, *one) for one in sampled_queues(results)] or [queue(results)]


def _drop_curves(results: Results) -> list[Chart]:
    found = results.all_drop_curves()
    return [drop_curve(results, one["port"], one["queue"]) for one in found] or [drop_curve(results)]


#: The kinds by name: functions that return all charts of a kind.
KINDS: dict[str, Callable[[Results], list[Chart]]] = {
    "throughput": lambda results: [throughput(results)],
    "throughput-stacked": lambda results: [throughput(results, stacked=True)],
    "queue": _queues,
    "drop-curve": _drop_curves,
    "delay": lambda results: [delay(results)],
    "ipdv": lambda results: [ipdv(results)],
    "delay-cdf": lambda results: [delay_cdf(results)],
    "delay-histogram": lambda results: [delay_histogram(results)],
    "cwnd": lambda results: [congestion_window(results)],
}

# The table of samples that a kind needs.
_TABLES = {
    "throughput": "throughput",
    "throughput-stacked": "throughput",
    "queue": "queues",
    "delay": "delays",
    "ipdv": "delays",
    "cwnd": "connections",
}


def check_kind(kind: str) -> None:
    """Refuse an unknown kind; raises `InvalidInputError`."""
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        others = "for a sweep: share; for a study: published, curve"
        help = f"did you mean `{near[0]}`?" if near else f"for a run: {', '.join(KINDS)}; {others}"
        raise InvalidInputError(f"there is no plot `{kind}`", help)


def check_samples(scenario: ScenarioConfig | Mapping[str, Any], kind: str) -> None:
    """Refuse a kind that a run of `scenario` has no samples for; raises `InvalidInputError`."""
    if kind in _TABLES:
        check_asked(scenario, _TABLES[kind])


def charts(results: Results, kind: str) -> list[Chart]:
    """Return all charts of a kind: one, or one for each queue.

    Raises:
        InvalidInputError: the kind is unknown, or the results have no samples for it.
        UnreadableFileError: a table cannot be read.

    """
    check_kind(kind)
    return KINDS[kind](results)


def possible(results: Results) -> list[Chart]:
    """Return all charts that the results have samples for."""
    found: list[Chart] = []
    for make in KINDS.values():
        try:
            # A single class is not stacked.
            found += [one for one in make(results) if not (one.stacked and len(one.marks) < 2)]
        except (UnreadableFileError, ScenarioError):
            raise
        except InvalidInputError:
            continue
    return found
