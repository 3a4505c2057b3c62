"""`linux-6` compared with windows of Linux's TCP: studies/linux-aqm/reference/windows.toml, sample by sample.

Replications differ only in the phase of the hosts' clocks, because the phase in the kernel is not known.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.simulating import Effort, by_replication, simulate

PEER = "linux-tcp"
READINGS = Path(__file__).parents[1] / "studies" / "linux-aqm" / "reference" / "windows.toml"
SECONDS = 60
#: Samples are 10 ms apart until this time, and then 100 ms apart.
FINE_UNTIL_S = 3.0
#: The shaper counts IP bytes. A packet of 1500 bytes takes 1.21159 ms, which is the time between frames
#: according to the kernel's count of acknowledged bytes.
RATE, BURST = "9904300b/s", "1500B"
PLAIN = {
    "recovery": "newreno",
    "timestamps": False,
    "slow-start-exit": "loss",
    "frto": False,
    "initial-ssthresh": "8 packets",
}
EXTRAS = {"plain": "without SACK, threshold of 8 segments", "on": "with SACK, RACK-TLP, HyStart"}
NEAR = Rule(relative=0.01)
#: The effect on the mean if a recovery is one sample late, about once in five seconds.
CURVES = Rule(absolute=2.0, what="2 segments", bound="at most")


def cases() -> list[dict[str, Any]]:
    """Return the measured flows."""
    return list(tomllib.loads(READINGS.read_text(encoding="utf-8"))["case"])


def samples(case: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """Return the times of the samples of a flow in ms, and its windows in segments."""
    windows = [int(word) for word in case["window"].split()]
    first, fine = round(case["first_s"] * 1000), round(FINE_UNTIL_S * 1000)
    times = list(range(first, fine + 1, 10))
    times += [fine + 100 * step for step in range(1, len(windows) - len(times) + 1)]
    return times, windows


def scenario(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flow through a FIFO of 100 packets, which delivers frames as soon as they leave."""
    tcp = {"profile": "linux-6", "window": "4MiB", "congestion": case["congestion"]}
    if case["extras"] == "plain":
        tcp |= PLAIN
    shaped = {
        "name": "all",
        "shape": {"rate": RATE, "burst": BURST},
        "buffer": {"tail-drop": {"limit": "100 packets"}},
    }
    bottleneck = {
        "between": ["router", "server"],
        "rate": "100Gb/s",
        "delay": f"{case['round_trip_ms'] // 2}ms",
        "interfaces": {"router": {"output": "queue"}},
    }
    return {
        "perhop": 1,
        "name": case["id"],
        "duration": f"{SECONDS}s",
        "hosts": {"client": {}, "server": {}},
        "routers": {"router": {}},
        "links": [{"between": ["client", "router"], "rate": "100Gb/s"}, bottleneck],
        "policies": {"queue": {"queueing": {"classes": [shaped]}}},
        "traffic": [
            {
                "name": "flow",
                "from": "client",
                "to": "server",
                "start": "100ms",
                "source": {"bulk": {"tcp": tcp}},
            }
        ],
        "measure": {"connections": [{"traffic": "flow", "every": "10ms"}]},
    }


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons of windows: their means, and the mean difference of the curves."""
    for case in cases():
        times, windows = samples(case)
        wanted = dict(zip(times, windows, strict=True))
        rows = simulate(scenario(case), effort).connections
        curves = rows.select(
            "replication", (pl.col("time_s") * 1000).round().cast(pl.Int64).alias("ms"), "cwnd_segments"
        ).filter(pl.col("ms").is_in(times))
        apart = by_replication(curves, partial(_apart, wanted=wanted))
        means = by_replication(curves, _window)
        quantities = [
            ("window, mean", Value(_mean(windows)), means, NEAR),
            ("distance of windows, mean", Value(0.0), apart, CURVES),
        ]
        for quantity, reference, found, rule in quantities:
            yield Comparison(
                PEER,
                "Reno" if case["congestion"] == "reno" else "CUBIC",
                f"{case['round_trip_ms']} ms, {EXTRAS[case['extras']]}",
                quantity,
                "segments",
                reference,
                "Linux 6.1, virtual time",
                estimate(found),
                rule,
            )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _window(rows: pl.DataFrame) -> float:
    return _mean(rows["cwnd_segments"].to_list())


def _apart(rows: pl.DataFrame, wanted: Mapping[int, int]) -> float:
    found = zip(rows["ms"].to_list(), rows["cwnd_segments"].to_list(), strict=True)
    return _mean([abs(window - wanted[time]) for time, window in found])


def part(effort: Effort) -> Part:
    """Return the comparisons with Linux's TCP as a part of the page."""
    about = (
        "perhop sends one flow of `linux-6` through a FIFO of 100 packets at 10 Mb/s. The peer is one\n"
        "flow of Linux 6.1.192 in a kernel with virtual time (studies/linux-aqm/reference/windows.toml).\n"
        "The windows are compared every 10 ms for 3 s, then every 100 ms up to 60 s. Only the phase of\n"
        "the hosts' clocks is random."
    )
    return Part(PEER, "Linux's TCP", about, list(compare(effort)))
