"""Results: a summary and tidy tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.loading import read_json, read_table
from perhop.saving import MANIFEST, json_text, whole_folder, write_parquet

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Column = npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]

# The layout of what is written: summary.json, manifest.json and the tables. A change that could break
# a reader raises it.
SCHEMA_VERSION = 1

# Columns that count the drops of one cause begin with this.
_CAUSE = "dropped_"


# What has been written of empty tables, by what tells one from others: half of the tables of most runs, and
# each takes as long as one with rows.
_EMPTY_TABLES: dict[tuple[object, ...], bytes] = {}


@dataclass(repr=False)
class Results:
    """What a run measured.

    The tables are polars frames (`.to_pandas()` and `.to_arrow()` lead on); each is built from the
    simulator's own memory when it is first asked for. docs/results.md describes every column.
    """

    #: The figures of the run as plain data, the same as in summary.json.
    summary: dict[str, Any]
    #: The scenario that was run, with every default written out.
    scenario: dict[str, Any]
    seed: int
    replications: int
    #: Unit of each column, by table.
    units: Mapping[str, Mapping[str, str]]
    _columns: Mapping[str, Mapping[str, Column] | Path]
    #: What was assumed where the scenario follows a source that leaves something open; for captions.
    assumptions: str | None = None
    #: The captures that were written: file, interfaces, packets, and those that were dropped.
    captured: list[dict[str, Any]] = field(default_factory=list)
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Say what was run and which tables there are: the figures would fill the screen."""
        ran = f"{self.summary['scenario']!r}, seed={self.seed}, replications={self.replications}"
        return f"<perhop.Results of {ran}: {', '.join(self.names)}>"

    @property
    def names(self) -> list[str]:
        """The names of the tables."""
        return list(self._columns)

    def table(self, name: str) -> pl.DataFrame:
        """Return one table by its name."""
        if name not in self._frames:
            if name not in self._columns:
                raise KeyError(f"no table {name!r}: there are {', '.join(self.names)}")
            self._frames[name] = _frame(self._columns[name])
        return self._frames[name]

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Results:
        """Read results that `save` or `perhop run -o` wrote; each table when it is first asked for."""
        folder = Path(folder)
        manifest, summary, scenario = (
            _part(folder / name) for name in (MANIFEST, "summary.json", "scenario.json")
        )
        return cls(
            summary=summary,
            scenario=scenario,
            seed=manifest["seed"],
            replications=manifest["replications"],
            units=manifest["tables"],
            _columns={name: folder / f"{name}.parquet" for name in manifest["tables"]},
        )

    def all_drop_curves(self) -> list[dict[str, Any]]:
        """Return the drop probabilities that the scenario configures, for every queue that drops early.

        Each is `{"port", "queue", "unit", "precedences": [{"shared", "own"}]}`; a curve is a list of corners
        `[average, probability]`.
        """
        from perhop.ports import resolved

        return _core.drop_curves(json.dumps(dict(resolved(self.scenario))))

    def drop_curves(self, port: str, queue: str) -> dict[str, Any] | None:
        """Return those of one queue, `None` if it does not drop early."""
        every = self.all_drop_curves()
        return next((one for one in every if (one["port"], one["queue"]) == (port, queue)), None)

    def _repr_html_(self) -> str:
        """Show what each class got, in a notebook."""
        from perhop.page.tables import class_table, notebook

        return notebook(class_table(self))

    @property
    def flows(self) -> pl.DataFrame:
        """Offered, delivered, dropped, throughput and delay, per flow and replication."""
        return self.table("flows")

    @property
    def classes(self) -> pl.DataFrame:
        """The same, per class and replication."""
        return self.table("classes")

    @property
    def drops(self) -> pl.DataFrame:
        """Dropped packets per class, cause and replication: the columns of `classes`, one row each."""
        import polars as pl
        import polars.selectors as cs

        causes = cs.starts_with(_CAUSE) - cs.by_name(f"{_CAUSE}packets", f"{_CAUSE}percent")
        return self.classes.unpivot(
            causes, index=["replication", "class"], variable_name="cause", value_name="packets"
        ).with_columns(pl.col("cause").str.strip_prefix(_CAUSE))

    @property
    def ports(self) -> pl.DataFrame:
        """What passed each port, per queue and drop precedence."""
        return self.table("ports")

    @property
    def queues(self) -> pl.DataFrame:
        """Occupancy and averages of the probed queues over time."""
        return self.table("queues")

    @property
    def delays(self) -> pl.DataFrame:
        """Delay and delay variation per class over time."""
        return self.table("delays")

    @property
    def throughput(self) -> pl.DataFrame:
        """Throughput per class over time."""
        return self.table("throughput")

    @property
    def packets(self) -> pl.DataFrame:
        """The delivered packets of some traffic, one by one: what `measure.packets` asks for."""
        return self.table("packets")

    @property
    def tcp(self) -> pl.DataFrame:
        """Transactions, goodput, retransmissions and timeouts of TCP traffic, per flow and replication."""
        return self.table("tcp")

    @property
    def transactions(self) -> pl.DataFrame:
        """Rate and completion times of TCP transactions, per class and replication."""
        return self.table("transactions")

    @property
    def connections(self) -> pl.DataFrame:
        """Window, threshold, bytes under way and round-trip time of the probed connections over time."""
        return self.table("connections")

    @property
    def colors(self) -> pl.DataFrame:
        """What arrived of each class, by the color it arrived in."""
        return self.table("colors")

    @property
    def histogram(self) -> pl.DataFrame:
        """Distributions of delay, delay variation and completion times per class."""
        return self.table("histogram")

    @property
    def conditioners(self) -> pl.DataFrame:
        """What each stage of conditioning took, by the color it gave."""
        return self.table("conditioners")

    @property
    def runs(self) -> pl.DataFrame:
        """What it took to simulate each replication."""
        return self.table("runs")

    def manifest(self) -> dict[str, Any]:
        """Return what it takes to run the same again.

        Neither date nor machine: the same scenario and seed give the same bytes.
        """
        return self._manifest(json_text(self.scenario))

    def _manifest(self, scenario: str) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "perhop": _core.__version__,
            "scenario_sha256": hashlib.sha256(scenario.encode()).hexdigest(),
            "seed": self.seed,
            "replications": self.replications,
            "tables": {name: dict(self.units[name]) for name in self.names},
        }

    def save(self, folder: str | PathLike[str]) -> None:
        """Write summary.json, the tables as Parquet, scenario.json and manifest.json into `folder`.

        The folder appears as a whole or not at all; an earlier result in its place is replaced.
        """
        with whole_folder(Path(folder)) as new:
            self.write_into(new)

    def write_into(self, folder: Path) -> None:
        """Write the files of `save` into a folder that exists."""
        (folder / "summary.json").write_text(json_text(self.summary), encoding="utf-8")
        # Written once and hashed: indented, it takes longer than all that is measured.
        scenario = json_text(self.scenario)
        (folder / "scenario.json").write_text(scenario, encoding="utf-8")
        for name in self.names:
            self._write_table(name, folder / f"{name}.parquet")
        (folder / MANIFEST).write_text(json_text(self._manifest(scenario)), encoding="utf-8")

    def _write_table(self, name: str, file: Path) -> None:
        empty = _key_of_empty(self._columns[name])
        if empty is not None and empty in _EMPTY_TABLES:
            file.write_bytes(_EMPTY_TABLES[empty])
            return
        write_parquet(self.table(name), file)
        if empty is not None:
            _EMPTY_TABLES[empty] = file.read_bytes()


def _part(file: Path) -> dict[str, Any]:
    """Return what a file of a folder of results holds."""
    missing = InvalidInputError(
        f"{file.parent} holds no results of a run: there is no {file.name}",
        "give a folder that `perhop run -o` wrote",
    )
    found: dict[str, Any] = read_json(file, missing=missing)
    return found


def _key_of_empty(columns: Mapping[str, Column] | Path) -> tuple[object, ...] | None:
    """Return what tells an empty table from others, `None` for one that has rows, or may have."""
    if isinstance(columns, Path):
        return None
    codes_or_values = [column[0] if isinstance(column, tuple) else column for column in columns.values()]
    if any(len(values) for values in codes_or_values):
        return None
    names = [tuple(column[1]) if isinstance(column, tuple) else None for column in columns.values()]
    return (*columns, *(values.dtype.str for values in codes_or_values), *names)


def _frame(columns: Mapping[str, Column] | Path) -> pl.DataFrame:
    import polars as pl

    if isinstance(columns, Path):
        return read_table(columns)

    def series(name: str, column: Column) -> pl.Series:
        if isinstance(column, tuple):
            codes, names = column
            return pl.Series(name, codes).cat.to(pl.Enum(names))
        return pl.Series(name, column)

    return pl.DataFrame([series(name, column) for name, column in columns.items()])
