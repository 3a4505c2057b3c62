"""What was measured of a queueing discipline: goodput, losses, and the time in the queue."""

from __future__ import annotations

import polars as pl

from perhop.results import Results

# A frame of 1000 bytes at 10 Mb/s, which CAKE's own shaper does not add: the wire behind it takes no time.
FRAME_MS = 0.8


def goodput_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate that is acknowledged to all flows together; per replication."""
    assert results.tcp is not None
    return [rate / 1e6 for rate in by_replication(results.tcp, "goodput_bps")]


def rate_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate of the frames that leave, with 14 bytes of Ethernet beside 986 of IP."""
    table = results.classes.filter(pl.col("class") == "all")
    return [rate * 1000 / 986 / 1e6 for rate in by_replication(table, "throughput_bps")]


def loss_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the part of the frames that the queue drops."""
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
    """Return the part of the call's packets that the queue drops."""
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
    """Return delays without what the way takes: half of the round trip, or the frame of a slow wire."""
    if "rtt_ms" in case:
        base_ms = float(case["rtt_ms"]) / 2
    else:
        base_ms = 0.0 if case["discipline"].startswith("cake") else FRAME_MS
    return [1e3 * delay_s - base_ms for delay_s in table.sort("replication")[column]]


def by_replication(table: pl.DataFrame, column: str) -> list[float]:
    """Return the sum of a column for each replication."""
    sums = table.group_by("replication").agg(pl.col(column).sum()).sort("replication")
    return [float(value) for value in sums[column]]
