"""The table of a sweep for readers: the results of each class at each point."""

from __future__ import annotations

import polars as pl

from perhop.quantity import column as in_one_unit
from perhop.sweeping.plan import Column as Parameter
from perhop.sweeping.plan import Plan
from perhop.tables import Cell, Column, Table, sortable

#: The shown metrics, and their names.
METRICS = {
    "share_percent": "share of throughput %",
    "throughput_bps": "throughput",
    "dropped_percent": "dropped %",
    "delay_mean_s": "delay mean",
    "delay_p99_s": "delay p99",
}


def sweep_table(plan: Plan, table: pl.DataFrame, caption: str) -> Table:
    """Return the results of each class at each point; `table` has `METRICS` in the form of `Sweep.table`."""
    keys = table.select("point", "class").unique(maintain_order=True).rows()
    groups: dict[tuple[int, str], dict[str, object]] = {key: {} for key in keys}
    for row in table.iter_rows(named=True):
        ends = None if row["low"] is None else [row["low"], row["high"]]
        value = {"mean": row["mean"], "ci95": ends, "unit": row["unit"]}
        groups[row["point"], row["class"]][row["metric"]] = value
    parameters = plan.columns()
    given = {point: plan.design[point] for point, _ in keys}
    heads = [*(Column(parameter.path) for parameter in parameters), Column("class")]
    rows = [
        [*(_value(parameter, given[point][parameter.path]) for parameter in parameters), Cell(name)]
        for point, name in keys
    ]
    for key, name in METRICS.items():
        unit, texts = in_one_unit(list(groups.values()), key)
        heads.append(Column(_head(name, unit), numeric=True))
        for cells, group, text in zip(rows, groups.values(), texts, strict=True):
            mean = group[key]["mean"]  # type: ignore[index]
            cells.append(Cell(text, sortable(mean)))
    return Table(caption, heads, rows)


def _head(name: str, unit: str) -> str:
    return name if not unit or unit in name else f"{name} ({unit})"


def _value(parameter: Parameter, text: str) -> Cell:
    value = parameter.value(text)
    return Cell(text, value if not isinstance(value, str) else None)
