"""The rates of the connections, and the counters of the router's policer."""

import polars as pl

from perhop import Results


def priority_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the total goodput of all marked connections; per replication."""
    return goodput(results, "priority")


def background_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the total goodput of all connections of the background."""
    return goodput(results, "background")


def conformed_kbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate of IP bytes that conform to CAR."""
    return metered(results, "green")


def exceeded_kbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate of IP bytes that exceed CAR."""
    return metered(results, "red")


def tcp_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the total goodput of all marked connections in the cases that are not in the paper."""
    return goodput(results, "priority")


def exceeding_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the percentage of the marked bytes that exceeds CAR."""
    both = zip(metered(results, "red"), metered(results, "green"), strict=True)
    return [100 * red / (red + green) if red + green else 0.0 for red, green in both]


def goodput(results: Results, name: str) -> list[float]:
    """Return the total goodput of all connections of a class; per replication."""
    rows = results.tcp.filter(pl.col("class") == name)
    return [
        float(rows.filter(replication=number)["goodput_bps"].sum()) / 1e6
        for number in range(results.replications)
    ]


def metered(results: Results, color: str) -> list[float]:
    """Return the rate of the packets to which the policer gave a color; per replication."""
    rows = results.conditioners.filter(pl.col("color") == color)
    seconds = results.summary["duration_s"] - results.summary["warmup_s"]
    return [
        float(rows.filter(replication=number)["bytes"].sum()) * 8 / seconds / 1e3
        for number in range(results.replications)
    ]
