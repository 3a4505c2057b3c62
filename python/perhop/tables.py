"""Tables as data, for pages, notebooks and terminals, and the tables of a run's summary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perhop.quantity import NOTHING, column, number

_CAUSE = "dropped_"
_NOT_CAUSES = ("dropped_packets", "dropped_percent")


@dataclass(frozen=True)
class Column:
    """A column: its name, and whether it contains numbers."""

    name: str
    numeric: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell: its text, its sort key if the text is not the key, and its style."""

    text: str
    sort: float | None = None
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """A table and its caption."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


def class_table(summary: Mapping[str, Any]) -> Table:
    """Return the results of each class, as means over the replications with 95 % confidence intervals."""
    return summary_table(
        summary["classes"],
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
        described(summary),
    )


def port_table(summary: Mapping[str, Any]) -> Table:
    """Return the counters of each port that dropped or marked packets, by queue and drop precedence."""
    busy = [
        row for row in summary["ports"] if row["dropped_packets"]["mean"] or row["marked_packets"]["mean"]
    ]
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
    if any(row["marked_packets"]["mean"] for row in busy):
        columns.append(("marked packets (ECN)", "marked_packets"))
    columns += [(name.removeprefix(_CAUSE).replace("_", " "), name) for name in causes]
    return summary_table(
        busy, ["port", "queue", "precedence"], columns, "Ports that dropped or marked packets, by cause"
    )


def conditioner_table(summary: Mapping[str, Any]) -> Table:
    """Return packets and bytes of each conditioning stage, by the color that it assigned."""
    return summary_table(
        summary["conditioners"],
        ["node", "neighbor", "side", "stage", "color"],
        [("packets", "packets"), ("bytes", "bytes")],
        "Conditioning stages, by assigned color",
    )


@dataclass(frozen=True)
class Application:
    """An application with quality figures: its table, and the figures that users of the application quote."""

    #: The key of the summary, which is the name of the table.
    key: str
    title: str
    keys: Sequence[str]
    #: The headings, of up to two lines, and their columns.
    figures: Sequence[tuple[str, str]]


#: The tables in the order in which they are shown.
APPLICATIONS = (
    Application(
        "calls",
        "Calls",
        ("class", "codec"),
        (
            ("R", "r"),
            ("MOS", "mos"),
            ("mouth\nto ear", "mouth_to_ear_s"),
            ("lost or\nlate %", "missing_percent"),
            ("late %", "late_percent"),
            ("burst\nratio", "burst_ratio"),
        ),
    ),
    Application(
        "games",
        "Games",
        ("class",),
        (
            ("response\np50", "response_p50_s"),
            ("response\np99", "response_p99_s"),
            ("late\nticks %", "late_ticks_percent"),
            ("lost com-\nmands %", "lost_commands_percent"),
            ("jitter\nup", "up_jitter_s"),
            ("jitter\ndown", "down_jitter_s"),
        ),
    ),
    Application(
        "videos",
        "Adaptive video",
        ("class",),
        (
            ("start-up\ndelay", "startup_delay_s"),
            ("stalls", "stalls"),
            ("stalled\ntime", "stalled_s"),
            ("stalled %", "stalled_percent"),
            ("bitrate\nmean", "bitrate_mean_bps"),
            ("switches", "switches"),
        ),
    ),
    Application(
        "pages",
        "Page loads",
        ("class",),
        (
            ("pages", "pages"),
            ("load time\nmean", "load_mean_s"),
            ("load time\np50", "load_p50_s"),
            ("load time\np75", "load_p75_s"),
            ("load time\np95", "load_p95_s"),
        ),
    ),
    Application(
        "speed_tests",
        "Speed tests",
        ("class",),
        (
            ("rate", "rate_bps"),
            ("rate,\nwhole test", "rate_mean_bps"),
            ("latency\nunder load", "loaded_latency_s"),
            ("round trips\nper minute", "rpm"),
        ),
    ),
)


def application_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Return the table of figures for each kind of application in a run."""
    return [
        summary_table(
            summary[application.key],
            list(application.keys),
            [
                (name.replace("com-\nmands", "commands").replace("\n", " "), key)
                for name, key in application.figures
            ],
            application.title,
        )
        for application in APPLICATIONS
        if summary.get(application.key)
    ]


def summary_table(
    rows: list[dict[str, Any]], keys: list[str], columns: list[tuple[str, str]], caption: str
) -> Table:
    """Return groups of a summary as a table; each column has one unit."""
    heads, cells = [Column(key) for key in keys], [[Cell(str(row[key])) for row in rows] for key in keys]
    for name, key in columns:
        values = [row[key] for row in rows]
        unit, texts = column(rows, key)
        heads.append(Column(f"{name} ({unit})" if unit else name, numeric=True))
        cells.append([Cell(text, sortable(value["mean"])) for text, value in zip(texts, values, strict=True)])
    return Table(caption, heads, list(zip(*cells, strict=True)))


def replicated(count: int) -> str:
    """Return the number of replications as text, with the confidence level if there is an interval."""
    return f"{count} replications, ± 95 % confidence" if count > 1 else "1 replication"


def described(summary: Mapping[str, Any]) -> str:
    """Return a line about the run: scenario, duration, replications, seed."""
    how = "on real packets" if summary.get("kind") == "live" else "simulated"
    length = f"{number(summary['duration_s'])} s {how}"
    return f"{summary['scenario']}: {length}, {replicated(summary['replications'])}, seed {summary['seed']}"


def figure_cell(value: float | None, digits: int = 4) -> Cell:
    """Return a number as a cell."""
    return Cell(number(value, digits) if value is not None else NOTHING, sortable(value))


def notebook(table: Table) -> str:
    """Return a table as HTML that needs no style sheet, for notebooks."""
    from html import escape  # lazy: only notebooks need it

    sides = [
        f"text-align:{'right' if column.numeric else 'left'};padding:.1em .6em" for column in table.columns
    ]
    head = "".join(
        f'<th style="{side}">{escape(column.name)}</th>'
        for column, side in zip(table.columns, sides, strict=True)
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


def sortable(value: float | None) -> float | None:
    """Return the sort key of a number; `None` for NaN."""
    return None if value is None or math.isnan(value) else value
