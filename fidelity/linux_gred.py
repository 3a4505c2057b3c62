"""TCP of `linux-6` through `law: linux-gred`, compared with Linux: tests/readings/linux-gred.toml."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.linux_aqm import rule
from fidelity.simulating import Effort, by_replication, simulate, sum_of
from perhop.results import Results

#: Linux's `htb` with `burst 1` sends a frame as soon as it has one byte of credit, and pays the rest later.
BURST = "1B"
PEER = "linux-gred"
READINGS = Path(__file__).parents[1] / "tests" / "readings" / "linux-gred.toml"
WARMUP_S = 10
#: The number of connections of each color if connections have colors, and behind a marker.
EACH, MARKED = 4, 3
#: The rate of a busy `rate 10mbit` by the kernel's counters. A frame takes 1.5 us longer than at 10 Mb/s.
MIXED_RATE, BULK_RATE = "9987700b/s", "1.7Mb/s"
ETHERNET = 14
UDP_PAYLOAD, UDP_IP = 1024, 1052
COLORS = ("green", "yellow")
NEAR_RATE = 0.02
#: The allowed difference, as in linux_aqm: the larger of a fraction of the reference and percentage points.
NEAR_LOSS, NEAR_LOSS_POINTS = 0.1, 0.3
#: The default congestion control is CUBIC. The kernel has HZ = 250.
TCP = {"profile": "linux-6", "window": "4MiB", "clock": "4ms"}
SCHEMES = {"single": "WRED", "coupled-sampled": "RIO-C"}

#: The results of a case by quantity, one number per run or replication.
Rows = dict[str, list[float]]


def cases() -> list[dict[str, Any]]:
    """Return the measured cases."""
    return list(tomllib.loads(READINGS.read_text(encoding="utf-8"))["case"])


def measured(case: Mapping[str, Any]) -> Rows:
    """Return the kernel's goodput in kb/s and drops in percent, one number per run."""
    rows: Rows = {}
    for run in case["runs"]:
        found = {f"{color} dropped": 100 * run[color][1] / run[color][0] for color in COLORS}
        if case["kind"] == "mixed":
            found["green TCP"] = sum(run["tcp_bps"][:EACH]) / 1000
            found["yellow TCP"] = sum(run["tcp_bps"][EACH:]) / 1000
        else:
            found["TCP"] = sum(run["tcp_bps"]) / 1000
            found["UDP"] = run["udp_bps"] / 1000
        for quantity, value in found.items():
            rows.setdefault(quantity, []).append(value)
    return rows


def scenario(case: Mapping[str, Any], effort: Effort) -> dict[str, Any]:
    """Return the scenario of a case. Its shaper delivers a frame as soon as it leaves the queue."""
    is_mixed = case["kind"] == "mixed"
    bulk = {"bulk": {"tcp": TCP}}
    ends = {"from": "client", "to": "server"}
    if is_mixed:
        colors = {"green": "af11", "yellow": "af12"}
        traffic: list[dict[str, Any]] = [
            {"name": name, "class": name, "dscp": dscp, "count": EACH, "start-within": "0.8s", **ends}
            | {"source": bulk}
            for name, dscp in colors.items()
        ]
    else:
        cbr = {"rate": "2Mb/s", "packet": {"payload": f"{UDP_PAYLOAD}B"}}
        traffic = [
            {"name": "tcp", "count": MARKED, "start-within": "0.7s", **ends, "source": bulk},
            {"name": "udp", "dscp": "af12", "start-within": "10ms", **ends, "source": {"cbr": cbr}},
        ]
    slow = {
        "between": ["router", "server"],
        "rate": "100Gb/s",
        "delay": "20ms" if is_mixed else "30ms",
        "framing": "ethernet-header",
        "interfaces": {"router": {"output": "core"}},
    }
    return {
        "perhop": 1,
        "name": case["id"],
        "duration": f"{WARMUP_S + round(case['seconds'] * effort.scale)}s",
        "hosts": {"client": {}, "server": {}},
        "routers": {"router": {}},
        "links": [{"between": ["client", "router"], "rate": "100Gb/s"}, slow],
        "policies": {"core": policy(case)},
        "traffic": traffic,
        "measure": {"warmup": f"{WARMUP_S}s"},
    }


def policy(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the marker, if any, and GRED below the shaper. All of them count the Ethernet header."""
    is_mixed = case["kind"] == "mixed"
    gred = {
        "law": "linux-gred",
        "averages": case["averages"],
        "precedences": [
            {"min": "25KiB", "max": "50KiB", "max-probability": 0.02},
            {"min": case["yellow_min"], "max": "50KiB", "max-probability": 0.1},
        ],
        "averaging": {"exponent": case["exponent"]},
        "mean-packet-size": "1000B",
        "idle-rate": "10Mb/s",
        "limit": "150KiB",
    }
    shape = {"rate": MIXED_RATE if is_mixed else BULK_RATE, "burst": BURST}
    found: dict[str, Any] = {
        "overhead": ETHERNET,
        "queueing": {"classes": [{"name": "all", "shape": shape, "buffer": {"mred": gred}}]},
    }
    if not is_mixed:
        bucket = {"token-bucket": {"rate": "1715867b/s", "burst": "12403B"}}
        marks = {"green": [{"mark": "af11"}], "red": [{"mark": "af12"}]}
        found["conditioners"] = [{"match": {"protocol": "tcp"}, "meter": bucket, **marks}]
    return found


def simulated(case: Mapping[str, Any], effort: Effort) -> Rows:
    """Return the quantities of a case from perhop, one number per replication."""
    results = simulate(scenario(case, effort), effort)
    rows: Rows = {}
    for precedence, color in enumerate(COLORS):
        port = results.ports.filter(
            (pl.col("port") == "router->server") & (pl.col("precedence") == precedence)
        )
        rows[f"{color} dropped"] = by_replication(port, _dropped)
    if case["kind"] == "mixed":
        for color in COLORS:
            rows[f"{color} TCP"] = _goodput(results, f"{color}#")
    else:
        rows["TCP"] = _goodput(results, "tcp#")
        udp = results.flows.filter(pl.col("flow") == "udp")
        rows["UDP"] = by_replication(
            udp, lambda group: math.fsum(group["throughput_bps"]) / 1000 * UDP_PAYLOAD / UDP_IP
        )
    return rows


def _dropped(rows: pl.DataFrame) -> float:
    return 100 * sum_of(rows, "dropped_packets") / sum_of(rows, "arrived_packets")


def _goodput(results: Results, prefix: str) -> list[float]:
    rows = results.tcp.filter(pl.col("flow").cast(pl.String).str.starts_with(prefix))
    return by_replication(rows, lambda group: math.fsum(group["goodput_bps"]) / 1000)


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons of rates and drops."""
    for case in cases():
        reference, found = measured(case), simulated(case, effort)
        name = SCHEMES[case["averages"]]
        load = "10 Mb/s, 4 green and 4 yellow CUBIC flows"
        if case["kind"] == "bulk":
            load = "1.7 Mb/s, 3 metered CUBIC flows beside 2 Mb/s of yellow UDP"
        for quantity, values in reference.items():
            there, here = estimate(values), estimate(found[quantity])
            is_rate = not quantity.endswith("dropped")
            yield Comparison(
                PEER,
                name,
                load,
                quantity,
                "kb/s" if is_rate else "%",
                there,
                "Linux 6.1, virtual time",
                here,
                near(there, here) if is_rate else rule("%", NEAR_LOSS, NEAR_LOSS_POINTS, there.mean),
            )


def near(there: Value, here: Value) -> Rule:
    """Return the allowed difference of rates: 2 %, or both intervals combined if they are larger."""
    is_open = math.hypot(there.half, here.half) > NEAR_RATE * there.mean
    return Rule(chance=True) if is_open else Rule(relative=NEAR_RATE)


def part(effort: Effort) -> Part:
    """Return the comparisons with Linux's TCP and GRED as a part of the page."""
    about = (
        "perhop sends TCP of `linux-6` through `law: linux-gred`. The peer is TCP of Linux 6.1.192\n"
        "through GRED in a kernel with virtual time (tests/readings/linux-gred.toml). Both count from 10\n"
        "s on: the payload of all connections of a color together, and drops relative to arrivals. The\n"
        "rule for rates is 2 %, or chance if that is wider."
    )
    return Part(PEER, "Linux's GRED and TCP", about, list(compare(effort)))
