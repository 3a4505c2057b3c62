"""Sweeps: a scenario simulated once for every combination of the values of some of its parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.loading import read_json
from perhop.saving import MANIFEST, json_text, whole_folder

if TYPE_CHECKING:
    import polars as pl

    from perhop.plot.chart import Chart
    from perhop.results import Results
    from perhop.running import Progress
    from perhop.scenario import Scenario

#: The file that says of a folder that it holds a sweep.
FILE = "sweep.json"
# The layout of what is written; a change that could break a reader raises it.
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Point:
    """One combination of values, and what was measured with it."""

    #: By path, each value as it was given.
    values: dict[str, str]
    results: Results

    @property
    def name(self) -> str:
        """Its values in words."""
        return ", ".join(f"{path} = {value}" for path, value in self.values.items())


@dataclass(frozen=True, repr=False)
class Sweep:
    """What a scenario gave for every combination of the values of its swept parameters."""

    scenario: str
    #: The paths of the parameters that differ.
    parameters: tuple[str, ...]
    points: list[Point]
    seed: int
    replications: int

    def __repr__(self) -> str:
        """Say what was run."""
        along = ", ".join(self.parameters)
        return (
            f"<perhop.Sweep of {self.scenario!r} along {along}: {len(self.points)} points, seed={self.seed}>"
        )

    def table(self) -> pl.DataFrame:
        """Return what each class got at each point: a row for each metric, with its confidence interval.

        Columns: the swept parameters, `class`, `metric`, `unit`, `mean`, `low` and `high` (the 95 %
        confidence interval, null of one replication), `replications`.
        """
        import polars as pl

        return pl.DataFrame(list(self._rows()), infer_schema_length=None)

    def share(self, of: str = "throughput_bps", against: str | None = None) -> list[Chart]:
        """Plot the share that each class has against a parameter, by default the first.

        One chart for each combination of the others. `of` is a column of `classes` that parts are taken of.
        """
        from perhop.plot.comparisons import share_of
        from perhop.quantity import told_apart

        against = self.against(against)
        short = {path: told_apart([point.values[path] for point in self.points]) for path in self.parameters}
        groups: dict[str, list[tuple[str, Results]]] = {}
        for number, point in enumerate(self.points):
            others = ", ".join(f"{path} = {short[path][number]}" for path in point.values if path != against)
            groups.setdefault(others, []).append((point.values[against], point.results))
        return [share_of(points, against, of=of, where=others) for others, points in groups.items()]

    def against(self, path: str | None) -> str:
        """Return the parameter that is meant: the first where none is named."""
        if path is not None and path not in self.parameters:
            raise InvalidInputError(f"{path} was not swept", f"there are: {', '.join(self.parameters)}")
        return path or self.parameters[0]

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object: of each point its values and what each class got."""
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

    def save(self, folder: str | PathLike[str]) -> None:
        """Write sweep.json, sweep.csv and the results of every point into `folder`.

        The folder appears as a whole or not at all; an earlier result in its place is replaced.
        """
        with whole_folder(Path(folder)) as new:
            said = self.to_json()
            for number, (point, one) in enumerate(zip(self.points, said["points"], strict=True), start=1):
                one["folder"] = f"points/{number:03}"
                (new / one["folder"]).mkdir(parents=True)
                point.results.write_into(new / one["folder"])
            (new / FILE).write_text(json_text(said), encoding="utf-8")
            self.table().write_csv(new / "sweep.csv")
            manifest = {"schema_version": SCHEMA_VERSION, "perhop": _core.__version__, "seed": self.seed}
            (new / MANIFEST).write_text(json_text(manifest), encoding="utf-8")

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Sweep:
        """Read a sweep that `save` or `perhop sweep -o` wrote; tables when they are first asked for."""
        from perhop.results import Results

        folder = Path(folder)
        missing = InvalidInputError(
            f"{folder} holds no sweep: there is no {FILE}", "give a folder that `perhop sweep -o` wrote"
        )
        said = read_json(folder / FILE, missing=missing)
        points = [Point(one["set"], Results.load(folder / one["folder"])) for one in said["points"]]
        return cls(said["scenario"], tuple(said["parameters"]), points, said["seed"], said["replications"])

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
        from perhop.page.tables import notebook, sweep_table

        return notebook(sweep_table(self))


def sweep(
    scenario: str | PathLike[str] | Scenario,
    values: Mapping[str, Sequence[object] | object],
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Simulate a scenario for every combination of `values`: each path with the values that it takes.

    A single value in place of a list is set at every point. All scenarios are checked before the first is
    simulated; all points have the same seed unless that is swept: they differ in nothing but the values.

        perhop.sweep("edge.perhop.yaml", {"links.1.rate": ["1 Mb/s", "2 Mb/s", "4 Mb/s"]}, replications=10)

    Raises `ScenarioError` where a value does not fit.
    """
    from perhop.batch import Job, simulate_all
    from perhop.running import processors

    lists = {path: _listed(found) for path, found in values.items()}
    parameters = tuple(path for path, found in lists.items() if len(found) > 1)
    if not parameters:
        raise InvalidInputError(
            "nothing differs: no parameter has several values",
            "give one several, as in --set links.1.rate=1Mb/s,2Mb/s,4Mb/s",
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
        Point({path: _said(one[path]) for path in parameters}, done[job.key])
        for one, job in zip(chosen, jobs, strict=True)
    ]
    return Sweep(str(scenarios[0]["name"]), parameters, points, jobs[0].seed, jobs[0].replications)


def _changed(scenario: str | PathLike[str] | Scenario, changes: Mapping[str, object]) -> Scenario:
    from perhop.scenario import Scenario

    return scenario.changed(changes) if isinstance(scenario, Scenario) else Scenario.load(scenario, changes)


def _listed(values: object) -> list[object]:
    several = isinstance(values, Sequence) and not isinstance(values, str)
    found = list(values) if several else [values]  # type: ignore[call-overload]
    if not found:
        raise InvalidInputError("a parameter without a value", "give each path one value or several")
    # A value given twice is one point.
    return list({_said(one): one for one in found}.values())


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
