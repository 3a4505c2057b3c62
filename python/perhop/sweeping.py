"""Sweeps: a scenario simulated for every combination of the values of some parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from perhop import disk, manifest
from perhop.batch import Job, simulate_all
from perhop.document import as_text
from perhop.errors import InvalidInputError
from perhop.loading import damaged
from perhop.manifest import json_text
from perhop.plot.chart import Chart
from perhop.plot.comparisons import share_of
from perhop.quantity import column, counted, interval, told_apart
from perhop.results import Results
from perhop.running import Progress, processors
from perhop.saved import Saved
from perhop.saving import whole_folder
from perhop.scenario import Scenario
from perhop.shape import ByName
from perhop.tables import Cell, Column, Table, notebook, replicated, sortable

#: The file that marks a folder as holding a sweep.
FILE = "sweep.json"
# Version of the layout of the files; a change that could break a reader increments it.
SCHEMA_VERSION = 1
# The shape of the file, as far as it is read again.
_SHAPE = {
    "scenario": str,
    "parameters": [str],
    "seed": int,
    "replications": int,
    "points": [{"set": ByName(str), "folder": str}],
}


@dataclass(frozen=True)
class Point:
    """One combination of values and its results."""

    #: The values by path, as given.
    values: dict[str, str]
    results: Results

    @property
    def name(self) -> str:
        """Its values as text."""
        return ", ".join(f"{path} = {value}" for path, value in self.values.items())


@dataclass(frozen=True, repr=False)
class Sweep:
    """The results of a scenario for every combination of the values of its swept parameters."""

    scenario: str
    #: The paths of the swept parameters.
    parameters: tuple[str, ...]
    points: list[Point]
    seed: int
    replications: int

    def __repr__(self) -> str:
        """Name the scenario and the parameters."""
        along = ", ".join(self.parameters)
        points = counted(len(self.points), "point")
        return f"<perhop.Sweep of {self.scenario!r} along {along}: {points}, seed={self.seed}>"

    def table(self) -> pl.DataFrame:
        """Return the results of each class at each point: a row for each metric with its confidence interval.

        Columns: the swept parameters, `class`, `metric`, `unit`, `mean`, `low` and `high` (the 95 %
        confidence interval, null with one replication), `replications`.
        """
        return pl.DataFrame(list(self._rows()), infer_schema_length=None)

    def share(self, of: str = "throughput_bps", against: str | None = None) -> list[Chart]:
        """Plot the share of each class against a parameter, by default the first.

        There is one chart for each combination of the others. `of` is the column of `classes` that is shared.

        Raises:
            InvalidInputError: the parameter was not swept.

        """
        against = self.against(against)
        short = {path: told_apart([point.values[path] for point in self.points]) for path in self.parameters}
        groups: dict[str, list[tuple[str, Results]]] = {}
        for number, point in enumerate(self.points):
            others = ", ".join(f"{path} = {short[path][number]}" for path in point.values if path != against)
            groups.setdefault(others, []).append((point.values[against], point.results))
        return [share_of(points, against, of=of, where=others) for others, points in groups.items()]

    def against(self, path: str | None) -> str:
        """Return the swept parameter `path`, by default the first; raises `InvalidInputError` for others."""
        if path is not None and path not in self.parameters:
            raise InvalidInputError(f"`{path}` was not swept", f"swept: {', '.join(self.parameters)}")
        return path or self.parameters[0]

    def to_json(self) -> dict[str, Any]:
        """Return the sweep as one JSON object: for each point its values and the results of each class."""
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": self.scenario,
            "seed": self.seed,
            "replications": self.replications,
            "parameters": list(self.parameters),
            "points": [
                {"set": point.values, "classes": point.results.summary["classes"]} for point in self.points
            ],
        }

    def save(
        self,
        folder: str | PathLike[str],
        *,
        force: bool = False,
        also: Callable[[Path], None] | None = None,
    ) -> None:
        """Write sweep.json, sweep.csv and the results of every point into `folder`.

        The folder appears complete or not at all; it replaces an earlier result. With `force`, a folder that
        holds something else is moved aside. `also` writes further files into the folder before it appears.

        Raises:
            InvalidInputError: the folder cannot be used, or holds something else.
            OSError: a file cannot be written.

        """
        with whole_folder(Path(folder), force=force) as new:
            document = self.to_json()
            for number, (point, one) in enumerate(zip(self.points, document["points"], strict=True), start=1):
                one["folder"] = f"points/{number:03}"
                (new / one["folder"]).mkdir(parents=True)
                point.results.write_into(new / one["folder"])
            disk.write(new / FILE, json_text(document))
            disk.write(new / "sweep.csv", self.table().write_csv())
            if also is not None:
                also(new)
            manifest.seal(new, "sweep", {"seed": self.seed})

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Sweep:
        """Read a sweep that `save` or `perhop sweep -o` wrote; all files are checked, as by `Results.load`.

        Raises:
            InvalidInputError: the folder holds no sweep.
            UnreadableFileError: a file is missing, damaged or cannot be read.

        """
        saved = Saved.open(folder, "sweep")
        document = saved.json(FILE, _SHAPE)
        parameters = tuple(document["parameters"])
        if not document["points"] or any(tuple(one["set"]) != parameters for one in document["points"]):
            raise damaged(saved.folder / FILE, "not every point has a value for each of its parameters")
        points = [Point(one["set"], Results.of(saved.within(one["folder"]))) for one in document["points"]]
        return cls(
            document["scenario"],
            parameters,
            points,
            document["seed"],
            document["replications"],
        )

    def _rows(self) -> Iterator[dict[str, Any]]:
        for point in self.points:
            for group in point.results.summary["classes"]:
                for metric, value in group.items():
                    if isinstance(value, dict):
                        low, high = value["ci95"] or (None, None)
                        yield {
                            **point.values,
                            "class": group["class"],
                            "metric": metric,
                            "unit": value["unit"],
                            "mean": value["mean"],
                            "low": low,
                            "high": high,
                            "replications": self.replications,
                        }

    def _repr_html_(self) -> str:
        """Show the shares in a notebook."""
        return notebook(sweep_table(self))


def sweep_table(sweep: Sweep) -> Table:
    """Return the results of each class at each point of a sweep."""
    metrics = [("throughput", "throughput_bps"), ("dropped %", "dropped_percent")]
    metrics += [("delay mean", "delay_mean_s"), ("delay p99", "delay_p99_s")]
    heads = [*(Column(path) for path in sweep.parameters), Column("class")]
    heads.append(Column("share of throughput (%)", numeric=True))
    rows: list[list[Cell]] = []
    groups = []
    for point in sweep.points:
        part = point.results.shares()
        for group in point.results.summary["classes"]:
            mean, low, high = part[group["class"]]
            ends = (low, high) if point.results.replications > 1 else None
            values = [Cell(point.values[path]) for path in sweep.parameters]
            rows.append([*values, Cell(group["class"]), Cell(interval(mean, ends), sortable(mean))])
            groups.append(group)
    for name, key in metrics:
        unit, texts = column(groups, key)
        heads.append(Column(f"{name} ({unit})" if unit else name, numeric=True))
        for row, group, text in zip(rows, groups, texts, strict=True):
            row.append(Cell(text, sortable(group[key]["mean"])))
    points = counted(len(sweep.points), "point")
    caption = f"{sweep.scenario}: {points}, {replicated(sweep.replications)}, seed {sweep.seed}"
    return Table(caption, heads, rows)


def sweep(
    scenario: str | PathLike[str] | Scenario,
    values: Mapping[str, Sequence[object] | object],
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Simulate a scenario for every combination of `values`: a list of values for each path.

    A single value in place of a list is set at every point. All scenarios are checked before the first
    simulation. All points have the same seed unless the seed is swept.

        perhop.sweep("edge.perhop.yaml", {"links.1.rate": ["1 Mb/s", "2 Mb/s", "4 Mb/s"]}, replications=10)

    Raises:
        ScenarioError: a path does not exist or a value does not fit.
        InvalidInputError: no parameter has several values, or an argument is out of range.

    """
    lists = {path: _listed(found) for path, found in values.items()}
    parameters = tuple(path for path, found in lists.items() if len(found) > 1)
    if not parameters:
        raise InvalidInputError(
            "no parameter has several values",
            "give one at least two values, as in --set links.1.rate=1Mb/s,2Mb/s,4Mb/s",
        )
    chosen = [dict(zip(lists, one, strict=True)) for one in product(*lists.values())]
    scenarios = [_changed(scenario, one) for one in chosen]
    jobs = [
        Job(
            one,
            one["seed"] if seed is None else seed,
            one["replications"] if replications is None else replications,
        )
        for one in scenarios
    ]
    done = simulate_all(jobs, threads or processors(), progress)
    points = [
        Point({path: as_text(one[path]) for path in parameters}, done[job.key])
        for one, job in zip(chosen, jobs, strict=True)
    ]
    return Sweep(str(scenarios[0]["name"]), parameters, points, jobs[0].seed, jobs[0].replications)


def _changed(scenario: str | PathLike[str] | Scenario, changes: Mapping[str, object]) -> Scenario:
    return scenario.changed(changes) if isinstance(scenario, Scenario) else Scenario.load(scenario, changes)


def _listed(values: object) -> list[object]:
    several = isinstance(values, Sequence) and not isinstance(values, str)
    found = list(values) if several else [values]  # type: ignore[call-overload]
    if not found:
        raise InvalidInputError("a parameter has no value", "give each path one or several values")
    # A value given twice is one point.
    return list({as_text(one): one for one in found}.values())
