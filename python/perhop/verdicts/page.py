"""Verdicts as a table of a page."""

from __future__ import annotations

from collections.abc import Sequence

from perhop.tables import Cell, Column, Table, figure_cell
from perhop.verdicts.figures import Figure
from perhop.verdicts.telephony import Telephony
from perhop.verdicts.verdict import Verdict
from perhop.verdicts.words import line


def table(verdicts: Sequence[Verdict], telephony: Telephony) -> Table:
    """Return the verdict on each class, with the figures of a call through it."""
    columns = [
        Column("class"),
        Column("state"),
        Column("role"),
        Column("R", numeric=True),
        Column("MOS", numeric=True),
        Column("mouth to ear (ms)", numeric=True),
        Column("Y.1541 class", numeric=True),
        Column("verdict"),
    ]
    return Table(f"Calls: {telephony}", columns, [_cells(verdict) for verdict in verdicts])


def _cells(verdict: Verdict) -> list[Cell]:
    call = verdict.call
    return [
        Cell(verdict.name),
        Cell(verdict.state),
        Cell(verdict.fitness.role or ""),
        _figure(call.r),
        _figure(call.mos),
        _figure(call.mouth_to_ear, 1e3),
        figure_cell(verdict.y1541),
        Cell(line(verdict)),
    ]


def _figure(figure: Figure | None, factor: float = 1.0) -> Cell:
    return figure_cell(None if figure is None else factor * figure.mean, 3)
