"""Results of a run: a summary and tidy tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from perhop import _core, disk, manifest
from perhop.arrays import arrays
from perhop.core_types import DropCurves
from perhop.deprecation import former_name
from perhop.document import typed
from perhop.errors import Diagnostic, InvalidInputError, ScenarioError, UnknownNameError
from perhop.layout import ADDED_TABLES, SUMMARY, TABLES
from perhop.loading import damaged
from perhop.manifest import json_text
from perhop.plots import Plots
from perhop.ports import resolved
from perhop.saved import Saved
from perhop.saving import whole_folder
from perhop.shape import Optional, require
from perhop.tables import class_table, notebook

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from perhop._core import TableColumns
    from perhop.arrays import Column
    from perhop.schema_types import ScenarioConfig
    from perhop.verdicts import Telephony, Verdict

# The columns of `classes` that polars prints of a wide frame: the first four and the last four columns.
_FIRST = ("class", "replication", "throughput_bps", "dropped_percent")
_LAST = ("delay_mean_s", "delay_p50_s", "delay_p99_s", "ipdv_mean_abs_s")
# The encoded empty tables, by their columns. Half of the tables of most runs are empty, and encoding an empty
# table takes as long as encoding a table with rows.
_EMPTY_TABLES: dict[tuple[object, ...], bytes] = {}

# The shape of a run's manifest, in addition to the common keys.
_MANIFEST = {
    "seed": int,
    "replications": int,
    "tables": {
        table: Optional(dict.fromkeys(columns, str)) if table in ADDED_TABLES else dict.fromkeys(columns, str)
        for table, columns in TABLES.items()
    },
}


@dataclass(repr=False)
class Results:
    """The results of a run.

    The tables are polars frames, each built from the simulator's memory on first use; `to_pandas` and
    `to_arrow`, also of the frames, convert them. docs/results.md describes every column.
    """

    #: The content of summary.json.
    summary: dict[str, Any]
    #: The scenario that was run, with every default written out.
    scenario: ScenarioConfig
    seed: int
    replications: int
    #: Unit of each column, by table.
    units: Mapping[str, Mapping[str, str]]
    #: For a loaded table, its file and the bytes of that file.
    _columns: Mapping[str, TableColumns | tuple[Path, bytes]]
    #: The assumptions about an incomplete source of the scenario, for captions.
    assumptions: str | None = None
    #: The written captures: file, interfaces, number of packets, number of dropped packets.
    captured: list[dict[str, Any]] = field(default_factory=list)
    #: The number of parts in which the network ran at the same time; it does not change the results.
    parts: int = 1
    #: With the engine `parallel`: the reason why the network could not be divided.
    undivided: str | None = None
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the run and the names of its tables, without figures."""
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
            UnreadableFileError: the file of a loaded table is not one that perhop writes.

        """
        if name not in self._frames:
            if name not in self._columns:
                raise UnknownNameError(f"no table `{name}`", f"tables: {', '.join(self.names)}")
            from perhop import frames  # lazy: polars, which a run without tables does not need

            columns = self._columns[name]
            if not isinstance(columns, tuple):
                self._frames[name] = frames.frame(arrays(columns))
            else:
                self._frames[name] = frames.read_parquet(*columns, TABLES.get(name, {}))
                if name == "classes":
                    self._require_classes(columns[0], self._frames[name])
        return self._frames[name]

    def to_pandas(self, table: str = "classes") -> pd.DataFrame:
        """Return a table as a frame of pandas.

        Raises:
            MissingCapabilityError: pandas or pyarrow is not installed.
            UnknownNameError: there is no such table.

        """
        return self._shown(table).to_pandas()

    def to_arrow(self, table: str = "classes") -> pa.Table:
        """Return a table as an Arrow table; raises the same errors as `to_pandas`."""
        return self._shown(table).to_arrow()

    def _shown(self, table: str) -> pl.DataFrame:
        return self.classes if table == "classes" else self.table(table)

    def _require_classes(self, file: Path, table: pl.DataFrame) -> None:
        """Refuse a table without a row for each class of the summary in every replication."""
        classes = {group["class"] for group in self.summary["classes"]}
        if {*table["class"]} != classes or table.height != len(classes) * self.replications:
            raise damaged(file, "it does not have a row for each class of summary.json and replication")

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Results:
        """Read results that `save` or `perhop run -o` wrote.

        All files are read and checked against the manifest at once, so that the results do not change
        when the folder is replaced; each table is decoded on first use.

        Raises:
            InvalidInputError: the folder has no results.
            UnreadableFileError: a file is missing, damaged or cannot be read.

        """
        return cls.from_saved(Saved.open(folder, "run", "live"))

    @classmethod
    def from_saved(cls, saved: Saved) -> Results:
        """Return the results of an open folder; raises `UnreadableFileError`."""
        if saved.kind == "live" and "scenario.json" not in saved:
            raise InvalidInputError(
                f"`{saved.folder}` has no results of a run: the traffic of the scenario did not run",
                "give a folder that `perhop run -o` wrote",
            )
        found = saved.manifest
        require(saved.folder / manifest.MANIFEST, found, _MANIFEST)
        return cls(
            summary=_summary(saved),
            scenario=_scenario(saved),
            seed=found["seed"],
            replications=found["replications"],
            units=found["tables"],
            _columns={
                name: (saved.folder / f"{name}.parquet", saved.content(f"{name}.parquet"))
                for name in found["tables"]
            },
        )

    of = classmethod(former_name("Results.of", from_saved.__func__))  # type: ignore[attr-defined]

    def all_drop_curves(self) -> list[DropCurves]:
        """Return the configured drop probabilities of every queue with early drops.

        Each is `{"port", "queue", "unit", "precedences": [{"shared", "own"}]}`; a curve is a list of corners
        `[average, probability]`.
        """
        return _core.drop_curves(json.dumps(dict(resolved(self.scenario))))

    def drop_curves(self, port: str, queue: str) -> DropCurves | None:
        """Return the configured drop probabilities of one queue; `None` if the queue does not drop early."""
        every = self.all_drop_curves()
        return next((curves for curves in every if (curves["port"], curves["queue"]) == (port, queue)), None)

    def _repr_html_(self) -> str:
        """Show the results of each class in a notebook."""
        return notebook(class_table(self.summary))

    def shares(self, of: str = "throughput_bps") -> dict[str, tuple[float, float, float]]:
        """Return the mean share of each class in a column of `classes`, percent, and its 95 % interval."""
        from perhop import frames  # lazy: polars

        return frames.shares(self.classes, of)

    def verdicts(
        self,
        codec: str | None = None,
        jitter_buffer: str | None = None,
        *,
        burst_ratio: float | None = None,
        advantage: float | None = None,
    ) -> pl.DataFrame:
        """Return a practitioner's verdict on each class; docs/verdicts.md describes the columns.

        Args:
            codec: the codec of calls, by default `g711`; `perhop.verdicts.telephony.CODECS` lists them.
            jitter_buffer: the de-jitter buffer of the telephones: `adaptive`, the default, or the time of a
                fixed one, as in `60ms`.
            burst_ratio: BurstR of ITU-T G.107, by default 1: losses at random.
            advantage: the advantage factor A of ITU-T G.107, by default 0.

        Raises:
            InvalidInputError: there is no such codec, or a value is out of range.

        """
        from perhop import frames, verdicts  # lazy: polars

        assumed = verdicts.Telephony.from_options(codec, jitter_buffer, burst_ratio, advantage)
        return frames.of_rows([verdicts.row(verdict) for verdict in self.judged(assumed)], verdicts.COLUMNS)

    def judged(self, telephony: Telephony) -> list[Verdict]:
        """Return the verdict on each class as objects."""
        from perhop import verdicts  # lazy: only verdicts need it

        heard = verdicts.Heard(
            self._lists("classes", verdicts.CLASS_COLUMNS),
            self._lists("histogram", verdicts.HISTOGRAM_COLUMNS),
            # Results of older versions have no table `calls`.
            self._lists("calls", verdicts.CALL_COLUMNS)
            if "calls" in self._columns
            else {column: [] for column in verdicts.CALL_COLUMNS},
        )
        return verdicts.judge(self.summary, self.scenario, heard, telephony)

    def _lists(self, name: str, wanted: Sequence[str]) -> dict[str, list[Any]]:
        """Return columns of a table as lists, without loading polars if the run is in memory."""
        columns = self._columns[name]
        if isinstance(columns, tuple):
            return {column: self.table(name)[column].to_list() for column in wanted}
        return columns.lists(list(wanted))

    @property
    def flows(self) -> pl.DataFrame:
        """Offered, delivered, dropped, throughput and delay, per flow and replication."""
        return self.table("flows")

    @property
    def classes(self) -> pl.DataFrame:
        """Offered, delivered, dropped, throughput and delay, per class and replication.

        The frame has all columns of the table. The most important columns are first and last, where polars
        prints them.
        """
        from perhop import frames  # lazy: polars

        return frames.with_ends(self.table("classes"), _FIRST, _LAST)

    @property
    def means(self) -> pl.DataFrame:
        """The summary of the classes as a frame: a row for each class and metric.

        Columns: `class`, `metric` (a column of `classes` or `transactions`), `unit`, `mean` over the
        replications, `low` and `high` (the 95 % confidence interval, null with one replication). `mean` is
        null where nothing was measured.
        """
        from perhop import frames  # lazy: polars

        return frames.means([*self.summary["classes"], *self.summary["tcp"]])

    @property
    def plot(self) -> Plots:
        """The plots of the run: `results.plot.queue()`; the first drawn plot imports matplotlib."""
        return Plots(self)

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
    def calls(self) -> pl.DataFrame:
        """R, MOS, delay from mouth to ear, late and lost packets of each call (`voice`)."""
        return self.table("calls")

    @property
    def games(self) -> pl.DataFrame:
        """Delays of commands and snapshots, response times and late ticks of each player (`game`)."""
        return self.table("games")

    @property
    def videos(self) -> pl.DataFrame:
        """Start-up delay, stalls, bitrate and switches of each player of adaptive video (`video`)."""
        return self.table("videos")

    @property
    def pages(self) -> pl.DataFrame:
        """Pages of each browser and their load times (`page-load`)."""
        return self.table("pages")

    @property
    def speed_tests(self) -> pl.DataFrame:
        """Rate, latency under load and responsiveness of each speed test (`speed-test`)."""
        return self.table("speed_tests")

    @property
    def pauses(self) -> pl.DataFrame:
        """Number and time of the pauses of each port and priority, by priority flow control."""
        return self.table("pauses")

    @property
    def pools(self) -> pl.DataFrame:
        """The ports that used a shared memory when it had no room for a packet of a port."""
        return self.table("pools")

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
        """Return the entries of manifest.json that reproduce the run, without its files.

        The entries contain neither date nor machine, so that equal runs give equal bytes.
        """
        return manifest.described(self._kind, self._about(json_text(self.scenario)))

    @property
    def _kind(self) -> Literal["run", "live"]:
        return "live" if self.summary.get("kind") == "live" else "run"

    def _about(self, scenario: str) -> dict[str, Any]:
        return {
            "scenario_sha256": manifest.digest(scenario.encode()),
            "seed": self.seed,
            "replications": self.replications,
            "tables": {name: dict(self.units[name]) for name in self.names},
        }

    def save(
        self,
        folder: str | PathLike[str],
        *,
        force: bool = False,
        also: Callable[[Path], None] | None = None,
    ) -> None:
        """Write summary.json, the tables as Parquet, scenario.json and manifest.json into `folder`.

        The folder appears complete or not at all, and replaces an earlier result. With `force`, a folder with
        other content is renamed. `also` writes further files into the folder before it appears.

        Raises:
            InvalidInputError: the folder cannot be used, or has other content.
            OSError: a file cannot be written.

        """
        with whole_folder(Path(folder), self._kind, force=force) as new:
            self.write_into(new, also)

    def write_into(self, folder: Path, also: Callable[[Path], None] | None = None) -> None:
        """Write the files of `save` into an existing folder; `also` writes further files before the seal."""
        disk.write(folder / "summary.json", json_text(self.summary))
        # The scenario is encoded once, for its file and its hash, because encoding takes longer than all
        # other steps.
        scenario = json_text(self.scenario)
        disk.write(folder / "scenario.json", scenario)
        for name in self.names:
            disk.write(folder / f"{name}.parquet", self.encoded(name))
        if also is not None:
            also(folder)
        manifest.seal(folder, self._kind, self._about(scenario))

    def encoded(self, name: str) -> bytes:
        """Return a table as the Parquet file in which it is saved."""
        columns = self._columns[name]
        if isinstance(columns, tuple):
            return columns[1]
        empty = _key_of_empty(arrays(columns)) if not len(columns) else None
        if empty is not None and empty in _EMPTY_TABLES:
            return _EMPTY_TABLES[empty]
        from perhop import frames  # lazy: polars

        content = frames.as_parquet(self.table(name))
        if empty is not None:
            _EMPTY_TABLES[empty] = content
        return content


def _summary(saved: Saved) -> dict[str, Any]:
    """Return the summary of a saved run; raises `UnreadableFileError` if perhop did not write it."""
    file, found = saved.folder / "summary.json", saved.json("summary.json", SUMMARY)
    for key in ("seed", "replications"):
        if found[key] != saved.manifest[key]:
            raise damaged(file, f"`{key}` is {found[key]}, and {saved.manifest[key]} in the manifest")
    if not 0 <= found["warmup_s"] < found["duration_s"]:
        raise damaged(file, f"`warmup_s` is {found['warmup_s']} of {found['duration_s']} s")
    whole: dict[str, Any] = found
    return whole


def _scenario(saved: Saved) -> ScenarioConfig:
    """Return the scenario of a saved run; raises `UnreadableFileError` if no run can have used it."""
    found = saved.json("scenario.json", {})
    try:
        found = json.loads(_core.load_json(json.dumps(found), saved.folder, []).json)
    except ScenarioError as error:
        # Traces and captures are not saved, because only a repeated run needs them.
        wrong = [
            diagnostic
            for diagnostic in error.diagnostics
            if diagnostic["severity"] == "error" and not _is_of_file(diagnostic)
        ]
        if wrong:
            reason = ": ".join(filter(None, (wrong[0]["path"], wrong[0]["message"])))
            raise damaged(saved.folder / "scenario.json", reason) from error
    except ValueError as error:
        # The scenario has an infinite number or NaN.
        raise damaged(saved.folder / "scenario.json", str(error)) from error
    return typed(found)


def _is_of_file(diagnostic: Diagnostic) -> bool:
    """Whether a diagnostic is about a file that a scenario names."""
    return diagnostic["path"].endswith((".trace.file", ".pcap.file"))


def _key_of_empty(columns: Mapping[str, Column]) -> tuple[object, ...]:
    """Return a key for the columns of an empty table."""
    codes_or_values = [column[0] if isinstance(column, tuple) else column for column in columns.values()]
    names = [tuple(column[1]) if isinstance(column, tuple) else None for column in columns.values()]
    return (*columns, *(values.dtype.str for values in codes_or_values), *names)
