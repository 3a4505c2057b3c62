"""Reading a study: study.toml, claims.toml and the published figures in reference/."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.inputs import PUBLISHED, read_input
from perhop.loading import is_file
from perhop.study.checking import problems
from perhop.study.definition import (
    Alternative,
    Assumption,
    Case,
    Claim,
    Course,
    Highlight,
    Metric,
    Published,
    Scatter,
    Study,
    Table,
)
from perhop.study.keys import Keys

_STUDIES = Path(__file__).parent.parent / "studies"
_FILE = "study.toml"
# Columns of a reference file that do not identify the case.
_NOT_CASE = ("table", "metric", "value", "unit")
# The reading error of a value from a chart; a file of printed figures has no such column.
_READING = "reading_error"
# The column of repetitions. Rows that differ only in this column belong to one case; their mean is the
# published figure.
_REPETITION = "repetition"


def identifiers() -> list[str]:
    """Return the ids of the studies that come with perhop."""
    return sorted(file.parent.name for file in _STUDIES.glob(f"*/{_FILE}"))


def find(id: str) -> Study:
    """Return the study `id`: one that comes with perhop, or a folder with a study.toml.

    The function reads the study and executes none of its programs.

    Raises:
        InvalidInputError: there is no such study, or its files are not valid.
        UnreadableFileError: a file cannot be read.

    """
    folder = _STUDIES / id
    if not is_file(folder / _FILE):
        folder = Path(id)
    if not is_file(folder / _FILE):
        near = get_close_matches(id, identifiers(), n=1)
        advice = f"did you mean `{near[0]}`?" if near else f"studies: {', '.join(identifiers()) or 'none'}"
        raise InvalidInputError(f"there is no study `{id}`", advice)
    study = _read(folder.resolve())
    if found := list(dict.fromkeys(problems(study))):
        raise InvalidInputError(f"`{study.folder / _FILE}`:\n  " + "\n  ".join(found))
    return study


def _read(folder: Path) -> Study:
    keys = Keys.of_file(folder / _FILE)
    sweeps = {name: section.values() for name, section in keys.named_tables("sweeps")}
    tables = tuple(_table(section, folder, sweeps) for section in keys.tables("tables"))
    every_table = tuple(table.id for table in tables)
    study = Study(
        id=folder.name,
        folder=folder,
        title=keys.text("title"),
        paper=keys.text("paper"),
        seed=keys.integer("seed", 1),
        replications=keys.integer("replications", 10),
        sensitivity_replications=keys.integer("sensitivity-replications", 3),
        metrics={name: _metric(name, section) for name, section in keys.named_tables("metrics")},
        tables=tables,
        assumptions=tuple(_assumption(section, every_table) for section in keys.tables("assumptions")),
        highlights=tuple(_highlight(section) for section in keys.tables("highlights")),
        claims=tuple(
            _claim(section, every_table) for section in Keys.of_file(folder / "claims.toml").tables("claim")
        ),
        published=tuple(row for file in sorted(folder.glob("reference/*.csv")) for row in _published(file)),
        scatters={name: Scatter(name, *_axes(section)) for name, section in keys.named_tables("scatters")},
        courses={name: Course(name, *_axes(section)) for name, section in keys.named_tables("courses")},
    )
    keys.finish()
    return study


def _metric(name: str, keys: Keys) -> Metric:
    metric = Metric(
        name,
        keys.number("factor"),
        keys.number("absolute"),
        keys.number("relative"),
        keys.optional_text("not-comparable"),
        keys.optional_text("unit"),
    )
    keys.finish()
    near = (metric.factor, metric.absolute, metric.relative) != (None, None, None)
    if sum((near, metric.incomparable is not None, metric.unit is not None)) != 1:
        raise keys.error(
            "give a tolerance (factor, relative, absolute), or the reason why it is not-comparable,"
            " or, for a metric that no table publishes, its unit"
        )
    return metric


def _axes(keys: Keys) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return label and unit of each axis."""
    axes = (keys.text("x"), keys.text("x-unit")), (keys.text("y"), keys.text("y-unit"))
    keys.finish()
    return axes


def _table(keys: Keys, folder: Path, sweeps: dict[str, dict[str, Any]]) -> Table:
    id = keys.text("id")
    swept = keys.mapping("sweep", {}) or {}
    scenario = folder / keys.text("scenario", "scenario.yaml")
    curves, ellipses = keys.texts("curves", ()), keys.texts("ellipses", ())
    table = Table(
        id=id,
        title=keys.text("title"),
        changes=keys.mapping("set", {}) or {},
        cases=(
            *(_case(section, folder) for section in keys.tables("cases")),
            *_points(keys, id, scenario, swept, sweeps, is_published=not (curves or ellipses)),
        ),
        curves=curves,
        ellipses=ellipses,
        traces=keys.texts("traces", ()),
    )
    keys.finish()
    if (curves or ellipses) and not swept:
        raise keys.error("`curves` and `ellipses` need a `sweep`")
    return table


def _points(
    keys: Keys,
    id: str,
    scenario: Path,
    swept: dict[str, Any],
    sweeps: dict[str, dict[str, Any]],
    *,
    is_published: bool,
) -> Iterator[Case]:
    """Generate a case for every combination of the values of a table's sweep.

    If the table `is_published`, a case reproduces the figures with the values of its point.
    """
    for column, values in swept.items():
        known = sweeps.get(column)
        if known is None:
            raise keys.error(f"there is no [sweeps.{column}]")
        if values != "all" and (unknown := [value for value in values if value not in known]):
            raise keys.error(f"[sweeps.{column}] has no {', '.join(unknown)}")
    if not swept:
        return
    chosen = [list(sweeps[column]) if values == "all" else values for column, values in swept.items()]
    for combination in product(*chosen):
        point = dict(zip(swept, combination, strict=True))
        changes: dict[str, Any] = {}
        for column, value in point.items():
            changes |= {_filled(path, point): new for path, new in sweeps[column][value].items()}
        name = ", ".join(f"{column} {value}" for column, value in point.items())
        rows, curve = (point, {}) if is_published else (None, point)
        yield Case(f"{id}: {name}", scenario, changes, rows, curve)


def _filled(path: str, point: dict[str, str]) -> str:
    """Return a path with its columns, as in `traffic.{class}.count`, replaced by the values of a point."""
    for column, value in point.items():
        path = path.replace(f"{{{column}}}", value)
    return path


def _case(keys: Keys, folder: Path) -> Case:
    rows = keys.mapping("rows", None)
    case = Case(
        name=keys.text("name"),
        scenario=folder / keys.text("scenario", "scenario.yaml"),
        changes=keys.mapping("set", {}) or {},
        rows=None if rows is None else {column: str(value) for column, value in rows.items()},
    )
    keys.finish()
    return case


def _assumption(keys: Keys, every_table: tuple[str, ...]) -> Assumption:
    assumption = Assumption(
        name=keys.text("name"),
        value=keys.text("value"),
        why=keys.text("why"),
        changes=keys.mapping("set", {}) or {},
        alternatives=tuple(_alternative(section, every_table) for section in keys.tables("alternatives")),
        sensitivity=keys.optional_text("sensitivity"),
    )
    keys.finish()
    return assumption


def _alternative(keys: Keys, every_table: tuple[str, ...]) -> Alternative:
    in_table = keys.mapping("set-in-table", {}) or {}
    alternative = Alternative(
        value=keys.text("value"),
        changes=keys.mapping("set", {}) or {},
        changes_in_table=in_table,
        tables=keys.texts("tables", tuple(in_table) or every_table),
    )
    keys.finish()
    return alternative


def _highlight(keys: Keys) -> Highlight:
    rows = keys.mapping("rows", {}) or {}
    highlight = Highlight(
        keys.text("label"),
        keys.text("table"),
        keys.text("metric"),
        {column: str(value) for column, value in rows.items()},
    )
    keys.finish()
    return highlight


def _claim(keys: Keys, every_table: tuple[str, ...]) -> Claim:
    claim = Claim(keys.text("id"), keys.text("where"), keys.text("text"), keys.texts("tables", every_table))
    keys.finish()
    return claim


def _published(file: Path) -> list[Published]:
    try:
        return _rows(file)
    except ValueError as error:
        raise InvalidInputError(f"`{file}`: {error}") from error


def _rows(file: Path) -> list[Published]:
    with io.StringIO(read_input(file, PUBLISHED).decode(), newline="") as lines:
        rows = csv.DictReader(lines)
        not_case = (*_NOT_CASE, _READING, _REPETITION)
        missing = [name for name in _NOT_CASE if name not in (rows.fieldnames or [])]
        if missing:
            raise InvalidInputError(f"`{file}`: missing columns: {', '.join(missing)}")
        published = [
            Published(
                table=row["table"],
                case={name: value for name, value in row.items() if value and name not in not_case},
                metric=row["metric"],
                value=float(row["value"]),
                unit=row["unit"],
                reading_error=_reading_error(row.get(_READING)),
            )
            for row in rows
        ]
    return _means(published) if _REPETITION in (rows.fieldnames or []) else published


def _means(runs: list[Published]) -> list[Published]:
    """Return one figure for each group of runs, the mean of the group."""
    alike: dict[tuple[str, ...], list[Published]] = {}
    for run in runs:
        case = (word for pair in run.case.items() for word in pair)
        alike.setdefault((run.table, run.metric, run.unit, *case), []).append(run)
    found = []
    for rows in alike.values():
        values = tuple(row.value for row in rows)
        found.append(replace(rows[0], value=math.fsum(values) / len(values), runs=values))
    return found


def _reading_error(text: str | None) -> float | None:
    if not text:
        return None
    error = float(text)
    if not error > 0:
        raise InvalidInputError(f"`{_READING}` is not above 0: {text}")
    return error
