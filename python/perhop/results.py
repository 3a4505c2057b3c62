"""Results of a run: a summary and tidy tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.core_types import DropCurves
from perhop.document import typed
from perhop.errors import InvalidInputError, UnknownNameError
from perhop.loading import read_json
from perhop.ports import resolved
from perhop.saving import MANIFEST, json_text, whole_folder
from perhop.schema_types import ScenarioConfig
from perhop.tables import class_table, notebook

if TYPE_CHECKING:
    import polars as pl

    from perhop.frames import Column

# Version of the layout of summary.json, manifest.json and the tables; a change that could break a reader
# increments it.
SCHEMA_VERSION = 1

# Encoded empty tables by their columns: half of the tables of most runs are empty, and encoding one takes as
# long as encoding a table with rows.
_EMPTY_TABLES: dict[tuple[object, ...], bytes] = {}


@dataclass(repr=False)
class Results:
    """The results of a run.

    The tables are polars frames (with `.to_pandas()` and `.to_arrow()`), each built from the simulator's
    memory on first use. docs/results.md describes every column.
    """

    #: The content of summary.json.
    summary: dict[str, Any]
    #: The scenario that was run, with every default written out.
    scenario: ScenarioConfig
    seed: int
    replications: int
    #: Unit of each column, by table.
    units: Mapping[str, Mapping[str, str]]
    _columns: Mapping[str, Mapping[str, Column] | Path]
    #: Assumptions about what the scenario's source leaves open; for captions.
    assumptions: str | None = None
    #: The captures that were written: file, interfaces, number of packets, number of dropped packets.
    captured: list[dict[str, Any]] = field(default_factory=list)
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Name the run and the tables; the figures would fill the screen."""
        ran = f"{self.summary['scenario']!r}, seed={self.seed}, replications={self.replications}"
        return f"<perhop.Results of {ran}: {', '.join(self.names)}>"

    @property
    def names(self) -> list[str]:
        """The names of the tables."""
        return list(self._columns)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table by its name.

        Raises:
            UnknownNameError: there is no such table.
            UnreadableFileError: the file of a loaded table is missing or damaged.

        """
        if name not in self._frames:
            if name not in self._columns:
                raise UnknownNameError(f"no table `{name}`", f"tables: {', '.join(self.names)}")
            from perhop import frames  # lazy: polars, which a run without tables does not need

            columns = self._columns[name]
            self._frames[name] = (
                frames.read_parquet(columns) if isinstance(columns, Path) else frames.frame(columns)
            )
        return self._frames[name]

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Results:
        """Read results that `save` or `perhop run -o` wrote; each table is read on first use.

        Raises:
            InvalidInputError: the folder holds no results.
            UnreadableFileError: a file is damaged or cannot be read.

        """
        folder = Path(folder)
        manifest, summary, scenario = (
            _part(folder / name) for name in (MANIFEST, "summary.json", "scenario.json")
        )
        return cls(
            summary=summary,
            scenario=typed(scenario),
            seed=manifest["seed"],
            replications=manifest["replications"],
            units=manifest["tables"],
            _columns={name: folder / f"{name}.parquet" for name in manifest["tables"]},
        )

    def all_drop_curves(self) -> list[DropCurves]:
        """Return the configured drop probabilities of every queue with early drops.

        Each is `{"port", "queue", "unit", "precedences": [{"shared", "own"}]}`; a curve is a list of corners
        `[average, probability]`.
        """
        return _core.drop_curves(json.dumps(dict(resolved(self.scenario))))

    def drop_curves(self, port: str, queue: str) -> DropCurves | None:
        """Return the configured drop probabilities of one queue, `None` if it does not drop early."""
        every = self.all_drop_curves()
        return next((one for one in every if (one["port"], one["queue"]) == (port, queue)), None)

    def _repr_html_(self) -> str:
        """Show the results of each class in a notebook."""
        return notebook(class_table(self.summary))

    def shares(self, of: str = "throughput_bps") -> dict[str, tuple[float, float, float]]:
        """Return the mean share of each class in a column of `classes`, percent, and its 95 % interval."""
        from perhop import frames  # lazy: polars

        return frames.shares(self.classes, of)

    @property
    def flows(self) -> pl.DataFrame:
        """Offered, delivered, dropped, throughput and delay, per flow and replication."""
        return self.table("flows")

    @property
    def classes(self) -> pl.DataFrame:
        """Offered, delivered, dropped, throughput and delay, per class and replication."""
        return self.table("classes")

    @property
    def drops(self) -> pl.DataFrame:
        """Dropped packets per class, cause and replication: the columns of `classes`, one row each."""
        from perhop import frames  # lazy: polars

        return frames.drops(self.classes)

    @property
    def ports(self) -> pl.DataFrame:
        """Arrivals, departures and drops of each port, per queue and drop precedence."""
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
        """The delivered packets of the traffic named in `measure.packets`, one row each."""
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
        """Window, threshold, bytes in flight and round-trip time of the probed connections over time."""
        return self.table("connections")

    @property
    def colors(self) -> pl.DataFrame:
        """Packets delivered per class and color on arrival."""
        return self.table("colors")

    @property
    def histogram(self) -> pl.DataFrame:
        """Distributions of delay, delay variation and completion times per class."""
        return self.table("histogram")

    @property
    def conditioners(self) -> pl.DataFrame:
        """Packets and bytes of each conditioning stage, by the color that it assigned."""
        return self.table("conditioners")

    @property
    def runs(self) -> pl.DataFrame:
        """Events, packet-hops and processor time of each replication."""
        return self.table("runs")

    def manifest(self) -> dict[str, Any]:
        """Return the content of manifest.json: what reproduces the run.

        It holds neither date nor machine, so that equal runs give equal bytes.
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

        The folder appears complete or not at all; it replaces an earlier result.

        Raises:
            InvalidInputError: the folder cannot be used, or holds something else.
            OSError: a file cannot be written.

        """
        with whole_folder(Path(folder)) as new:
            self.write_into(new)

    def write_into(self, folder: Path) -> None:
        """Write the files of `save` into an existing folder."""
        (folder / "summary.json").write_text(json_text(self.summary), encoding="utf-8")
        # Encoded once, then written and hashed: it takes longer than everything else here.
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
        table = self.table(name)
        from perhop import frames  # lazy: polars

        frames.write_parquet(table, file)
        if empty is not None:
            _EMPTY_TABLES[empty] = file.read_bytes()


def _part(file: Path) -> dict[str, Any]:
    """Return the content of a JSON file of a folder of results."""
    missing = InvalidInputError(
        f"`{file.parent}` holds no results of a run: there is no {file.name}",
        "give a folder that `perhop run -o` wrote",
    )
    found: dict[str, Any] = read_json(file, missing=missing)
    return found


def _key_of_empty(columns: Mapping[str, Column] | Path) -> tuple[object, ...] | None:
    """Return a key for the columns of an empty table, `None` for a table that has rows or may have some."""
    if isinstance(columns, Path):
        return None
    codes_or_values = [column[0] if isinstance(column, tuple) else column for column in columns.values()]
    if any(len(values) for values in codes_or_values):
        return None
    names = [tuple(column[1]) if isinstance(column, tuple) else None for column in columns.values()]
    return (*columns, *(values.dtype.str for values in codes_or_values), *names)
