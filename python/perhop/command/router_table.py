"""A router's counters beside those of a run, on a terminal."""

from __future__ import annotations

from itertools import groupby

from rich import box
from rich.table import Table
from rich.text import Text

from perhop.command.screen import styled
from perhop.command.terminal import console
from perhop.quantity import NOTHING, agreement, counted, number
from perhop.show.comparison import PARTS, ComparedPolicy, Comparison, Row, Verdict

_MARKS: dict[Verdict, tuple[str, str]] = {
    "agrees": ("agrees", "green"),
    "differs": ("DIFFERS", "bold red"),
    "not-comparable": (NOTHING, "dim"),
}


def show(found: Comparison) -> None:
    """Print one table for each policy, what is on one side only, and a summary."""
    for policy in found["policies"]:
        _show_policy(policy)
    for missing in found["missing"]:
        print(f"not in the run: {missing}")
    for part in PARTS:
        counts = found["parts"][part]
        print(f"{part}: {agreement(counts['agrees'], counts['differs'])}")


def _show_policy(policy: ComparedPolicy) -> None:
    title = f"{policy['interface']}, {policy['side']}: {policy['policy']}"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for name in ("class", "quantity", "unit"):
        table.add_column(name)
    for name in ("router", "simulated", "tolerance"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for part in PARTS:
        if rows := [row for row in policy["rows"] if row["kind"] == part]:
            table.add_section()
            table.add_row(styled((f"{part}:", "bold")))
            _add_rows(table, rows)
    console().print(table)
    for words, names in (("the router", policy["only_router"]), ("the run", policy["only_simulated"])):
        if names:
            print(f"only {words} has: {', '.join(names)}")


def _add_rows(table: Table, rows: list[Row]) -> None:
    """Add the rows of a part by class; configured numbers that agree are one line."""
    for class_name, of_class in groupby(rows, key=lambda row: row["class"]):
        shown = list(of_class)
        settled = [row for row in shown if row["kind"] == "configured" and row["verdict"] == "agrees"]
        lines = [_line(row) for row in shown if row not in settled]
        if settled:
            numbers = counted(len(settled), "configured number")
            lines.insert(0, (numbers, "", "", "", "exact", _marked("agrees")))
        for number_of_line, line in enumerate(lines):
            table.add_row("" if number_of_line else class_name, *line)


def _line(row: Row) -> tuple[str | Text, ...]:
    tolerance = "exact" if row["kind"] == "configured" else f"± {number(row['tolerance'], 2)}"
    numbers = (number(row["router"]), number(row["simulated"]))
    return row["quantity"], row["unit"], *numbers, tolerance, _marked(row["verdict"])


def _marked(verdict: Verdict) -> Text:
    return styled(_MARKS[verdict])
