"""The tables at the end of a run: what each class of traffic got, and what its TCP did for it."""

from __future__ import annotations

from typing import Any

from perhop.command.terminal import console
from perhop.quantity import NOTHING, column, number
from perhop.results import Results

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
    ("sent\nagain", "retransmissions"),
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
    """Print the classes of `results`, one row each."""
    from rich import box
    from rich.table import Table

    classes: list[dict[str, Any]] = results.summary["classes"]
    # Shares of one flow are always equal.
    several = any(_mean(group["flows"]) > 1 for group in classes)
    causes = [
        name
        for name in (classes[0] if classes else {})
        if name.startswith(_CAUSE)
        and name not in _NOT_CAUSES
        and any(_mean(group[name]) for group in classes)
    ]
    table = Table(box=box.SIMPLE_HEAD, title=_title(results), title_justify="left", title_style="bold")
    table.add_column("class")
    columns = [[group["class"] for group in classes]]
    for name, key in [*_METRICS, *([_FAIRNESS] if several else [])]:
        unit, texts = column([group[key] for group in classes])
        table.add_column(f"{name}\n{unit}" if unit else name, justify="right")
        columns.append(texts)
        if key == "dropped_percent":
            for cause in causes:
                table.add_column(f"{_words(cause)}\n%", justify="right")
                columns.append([_share(group[cause], group["offered_packets"]) for group in classes])
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    console().print(table)
    if results.summary["tcp"]:
        _show_tcp(results.summary["tcp"])


def _show_tcp(groups: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    timed = any(_mean(group["transactions"]) for group in groups)
    table = Table(box=box.SIMPLE_HEAD, title="TCP", title_justify="left", title_style="bold")
    table.add_column("class")
    columns = [[group["class"] for group in groups]]
    for name, key in [*_TCP, *(_TRANSACTIONS if timed else [])]:
        unit, texts = column([group[key] for group in groups])
        table.add_column(f"{name}\n{unit}" if unit else name, justify="right")
        columns.append(texts)
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    console().print(table)


def _title(results: Results) -> str:
    times = (
        f"{results.replications} replications, ± 95 % confidence"
        if results.replications > 1
        else "1 replication"
    )
    seconds = number(results.summary["duration_s"])
    return f"{results.summary['scenario']}: {seconds} s simulated, {times}, seed {results.seed}"


def _mean(value: dict[str, Any]) -> float:
    return value["mean"] or 0.0


def _share(part: dict[str, Any], whole: dict[str, Any]) -> str:
    return number(100.0 * _mean(part) / _mean(whole), 3) if _mean(whole) else NOTHING


def _words(cause: str) -> str:
    return cause.removeprefix(_CAUSE).replace("_", " ")
