"""Live runs of studies: shortened cases, each compared with its simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from perhop.compare import Comparison
from perhop.errors import InvalidInputError
from perhop.live.comparing import Watched, compare_with_simulation
from perhop.scenario import Scenario
from perhop.study.definition import Case, Study, Table
from perhop.study.keys import Keys

#: The file of a study that lists its live runs.
FILE = "live.toml"


@dataclass(frozen=True)
class LiveCase:
    """A case of a study for a live run and its simulation."""

    case: Case
    table: Table
    #: Changes to the study's case, for the live run and the simulation.
    changes: dict[str, Any]
    #: The reason for the changes.
    why: str

    def scenario(self, study: Study) -> Scenario:
        """Return the scenario with the study's assumptions; raises `ScenarioError`."""
        changes: dict[str, Any] = {}
        for assumption in study.assumptions:
            changes |= assumption.changes
        return Scenario.load(
            self.case.scenario, changes | self.table.changes | self.case.changes | self.changes
        )


def live_cases(study: Study, only: Sequence[str] = ()) -> list[LiveCase]:
    """Return the cases of `study` for live runs, or those whose names match `only`.

    Raises:
        InvalidInputError: there is no such case, or the file is not valid.

    """
    file = study.folder / FILE
    if not file.is_file():
        raise InvalidInputError(f"`{study.id}` has no live runs", f"there is no {file}")
    keys = Keys.of_file(file)
    found = [live_case for run in keys.tables("runs") for live_case in _cases(run, study, file)]
    keys.finish()
    chosen = [
        live_case
        for live_case in found
        if not only or any(fnmatchcase(live_case.case.name, name) for name in only)
    ]
    if not chosen:
        known = ", ".join(live_case.case.name for live_case in found)
        raise InvalidInputError(
            f"`{study.id}` has no live run that matches {', '.join(only)}", f"live runs: {known}"
        )
    return chosen


def _cases(keys: Keys, study: Study, file: Path) -> list[LiveCase]:
    names, changes, why = keys.texts("cases", ()), keys.mapping("set", {}) or {}, keys.text("why")
    keys.finish()
    every = {case.name: (case, table) for table in study.tables for case in table.cases}
    unknown = [name for name in names if name not in every]
    if unknown or not names:
        raise InvalidInputError(
            f"`{file}`: unknown cases: {', '.join(unknown)}" if unknown else f"`{file}`: no case is named"
        )
    return [LiveCase(*every[name], changes, why) for name in names]


def run_live(
    study: Study,
    case: LiveCase,
    *,
    seed: int | None = None,
    replications: int | None = None,
    live_replications: int = 1,
    threads: int | None = None,
    watched: Watched | None = None,
) -> Comparison:
    """Run one case live and compare it with its simulation; raises like `compare_with_simulation`."""
    return compare_with_simulation(
        case.scenario(study),
        seed=study.seed if seed is None else seed,
        replications=study.replications if replications is None else replications,
        live_replications=live_replications,
        threads=threads,
        watched=watched,
    )
