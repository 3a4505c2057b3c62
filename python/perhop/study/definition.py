"""The definition of a study."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from perhop.errors import InvalidInputError, UnknownNameError
from perhop.scenario import Scenario


@dataclass(frozen=True)
class Published:
    """One published figure."""

    table: str
    case: dict[str, str]
    metric: str
    value: float
    unit: str
    #: The reading error of a value from a chart, in the unit of the value; `None` if the paper prints the
    #: value.
    reading_error: float | None = None
    #: The values of single runs, if the source has them; `value` is their mean.
    runs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A metric and the tolerance between measured and published values."""

    name: str
    #: The tolerance as a factor, in either direction.
    factor: float | None
    #: The tolerance as a difference in the metric's unit.
    absolute: float | None
    #: The tolerance as a fraction of the published value.
    relative: float | None
    #: The reason why measured and published values cannot be compared, if any.
    incomparable: str | None
    #: Unit of a metric that is plotted but not published in a table.
    unit: str | None


@dataclass(frozen=True)
class Scatter:
    """Two quantities that are measured together, drawn as the ellipse of their standard deviations."""

    name: str
    #: Label and unit of each axis.
    x: tuple[str, str]
    y: tuple[str, str]


@dataclass(frozen=True)
class Course:
    """A quantity over one run, published as a curve."""

    name: str
    #: Label and unit of each axis.
    x: tuple[str, str]
    y: tuple[str, str]


@dataclass(frozen=True)
class Case:
    """One experiment of a table."""

    name: str
    scenario: Path
    changes: dict[str, Any]
    #: Column values of the published figures that the case reproduces; `None` for no figures.
    rows: dict[str, str] | None
    #: The point of the case in the sweep: a value for each column of the sweep.
    point: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """One table or figure of the paper."""

    id: str
    title: str
    #: Changes that apply to all cases of the table.
    changes: dict[str, Any]
    cases: tuple[Case, ...]
    #: The metrics measured at each point of the sweep: the curves of the paper.
    curves: tuple[str, ...]
    #: The scatters with an ellipse for each point of the sweep.
    ellipses: tuple[str, ...] = ()
    #: The courses with a published curve for each case.
    traces: tuple[str, ...] = ()

    def named(self, id: str) -> bool:
        """Whether `id` selects this table: `11` also selects its parts `11:a` and `11:b`."""
        return self.id == id or self.id.startswith(f"{id}:")

    @property
    def heading(self) -> str:
        """The heading: `Table 2: …`, `Figure 4: …`."""
        kind, _, number = self.id.partition("-")
        name = f"Figure {number}" if kind == "figure" else f"Table {self.id}"
        return f"{name}: {self.title}"


@dataclass(frozen=True)
class Alternative:
    """An alternative value of an assumption."""

    value: str
    #: Changes that replace or extend the changes of the assumption.
    changes: dict[str, Any]
    #: Changes by table, which override the changes of the cases.
    changes_in_table: dict[str, dict[str, Any]]
    #: The tables that run with the alternative value.
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Assumption:
    """A parameter that the paper does not state."""

    name: str
    value: str
    why: str
    changes: dict[str, Any]
    alternatives: tuple[Alternative, ...]
    #: The effect on the results, if the study describes it.
    sensitivity: str | None


@dataclass(frozen=True)
class Highlight:
    """A published figure or a point of a curve with a column in the sensitivity table."""

    label: str
    table: str
    metric: str
    rows: dict[str, str]

    def shows(self, table: str, metric: str, case: dict[str, str]) -> bool:
        """Whether the highlight selects a figure."""
        return (self.table, self.metric) == (table, metric) and self.rows.items() <= case.items()


@dataclass(frozen=True)
class Claim:
    """A claim of the paper."""

    id: str
    where: str
    text: str
    #: The tables that decide the verdict on the claim.
    tables: tuple[str, ...]

    @property
    def function(self) -> str:
        """The name of the claim's function in claims.py."""
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
    scatters: dict[str, Scatter] = field(default_factory=dict)
    courses: dict[str, Course] = field(default_factory=dict)

    def figures_of(self, table: Table, case: Case) -> list[Published]:
        """Return the published figures that `case` reproduces."""
        if case.rows is None:
            return []
        wanted = case.rows.items()
        return [row for row in self.published if row.table == table.id and wanted <= row.case.items()]

    def changes(self, table: Table, case: Case, alternative: Alternative | None = None) -> dict[str, Any]:
        """Return the changes to the scenario of a case, with an alternative of one assumption if given."""
        changes: dict[str, Any] = {}
        for assumption in self.assumptions:
            changes |= assumption.changes
        # An alternative replaces the changes of its assumption. Changes of the table and the case override
        # both.
        if alternative is not None:
            changes |= alternative.changes
        changes |= table.changes | case.changes
        if alternative is not None:
            changes |= alternative.changes_in_table.get(table.id, {})
        return changes

    def scenario(self, case: str) -> Scenario:
        """Return the scenario that the study runs for a case, given the name of the case.

        Raises:
            UnknownNameError: there is no such case.
            ScenarioError: the scenario is not valid.

        """
        cases = {known_case.name: (table, known_case) for table in self.tables for known_case in table.cases}
        if case not in cases:
            near = get_close_matches(case, cases, n=1)
            advice = f"did you mean `{near[0]}`?" if near else f"cases: {', '.join(cases)}"
            raise UnknownNameError(f"`{self.id}` has no case `{case}`", advice)
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
    spec = spec_from_file_location(f"perhop_study_{study.replace('-', '_')}_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InvalidInputError(f"cannot read `{file}`: there is no such file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
