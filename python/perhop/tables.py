"""Tables of results for pages and notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from perhop.quantity import NOTHING, column, interval, number
from perhop.results import Results

if TYPE_CHECKING:
    from perhop.sweeping import Sweep

_CAUSE = "dropped_"
_NOT_CAUSES = ("dropped_packets", "dropped_percent")


@dataclass(frozen=True)
class Column:
    """A column's name, and whether it holds numbers."""

    name: str
    numeric: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell: its text, what it is sorted by where that is not the text, and how it is shown."""

    text: str
    sort: float | None = None
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """A table with the line above it."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


def class_table(results: Results) -> Table:
    """Return what each class got: means over the replications with 95 % confidence intervals."""
    return summary_table(
        results.summary["classes"],
        ["class"],
        [
            ("offered packets", "offered_packets"),
            ("delivered packets", "delivered_packets"),
            ("dropped %", "dropped_percent"),
            ("throughput", "throughput_bps"),
            ("delay mean", "delay_mean_s"),
            ("delay p99", "delay_p99_s"),
            ("|IPDV| mean", "ipdv_mean_abs_s"),
        ],
        described(results),
    )


def port_table(results: Results) -> Table:
    """Return what passed each port, by queue and drop precedence; ports that dropped nothing are left out."""
    busy = [row for row in results.summary["ports"] if row["dropped_packets"]["mean"]]
    causes = [
        name
        for name in (busy[0] if busy else {})
        if name.startswith(_CAUSE) and name not in _NOT_CAUSES and any(row[name]["mean"] for row in busy)
    ]
    columns = [
        ("arrived packets", "arrived_packets"),
        ("sent packets", "sent_packets"),
        ("dropped %", "dropped_percent"),
    ]
    columns += [(name.removeprefix(_CAUSE).replace("_", " "), name) for name in causes]
    return summary_table(
        busy, ["port", "queue", "precedence"], columns, "Ports that dropped packets, by cause"
    )


def conditioner_table(results: Results) -> Table:
    """Return what each stage of conditioning took, by the color it gave."""
    return summary_table(
        results.summary["conditioners"],
        ["node", "neighbor", "side", "stage", "color"],
        [("packets", "packets"), ("bytes", "bytes")],
        "What each stage of conditioning took, by the color it gave",
    )


def summary_table(
    rows: list[dict[str, Any]], keys: list[str], columns: list[tuple[str, str]], caption: str
) -> Table:
    """Return groups of a summary as a table, each column in one unit."""
    heads, cells = [Column(key) for key in keys], [[Cell(str(row[key])) for row in rows] for key in keys]
    for name, key in columns:
        values = [row[key] for row in rows]
        unit, texts = column(rows, key)
        heads.append(Column(f"{name} ({unit})" if unit else name, numeric=True))
        cells.append(
            [Cell(text, _sortable(value["mean"])) for text, value in zip(texts, values, strict=True)]
        )
    return Table(caption, heads, list(zip(*cells, strict=True)))


def sweep_table(sweep: Sweep) -> Table:
    """Return what each class got at each point of a sweep."""
    from perhop.plot.comparisons import shares

    metrics = [("throughput", "throughput_bps"), ("dropped %", "dropped_percent")]
    metrics += [("delay mean", "delay_mean_s"), ("delay p99", "delay_p99_s")]
    heads = [*(Column(path) for path in sweep.parameters), Column("class")]
    heads.append(Column("share of throughput (%)", numeric=True))
    rows: list[list[Cell]] = []
    groups = []
    for point in sweep.points:
        part = shares(point.results, "throughput_bps")
        for group in point.results.summary["classes"]:
            mean, low, high = part[group["class"]]
            ends = (low, high) if point.results.replications > 1 else None
            values = [Cell(point.values[path]) for path in sweep.parameters]
            rows.append([*values, Cell(group["class"]), Cell(interval(mean, ends), _sortable(mean))])
            groups.append(group)
    for name, key in metrics:
        unit, texts = column(groups, key)
        heads.append(Column(f"{name} ({unit})" if unit else name, numeric=True))
        for row, group, text in zip(rows, groups, texts, strict=True):
            row.append(Cell(text, _sortable(group[key]["mean"])))
    times = (
        f"{sweep.replications} replications, ± 95 % confidence" if sweep.replications > 1 else "1 replication"
    )
    return Table(f"{sweep.scenario}: {len(sweep.points)} points, {times}, seed {sweep.seed}", heads, rows)


def described(results: Results) -> str:
    """Return in a line what was run."""
    runs = results.replications
    times = f"{runs} replications, ± 95 % confidence" if runs > 1 else "1 replication"
    seconds = number(results.summary["duration_s"])
    return f"{results.summary['scenario']}: {seconds} s simulated, {times}, seed {results.seed}"


def figure_cell(value: float | None, digits: int = 4) -> Cell:
    """Return a number as a cell."""
    return Cell(number(value, digits) if value is not None else NOTHING, _sortable(value))


def notebook(table: Table) -> str:
    """Return a table as HTML that needs no style sheet, for notebooks."""
    sides = [f"text-align:{'right' if one.numeric else 'left'};padding:.1em .6em" for one in table.columns]
    head = "".join(
        f'<th style="{side}">{escape(one.name)}</th>' for one, side in zip(table.columns, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="{side}">{escape(cell.text)}</td>' for side, cell in zip(sides, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{escape(table.caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _sortable(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
