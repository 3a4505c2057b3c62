"""The table at the end of a run: what each class of traffic got."""

from __future__ import annotations

from typing import Any

from perhop.command.quantity import NOTHING, column, number
from perhop.command.terminal import console
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
    columns = [[group["class"] for group in classes]]
    for name, key in _METRICS:
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
