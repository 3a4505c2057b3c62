"""Captions of plots."""

from __future__ import annotations

from perhop.quantity import number
from perhop.results import Results
from perhop.study.report import Report


def caption(results: Results, *notes: str, replication: int | None = None) -> str:
    """Return the caption: `notes`, scenario, seed, replications, warm-up and assumptions."""
    runs = results.replications
    if replication is not None and runs > 1:
        times = f"replication {replication + 1} of {runs}"
    else:
        times = f"{runs} replications" if runs > 1 else "1 replication"
    warmup = results.summary["warmup_s"]
    left_out = f"first {number(warmup)} s omitted" if warmup else "from the start"
    parts = [
        *notes,
        f"{results.summary['scenario']}: seed {results.seed}, {times}, {left_out}",
        results.assumptions or "defaults for all other values: see scenario.json",
    ]
    return "; ".join(parts) + "."


def heading_of(report: Report, table: str) -> str:
    """Return the heading of a study's table, which is above its plots."""
    return next(study_table.heading for study_table in report.study.tables if study_table.id == table)


def study_note(report: Report) -> str:
    """Return the text below the plots of a study."""
    return f"seed {report.seed}; {len(report.study.assumptions)} assumptions of the study."
