"""Throughput and delay over time as a data file of flent (file format version 4), for flent's plots.

The file has the layout of flent's test `tcp_nup`: `TCP upload::1`, `::2`, … are perhop's classes in order,
`Ping (ms) ICMP` is the mean one-way delay of all packets. A note in the file explains this and lists the
classes.
"""

from __future__ import annotations

import gzip
import json
import math
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.interchange.iperf3 import check_replication
from perhop.results import Results
from perhop.saving import whole_file

_VERSION = 4
_TEST = "tcp_nup"
_DELAY = "Ping (ms) ICMP"
# A simulation has no date, but flent needs one.
_EPOCH = "1970-01-01T00:00:00.000000Z"


def write_flent(results: Results, file: str | PathLike[str], *, replication: int = 0) -> None:
    """Write one replication as a `.flent.gz` file, with delays if the scenario has `measure.delay-every`.

    Raises:
        InvalidInputError: the name has another suffix, there is no such replication, or the scenario has no
            `measure.throughput-every`.
        OSError: the file cannot be written.

    """
    file = Path(file)
    if not file.name.endswith(".flent.gz"):
        raise InvalidInputError(
            f"`{file}` does not end in .flent.gz", "flent opens only files with this suffix"
        )
    check_replication(results, replication)
    text = json.dumps(_document(results, replication), allow_nan=False, indent=2, sort_keys=True)
    # Without name and time in the gzip header, equal results give equal bytes.
    with whole_file(file) as new:
        new.write_bytes(gzip.compress(text.encode(), mtime=0))


def _document(results: Results, replication: int) -> dict[str, Any]:

    table = results.throughput.filter(pl.col("replication") == replication)
    if not table.height:
        raise InvalidInputError(
            "flent's plots are over time, but throughput was not sampled",
            "set measure.throughput-every and measure.delay-every in the scenario, as in 200ms",
        )
    times = table["time_s"].unique().sort().to_list()
    classes = [str(name) for name in table["class"].unique(maintain_order=True)]
    series = {
        f"TCP upload::{number}": _at(table.filter(pl.col("class") == name), "throughput_bps", times, 1e-6)
        for number, name in enumerate(classes, start=1)
    }
    values: dict[str, list[float | None]] = dict(series)
    columns = list(zip(*series.values(), strict=True))
    values["TCP upload sum"] = [sum(one or 0.0 for one in column) for column in columns]
    values["TCP upload avg"] = [sum(one or 0.0 for one in column) / len(classes) for column in columns]
    values[_DELAY] = _delays(results, replication, times)
    return {
        "version": _VERSION,
        "x_values": times,
        "results": values,
        # flent's absolute times: seconds since its time zero.
        "raw_values": {
            name: [
                {"t": time, "val": value}
                for time, value in zip(times, line, strict=True)
                if value is not None
            ]
            for name, line in values.items()
        },
        "metadata": _metadata(results, classes, times),
    }


def _metadata(results: Results, classes: list[str], times: list[float]) -> dict[str, Any]:
    duration_s, traffic = results.summary["duration_s"], results.scenario["traffic"][0]
    note = "simulated by perhop; Ping is the mean one-way delay; streams: "
    return {
        "NAME": _TEST,
        "TITLE": results.summary["scenario"],
        "NOTE": note + ", ".join(f"{number} {name}" for number, name in enumerate(classes, start=1)),
        "TIME": _EPOCH,
        "T0": _EPOCH,
        "LENGTH": duration_s,
        "TOTAL_LENGTH": duration_s,
        "STEP_SIZE": times[1] - times[0] if len(times) > 1 else duration_s,
        "HOST": traffic["to"],
        "HOSTS": [traffic["to"]],
        "LOCAL_HOST": traffic["from"],
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {"upload_streams": str(len(classes))},
        "DATA_FILENAME": None,
        "FLENT_VERSION": f"perhop {_core.__version__}",
        "PERHOP": results.manifest() | {"tables": None},
    }


def _at(rows: pl.DataFrame, column: str, times: list[float], factor: float) -> list[float | None]:
    found = dict(rows.select("time_s", column).iter_rows())
    return [found[time] * factor if time in found and not math.isnan(found[time]) else None for time in times]


def _delays(results: Results, replication: int, times: list[float]) -> list[float | None]:
    """Return the mean delay of all packets at each time in milliseconds, `None` without a sample."""
    if "delays" not in results.names:
        return [None] * len(times)
    table = results.delays.filter(pl.col("replication") == replication, pl.col("packets") > 0)
    weighted = (pl.col("delay_mean_s") * pl.col("packets")).sum() / pl.col("packets").sum()
    means = table.group_by("time_s").agg(weighted.alias("delay"))
    return _at(means, "delay", times, 1e3)
