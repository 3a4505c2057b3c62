"""`Sweep`: the results of a sweep, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from perhop import disk, manifest
from perhop.document import Document
from perhop.errors import InvalidInputError, ScenarioError, UnknownNameError, UnreadableFileError
from perhop.frames import TableFrame, as_parquet
from perhop.layout import TABLES
from perhop.loading import damaged
from perhop.metrics import SHARE, resolve
from perhop.quantity import counted
from perhop.sampling import KINDS
from perhop.saved import Saved
from perhop.saving import whole_folder
from perhop.scenario import Scenario
from perhop.shape import OneOf, Optional, OrNull
from perhop.sweeping import parts
from perhop.sweeping.parts import Label, Part
from perhop.sweeping.plan import FILE, SCHEMA_VERSION, Column, Plan
from perhop.sweeping.showing import METRICS, sweep_table
from perhop.sweeping.statistics import differences, summarized, with_shares
from perhop.sweeping.verified import verified
from perhop.tables import Table, notebook, replicated

if TYPE_CHECKING:
    from perhop.plot.chart import Chart

# The shape of the parts of the files that are read.
_SHAPE = {
    "scenario": str,
    "seed": int,
    "replications": int,
    "seeds": str,
    "tables": [OneOf(tuple(TABLES))],
    "parameters": [str],
    "points": int,
    "design": {"kind": OneOf(KINDS), "values": {}},
    "until": OrNull(
        {"class_name": str, "column": str, "half_width": float, "relative": bool, "most": int},
    ),
}
_SCENARIO = {"name": str, "seed": int, "replications": Optional(int)}
_TYPES = {"whole": pl.Int64, "number": pl.Float64, "text": pl.String}
_KINDS = {"text": pl.String(), "count": pl.UInt64(), "float": pl.Float64()}
# The number of retries if tables of a sweep are completed during the read. Each table is completed once.
_ATTEMPTS = 20
# Columns of `classes` that are not metrics.
_KEYS = ("point", "replication", "class", "flows")


class Sweep:
    """The results of a scenario at every point of a sweep."""

    def __init__(self, plan: Plan, tables: Mapping[str, pl.DataFrame], *, complete: bool = True) -> None:
        """Take a plan and its tables, with the table of points under `points`."""
        self.plan = plan
        #: Whether every point has ended.
        self.complete = complete
        self._tables = tables

    def __repr__(self) -> str:
        """Name the scenario and the parameters."""
        along = ", ".join(self.parameters)
        points = counted(self.points.height, "point")
        if not self.complete:
            points += f" of {len(self.plan.design):,}"
        return f"<perhop.Sweep of {self.scenario!r} along {along}: {points}, seed={self.seed}>"

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        name: str = self.plan.scenario["name"]
        return name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The paths of the swept parameters."""
        return self.plan.design.parameters

    @property
    def seed(self) -> int:
        """The seed of every point, or the seed from which independent seeds of the points derive."""
        return self.plan.first_seed

    @property
    def replications(self) -> int:
        """The number of replications of each point; with a stop rule, the minimum."""
        return self.plan.least_replications

    @property
    def points(self) -> pl.DataFrame:
        """A row for each point that has ended.

        Columns: `point`, the swept parameters, `replications`, and `error`, which is null unless the point
        failed.
        """
        return TableFrame(self._tables[parts.POINTS])

    @property
    def failures(self) -> pl.DataFrame:
        """The points that failed: `point`, the swept parameters, and `error`."""
        return TableFrame(self.points.filter(pl.col("error").is_not_null()).drop("replications"))

    @property
    def classes(self) -> pl.DataFrame:
        """The table `classes` of every point: `Results.classes` with number and values of the point."""
        return self.frame("classes")

    def frame(self, table: str) -> pl.DataFrame:
        """Return a kept table of every point, with the columns `point` and the swept parameters first.

        Raises:
            UnknownNameError: the table was not kept.

        """
        if table not in self.plan.tables:
            raise UnknownNameError(f"no table `{table}`", f"tables: {', '.join(self.plan.tables)}")
        return self._with_values(self._tables[table])

    def table(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the results of each class at each point: a row for each metric with its confidence interval.

        Columns: `point`, the swept parameters (numbers in their base unit: b/s, s, bytes), `class`, `metric`,
        `unit`, `mean`, `low` and `high` (the 95 % confidence interval, null with one replication), and
        `replications`. The mean of an unmeasured metric is null.

        Args:
            metrics: the metrics, as `throughput` or `delay_p99_s`; by default all.

        Raises:
            InvalidInputError: there is no such metric.

        """
        wanted = self.metrics if metrics is None else [resolve(metric).column for metric in metrics]
        return self._with_values(summarized(self._shared(), wanted))

    def differences(
        self, parameter: str | None = None, base: object = None, metrics: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return the difference between each point and the point with the base value of one parameter.

        Differences are paired by replication. With common random numbers, their intervals are narrower than
        the intervals of the points. The columns are the same as in `table`.

        Args:
            parameter: the parameter, by default the first.
            base: the reference value for the others, by default the first.
            metrics: as for `table`.

        Raises:
            InvalidInputError: the parameter was not swept, or did not have the value `base`.

        """
        path = self.against(parameter)
        wanted = self.metrics if metrics is None else [resolve(metric).column for metric in metrics]
        column = next(candidate for candidate in self.plan.columns() if candidate.path == path)
        value = self.points[path][0] if base is None else column.value(str(base))
        others = [name for name in self.parameters if name != path]
        bases = self.points.filter(pl.col(path) == value).select(pl.col("point").alias("base"), *others)
        if not bases.height:
            raise InvalidInputError(f"`{path}` was never {base}")
        rest = self.points.filter(pl.col(path) != value)
        joined = rest.join(bases, on=others, nulls_equal=True) if others else rest.join(bases, how="cross")
        return self._with_values(differences(self._shared(), wanted, joined.select("point", "base")))

    @property
    def units(self) -> dict[str, str]:
        """The base unit of each numeric parameter: `b/s`, `s`, `bytes`, or empty."""
        return {column.path: column.unit for column in self.plan.columns() if column.kind != "text"}

    @property
    def metrics(self) -> list[str]:
        """The metrics of a class: columns of `classes`, and the share of the throughput."""
        return [column for column in self._tables["classes"].columns if column not in _KEYS] + [SHARE]

    def against(self, path: str | None) -> str:
        """Return the swept parameter `path`, by default the first; raises `InvalidInputError` for others."""
        if path is not None and path not in self.parameters:
            raise InvalidInputError(f"`{path}` was not swept", f"swept: {', '.join(self.parameters)}")
        return path or self.parameters[0]

    def scenario_of(self, point: int) -> Scenario:
        """Return the scenario of a point, with its seed and its number of replications.

        Raises:
            InvalidInputError: there is no such point.
            ScenarioError: the point failed because its scenario is not valid.

        """
        if not 0 <= point < len(self.plan.design):
            raise InvalidInputError(
                f"there is no point {point}", f"the points of the sweep: 0 to {len(self.plan.design) - 1}"
            )
        ran = self.points.filter(pl.col("point") == point)["replications"].to_list()
        changes = self.plan.changes(point)
        if self.plan.seed is not None and "seed" not in changes:
            changes["seed"] = str(self.plan.seed)
        changes["replications"] = str((ran[0] if ran else None) or self.replications)
        plan = self.plan.scenario
        return Scenario(dict(plan), plan.base).changed(changes)

    def to_json(self) -> dict[str, Any]:
        """Return the sweep as one JSON object: its plan, and the values and results of each point."""
        points: dict[int, dict[str, Any]] = {}
        for row in self.points.iter_rows(named=True):
            given = self.plan.design[row["point"]]
            values = {path: given[path] for path in self.parameters}
            error = {} if row["error"] is None else {"error": row["error"]}
            points[row["point"]] = {"point": row["point"], "set": values, "classes": {}, **error}
        for row in summarized(self._shared(), self.metrics).iter_rows(named=True):
            group = points[row["point"]]["classes"].setdefault(row["class"], {"class": row["class"]})
            ends = None if row["low"] is None else [row["low"], row["high"]]
            group[row["metric"]] = {"mean": row["mean"], "ci95": ends, "unit": row["unit"]}
        listed = [{**point, "classes": list(point["classes"].values())} for point in points.values()]
        return self.plan.to_json() | {"points": listed}

    def replicated(self) -> str:
        """Return the number of runs of each point as text."""
        counts = sorted({int(count) for count in self.points["replications"].drop_nulls()})
        if len(counts) > 1:
            return f"{counts[0]} to {counts[-1]} replications"
        return replicated(counts[0] if counts else self.replications)

    def caption(self) -> str:
        """Return a description: scenario, points, replications, seed, failures."""
        points = counted(self.points.height, "point")
        if not self.complete:
            points += f" of {len(self.plan.design):,}"
        words = [f"{self.scenario}: {points}", self.replicated(), f"seed {self.seed}"]
        return ", ".join(words + ([f"{self.failures.height:,} failed"] if self.failures.height else []))

    def class_table(self, most: int | None = None) -> Table:
        """Return the results of each class as a table, at each point or at the first `most` points."""
        table = self.table(list(METRICS))
        if most is not None:
            table = table.filter(pl.col("point").is_in(self.points["point"].head(most).implode()))
        return sweep_table(self.plan, table, self.caption())

    def share(self, against: str | None = None) -> list[Chart]:
        """Plot the share of each class against a parameter, by default the first.

        There is one chart for each combination of the other parameters.

        Raises:
            InvalidInputError: the parameter was not swept.

        """
        from perhop.plot import sweeps  # lazy: only plots need charts
        from perhop.plot.description import Axis  # lazy: only plots need it

        path = self.against(against)
        frame = self.table(["share"])
        charts = sweeps.against(frame, path, SHARE, caption=self.caption(), units=self.units)
        axis = Axis("Share of throughput", "%", least=0.0, greatest=100.0)
        return [
            replace(chart, kind="share", y=axis, title=chart.title.replace("Share", axis.label, 1))
            for chart in charts
        ]

    def save(
        self,
        folder: str | PathLike[str],
        *,
        force: bool = False,
        also: Callable[[Path], None] | None = None,
    ) -> None:
        """Write sweep.json, scenario.json and every table as Parquet into `folder`.

        The folder appears complete or not at all, and replaces an earlier result. With `force`, a folder with
        other content is renamed. `also` writes further files into the folder before it appears.

        Raises:
            InvalidInputError: the folder cannot be used, or has other content.
            OSError: a file cannot be written.

        """
        with whole_folder(Path(folder), "sweep", force=force) as new:
            texts = self.plan.texts()
            for name, text in texts.items():
                disk.write(new / name, text)
            for name, table in self._tables.items():
                disk.make_folder(new / name)
                label = Label(parts.identity(texts), name)
                rows = self._rows if name == parts.POINTS else None
                parts.write_whole(new / name, label, table.lazy(), len(self.plan.design), rows)
            if also is not None:
                also(new)
            manifest.seal(new, "sweep", {"seed": self.seed, "complete": self.complete})

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Sweep:
        """Read a sweep that `save` or `perhop sweep -o` wrote, also while it grows.

        All files are checked, as by `Results.load`. For a growing sweep, the existing parts are read.

        Raises:
            InvalidInputError: the folder contains no sweep.
            UnreadableFileError: a file is missing, damaged or cannot be read.

        """
        saved = Saved.open(folder, "sweep")
        plan = _plan(saved)
        complete = saved.manifest.get("complete") is True
        grown = {} if complete else _grown(saved, plan)
        tables = {}
        for name in (*plan.tables, parts.POINTS):
            contents = _contents(saved, name) if complete else grown[name]
            tables[name] = parts.in_one(saved.folder / name, contents)
        if not tables[parts.POINTS].height:
            raise InvalidInputError(f"`{folder}` has no completed point", "wait, or continue the sweep")
        return cls(plan, _consistent(saved, plan, tables), complete=complete)

    def encoded(self) -> dict[str, bytes]:
        """Return every table as one Parquet file by name, to compare sweeps."""
        return {name: as_parquet(table) for name, table in self._tables.items()}

    def _rows(self, first: int, last: int) -> dict[str, int]:
        """Return the number of rows in each kept table for the points from `first` to before `last`."""
        is_inside = pl.col("point").is_between(first, last - 1)
        return {name: self._tables[name].filter(is_inside).height for name in self.plan.tables}

    def _shared(self) -> pl.DataFrame:
        return with_shares(self._tables["classes"])

    def _with_values(self, table: pl.DataFrame) -> pl.DataFrame:
        values = self.points.select("point", *self.parameters)
        joined = table.join(values, on="point", how="left", maintain_order="left")
        return TableFrame(joined.select("point", *self.parameters, pl.exclude("point", *self.parameters)))

    def _repr_html_(self) -> str:
        """Show the results of each class in a notebook."""
        return notebook(self.class_table())


def points_table(
    plan: Plan, columns: Sequence[Column], ended: Sequence[tuple[int, int]], failed: Sequence[tuple[int, str]]
) -> pl.DataFrame:
    """Return rows of `Sweep.points`: points with their replications, and failed points with the reason."""
    rows = sorted(
        [(number, count, None) for number, count in ended] + [(number, None, why) for number, why in failed]
    )
    chosen = [plan.design[number] for number, _, _ in rows]
    return pl.DataFrame(
        [
            pl.Series("point", [row[0] for row in rows], pl.UInt64),
            *(
                pl.Series(
                    column.path, [column.value(values[column.path]) for values in chosen], _TYPES[column.kind]
                )
                for column in columns
            ),
            pl.Series("replications", [row[1] for row in rows], pl.UInt32),
            pl.Series("error", [row[2] for row in rows], pl.String),
        ]
    )


def empty_table(name: str) -> pl.DataFrame:
    """Return the table `name` of a sweep without rows."""
    return pl.DataFrame(
        schema={"point": pl.UInt64(), **{column: _KINDS[kind] for column, kind in TABLES[name].items()}}
    )


def _plan(saved: Saved) -> Plan:
    """Return the plan of a saved sweep; raises `UnreadableFileError` if perhop did not write it."""
    if (found := saved.json(FILE, {"schema_version": int})["schema_version"]) != SCHEMA_VERSION:
        raise UnreadableFileError(
            f"`{saved.folder}` has a sweep of format {found}, by perhop {saved.manifest['perhop']}; "
            f"this perhop reads format {SCHEMA_VERSION}",
            "run it again into another folder",
        )
    document, scenario = saved.json(FILE, _SHAPE), saved.json("scenario.json", _SCENARIO)
    try:
        plan = Plan.of_json(document, Document(scenario, saved.folder))
        if plan.tables[:1] != ("classes",):
            raise ValueError("it does not have `classes`")
        # An invalid scenario is refused here, before its use.
        plan.scenario.check()
        if plan.to_json() == document:
            return plan
    except ScenarioError as error:
        if not all(
            diagnostic["path"].endswith((".trace.file", ".pcap.file")) for diagnostic in error.diagnostics
        ):
            raise damaged(saved.folder / "scenario.json", error.diagnostics[0]["message"]) from error
        return plan
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, InvalidInputError) as error:
        raise damaged(saved.folder / FILE, f"it does not describe a sweep: {error}") from error
    raise damaged(saved.folder / FILE, "it does not describe a sweep")


def _contents(saved: Saved, table: str) -> dict[str, bytes]:
    begin = f"{table}/"
    files = {
        name.removeprefix(begin): content
        for name, content in saved.contents.items()
        if name.startswith(begin)
    }
    return {name: content for name, content in files.items() if parts.is_name(name)}


def _grown(saved: Saved, plan: Plan) -> dict[str, dict[str, bytes]]:
    """Return the parts of a growing sweep that belong together, by table."""
    texts = {name: saved.content(name).decode() for name in plan.texts()}
    identity = parts.identity(texts, saved.manifest["perhop"])
    for attempt in range(1, _ATTEMPTS + 1):
        contents: dict[str, dict[str, bytes]] = {name: {} for name in (*plan.tables, parts.POINTS)}

        def keep(table: str, part: Part, into: dict[str, dict[str, bytes]] = contents) -> None:
            into[table][part.path.name] = part.content

        try:
            found = verified(saved.folder, identity, plan.tables, len(plan.design), keep)
        except FileNotFoundError:
            # Another process has just completed a table and removed its first parts.
            if attempt == _ATTEMPTS:
                raise
            continue
        return {
            table: {name: contents[table][name] for name in used} for table, used in found.digests.items()
        }
    raise AssertionError


def _consistent(saved: Saved, plan: Plan, tables: Mapping[str, pl.DataFrame]) -> Mapping[str, pl.DataFrame]:
    """Return tables if their points have ended and occur once; otherwise raise `UnreadableFileError`."""
    points = tables[parts.POINTS]
    wanted = points_table(plan, plan.columns(), [], []).schema
    if points.schema != wanted or points["point"].is_duplicated().any() or points["point"].null_count():
        raise damaged(saved.folder / parts.POINTS, "it is not a table of points")
    if points["point"].max() >= len(plan.design):  # type: ignore[operator]
        raise damaged(saved.folder / parts.POINTS, "it has points that are not in the sweep")
    found = {parts.POINTS: points}
    for name in plan.tables:
        table = tables[name]
        if not table.height:
            found[name] = empty_table(name)
            continue
        _require_columns(saved.folder / name, table, name)
        found[name] = table.filter(pl.col("point").is_in(points["point"].implode()))
    return found


def _require_columns(file: Path, table: pl.DataFrame, name: str) -> None:
    """Refuse a table without the columns that perhop writes; raises `UnreadableFileError`."""
    for column, kind in {"point": "count", **TABLES[name]}.items():
        if table.schema.get(column) != _KINDS[kind]:
            raise damaged(file, f"column `{column}` contains {table.schema.get(column)} instead of {kind}")
        if table[column].null_count():
            raise damaged(file, f"column `{column}` has gaps")
