"""The measurements of a queueing discipline: goodput, losses, and the time in the queue."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from perhop.results import Results

# The transmission time of a frame of 1000 bytes at 10 Mb/s. With CAKE's own shaper, the wire needs no time.
FRAME_MS = 0.8
# The file with the windows of the kernel. It has samples every 10 ms until 3 s, then every 100 ms.
WINDOWS = Path(__file__).parent / "reference" / "windows.toml"
FINE_UNTIL_MS = 3000
#: A sample: the time in milliseconds, and the same quantity in the kernel and in perhop.
Sample = tuple[int, float, float]


def goodput_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the total rate of acknowledged data of all flows; per replication."""
    assert results.tcp is not None
    return [rate / 1e6 for rate in by_replication(results.tcp, "goodput_bps")]


def rate_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate of the frames that leave. A frame has 14 bytes of Ethernet and 986 bytes of IP."""
    table = results.classes.filter(pl.col("class") == "all")
    return [rate * 1000 / 986 / 1e6 for rate in by_replication(table, "throughput_bps")]


def loss_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the percentage of the frames that the queue drops."""
    port = results.ports.filter(pl.col("arrived_packets") > 0).filter(
        pl.col("port").is_in(["router->client", "server->client"])
    )
    dropped, arrived = by_replication(port, "dropped_packets"), by_replication(port, "arrived_packets")
    return [100 * lost / all_ for lost, all_ in zip(dropped, arrived, strict=True)]


def wait_p50_ms(results: Results, case: dict[str, str]) -> list[float]:
    """Return the median time of all frames in the queue."""
    return waits(results.classes.filter(pl.col("class") == "all"), "delay_p50_s", case)


def wait_p99_ms(results: Results, case: dict[str, str]) -> list[float]:
    """Return the 99th percentile of the time of all frames in the queue."""
    return waits(results.classes.filter(pl.col("class") == "all"), "delay_p99_s", case)


def call_loss_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the percentage of the call's packets that the queue drops."""
    return by_replication(call(results), "dropped_percent")


def call_p50_ms(results: Results, case: dict[str, str]) -> list[float]:
    """Return the median time of the call's packets in the queue."""
    return waits(call(results), "delay_p50_s", case)


def call_p99_ms(results: Results, case: dict[str, str]) -> list[float]:
    """Return the 99th percentile of the time of the call's packets in the queue."""
    return waits(call(results), "delay_p99_s", case)


def call(results: Results) -> pl.DataFrame:
    """Return the flow of the call."""
    return results.flows.filter(pl.col("flow") == "call")


def waits(table: pl.DataFrame, column: str, case: dict[str, str]) -> list[float]:
    """Return delays minus the time of the path: half of the round trip, or a frame on a slow wire."""
    if "rtt_ms" in case:
        base_ms = float(case["rtt_ms"]) / 2
    else:
        base_ms = 0.0 if case["discipline"].startswith("cake") else FRAME_MS
    return [1e3 * delay_s - base_ms for delay_s in table.sort("replication")[column]]


def by_replication(table: pl.DataFrame, column: str) -> list[float]:
    """Return the sum of a column for each replication."""
    sums = table.group_by("replication").agg(pl.col(column).sum()).sort("replication")
    return [float(value) for value in sums[column]]


def window_mean_segments(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean of the congestion window; per replication."""
    return [mean([ours for _, _, ours in samples]) for samples in both(results, case, "window")]


def window_apart_segments(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean difference of the congestion windows."""
    return [apart(samples) for samples in both(results, case, "window")]


def threshold_apart_segments(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean difference of the slow-start thresholds, while the kernel has a threshold."""
    return [apart(samples) for samples in both(results, case, "threshold")]


def round_trip_mean_ms(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean of the smoothed round trip."""
    return [mean([ours for _, _, ours in samples]) for samples in both(results, case, "smoothed_us")]


def round_trip_apart_ms(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean difference of the smoothed round trips."""
    return [apart(samples) for samples in both(results, case, "smoothed_us")]


def congestion_window(results: Results, case: dict[str, str]) -> list[tuple[float, float, float]]:
    """Return the windows over time: seconds, the kernel's window, and the window of the first replication."""
    return [(ms / 1000, kernels, ours) for ms, kernels, ours in next(both(results, case, "window"))]


# The column of results for each quantity of the readings, with the factor between the units.
COLUMNS = {
    "window": ("cwnd_segments", 1.0, 1.0),
    "threshold": ("ssthresh_segments", 1.0, 1.0),
    "smoothed_us": ("srtt_s", 1e-3, 1e3),
}


def both(results: Results, case: dict[str, str], quantity: str) -> Iterator[list[Sample]]:
    """Generate the samples of each replication with those of the kernel; a threshold of 0 is unset."""
    column, kernels, ours = COLUMNS[quantity]
    wanted = {ms: value * kernels for ms, value in readings(case, quantity) if value > 0}
    assert results.connections is not None
    table = results.connections.with_columns((pl.col("time_s") * 1000).round().cast(pl.Int64).alias("ms"))
    common = table.filter(pl.col("ms").is_in(list(wanted)))
    for _, rows in common.group_by("replication", maintain_order=True):
        pairs = zip(rows["ms"], rows[column], strict=True)
        yield [(ms, wanted[ms], value * ours) for ms, value in pairs]


def readings(case: dict[str, str], quantity: str) -> list[tuple[int, float]]:
    """Return the kernel's samples each 100 ms: milliseconds and value."""
    [found] = [flow for flow in flows() if flow["id"] == f"{case['flows']}-r{case['rtt_ms']}"]
    values = [float(word) for word in found[quantity].split()]
    first = round(1000 * found["first_s"])
    fine = (FINE_UNTIL_MS - first) // 10
    times = [first + 10 * min(sample, fine) + 100 * max(0, sample - fine) for sample in range(len(values))]
    return [(ms, value) for ms, value in zip(times, values, strict=True) if ms % 100 == 0]


@cache
def flows() -> list[dict[str, Any]]:
    """Return the flows that were measured alone."""
    return list(tomllib.loads(WINDOWS.read_text(encoding="utf-8"))["case"])


def apart(samples: Sequence[Sample]) -> float:
    """Return the mean absolute difference between two quantities."""
    return mean([abs(kernels - ours) for _, kernels, ours in samples])


def mean(values: Sequence[float]) -> float:
    """Return the mean; NaN without values."""
    return math.fsum(values) / len(values) if values else math.nan
