"""`linux-6` through queues of Linux, beside Linux: tests/readings/linux-tcp-aqm.csv.

Four bulk flows, alone or beside a call, through a queue at 10 Mb/s. Replications differ in when the flows
start, in the phases of the hosts' clocks, in the hashes of FQ-CoDel and CAKE, and in the draws of PIE and
CAKE, and so do the runs of the kernel.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.linux_tcp import EXTRAS, PLAIN, RATE
from fidelity.simulating import Effort, simulate
from perhop.results import Results

PEER = "linux-aqm"
READINGS = Path(__file__).parents[1] / "tests" / "readings" / "linux-tcp-aqm.csv"
FROM_S, UNTIL_S = 20, 300
#: As many as the kernel's runs, and one more.
REPLICATIONS = 4
#: Linux's `htb` with `burst 1` sends a frame whenever it has a byte, and pays for the rest afterwards.
BURST = "1B"
#: What CAKE's own shaper was told. Like the kernel's, it counts the Ethernet header.
BANDWIDTH = "10Mb/s"
#: The counterparts of the disciplines; every other value is Linux's default on both sides.
BUFFERS: Mapping[str, dict[str, Any]] = {
    "pfifo": {"tail-drop": {"limit": "100 packets"}},
    "codel": {"codel": {"law": "linux"}},
    "fq_codel": {"fq-codel": {"law": "linux", "ecn": "ignore"}},
    "pie": {"pie": {"law": "linux"}},
    "fq_pie": {"fq-pie": {"law": "linux"}},
    "cake-besteffort": {"cake": {"bandwidth": BANDWIDTH, "tins": "besteffort"}},
    "cake-diffserv4": {"cake": {"bandwidth": BANDWIDTH, "tins": "diffserv4"}},
}
#: What is compared: the column of the readings, its name and unit, how near it must be, and from which
#: difference on that is a part of the reference.
QUANTITIES = (
    ("goodput_mbps", "goodput", "Mb/s", 0.03, 0.0),
    ("loss_percent", "loss", "%", 0.1, 0.3),
    ("wait_p50_ms", "wait, median", "ms", 0.1, 1.0),
    ("wait_p99_ms", "wait, 99th percentile", "ms", 0.1, 1.0),
    ("voip_loss_percent", "loss of the call", "%", 0.1, 0.3),
    ("voip_p50_ms", "wait of the call, median", "ms", 0.1, 1.0),
    ("voip_p99_ms", "wait of the call, 99th percentile", "ms", 0.1, 1.0),
)


@dataclass(frozen=True)
class Case:
    """What was measured of one discipline under one load: a list of runs for each quantity."""

    #: `reno-plain`, `cubic-on`, `voip` and so on.
    flows: str
    round_trip_ms: int
    discipline: str
    runs: Mapping[str, Sequence[float]]

    @property
    def name(self) -> str:
        """Say in words what the load is."""
        if self.flows == "voip":
            return f"{self.round_trip_ms} ms, a call beside four CUBIC flows"
        control, extras = self.flows.split("-")
        name = "Reno" if control == "reno" else "CUBIC"
        return f"{self.round_trip_ms} ms, four {name} flows {EXTRAS[extras]}"


def cases() -> list[Case]:
    """Return what was measured."""
    lines = [line for line in READINGS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    runs: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for row in csv.DictReader(lines):
        found = runs.setdefault((row["flows"], int(row["round_trip_ms"]), row["discipline"]), {})
        for column, *_ in QUANTITIES:
            if row[column]:
                found.setdefault(column, []).append(float(row[column]))
    return [Case(*key, values) for key, values in runs.items()]


def scenario(case: Case) -> dict[str, Any]:
    """Return the load through the queue, which delivers a frame the moment it leaves it."""
    control, _, extras = case.flows.partition("-")
    congestion = "reno" if control == "reno" else "cubic"
    tcp: dict[str, Any] = {"profile": "linux-6", "window": "4MiB", "congestion": congestion}
    if extras == "plain":
        tcp |= PLAIN
    ends = {"from": "server", "to": "client", "class": "all"}
    traffic = [
        {
            **ends,
            "name": f"flow {number}",
            "destination-port": 5000 + number,
            "start": f"{100 + 100 * number}ms",
            "start-within": "100ms",
            "source": {"bulk": {"tcp": tcp}},
        }
        for number in range(1, 5)
    ]
    if case.flows == "voip":
        source = {"cbr": {"rate": "80kb/s", "packet": {"ip": "200B"}}}
        start = {"start": "100ms", "start-within": "20ms"}
        call = {"name": "call", "destination-port": 4000, "dscp": "ef", "source": source}
        traffic.append({**ends, **start, **call})
    queue: dict[str, Any] = {"name": "all", "buffer": BUFFERS[case.discipline]}
    if not case.discipline.startswith("cake"):
        queue["shape"] = {"rate": RATE, "burst": BURST}
    bottleneck = {
        "between": ["router", "client"],
        "rate": "100Gb/s",
        "framing": "ethernet-header",
        "delay": f"{case.round_trip_ms // 2}ms",
        "interfaces": {"router": {"output": "queue"}},
    }
    return {
        "perhop": 1,
        "name": f"{case.flows}-r{case.round_trip_ms}-{case.discipline}",
        "duration": f"{UNTIL_S}s",
        "hosts": {"server": {}, "client": {}},
        "routers": {"router": {}},
        "links": [{"between": ["server", "router"], "rate": "100Gb/s"}, bottleneck],
        "policies": {"queue": {"queueing": {"classes": [queue]}}},
        "traffic": traffic,
        "measure": {"warmup": f"{FROM_S}s", "delays": "per-flow"},
    }


def measured(case: Case, results: Results) -> dict[str, list[float]]:
    """Return each quantity of a case, one number for each replication."""
    base_ms = case.round_trip_ms / 2

    def waits(table: pl.DataFrame, column: str) -> list[float]:
        return [1e3 * delay_s - base_ms for delay_s in table.sort("replication")[column]]

    def by_replication(table: pl.DataFrame, column: str) -> list[float]:
        sums = table.group_by("replication").agg(pl.col(column).sum()).sort("replication")
        return [float(value) for value in sums[column]]

    assert results.tcp is not None
    port = results.ports.filter(pl.col("port") == "router->client")
    way_there = results.classes.filter(pl.col("class") == "all")
    arrived, dropped = by_replication(port, "arrived_packets"), by_replication(port, "dropped_packets")
    found = {
        "goodput_mbps": [rate / 1e6 for rate in by_replication(results.tcp, "goodput_bps")],
        "loss_percent": [100 * lost / all_ for lost, all_ in zip(dropped, arrived, strict=True)],
        "wait_p50_ms": waits(way_there, "delay_p50_s"),
        "wait_p99_ms": waits(way_there, "delay_p99_s"),
    }
    if case.flows == "voip":
        call = results.flows.filter(pl.col("flow") == "call")
        found |= {
            "voip_loss_percent": by_replication(call, "dropped_percent"),
            "voip_p50_ms": waits(call, "delay_p50_s"),
            "voip_p99_ms": waits(call, "delay_p99_s"),
        }
    return found


def rule(unit: str, relative: float, absolute: float, reference: float) -> Rule:
    """Return how near a value must be: by a part of the reference, or by so much where that is more."""
    if relative * reference >= absolute:
        return Rule(relative=relative)
    return Rule(absolute=absolute, what=f"{absolute:g} {'points' if unit == '%' else unit}")


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons of all cases."""
    for case in cases():
        runs_here = replace(effort, replications=min(effort.replications, REPLICATIONS))
        found = measured(case, simulate(scenario(case), runs_here))
        for column, quantity, unit, relative, absolute in QUANTITIES:
            if column not in case.runs:
                continue
            runs = case.runs[column]
            mean = math.fsum(runs) / len(runs)
            yield Comparison(
                PEER,
                case.discipline,
                case.name,
                quantity,
                unit,
                Value(mean, estimate(runs).half),
                "Linux 6.1, virtual time",
                estimate(found[column]),
                rule(unit, relative, absolute, mean),
            )


def part(effort: Effort) -> Part:
    """Return the comparisons with Linux's queues as a part of the page."""
    about = (
        "Four flows of `linux-6` through a queue of Linux at 10 Mb/s for 300 s, and the same of Linux\n"
        "6.1.192 in a kernel with virtual time (tests/readings/linux-tcp-aqm.csv), counted from 20 s on:\n"
        "three runs of the kernel, one of the FIFO, and four of perhop. Intervals are not part of the rules."
    )
    return Part(PEER, "Linux's queues and TCP", about, list(compare(effort)))
