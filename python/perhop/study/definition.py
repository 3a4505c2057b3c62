"""What a study consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError

if TYPE_CHECKING:
    from perhop.scenario import Scenario


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


def _module(file: Path, study: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"perhop_study_{study.replace('-', '_')}_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InvalidInputError(f"{file}: no such file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
