"""The tables of a run: results of each class, and of its TCP connections."""

from __future__ import annotations

from typing import Any

from perhop.command.columns import Column, show
from perhop.quantity import NOTHING, column, number
from perhop.results import Results
from perhop.tables import described

_CAUSE = "dropped_"
_NOT_CAUSES = {"dropped_packets", "dropped_percent"}
_METRICS = [
    ("offered\npackets", "offered_packets"),
    ("delivered\npackets", "delivered_packets"),
    ("dropped\n%", "dropped_percent"),
    ("throughput", "throughput_bps"),
    ("delay mean", "delay_mean_s"),
    ("delay p99", "delay_p99_s"),
]
_TCP = [
    ("goodput", "goodput_bps"),
    ("segments", "segments"),
    ("retransmitted", "retransmissions"),
    ("timeouts", "timeouts"),
]
_TRANSACTIONS = [
    ("transactions\n1/s", "transactions_per_s"),
    ("completion\nmean", "completion_mean_s"),
    ("completion\np50", "completion_p50_s"),
    ("completion\np95", "completion_p95_s"),
    ("completion\np99", "completion_p99_s"),
]
_FAIRNESS = ("fairness", "fairness")


def show_classes(results: Results) -> None:
    """Print the results of each class, one row each."""
    classes: list[dict[str, Any]] = results.summary["classes"]
    # Fairness of a single flow is always 1.
    several = any(_mean(group["flows"]) > 1 for group in classes)
    causes = [
        name
        for name in (classes[0] if classes else {})
        if name.startswith(_CAUSE)
        and name not in _NOT_CAUSES
        and any(_mean(group[name]) for group in classes)
    ]
    columns = []
    for name, key in [*_METRICS, *([_FAIRNESS] if several else [])]:
        columns.append(_column(name, key, classes))
        if key == "dropped_percent":
            for cause in causes:
                shares = [_share(group[cause], group["offered_packets"]) for group in classes]
                columns.append(Column(f"{_words(cause)}\n%", shares))
    show(described(results.summary), [_names(classes)], columns)
    if results.summary["tcp"]:
        _show_tcp(results.summary["tcp"])


def _show_tcp(groups: list[dict[str, Any]]) -> None:
    timed = any(_mean(group["transactions"]) for group in groups)
    metrics = [*_TCP, *(_TRANSACTIONS if timed else [])]
    show("TCP", [_names(groups)], [_column(name, key, groups) for name, key in metrics])


def _names(groups: list[dict[str, Any]]) -> Column:
    return Column("class", [group["class"] for group in groups], numeric=False)


def _column(name: str, key: str, groups: list[dict[str, Any]]) -> Column:
    unit, texts = column(groups, key)
    return Column(f"{name}\n{unit}" if unit else name, texts)


def _mean(value: dict[str, Any]) -> float:
    return value["mean"] or 0.0


def _share(part: dict[str, Any], whole: dict[str, Any]) -> str:
    return number(100.0 * _mean(part) / _mean(whole), 3) if _mean(whole) else NOTHING


def _words(cause: str) -> str:
    return cause.removeprefix(_CAUSE).replace("_", " ")
