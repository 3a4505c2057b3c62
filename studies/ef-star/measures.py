"""Delay and delay variation of the EF stream, and jitter as defined in RFC 2598."""

import numpy as np

from perhop import Results
from perhop.quantity import bits_per_second


def delay_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean one-way delay; per replication."""
    return in_ms(results, "delay_mean_s")


def delay_min_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the least one-way delay; per replication."""
    return in_ms(results, "delay_min_s")


def ipdv_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean of |IPDV| of consecutive packets; per replication."""
    return in_ms(results, "ipdv_mean_abs_s")


def ipdv_max_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the greatest |IPDV|; per replication."""
    pairs = zip(in_ms(results, "ipdv_max_s"), in_ms(results, "ipdv_min_s"), strict=True)
    return [max(abs(most), abs(least)) for most, least in pairs]


def router_delay_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean one-way delay over the measured path; per replication."""
    return in_ms(results, "delay_mean_s")


def router_ipdv_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean of |IPDV| over the measured path; per replication."""
    return in_ms(results, "ipdv_mean_abs_s")


def jitter_p50_percent(results: Results, case: dict[str, str]) -> list[float]:
    """Return the median jitter of the target flow in percent of a packet time; per replication."""
    return jitter_percent(results, case, 50)


def jitter_p90_percent(results: Results, case: dict[str, str]) -> list[float]:
    """Return the 90th percentile of the target flow's jitter in percent of a packet time; per replication."""
    return jitter_percent(results, case, 90)


def jitter_percent(results: Results, case: dict[str, str], percentile: float) -> list[float]:
    """Return a percentile of |(aj - dj) - (ai - di)| of adjacent packets in percent of their spacing."""
    size = int(case["packet"])
    jitters = variations(results, f"target-{size}")
    [source] = [flow["source"] for flow in results.scenario["traffic"] if flow["name"] == f"target-{size}"]
    subscribed = bits_per_second(source["cbr"]["rate"])
    return [
        float(np.percentile(np.abs(jitter), percentile)) * subscribed / (8 * size) * 100 for jitter in jitters
    ]


def variations(results: Results, flow: str) -> list[np.ndarray]:
    """Return the differences of the delays of adjacent packets; per replication."""
    rows = results.packets.filter(flow=flow)
    return [
        np.diff(replication["delay_s"].to_numpy())[np.diff(replication["number"].cast(int).to_numpy()) == 1]
        for replication in (rows.filter(replication=number) for number in range(results.replications))
    ]


def in_ms(results: Results, column: str, name: str = "ef") -> list[float]:
    """Return a column of `classes` in milliseconds; per replication."""
    rows = results.classes.filter(**{"class": name}).sort("replication")
    return [1e3 * value for value in rows[column]]
