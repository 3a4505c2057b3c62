"""The table at the end of a run: what each class of traffic got."""

from __future__ import annotations

from typing import Any

from perhop.command.quantity import NOTHING, interval, metric, number
from perhop.command.terminal import console
from perhop.results import Results

_CAUSE = "dropped_"
_NOT_CAUSES = {"dropped_packets", "dropped_percent"}


def show_classes(results: Results) -> None:
    """Print the classes of `results`, one row each."""
    from rich import box
    from rich.table import Table

    classes: list[dict[str, Any]] = results.summary["classes"]
    causes = [
        name
        for name in (classes[0] if classes else {})
        if name.startswith(_CAUSE)
        and name not in _NOT_CAUSES
        and any(_mean(group[name]) for group in classes)
    ]
    table = Table(box=box.SIMPLE_HEAD, title=_title(results), title_justify="left", title_style="bold")
    table.add_column("class")
    for name in ("offered", "delivered", "dropped %", *(f"{_words(cause)} %" for cause in causes)):
        table.add_column(name, justify="right")
    for name in ("throughput", "delay mean", "delay p99"):
        table.add_column(name, justify="right")
    for group in classes:
        table.add_row(
            group["class"],
            metric(group["offered_packets"]),
            metric(group["delivered_packets"]),
            interval(group["dropped_percent"]["mean"], group["dropped_percent"]["ci95"]),
            *(_share(group[cause], group["offered_packets"]) for cause in causes),
            metric(group["throughput_bps"]),
            metric(group["delay_mean_s"]),
            metric(group["delay_p99_s"]),
        )
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
