"""The trials of a tuning, simulated by an engine, and the journal that continues an interrupted tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl

from perhop import disk
from perhop.engines import Engine
from perhop.running import Progress
from perhop.sampling import Design
from perhop.sweeping import Advance, Plan, parts, simulated
from perhop.sweeping.statistics import with_shares
from perhop.tuning.question import Question
from perhop.tuning.space import Point

#: The folder of the journal.
JOURNAL = "evaluations"


class Wanted(NamedTuple):
    """A point and its requested number of replications."""

    point: tuple[tuple[str, str], ...]
    replications: int


@dataclass(frozen=True)
class Evaluation:
    """The results of a point: the values of each goal by replication, or the reason for a failure."""

    values: Mapping[str, Sequence[float | None]]
    error: str | None = None


class Journal(Protocol):
    """The store of evaluations."""

    def add(self, new: Mapping[Wanted, Evaluation]) -> None:
        """Store the evaluations of one round."""
        ...


class Evaluator:
    """Returns evaluations from the journal; lets an engine simulate missing evaluations, and stores them."""

    def __init__(
        self,
        question: Question,
        engine: Engine,
        journal: Journal | None = None,
        known: Mapping[Wanted, Evaluation] | None = None,
    ) -> None:
        self._question, self._engine, self._journal = question, engine, journal
        self._known = dict(known or {})
        #: The number of simulated replications, including replications of earlier processes.
        self.runs = sum(key.replications for key in self._known)
        self._fresh = 0

    def evaluate(
        self, wanted: Sequence[tuple[Point, int]], progress: Callable[[Advance], None] | None = None
    ) -> list[Evaluation]:
        """Return the results of each point with the given number of replications."""
        keys = [Wanted(tuple(sorted(point.items())), count) for point, count in wanted]
        missing = [key for key in dict.fromkeys(keys) if key not in self._known]
        if missing:
            new = self._simulated(missing, progress)
            self._known |= new
            self.runs += sum(key.replications for key in missing)
            if self._journal is not None:
                self._journal.add(new)
        return [self._known[key] for key in keys]

    def _simulated(
        self, wanted: Sequence[Wanted], progress: Callable[[Advance], None] | None
    ) -> dict[Wanted, Evaluation]:
        found: dict[Wanted, Evaluation] = {}
        for count in sorted({wanted_point.replications for wanted_point in wanted}):
            same = [wanted_point for wanted_point in wanted if wanted_point.replications == count]
            found |= self._together(same, count, progress)
        return {wanted_point: found[wanted_point] for wanted_point in wanted}

    def _together(
        self, wanted: Sequence[Wanted], count: int, progress: Callable[[Advance], None] | None
    ) -> dict[Wanted, Evaluation]:
        """Simulate points with the same number of replications."""
        changes = [self._question.space.changes(dict(wanted_point.point)) for wanted_point in wanted]
        design = Design(
            "zip", {path: [point_changes[path] for point_changes in changes] for path in changes[0]}
        )
        plan = Plan(self._question.scenario, design, self._question.seed, count)
        found = simulated(plan, self._engine, progress)
        failed = dict(found.failures.select("point", "error").iter_rows())
        shared = with_shares(found.classes)
        of_points = {key[0]: rows for key, rows in shared.group_by("point", maintain_order=True)}
        goals = [goal for goal in self._question.goals if goal.column]
        return {
            wanted_point: Evaluation({}, failed[number])
            if number in failed
            else Evaluation({goal.text: goal.measured(of_points[number]) for goal in goals})
            for number, wanted_point in enumerate(wanted)
        }


class StoredJournal:
    """A journal in a folder: one part for each round, which appears completely or not at all."""

    def __init__(self, folder: Path, question: Question) -> None:
        self._folder = folder
        self._label = parts.Label(parts.identity(question.texts()), JOURNAL)
        parts.clear(folder)
        #: The evaluations of earlier processes.
        self.known: dict[Wanted, Evaluation] = {}
        #: The SHA-256 of each used part, by its name.
        self.digests: dict[str, str] = {}
        #: Parts that do not match their names, because they are damaged or belong to another tuning.
        self.wrong: list[Path] = []
        # The number of evaluations in each part, by the number of its first evaluation.
        self._counts: dict[int, int] = {}
        for path in parts.listed(folder):
            part = parts.read(path, self._label)
            if part is None:
                self.wrong.append(path)
                continue
            found = _read(pl.read_parquet(BytesIO(part.content)))
            self.known |= found
            self.digests[path.name] = part.digest
            self._counts[parts.first_of(path.name)] = len(found)

    def remove_wrong(self) -> None:
        """Remove parts that do not match their names; raises `OSError`."""
        for path in self.wrong:
            disk.remove(path)

    def add(self, new: Mapping[Wanted, Evaluation]) -> None:
        """Store the evaluations of one round; raises `OSError`.

        A continued search repeats its steps, so it evaluates the points of a missing part again.
        """
        first = 0
        while first in self._counts:
            first += self._counts[first]
        name, digest = parts.add(self._folder, self._label, _table(new, first))
        self.digests[name] = digest
        self._counts[first] = len(new)


_SCHEMA = pl.Schema(
    {
        "point": pl.UInt64(),
        "parameters": pl.List(pl.String()),
        "values": pl.List(pl.String()),
        "replications": pl.UInt32(),
        "error": pl.String(),
        "goals": pl.List(pl.String()),
        "measured": pl.List(pl.List(pl.Float64())),
    }
)


def _table(new: Mapping[Wanted, Evaluation], first: int) -> pl.DataFrame:
    rows = [
        (
            first + number,
            [name for name, _ in wanted.point],
            [text for _, text in wanted.point],
            wanted.replications,
            evaluation.error,
            list(evaluation.values),
            [list(values) for values in evaluation.values.values()],
        )
        for number, (wanted, evaluation) in enumerate(new.items())
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _read(table: pl.DataFrame) -> dict[Wanted, Evaluation]:
    found = {}
    for row in table.iter_rows(named=True):
        point = tuple(zip(row["parameters"], row["values"], strict=True))
        values = dict(zip(row["goals"], row["measured"], strict=True))
        found[Wanted(point, row["replications"])] = Evaluation(values, row["error"])
    return found


@dataclass(frozen=True)
class Searched(Progress):
    """Progress of a tuning."""

    #: The number of tried points, the maximum, and the number of failed points.
    trials: int
    of: int
    failed: int
    #: The total number of replications.
    runs: int
    #: The current phase: `exploring` or `deciding`.
    phase: str
