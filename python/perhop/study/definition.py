"""What a study is, as its folder says."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.study.keys import Keys

if TYPE_CHECKING:
    from perhop.scenario import Scenario

_STUDIES = Path(__file__).parent.parent / "studies"
_FILE = "study.toml"
# Columns of a reference file that do not tell one case from another.
_NOT_CASE = ("table", "metric", "value", "unit")


@dataclass(frozen=True)
class Published:
    """One published figure."""

    table: str
    case: dict[str, str]
    metric: str
    value: float
    unit: str


@dataclass(frozen=True)
class Metric:
    """How near a measured value has to come to the published one."""

    name: str
    #: Measured and published may differ by this factor, either way,
    factor: float | None
    #: or by this much, in the metric's unit.
    absolute: float | None
    #: Why the two cannot be compared, where they cannot.
    incomparable: str | None
    #: Unit of a metric that figures show and no table publishes.
    unit: str | None


@dataclass(frozen=True)
class Case:
    """One experiment of a table."""

    name: str
    scenario: Path
    changes: dict[str, Any]
    #: The published figures it answers: those of its table with these values; None for none.
    rows: dict[str, str] | None
    #: The point of a sweep that it is: a value in each of the sweep's columns.
    point: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """One table or figure of the paper."""

    id: str
    title: str
    #: What all its cases change.
    changes: dict[str, Any]
    cases: tuple[Case, ...]
    #: The metrics that are measured at each point of its sweep: what the paper draws.
    curves: tuple[str, ...]

    def named(self, id: str) -> bool:
        """Whether `id` means this table: `11` also means its parts `11:a` and `11:b`."""
        return self.id == id or self.id.startswith(f"{id}:")

    @property
    def heading(self) -> str:
        """What stands above it: `Table 2: …`, `Figure 4: …`."""
        kind, _, number = self.id.partition("-")
        name = f"Figure {number}" if kind == "figure" else f"Table {self.id}"
        return f"{name}: {self.title}"


@dataclass(frozen=True)
class Alternative:
    """Another value that an assumption could have."""

    value: str
    #: What it changes in place of, or beside, what its assumption changes.
    changes: dict[str, Any]
    #: What it changes in the cases of one table, where that goes against what they change themselves.
    changes_in_table: dict[str, dict[str, Any]]
    #: The tables it is tried on.
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Assumption:
    """A parameter that the paper leaves unstated."""

    name: str
    value: str
    why: str
    changes: dict[str, Any]
    alternatives: tuple[Alternative, ...]
    #: How the result moves, where the study says it in words.
    sensitivity: str | None


@dataclass(frozen=True)
class Highlight:
    """A published figure, or a point of a curve, that is worth a column of the sensitivity table."""

    label: str
    table: str
    metric: str
    rows: dict[str, str]

    def shows(self, table: str, metric: str, case: dict[str, str]) -> bool:
        """Whether this is the figure."""
        return (self.table, self.metric) == (table, metric) and self.rows.items() <= case.items()


@dataclass(frozen=True)
class Claim:
    """Something the paper says in words."""

    id: str
    where: str
    text: str
    #: The tables it is judged by.
    tables: tuple[str, ...]

    @property
    def function(self) -> str:
        """Name of the function in claims.py that judges it."""
        return self.id.rpartition(".")[2].replace("-", "_")


@dataclass(frozen=True)
class Study:
    """A published study."""

    id: str
    folder: Path
    title: str
    paper: str
    seed: int
    replications: int
    sensitivity_replications: int
    metrics: dict[str, Metric]
    tables: tuple[Table, ...]
    assumptions: tuple[Assumption, ...]
    highlights: tuple[Highlight, ...]
    claims: tuple[Claim, ...]
    published: tuple[Published, ...] = field(repr=False)

    def figures_of(self, table: Table, case: Case) -> list[Published]:
        """Return the published figures that `case` answers."""
        if case.rows is None:
            return []
        wanted = case.rows.items()
        return [row for row in self.published if row.table == table.id and wanted <= row.case.items()]

    def changes(self, table: Table, case: Case, alternative: Alternative | None = None) -> dict[str, Any]:
        """Return what a case changes in its scenario, with an alternative of one assumption in its place."""
        changes: dict[str, Any] = {}
        for assumption in self.assumptions:
            changes |= assumption.changes
        # An alternative stands where its assumption stands: what makes a case this case is put in later.
        if alternative is not None:
            changes |= alternative.changes
        changes |= table.changes | case.changes
        if alternative is not None:
            changes |= alternative.changes_in_table.get(table.id, {})
        return changes

    def scenario(self, case: str) -> Scenario:
        """Return the scenario of a case by its name, as the study runs it, to be drawn or changed."""
        from perhop.scenario import Scenario

        cases = {one.name: (table, one) for table in self.tables for one in table.cases}
        if case not in cases:
            near = get_close_matches(case, cases, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(cases)}"
            raise InvalidInputError(f"{self.id} has no case {case}", advice)
        table, found = cases[case]
        return Scenario.load(found.scenario, self.changes(table, found))

    @cached_property
    def measures(self) -> ModuleType:
        """The study's measures.py."""
        return _module(self.folder / "measures.py", self.id)

    @cached_property
    def judges(self) -> ModuleType:
        """The study's claims.py."""
        return _module(self.folder / "claims.py", self.id)


def identifiers() -> list[str]:
    """Return the ids of the studies that come with perhop."""
    return sorted(file.parent.name for file in _STUDIES.glob(f"*/{_FILE}"))


def find(id: str) -> Study:
    """Return the study `id`: one that comes with perhop, or a folder with a study.toml."""
    folder = _STUDIES / id
    if not (folder / _FILE).is_file():
        folder = Path(id)
    if not (folder / _FILE).is_file():
        near = get_close_matches(id, identifiers(), n=1)
        advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(identifiers()) or 'none'}"
        raise InvalidInputError(f"no study {id}", advice)
    study = _read(folder.resolve())
    _check(study)
    return study


def _read(folder: Path) -> Study:
    keys = Keys.of_file(folder / _FILE)
    sweeps = {name: one.values() for name, one in keys.named_tables("sweeps")}
    tables = tuple(_table(one, folder, sweeps) for one in keys.tables("tables"))
    every_table = tuple(table.id for table in tables)
    study = Study(
        id=folder.name,
        folder=folder,
        title=keys.text("title"),
        paper=keys.text("paper"),
        seed=keys.integer("seed", 1),
        replications=keys.integer("replications", 10),
        sensitivity_replications=keys.integer("sensitivity-replications", 3),
        metrics={name: _metric(name, one) for name, one in keys.named_tables("metrics")},
        tables=tables,
        assumptions=tuple(_assumption(one, every_table) for one in keys.tables("assumptions")),
        highlights=tuple(_highlight(one) for one in keys.tables("highlights")),
        claims=tuple(
            _claim(one, every_table) for one in Keys.of_file(folder / "claims.toml").tables("claim")
        ),
        published=tuple(row for file in sorted(folder.glob("reference/*.csv")) for row in _published(file)),
    )
    keys.finish()
    return study


def _metric(name: str, keys: Keys) -> Metric:
    metric = Metric(
        name,
        keys.number("factor"),
        keys.number("absolute"),
        keys.optional_text("not-comparable"),
        keys.optional_text("unit"),
    )
    keys.finish()
    near = metric.factor is not None or metric.absolute is not None
    if sum((near, metric.incomparable is not None, metric.unit is not None)) != 1:
        raise keys.error(
            "say how near is near (factor, absolute), or why it is not-comparable,"
            " or, of a metric that nothing publishes, its unit"
        )
    return metric


def _table(keys: Keys, folder: Path, sweeps: dict[str, dict[str, Any]]) -> Table:
    id = keys.text("id")
    swept = keys.mapping("sweep", {}) or {}
    scenario = folder / keys.text("scenario", "scenario.yaml")
    table = Table(
        id=id,
        title=keys.text("title"),
        changes=keys.mapping("set", {}) or {},
        cases=(
            *(_case(one, folder) for one in keys.tables("cases")),
            *_points(keys, id, scenario, swept, sweeps),
        ),
        curves=keys.texts("curves", ()),
    )
    keys.finish()
    if bool(swept) != bool(table.curves):
        raise keys.error("a sweep has curves, and curves a sweep: one of the two is missing")
    return table


def _points(
    keys: Keys, id: str, scenario: Path, swept: dict[str, Any], sweeps: dict[str, dict[str, Any]]
) -> Iterator[Case]:
    """Return a case for every combination of the values that a table's sweep names."""
    for column, values in swept.items():
        known = sweeps.get(column)
        if known is None:
            raise keys.error(f"no [sweeps.{column}]")
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
        yield Case(f"{id}: {name}", scenario, changes, None, point)


def _filled(path: str, point: dict[str, str]) -> str:
    """Return a path with the values of a point in the places of their columns: `traffic.{class}.count`."""
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
        alternatives=tuple(_alternative(one, every_table) for one in keys.tables("alternatives")),
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
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        missing = [name for name in _NOT_CASE if name not in (rows.fieldnames or [])]
        if missing:
            raise InvalidInputError(f"{file}: no column {', '.join(missing)}")
        return [
            Published(
                table=row["table"],
                case={name: value for name, value in row.items() if name not in _NOT_CASE and value},
                metric=row["metric"],
                value=float(row["value"]),
                unit=row["unit"],
            )
            for row in rows
        ]


def _check(study: Study) -> None:
    """Refuse a study in which a published figure or a claim would silently go unanswered."""
    problems = [*_unanswered(study), *_without_function(study), *_wrong_names(study)]
    if problems:
        raise InvalidInputError(f"{study.folder / _FILE}:\n  " + "\n  ".join(dict.fromkeys(problems)))


def _unanswered(study: Study) -> Iterator[str]:
    for table in study.tables:
        answered = [row for case in table.cases for row in study.figures_of(table, case)]
        rows = [row for row in study.published if row.table == table.id]
        for row in rows:
            if row not in answered:
                yield f"table {table.id}: no case answers {row.case} {row.metric}"
        if len(answered) > len(rows):
            yield f"table {table.id}: several cases answer the same published figure"
    for row in study.published:
        if row.metric not in study.metrics:
            yield f"no [metrics.{row.metric}], which table {row.table} publishes"
        elif study.metrics[row.metric].unit is not None:
            yield f"[metrics.{row.metric}] has a unit of its own, but table {row.table} publishes it"
    for table in study.tables:
        for metric in table.curves:
            if metric not in study.metrics or study.metrics[metric].unit is None:
                yield f"no [metrics.{metric}] with a unit, of which table {table.id} shows a curve"


def _without_function(study: Study) -> Iterator[str]:
    shown = [metric for table in study.tables for metric in table.curves]
    for metric in dict.fromkeys([*(row.metric for row in study.published), *shown]):
        if not hasattr(study.measures, metric):
            yield f"measures.py has no function {metric}"
    for claim in study.claims:
        if not hasattr(study.judges, claim.function):
            yield f"claim {claim.id} has no function {claim.function} in claims.py"


def _wrong_names(study: Study) -> Iterator[str]:
    asked = [(f"claim {claim.id}", table) for claim in study.claims for table in claim.tables]
    for assumption in study.assumptions:
        for alternative in assumption.alternatives:
            named = (*alternative.tables, *alternative.changes_in_table)
            asked += [(f"assumption {assumption.name}", table) for table in named]
    known = {table.id for table in study.tables}
    for who, table_id in asked:
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
            yield f"highlight {highlight.label}: {count} figures, not one"
    names = [case.name for table in study.tables for case in table.cases]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"several cases are named {name}"


def _module(file: Path, study: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"perhop_study_{study.replace('-', '_')}_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InvalidInputError(f"{file}: no such file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
