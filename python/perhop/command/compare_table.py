"""A comparison on a terminal."""

from __future__ import annotations

from perhop.command.columns import Column, show_groups
from perhop.command.ink import BAD, GOOD
from perhop.command.lines import show_lines
from perhop.compare import Answer, Comparison
from perhop.compare.texts import cells
from perhop.quantity import NOTHING, agreement

#: The words of each answer, and their style.
MARKS: dict[Answer, tuple[str, str]] = {
    "agrees": ("agrees", GOOD),
    "differs": ("DIFFERS", BAD),
    "not-comparable": (NOTHING, "dim"),
}


def show(comparison: Comparison) -> None:
    """Print the comparison, one row for each figure, and a summary."""
    first, second = comparison.kinds
    title = f"{comparison.name}: {second} ({_runs(comparison.second.replications)}) compared with {first}"
    title += f" ({_runs(comparison.first.replications)}), ± 95 % confidence"
    rows = comparison.rows
    units, ours, alike, theirs, differences, chances, tolerances = (
        list(column) for column in zip(*map(cells, rows), strict=True)
    )
    marks = [MARKS[row.verdict] for row in rows]
    keys = [
        Column("figure", [row.quantity.words for row in rows], numeric=False),
        Column("unit", units, numeric=False),
    ]
    columns = [
        Column(_stacked(first), ours),
        Column(f"{_stacked(first)},\nequal draws", alike, spare=3),
        Column(_stacked(second), theirs),
        Column("difference", differences),
        Column("random\nvariation", chances, spare=2),
        Column("tolerance", tolerances, spare=1),
        Column("verdict", [text for text, _ in marks], numeric=False, styles=[style for _, style in marks]),
    ]
    show_groups(title, [row.class_name for row in rows], keys, columns)
    counts = comparison.counted()
    show_lines(f"figures: {agreement(counts['agrees'], counts['differs'])}", {})
    for warning in comparison.fidelity_warnings:
        show_lines(f"NOT TRUSTWORTHY: {warning}", {r"^NOT TRUSTWORTHY": BAD})


def _stacked(name: str) -> str:
    return name.replace(" ", "\n", 1)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
