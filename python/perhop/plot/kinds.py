"""The kinds of plots that one run can be shown as, by the name that `--plot` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from perhop.errors import InvalidInputError, UnreadableFileError
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


def _queues(results: Results) -> list[Chart]:
    return [queue(results, *one) for one in sampled_queues(results)] or [queue(results)]


def _drop_curves(results: Results) -> list[Chart]:
    found = results.all_drop_curves()
    return [drop_curve(results, one["port"], one["queue"]) for one in found] or [drop_curve(results)]


#: What one run can be plotted as, by the name that `--plot` takes: all charts of that kind.
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

# The tables of samples that kinds show.
_TABLES = {
    "throughput": "throughput",
    "throughput-stacked": "throughput",
    "queue": "queues",
    "delay": "delays",
    "ipdv": "delays",
    "cwnd": "connections",
}


def check_kind(kind: str) -> None:
    """Refuse a kind that there is not."""
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        others = "share of a sweep, published and curve of a study"
        help = f"did you mean {near[0]}?" if near else f"of a run there are: {', '.join(KINDS)}; {others}"
        raise InvalidInputError(f"no plot is called {kind}", help)


def check_samples(scenario: Mapping[str, Any], kind: str) -> None:
    """Refuse a kind that a run of `scenario` would have no samples for."""
    if kind in _TABLES:
        check_asked(scenario, _TABLES[kind])


def charts(results: Results, kind: str) -> list[Chart]:
    """Return all charts of a kind: one, or one for each queue."""
    check_kind(kind)
    return KINDS[kind](results)


def possible(results: Results) -> list[Chart]:
    """Return all charts that these results have the samples for."""
    found: list[Chart] = []
    for make in KINDS.values():
        try:
            # One class alone makes no heap.
            found += [one for one in make(results) if not (one.stacked and len(one.marks) < 2)]
        except UnreadableFileError:
            raise
        except InvalidInputError:
            continue
    return found
