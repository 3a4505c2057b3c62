"""A comparison on a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table

from perhop.command.screen import styled
from perhop.command.terminal import console
from perhop.compare import Answer, Comparison
from perhop.compare.texts import cells
from perhop.quantity import NOTHING, agreement

_MARKS: dict[Answer, tuple[str, str]] = {
    "agrees": ("agrees", "green"),
    "differs": ("DIFFERS", "bold red"),
    "not-comparable": (NOTHING, "dim"),
}


def show(comparison: Comparison) -> None:
    """Print the comparison, one row for each figure, and a summary."""
    first, second = comparison.kinds
    title = f"{comparison.name}: {second} ({_runs(comparison.second.replications)}) compared with {first}"
    title += f" ({_runs(comparison.first.replications)}), ± 95 % confidence"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for name in ("class", "figure", "unit"):
        table.add_column(name)
    for name in (first, f"{first},\nequal draws", second, "difference", "random\nvariation", "tolerance"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    last = None
    for row in comparison.rows:
        text, style = _MARKS[row.verdict]
        class_name = "" if row.class_name == last else row.class_name
        table.add_row(class_name, row.quantity.words, *cells(row), styled((text, style)))
        last = row.class_name
    console().print(table)
    counts = comparison.counted()
    print(f"figures: {agreement(counts['agrees'], counts['differs'])}")
    for warning in comparison.fidelity_warnings:
        print(f"NOT TRUSTWORTHY: {warning}")


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
