"""The measurements of each scenario of RFC 7928: goodput, queueing delay, loss, shares, page load times."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

import polars as pl

from perhop.quantity import quantity
from perhop.results import Results

# Mathis et al. 1997: a window of sqrt(3/2) / sqrt(p) if every acknowledged segment counts, as in Linux.
MATHIS = math.sqrt(1.5)
SEGMENT_BYTES = 1448
ROUND_TRIP_S = 0.1
# The minimum delay in logarithms. Differences between shorter delays have no meaning, because a packet of
# 1500 bytes takes 1.2 ms.
LEAST_DELAY_MS = 0.1
# The additional time of a packet of 1500 bytes at 10 Mb/s compared with 100 Mb/s.
SLOWER_MS = 1.08


def goodput_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate of the payload that reaches applications behind the bottleneck; per replication."""
    return [sum(rates.values()) for rates in goodputs(results, back=False)]


def back_goodput_mbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the rate of the payload that reaches applications in the other direction."""
    return [sum(rates.values()) for rates in goodputs(results, back=True)]


def delay_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean time that packets wait on their way to the receivers."""
    base = base_delays(results)
    found = []
    for number in range(results.replications):
        rows = results.classes.filter(pl.col("class").cast(pl.String).is_in(list(base)), replication=number)
        waits = [
            (row["delivered_packets"], 1e3 * (row["delay_mean_s"] - base[row["class"]]))
            for row in rows.iter_rows(named=True)
            if row["delivered_packets"] > 0
        ]
        found.append(sum(count * wait for count, wait in waits) / sum(count for count, _ in waits))
    return found


def loss_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the percentage of the packets that the bottleneck's queue drops."""
    port = results.ports.filter(pl.col("port") == "left->right")
    found = []
    for number in range(results.replications):
        rows = port.filter(replication=number)
        found.append(100 * float(rows["dropped_packets"].sum()) / float(rows["arrived_packets"].sum()))
    return found


def first_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of the first of two flows."""
    return share(results, "first")


def udp_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of the flow that does not respond."""
    return share(results, "udp")


def through_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of the second queue's packets that belong to flows through both queues."""
    return [
        100 * rates["both"] / (rates["both"] + rates["right-only"]) for rates in goodputs(results, back=False)
    ]


def fairness(results: Results, _case: dict[str, str]) -> list[float]:
    """Return Jain's index of the flows' goodput."""
    found = []
    for number in range(results.replications):
        rates = tcp(results).filter(replication=number)["goodput_bps"].to_list()
        found.append(sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)))
    return found


def formula_percent(results: Results, case: dict[str, str]) -> list[float]:
    """Return the goodput in percent of the rate by Mathis' formula, at the loss and delay of the flows."""
    flows = len(tcp(results).filter(replication=0))
    found = []
    for goodput, loss, wait in zip(
        goodput_mbps(results, case), loss_percent(results, case), delay_ms(results, case), strict=True
    ):
        window_bits = 8 * SEGMENT_BYTES * MATHIS / math.sqrt(loss / 100) if loss > 0 else math.nan
        found.append(100 * goodput * 1e6 / (flows * window_bits / (ROUND_TRIP_S + wait / 1e3)))
    return found


def fallen_ms(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean delay from 10 to 20 s after each fall to 10 Mb/s, after its backlog was sent."""
    base = base_delays(results)
    assert results.delays is not None
    late = pl.any_horizontal(pl.col("time_s").is_between(fall + 10.4, fall + 20.1) for fall in (30, 70, 110))
    rows = results.delays.filter(late & pl.col("class").cast(pl.String).is_in(list(base)))
    found = []
    for number in range(results.replications):
        waits = [
            (row["packets"], 1e3 * (row["delay_mean_s"] - base[row["class"]]) - SLOWER_MS)
            for row in rows.filter(replication=number).iter_rows(named=True)
            if row["packets"]
        ]
        found.append(sum(count * wait for count, wait in waits) / sum(count for count, _ in waits))
    return found


def cbr_loss_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the loss of the stream of constant rate."""
    return results.classes.filter(pl.col("class") == "cbr").sort("replication")["dropped_percent"].to_list()


def web_s(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the mean time of a page."""
    rows = tcp(results).filter(pl.col("class") == "web")
    return (
        rows.group_by("replication")
        .agg(pl.col("completion_mean_s").mean())
        .sort("replication")["completion_mean_s"]
        .to_list()
    )


def delay_goodput(results: Results, _case: dict[str, str]) -> list[tuple[float, float]]:
    """Return queueing delay, ms, and goodput, Mb/s, of every half second."""
    base = base_delays(results)
    assert results.delays is not None
    assert results.throughput is not None
    payload = payloads(results)
    keys = ["replication", "class", "time_s"]
    waits = results.delays.with_columns(pl.col("time_s").round(3)).select(*keys, "packets", "delay_mean_s")
    rates = results.throughput.with_columns(pl.col("time_s").round(3)).select(*keys, "throughput_bps")
    waiting: dict[tuple[int, float], list[tuple[float, float]]] = {}
    for row in waits.iter_rows(named=True):
        if row["class"] in base and row["packets"]:
            place = (row["replication"], row["time_s"])
            wait = 1e3 * (row["delay_mean_s"] - base[row["class"]])
            waiting.setdefault(place, []).append((row["packets"], wait))
    arriving: dict[tuple[int, float], float] = {}
    for row in rates.iter_rows(named=True):
        if row["class"] in base:
            place = (row["replication"], row["time_s"])
            arriving[place] = arriving.get(place, 0.0) + row["throughput_bps"] * payload[row["class"]] / 1e6
    return [
        (
            max(
                sum(count * wait for count, wait in found) / sum(count for count, _ in found), LEAST_DELAY_MS
            ),
            arriving.get(place, 0.0),
        )
        for place, found in waiting.items()
    ]


def tcp(results: Results) -> pl.DataFrame:
    """Return the table of TCP."""
    assert results.tcp is not None
    return results.tcp


def goodputs(results: Results, *, back: bool) -> list[dict[str, float]]:
    """Return the goodput of each class, Mb/s, to the receivers or in the other direction; per replication."""
    payload, base = payloads(results), base_delays(results)
    found = []
    for number in range(results.replications):
        rows = results.classes.filter(replication=number).iter_rows(named=True)
        found.append(
            {
                row["class"]: row["throughput_bps"] * payload[row["class"]] / 1e6
                for row in rows
                if row["class"] in payload and (row["class"] in base) is not back
            }
        )
    return found


def share(results: Results, name: str) -> list[float]:
    """Return the share of a class in the goodput in percent; per replication."""
    return [100 * rates[name] / sum(rates.values()) for rates in goodputs(results, back=False)]


def payloads(results: Results) -> dict[str, float]:
    """Return the payload per IP byte of each class, from TCP's counters or the size of datagrams."""
    found = {}
    for traffic in results.scenario["traffic"]:
        name, source = traffic.get("class") or traffic["name"], traffic["source"]
        kind = cast("dict[str, Any]", next(iter(source.values())))
        if "packet" in kind:
            size = quantity(kind["packet"]["payload"])
            assert size is not None
            found[name] = size[0] / (size[0] + 28)
        elif results.tcp is not None:
            got = float(results.tcp.filter(pl.col("class") == name)["goodput_bps"].sum())
            carried = float(results.classes.filter(pl.col("class") == name)["throughput_bps"].sum())
            found[name] = got / carried if carried > 0 else 0.0
    return found


def base_delays(results: Results) -> dict[str, float]:
    """Return the delay of full packets to the receivers without queues, seconds, by class."""
    scenario = results.scenario
    links = {frozenset(link["between"]): link for link in scenario["links"]}
    found = {}
    for traffic in scenario["traffic"]:
        if traffic["from"] == "receiver":
            continue
        size = 1500
        kind = cast("dict[str, Any]", next(iter(traffic["source"].values())))
        if "packet" in kind:
            payload = quantity(kind["packet"]["payload"])
            assert payload is not None
            size = int(payload[0]) + 28
        seconds = 0.0
        for ends in way(links, traffic["from"], traffic["to"]):
            link = links[ends]
            delay, rate = quantity(link.get("delay", "0s")), quantity(link["rate"])
            assert delay is not None
            assert rate is not None
            seconds += delay[0] + 8 * size / rate[0]
        found[traffic.get("class") or traffic["name"]] = seconds
    return found


def way(links: Iterable[frozenset[str]], start: str, end: str) -> list[frozenset[str]]:
    """Return the links from one host to another. The networks of this study are trees."""
    ways: dict[str, list[frozenset[str]]] = {start: []}
    while end not in ways:
        for ends in links:
            for near, far in (tuple(ends), tuple(ends)[::-1]):
                if near in ways and far not in ways:
                    ways[far] = [*ways[near], ends]
    return ways[end]
