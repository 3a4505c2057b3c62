"""Throughput and delay over time as a data file of flent (file format version 4), for flent's plots.

The file has the layout of flent's test `rrul_var`: `TCP upload::CLASS` and `TCP download::CLASS` are the
classes of perhop by direction, with their sums and averages, and `Ping (ms)::ICMP` is the delay of the call.
A note in the file explains this.
"""

from __future__ import annotations

import gzip
import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import polars as pl

from perhop import _core
from perhop.directions import BACK, ends_against
from perhop.errors import InvalidInputError
from perhop.interchange.iperf3 import check_replication
from perhop.results import Results
from perhop.saving import whole_file

_VERSION = 4
_TEST = "rrul_var"
_PING = "Ping (ms)"
# The minimum fraction of a class's bytes for a direction with data. Acknowledgments of TCP (40 to 52 bytes
# for two segments) and requests are 2 to 3 % of the bytes.
_LEAST_PART = 0.1

Direction = Literal["upload", "download"]
#: A value at each time, `None` without a sample.
Line = list[float | None]


@dataclass(frozen=True)
class _Stream:
    """The throughput of a class in one direction."""

    label: str
    direction: Direction
    line: Line


@dataclass(frozen=True)
class _Calls:
    """The classes of calls by direction; one class can have calls in both directions."""

    there: list[str]
    back: list[str]

    @property
    def is_round_trip(self) -> bool:
        """Whether there are calls in both directions, whose delays have the sum of a ping."""
        return bool(self.there and self.back)

    @property
    def words(self) -> str:
        """A description of the ping in the file."""
        if not (self.there or self.back):
            return "the mean one-way delay of all packets"
        names = ", ".join(dict.fromkeys([*self.there, *self.back]))
        return f"the delay of {names}, " + ("there and back" if self.is_round_trip else "one way")


def write_flent(
    results: Results,
    file: str | PathLike[str],
    *,
    replication: int = 0,
    title: str | None = None,
    date: datetime | None = None,
) -> None:
    """Write one replication as a `.flent.gz` file, with delays if the scenario has `measure.delay-every`.

    Args:
        results: the run.
        file: the file.
        replication: the number of the replication, from 0.
        title: the name of the run in flent's legends; by default the name of the scenario.
        date: the time of the run, by default now; with the same date, equal results give equal bytes.

    Raises:
        InvalidInputError: the name has another suffix, there is no such replication, or the scenario has no
            `measure.throughput-every`.
        OSError: the file cannot be written.

    """
    file = Path(file)
    if not file.name.endswith(".flent.gz"):
        raise InvalidInputError(
            f"`{file}` does not end in .flent.gz", "flent reads only files with this suffix"
        )
    check_replication(results, replication)
    title = results.summary["scenario"] if title is None else title
    if replication > 0:
        title = f"{title}, replication {replication}"
    date = datetime.now(UTC) if date is None else date
    document = _document(results, replication, title, date)
    text = json.dumps(document, allow_nan=False, indent=2, sort_keys=True)
    # Without name and time in the gzip header, equal documents give equal bytes.
    with whole_file(file) as new:
        new.write_bytes(gzip.compress(text.encode(), mtime=0))


def _document(results: Results, replication: int, title: str, date: datetime) -> dict[str, Any]:
    table = results.throughput.filter(pl.col("replication") == replication)
    if not table.height:
        raise InvalidInputError(
            "throughput was not sampled, and flent plots it over time",
            "set measure.throughput-every and measure.delay-every in the scenario, for example to 200ms",
        )
    times = table["time_s"].unique().sort().to_list()
    ways = _Ways(results, replication)
    streams = _streams(results, table, times, ways)
    values: dict[str, Line] = {f"TCP {stream.direction}::{stream.label}": stream.line for stream in streams}
    for direction in ("upload", "download"):
        lines = [stream.line for stream in streams if stream.direction == direction]
        if lines:
            values[f"TCP {direction} sum"] = _together(lines, sum)
            values[f"TCP {direction} avg"] = _together(lines, statistics.fmean)
    values["TCP totals"] = _together([stream.line for stream in streams], sum)
    names = _calls(results)
    calls = _Calls(
        [name for name in names if "upload" in ways.parts(name)],
        [name for name in names if "download" in ways.parts(name)],
    )
    values |= _pings(results, replication, times, calls)
    # flent's absolute times are seconds since 1970, as `T0` is.
    start = date.timestamp()
    return {
        "version": _VERSION,
        "x_values": times,
        "results": values,
        "raw_values": {
            name: [
                {"t": start + time, "val": value}
                for time, value in zip(times, line, strict=True)
                if value is not None
            ]
            for name, line in values.items()
        },
        "metadata": _metadata(results, streams, times, title=title, date=date, calls=calls),
    }


def _metadata(
    results: Results,
    streams: Sequence[_Stream],
    times: list[float],
    *,
    title: str,
    date: datetime,
    calls: _Calls,
) -> dict[str, Any]:
    duration_s, traffic = results.summary["duration_s"], results.scenario["traffic"][0]
    labels = list(dict.fromkeys(stream.label for stream in streams))
    return {
        "NAME": _TEST,
        "TITLE": title,
        "NOTE": f"simulated by perhop, scenario {results.summary['scenario']}, seed {results.seed}; upload is"
        f" the direction of {traffic['name']}, TCP stands for every class; {_PING}::ICMP is {calls.words}",
        "TIME": _stamp(date),
        "T0": _stamp(date),
        "LENGTH": duration_s,
        "TOTAL_LENGTH": duration_s,
        "STEP_SIZE": times[1] - times[0] if len(times) > 1 else duration_s,
        "HOST": traffic["to"],
        "HOSTS": [traffic["to"]],
        "LOCAL_HOST": traffic["from"],
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {"bidir_streams": str(len(labels)), "labels": ",".join(labels)},
        "DATA_FILENAME": None,
        "FLENT_VERSION": f"perhop {_core.__version__}",
        "PERHOP": results.manifest() | {"tables": None},
    }


def _stamp(date: datetime) -> str:
    """Return a date as flent writes it: UTC with microseconds."""
    date = date.astimezone(UTC)
    return date.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _streams(results: Results, table: pl.DataFrame, times: list[float], ways: _Ways) -> list[_Stream]:
    """Return the classes by direction; for a class and its replies, only the direction with data."""
    lines = {
        str(name): _at(rows, "throughput_bps", times, 1e-6)
        for (name,), rows in table.group_by("class", maintain_order=True)
    }
    sums = {name: math.fsum(filter(None, line)) for name, line in lines.items()}
    found: dict[tuple[str, Direction], list[Line]] = {}
    for name, line in lines.items():
        label = name.removesuffix(BACK)
        other = label if name.endswith(BACK) else f"{name}{BACK}"
        if sums[name] < _LEAST_PART * sums.get(other, 0.0):
            continue
        for direction, part in ways.parts(name).items():
            own: Line = [None if value is None else value * part for value in line]
            found.setdefault((_label(label), direction), []).append(own)
    return [_Stream(label, direction, _together(own, sum)) for (label, direction), own in found.items()]


class _Ways:
    """The directions of classes, from the bytes of their flows. The first traffic defines upload."""

    def __init__(self, results: Results, replication: int) -> None:
        rows = results.flows.filter(pl.col("replication") == replication)
        flows = list(rows.select("class", "from", "to", "delivered_bytes").iter_rows())
        against = ends_against(results.scenario, ((start, end) for _, start, end, _ in flows))
        self._bytes: dict[str, dict[Direction, int]] = {}
        for name, start, end, delivered in flows:
            direction: Direction = "download" if (start, end) in against else "upload"
            of_class = self._bytes.setdefault(str(name), {})
            of_class[direction] = of_class.get(direction, 0) + delivered

    def parts(self, name: str) -> dict[Direction, float]:
        """Return the fraction of a class's bytes in each direction."""
        of_class = self._bytes.get(name, {"upload": 0})
        total = sum(of_class.values())
        return {way: of_way / total if total else 1 / len(of_class) for way, of_way in of_class.items()}


def _label(name: str) -> str:
    """Return the name of a class without the separators of flent."""
    return name.replace(",", ";").replace("::", ":")


def _calls(results: Results) -> list[str]:
    """Return the classes of calls: those whose role is voice."""
    return [str(role["class"]) for role in results.summary["roles"] if role["role"] == "voice"]


def _pings(results: Results, replication: int, times: list[float], calls: _Calls) -> dict[str, Line]:
    """Return the delays in milliseconds: of the calls, and of the other classes of datagrams."""
    if "delays" not in results.names or not results.delays.height:
        return {f"{_PING}::ICMP": [None] * len(times), f"{_PING} avg": [None] * len(times)}
    table = results.delays.filter(pl.col("replication") == replication, pl.col("packets") > 0)
    table = table.with_columns(pl.col("class").cast(pl.String))
    names = set(table["class"].unique().to_list())
    if calls.is_round_trip:
        ways = zip(_delays(table, calls.there, times), _delays(table, calls.back, times), strict=True)
        ping: Line = [None if there is None or back is None else there + back for there, back in ways]
    else:
        ping = _delays(table, [*calls.there, *calls.back] or names, times)
    found = {f"{_PING}::ICMP": ping}
    for name in sorted(names - {*calls.there, *calls.back}):
        # The replies of TCP have a separate class.
        if not name.endswith(BACK) and f"{name}{BACK}" not in names:
            found[f"{_PING}::UDP {_label(name)}"] = _delays(table, [name], times)
    return {**found, f"{_PING} avg": _together(list(found.values()), statistics.fmean)}


def _delays(table: pl.DataFrame, classes: Iterable[str], times: list[float]) -> Line:
    """Return the mean delay of the packets of some classes at each time in milliseconds."""
    weighted = (pl.col("delay_mean_s") * pl.col("packets")).sum() / pl.col("packets").sum()
    rows = table.filter(pl.col("class").is_in(list(classes)))
    return _at(rows.group_by("time_s").agg(weighted.alias("delay")), "delay", times, 1e3)


def _at(rows: pl.DataFrame, column: str, times: list[float], factor: float) -> Line:
    found: Mapping[float, float] = dict(rows.select("time_s", column).iter_rows())
    return [found[time] * factor if time in found and not math.isnan(found[time]) else None for time in times]


def _together(lines: Iterable[Line], how: Callable[[list[float]], float]) -> Line:
    """Return the sum or the mean of lines at each time; `None` without a sample."""
    columns = ([sample for sample in column if sample is not None] for column in zip(*lines, strict=True))
    return [float(how(column)) if column else None for column in columns]
