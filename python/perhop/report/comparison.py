"""A comparison in the report: both results figure by figure, before the results themselves."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from perhop.compare import load
from perhop.compare.texts import cells
from perhop.page.tables import Cell, Column, Table
from perhop.report.run import Run


class Compared(Run):
    """What the report shows of a folder of `perhop compare -o`: its second result, beside the first."""

    def __init__(self, folder: Path) -> None:
        self.comparison = load(folder)
        super().__init__(folder / self.comparison.folders[1], self.comparison.second)

    @property
    def name(self) -> str:
        """The scenario's name, and what is beside what."""
        first, second = self.comparison.kinds
        return f"{self.comparison.name}: {second} beside {first}"

    title = name

    @cached_property
    def tables(self) -> list[Table]:
        """The comparison, and then what there is of a run."""
        return [_table(self), *super().tables]


def _table(compared: Compared) -> Table:
    comparison = compared.comparison
    first, second = comparison.kinds
    counted = comparison.counted()
    caption = f"{counted['agrees']} figures agree, {counted['differs']} differ"
    caption += ". A tolerance with a star does not bind: a difference that chance explains is as good"
    if comparison.doubts:
        caption += f". Not trustworthy: {'; '.join(comparison.doubts)}"
    names = ("difference", "by chance up to", "tolerance")
    heads = [Column("class"), Column("figure"), Column("unit")]
    figures = (first, f"{first}, same draws", second, *names)
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
