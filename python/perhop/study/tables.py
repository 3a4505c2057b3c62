"""Tables of a study for pages and notebooks, made from the content of `study.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perhop.quantity import interval, metric_words, unit_words
from perhop.study.errors import heads_and_lines
from perhop.tables import Cell, Column, Table, figure_cell


def claim_table(claims: Sequence[Mapping[str, Any]]) -> Table:
    """Return the claims of a paper with their verdicts."""
    rows = [
        [
            Cell(claim["text"], tone="wide"),
            Cell(claim["where"], tone="muted"),
            Cell(claim["verdict"], tone=claim["verdict"]),
            Cell(claim["evidence"], tone="wide"),
        ]
        for claim in claims
    ]
    heads = [Column(name) for name in ("claim", "where", "verdict", "evidence")]
    return Table("Claims of the paper", heads, rows)


def error_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the number of figures by their distance from the published figures."""
    heads, lines = heads_and_lines(rows)
    columns = [Column(name, numeric=place > 0) for place, name in enumerate(heads)]
    caption = "Errors: numbers of figures by their distance from the published value"
    return Table(caption, columns, [[Cell(text) for text in line] for line in lines])


def figure_table(rows: Sequence[Mapping[str, Any]], caption: str) -> Table:
    """Return published and measured figures."""
    names = list(dict.fromkeys(name for row in rows for name in row["case"]))
    heads = [Column(name.replace("_", " ")) for name in (*names, "metric")]
    heads += [
        Column("published", numeric=True),
        Column("measured", numeric=True),
        Column("unit"),
        Column("verdict"),
    ]
    cells = [
        [
            *(Cell(row["case"].get(name, "")) for name in names),
            Cell(metric_words(row["metric"], row["unit"])),
            figure_cell(row["published"]),
            Cell(interval(row["measured"], row["ci95"]), row["measured"]),
            Cell(unit_words(row["unit"])),
            Cell(row["verdict"], tone=row["verdict"]),
        ]
        for row in rows
    ]
    return Table(caption, heads, cells)


def curve_table(points: Sequence[Mapping[str, Any]], caption: str) -> Table:
    """Return the points of curves, a column for each metric."""
    metrics = {point["metric"]: point["unit"] for point in points}
    names = list(dict.fromkeys(name for point in points for name in point["case"]))
    heads = [Column(name.replace("_", " "), numeric=_numeric(points, name)) for name in names]
    heads += [
        Column(f"{metric_words(metric, unit)} ({unit_words(unit)})", numeric=True)
        for metric, unit in metrics.items()
    ]
    rows: dict[tuple[str, ...], dict[str, Cell]] = {}
    for point in points:
        key = tuple(point["case"].get(name, "") for name in names)
        shown = Cell(interval(point["measured"], point["ci95"]), point["measured"])
        rows.setdefault(key, {})[point["metric"]] = shown
    missing = Cell("")
    cells = [
        [*map(Cell, key), *(row.get(metric, missing) for metric in metrics)] for key, row in rows.items()
    ]
    return Table(caption, heads, cells)


def _numeric(points: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(point["case"].get(name, "").replace(".", "", 1).isdigit() for point in points)
