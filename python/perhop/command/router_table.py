"""A router's counters compared with the counters of a run, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from perhop.command.columns import Column, show_groups
from perhop.command.compare_table import MARKS
from perhop.command.lines import show_lines
from perhop.quantity import agreement, counted, number
from perhop.show.comparison import PARTS, ComparedPolicy, Comparison, Row

_HEADS = ("router", "simulated", "tolerance")


def show(found: Comparison) -> None:
    """Print one table for each policy, the classes on only one side, and a summary."""
    for policy in found["policies"]:
        _show_policy(policy)
    for missing in found["missing"]:
        show_lines(f"not in the run: {missing}", {})
    for part in PARTS:
        counts = found["parts"][part]
        show_lines(f"{part}: {agreement(counts['agrees'], counts['differs'])}", {})


def _show_policy(policy: ComparedPolicy) -> None:
    lines = [
        line
        for part in PARTS
        for line in _lines(part, [row for row in policy["rows"] if row["kind"] == part])
    ]
    if lines:
        groups, quantities, units, *numbers, verdicts = (list(column) for column in zip(*lines, strict=True))
        marks = [MARKS[verdict] for verdict in verdicts]
        keys = [Column("quantity", quantities, numeric=False), Column("unit", units, numeric=False)]
        columns = [Column(head, cells) for head, cells in zip(_HEADS, numbers, strict=True)]
        words, styles = ([mark[place] for mark in marks] for place in (0, 1))
        columns.append(Column("verdict", words, numeric=False, styles=styles))
        show_groups(f"{policy['interface']}, {policy['side']}: {policy['policy']}", groups, keys, columns)
    for words_of, names in (("the router", policy["only_router"]), ("the run", policy["only_simulated"])):
        if names:
            show_lines(f"only {words_of} has: {', '.join(names)}", {})


def _lines(part: str, rows: list[Row]) -> Iterator[tuple[str, ...]]:
    """Generate the lines of a part by class; configured numbers that agree share one line."""
    for class_name, of_class in groupby(rows, key=lambda row: row["class"]):
        shown = list(of_class)
        settled = [row for row in shown if row["kind"] == "configured" and row["verdict"] == "agrees"]
        group = f"{part}: {class_name}"
        if settled:
            yield group, counted(len(settled), "configured number"), "", "", "", "exact", "agrees"
        yield from ((group, *_line(row)) for row in shown if row not in settled)


def _line(row: Row) -> tuple[str, ...]:
    tolerance = "exact" if row["kind"] == "configured" else f"± {number(row['tolerance'], 2)}"
    numbers = (number(row["router"]), number(row["simulated"]))
    return row["quantity"], row["unit"], *numbers, tolerance, row["verdict"]
