"""Checking a study: every published figure needs a measured figure, and every claim a verdict."""

from __future__ import annotations

from collections.abc import Iterator

from perhop.errors import InvalidInputError
from perhop.study.definition import Study


def problems(study: Study) -> Iterator[str]:
    """Generate messages about published figures and claims without an answer, and unknown names.

    None of the study's programs is executed: `require_functions` checks them.
    """
    yield from _unanswered(study)
    yield from _undefined(study)
    yield from _wrong_names(study)


def _undefined(study: Study) -> Iterator[str]:
    for table in study.tables:
        for metric in table.curves:
            if metric not in study.metrics or study.metrics[metric].unit is None:
                yield f"table {table.id} has a curve of `{metric}`, but no [metrics.{metric}] with a unit"
        for name in table.ellipses:
            if name not in study.scatters:
                yield f"table {table.id} has ellipses of `{name}`, but there is no [scatters.{name}]"
        for name in table.traces:
            if name not in study.courses:
                yield f"table {table.id} has traces of `{name}`, but there is no [courses.{name}]"


def _unanswered(study: Study) -> Iterator[str]:
    for table in study.tables:
        answered = [row for case in table.cases for row in study.figures_of(table, case)]
        rows = [row for row in study.published if row.table == table.id]
        for row in rows:
            if row not in answered:
                yield f"table {table.id}: no case reproduces {row.case} {row.metric}"
        if len(answered) > len(rows):
            yield f"table {table.id}: several cases reproduce the same published figure"
        if not rows and any(case.rows for case in table.cases):
            yield f"table {table.id} has neither published figures nor `curves`"
    for row in study.published:
        if row.metric not in study.metrics:
            yield f"table {row.table} publishes `{row.metric}`, but has no [metrics.{row.metric}]"
        elif study.metrics[row.metric].unit is not None:
            yield f"[metrics.{row.metric}] has a unit, but table {row.table} publishes the metric too"


def require_functions(study: Study) -> None:
    """Refuse a study with a metric or a claim without a function; this executes the study's programs.

    Raises:
        InvalidInputError: a function or a program is missing.

    """
    if found := list(_without_function(study)):
        raise InvalidInputError(f"`{study.folder}`:\n  " + "\n  ".join(found))


def _without_function(study: Study) -> Iterator[str]:
    shown = [name for table in study.tables for name in (*table.curves, *table.ellipses, *table.traces)]
    for metric in dict.fromkeys([*(row.metric for row in study.published), *shown]):
        if not hasattr(study.measures, metric):
            yield f"measures.py has no function `{metric}`"
    for claim in study.claims:
        if not hasattr(study.judges, claim.function):
            yield f"claim `{claim.id}` has no function `{claim.function}` in claims.py"


def _wrong_names(study: Study) -> Iterator[str]:
    named_tables = [(f"claim {claim.id}", table) for claim in study.claims for table in claim.tables]
    for assumption in study.assumptions:
        for alternative in assumption.alternatives:
            named = (*alternative.tables, *alternative.changes_in_table)
            named_tables += [(f"assumption {assumption.name}", table) for table in named]
    known = {table.id for table in study.tables}
    for who, table_id in named_tables:
        if table_id not in known:
            yield f"{who}: no table {table_id}"
    for highlight in study.highlights:
        count = sum(highlight.shows(row.table, row.metric, row.case) for row in study.published)
        count += sum(
            highlight.shows(table.id, metric, case.point)
            for table in study.tables
            for metric in table.curves
            for case in table.cases
            if case.point
        )
        if count != 1:
            yield f"highlight `{highlight.label}` matches {count} figures, but must match exactly one"
    names = [case.name for table in study.tables for case in table.cases]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"several cases are named `{name}`"
