"""A comparison in the report: the figures of both results, then the second result."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from perhop.compare import load
from perhop.compare.texts import cells
from perhop.quantity import agreement
from perhop.report.run import Run
from perhop.tables import Cell, Column, Table


class Compared(Run):
    """The section for a folder of `perhop compare -o`: the comparison and its second result."""

    def __init__(self, folder: Path) -> None:
        self.comparison = load(folder)
        super().__init__(self.comparison.second)

    @property
    def name(self) -> str:
        """The scenario's name and the kinds of the two results."""
        first, second = self.comparison.kinds
        return f"{self.comparison.name}: {second} compared with {first}"

    title = name

    @cached_property
    def tables(self) -> list[Table]:
        """The comparison, then the tables of a run."""
        return [_table(self), *super().tables]


def _table(compared: Compared) -> Table:
    comparison = compared.comparison
    first, second = comparison.kinds
    counts = comparison.counted()
    verdicts = agreement(counts["agrees"], counts["differs"])
    caption = f"Figures: {verdicts}. A tolerance with a star does not bind: a difference within"
    caption += " random variation also counts as agreement"
    if comparison.fidelity_warnings:
        caption += f". Not trustworthy: {'; '.join(comparison.fidelity_warnings)}"
    names = ("difference", "random variation", "tolerance")
    heads = [Column("class"), Column("figure"), Column("unit")]
    figures = (first, f"{first}, equal draws", second, *names)
    heads += [Column(name, numeric=True) for name in figures]
    rows = [
        [
            Cell(row.class_name),
            Cell(row.quantity.words),
            *(Cell(text) for text in cells(row)),
            Cell(row.verdict, tone=row.verdict),
        ]
        for row in comparison.rows
    ]
    return Table(caption, [*heads, Column("verdict")], rows)
