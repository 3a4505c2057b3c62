"""The numbers of the tables, counted as in the paper at the core router's port to the bottleneck."""

import polars

from perhop import Results

BOTTLENECK = "C1->E3"
# The length of the netperf test. In the scenarios, it is the time from the end of the warm-up to `stop`.
NETPERF_SECONDS = 600.0


def packets_received(results: Results, case: dict[str, str]) -> list[float]:
    """Return the packets that reached the queue, including dropped packets; per replication."""
    return at_core(results, case, "arrived_packets")


def packets_dropped(results: Results, case: dict[str, str]) -> list[float]:
    """Return the packets that the buffer manager dropped; per replication."""
    return at_core(results, case, "dropped_packets")


def dropped_percent(results: Results, case: dict[str, str]) -> list[float]:
    """Return the percentage of the received packets that were dropped; per replication."""
    return at_core(results, case, "dropped_percent")


def transactions_per_second_per_flow(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean transactions per second of one of the forty clients; per replication."""
    return [count / NETPERF_SECONDS for count in transactions_per_flow(results, case)]


def transactions_per_flow(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean number of transactions of one of the forty clients; per replication."""
    flows = results.tcp.group_by("replication").agg(polars.col("transactions").mean()).sort("replication")
    return [float(value) for value in flows["transactions"]]


def throughput(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the total goodput of all bulk transfers, Mb/s; per replication."""
    flows = results.tcp.group_by("replication").agg(polars.col("received_bytes").sum()).sort("replication")
    return [8e-6 * value / NETPERF_SECONDS for value in flows["received_bytes"]]


def at_core(results: Results, case: dict[str, str], column: str) -> list[float]:
    """Return a column of `ports` for the drop precedence of `case`, one value per replication."""
    precedence = int(case["drop_precedence"].removeprefix("dp"))
    here = results.ports.filter(port=BOTTLENECK, precedence=precedence).sort("replication")
    return [float(value) for value in here[column]]
