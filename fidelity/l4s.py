"""Prague and CUBIC in DualPI2, compared with the kernel of the L4S team: tests/readings/l4s-tests.csv.

Replications differ in the phases of the hosts' clocks and in the draws of DualPI2. The testbed has one run
for each pair of flows, in real time.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.simulating import Effort, by_replication, simulate

PEER = "l4s"
READINGS = Path(__file__).parents[1] / "tests" / "readings" / "l4s-tests.csv"
#: The measured interval of the testbed.
FROM_S, UNTIL_S = 118, 178
REPLICATIONS = 4
NEAR = Rule(absolute=5.0, what="5 points")
#: The Prague of 2020 still gives flows with short round trips an advantage. CUBIC uses ECN of RFC 3168.
CONTROLS: Mapping[str, dict[str, Any]] = {
    "prague": {"congestion": "prague", "virtual-rtt": "0s"},
    "cubic": {"congestion": "cubic", "ecn": True},
}
NAMES = {"prague": "Prague", "cubic": "CUBIC"}


def cases() -> list[dict[str, str]]:
    """Return the measured pairs of flows."""
    lines = [line for line in READINGS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def scenario(case: Mapping[str, str]) -> dict[str, Any]:
    """Return two flows through DualPI2. The delays of the links give the round trips of the flows."""
    traffic, links = [], []
    for which in ("first", "second"):
        tcp = {"profile": "linux-6", **CONTROLS[case[which]]}
        flow = {"name": which, "from": which, "to": "client", "start": "100ms", "start-within": "10ms"}
        traffic.append({**flow, "source": {"bulk": {"tcp": tcp}}})
        delay_us = round(float(case[f"{which}_rtt_ms"]) * 500)
        links.append({"between": [which, "router"], "rate": "1Gb/s", "delay": f"{delay_us}us"})
    bottleneck = {
        "between": ["router", "client"],
        "rate": f"{case['rate_mbps']}Mb/s",
        "framing": "ethernet-header",
        "interfaces": {"router": {"output": "queue"}},
    }
    # The step of the measured kernel did not mark a packet if fewer than two other packets were in the queue.
    dualpi2 = {"name": "all", "buffer": {"dualpi2": {"law": "linux", "min-qlen-step": 2}}}
    return {
        "perhop": 1,
        "name": "l4s",
        "duration": f"{UNTIL_S}s",
        "hosts": {"first": {}, "second": {}, "client": {}},
        "routers": {"router": {}},
        "links": [*links, bottleneck],
        "policies": {"queue": {"queueing": {"classes": [dualpi2]}}},
        "traffic": traffic,
        "measure": {"warmup": f"{FROM_S}s"},
    }


def share(rows: pl.DataFrame) -> float:
    """Return the share of the first flow in the goodput, percent."""
    rates = dict(zip(rows["flow"].cast(pl.String), rows["goodput_bps"], strict=True))
    return float(100 * rates["first"] / (rates["first"] + rates["second"]))


def compare(effort: Effort, pairs: Iterable[Mapping[str, str]]) -> Iterator[Comparison]:
    """Generate the comparisons of shares for pairs of flows."""
    for case in pairs:
        few = replace(effort, replications=min(effort.replications, REPLICATIONS))
        results = simulate(scenario(case), few)
        assert results.tcp is not None
        first, second = float(case["first_mbps"]), float(case["second_mbps"])
        ends = [f"{NAMES[case[which]]} {case[f'{which}_rtt_ms']} ms" for which in ("first", "second")]
        yield Comparison(
            PEER,
            "DualPI2",
            f"{case['rate_mbps']} Mb/s, {ends[0]} beside {ends[1]}",
            "share of the first",
            "%",
            Value(100 * first / (first + second)),
            "l4s-tests s1",
            estimate(by_replication(results.tcp, share)),
            NEAR,
        )


def part(effort: Effort) -> Part:
    """Return the comparisons with the L4S team's kernel as a part of the page."""
    about = (
        "perhop runs two flows in DualPI2 (`law: linux`), of Prague with ECT(1) or CUBIC with RFC 3168.\n"
        "The peer is the same pair of flows of L4STeam/linux in August 2020 (heistp/l4s-tests,\n"
        "tests/readings/l4s-tests.csv). The share of the first flow in the last of three minutes is\n"
        "compared. Each case of the peer ran once, in real time, and 10 % of a rate is random. One case\n"
        "with two Prague flows and one with two CUBIC flows differ. There, a kernel with these rules and\n"
        "virtual time has 25 % in the first case, and 41 and 43 % in the second ([the study\n"
        "l4s-tests](study-l4s-tests.md))."
    )
    return Part(PEER, "L4S", about, list(compare(effort, cases())))
