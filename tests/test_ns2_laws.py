"""The ns-2 laws of RED, compared with ns-2.35 itself: TCP and UDP of several precedences, ten seeds.

Goodput and drop rate of every precedence and the mean queue must differ by at most the combined 95 % interval
of perhop and ns-2.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

import perhop
from programs import needs

SCRIPT = Path(__file__).parent / "ns2" / "law.tcl"
# Student's t for 95 %, by the number of samples.
STUDENT = {10: 2.262, 40: 2.023}

STAGGERED = [[24, 49, 0.02], [10, 24, 0.1]]
PARTLY = [[24, 49, 0.02], [10, 49, 0.1]]
OVERLAPPED = [[24, 49, 0.02], [24, 49, 0.1]]
BURSTS = [0, "9Mb/s", 0.12, 2.0]
# Not a whole number of packets of 1000 B.
ODD_BURSTS = [0, "9Mb/s", 0.1205, 2.0]
# Rates whose packet intervals have no small common multiple.
OTHERS = [(0, "517kb/s"), (0, "401kb/s"), (0, "311kb/s"), (0, "263kb/s")]


@dataclass
class Case:
    """An experiment; `buffer` has the keys of perhop's RED other than its thresholds."""

    law: str
    curves: list[list[float]]
    buffer: dict[str, Any] = field(default_factory=dict)
    rate: str = "1.7Mb/s"
    delay: str = "30ms"
    limit: int = 60
    size: int = 1000
    tcp: dict[int, int] = field(default_factory=dict)
    cbr: list[tuple[int, str]] = field(default_factory=list)
    bursts: list[Any] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    seconds: int = 120
    warmup: int = 20

    def specification(self) -> str:
        """The argument of the script: a Tcl list."""

        def words(pairs: Any) -> str:
            return " ".join(f"{key} {str(value).removesuffix('/s')}" for key, value in pairs)

        queues = {"ns-2.35-dsred": "dsRED/core", "ns-2.35-rio": "RED/RIO"}
        mode = {"coupled": "RIO-C", "decoupled": "RIO-D", "single": "WRED"}
        spec: dict[str, Any] = {
            "queue": queues.get(self.law, "RED"),
            "mode": mode[self.buffer.get("averages", "single")],
            "rate": self.rate.removesuffix("/s"),
            "delay": self.delay,
            "limit": self.limit,
            "mean": self.size,
            "size": self.size,
            "seconds": self.seconds,
            "warmup": self.warmup,
            "curves": " ".join("{" + " ".join(map(str, curve)) + "}" for curve in self.curves),
            "tcp": words(self.tcp.items()),
            "cbr": words(self.cbr),
            "bursts": " ".join(str(word).removesuffix("/s") for word in self.bursts),
            **self.options,
        }
        return " ".join(f"{key} {{{value}}}" for key, value in spec.items())

    def document(self) -> dict[str, Any]:
        """The scenario."""
        hosts: dict[str, Any] = {}
        links: list[dict[str, Any]] = []
        traffic: list[dict[str, Any]] = []

        def flow(precedence: int, milliseconds: int, start: str, source: dict[str, Any]) -> None:
            name = f"p{precedence}-{len(traffic)}"
            hosts[name] = hosts[name + "-sink"] = {}
            wire = {"rate": "100Mb/s", "framing": "raw"}
            links.append({"between": [name, "r1"], "delay": f"{milliseconds}ms", **wire})
            links.append({"between": ["r2", name + "-sink"], "delay": "1ms", **wire})
            traffic.append(
                {
                    "name": name,
                    "class": f"p{precedence}",
                    "from": name,
                    "to": name + "-sink",
                    "dscp": f"af1{precedence + 1}",
                    "start-within": start,
                    "source": source,
                }
            )

        packet = {"ip": f"{self.size}B"}
        for precedence, count in self.tcp.items():
            for _ in range(count):
                bulk = {"tcp": {"profile": "ns2-reno-1999", "window": "64 packets"}}
                flow(precedence, 1 + len(traffic), "1s", {"bulk": bulk})
        for precedence, rate in self.cbr:
            flow(precedence, 1, "1s", {"cbr": {"rate": rate, "packet": packet}})
        if self.bursts:
            precedence, rate, on, off = self.bursts
            # ns-2's CBR begins each burst with a packet.
            times = {"on-time": f"{on}s", "off-time": f"{off}s", "cut-gap": "dropped"}
            flow(precedence, 1, f"{on + off}s", {"on-off": {"rate": rate, "packet": packet, **times}})
        links.append(
            {
                "between": ["r1", "r2"],
                "rate": self.rate,
                "delay": self.delay,
                "framing": "raw",
                "interfaces": {"r1": {"output": "red"}},
            }
        )
        precedences = [
            {"min": f"{low} packets", "max": f"{high} packets", "max-probability": probability}
            for low, high, probability in self.curves
        ]
        red = {
            "law": self.law,
            "precedences": precedences,
            "averaging": {"weight": 0.002},
            "mean-packet-size": f"{self.size}B",
            "limit": f"{self.limit} packets",
            **self.buffer,
        }
        classes = [{"name": "all", "precedence": "dscp", "buffer": {"mred": red}}]
        return {
            "perhop": 1,
            "name": "a law of ns-2",
            "duration": f"{self.seconds}s",
            "hosts": hosts,
            "routers": {"r1": {}, "r2": {}},
            "links": links,
            "traffic": traffic,
            "policies": {"red": {"queueing": {"classes": classes}}},
            "measure": {
                "warmup": f"{self.warmup}s",
                "queues": [{"from": "r1", "to": "r2", "every": "2ms"}],
            },
        }


DS = "ns-2.35-dsred"
CASES = {
    # Study mred-af, tables 2 to 4, in packets.
    "on-off staggered WRED": Case(
        DS, STAGGERED, {"averages": "single"}, limit=146, size=1052, cbr=[(1, "9Mb/s")], bursts=BURSTS
    ),
    "on-off staggered RIO-C": Case(
        DS, STAGGERED, {"averages": "coupled"}, limit=146, size=1052, cbr=[(1, "9Mb/s")], bursts=BURSTS
    ),
    "on-off staggered RIO-D": Case(
        DS, STAGGERED, {"averages": "decoupled"}, limit=146, size=1052, cbr=[(1, "9Mb/s")], bursts=BURSTS
    ),
    "on-off partly overlapped WRED": Case(
        DS, PARTLY, {"averages": "single"}, limit=146, size=1052, cbr=[(1, "2Mb/s")], bursts=BURSTS
    ),
    "on-off partly overlapped RIO-C": Case(
        DS, PARTLY, {"averages": "coupled"}, limit=146, size=1052, cbr=[(1, "2Mb/s")], bursts=BURSTS
    ),
    "on-off overlapped WRED": Case(
        DS, OVERLAPPED, {"averages": "single"}, limit=146, size=1052, cbr=[(1, "2Mb/s")], bursts=BURSTS
    ),
    # TCP with UDP of a higher precedence.
    "TCP beside UDP WRED": Case(
        DS, [[15, 30, 0.1], [5, 15, 0.1]], {"averages": "single"}, tcp={0: 10}, cbr=[(1, "1Mb/s")], limit=50
    ),
    "TCP beside UDP RIO-C": Case(
        DS, [[15, 30, 0.1], [5, 15, 0.1]], {"averages": "coupled"}, tcp={0: 10}, cbr=[(1, "1Mb/s")], limit=50
    ),
    "TCP beside UDP RIO-D": Case(
        DS,
        [[15, 30, 0.1], [5, 15, 0.1]],
        {"averages": "decoupled"},
        tcp={0: 10},
        cbr=[(1, "1Mb/s")],
        limit=50,
    ),
    "TCP of three precedences RIO-C": Case(
        DS,
        [[15, 30, 0.02], [10, 20, 0.05], [5, 10, 0.1]],
        {"averages": "coupled"},
        tcp={0: 5, 1: 5, 2: 5},
        rate="5Mb/s",
    ),
    "TCP RED with wait": Case(
        "ns-2.35",
        [[5, 15, 0.1]],
        {"above-max": "drop", "probability": "per-packet"},
        tcp={0: 10},
        rate="5Mb/s",
        delay="20ms",
    ),
    # One precedence, with bursts above the rate of the link.
    "RED with wait": Case(
        "ns-2.35",
        [[10, 30, 0.1]],
        {"above-max": "drop", "probability": "per-packet"},
        cbr=OTHERS,
        bursts=ODD_BURSTS,
    ),
    "RED gentle without wait": Case(
        "ns-2.35",
        [[10, 30, 0.1]],
        {"drop-spacing": "counted-first", "probability": "per-packet"},
        cbr=OTHERS,
        bursts=ODD_BURSTS,
        options={"wait": "false", "gentle": "true"},
    ),
    "RED counting bytes": Case(
        "ns-2.35",
        [[10, 30, 0.1]],
        {},
        cbr=OTHERS,
        bursts=ODD_BURSTS,
        options={"bytes": "true", "gentle": "true"},
    ),
    "RIO, TCP in and UDP out": Case(
        "ns-2.35-rio",
        [[15, 30, 0.05], [5, 15, 0.1]],
        {"averages": "coupled"},
        tcp={0: 10},
        cbr=[(1, "517kb/s"), (1, "401kb/s")],
    ),
    "RIO, bursts in and UDP out": Case(
        "ns-2.35-rio",
        [[15, 30, 0.05], [5, 15, 0.1]],
        {"averages": "coupled", "drop-spacing": "counted-first"},
        cbr=[(0, "401kb/s"), (1, "917kb/s")],
        bursts=ODD_BURSTS,
        options={"wait": "false"},
    ),
    "RED of 1999": Case(
        "ns-2-1999",
        [[10, 30, 0.05]],
        {},
        cbr=OTHERS,
        bursts=ODD_BURSTS,
        limit=40,
        options={"compat": "true", "mark": "false"},
    ),
    "RED of 1999 without wait": Case(
        "ns-2-1999",
        [[5, 15, 0.1]],
        {"drop-spacing": "counted-first"},
        cbr=OTHERS,
        bursts=ODD_BURSTS,
        limit=40,
        options={"compat": "true", "mark": "false", "wait": "false"},
    ),
}


def of_ns2(case: Case, first: int, count: int) -> list[list[float]]:
    """Rows of ns-2: goodput (packets per second) and drops (%) of each precedence, mean queue (packets)."""

    def run(seed: int) -> list[float]:
        ended = subprocess.run(
            ["ns", str(SCRIPT), str(seed), case.specification()], capture_output=True, text=True, check=True
        )
        *counts, queue = map(float, ended.stdout.split())
        return [*figures(counts, case), queue]

    return [run(seed) for seed in range(first, first + count)]


def figures(counts: list[float], case: Case) -> list[float]:
    """Goodput and drops in percent of pairs of arrived and dropped packets."""
    pairs = zip(counts[::2], counts[1::2], strict=True)
    span = case.seconds - case.warmup
    return [value for arrived, lost in pairs for value in ((arrived - lost) / span, 100 * lost / arrived)]


def of_perhop(case: Case, seed: int, count: int) -> list[list[float]]:
    """Return the rows of perhop, in the units of `of_ns2`."""
    result = perhop.Scenario(case.document()).run(seed=seed, replications=count)
    rows = []
    for replication in range(count):
        ports = result.ports.filter(
            (result.ports["replication"] == replication) & (result.ports["port"] == "r1->r2")
        ).sort("precedence")
        counts: list[float] = []
        for row in ports.head(len(case.curves)).iter_rows(named=True):
            counts += [row["arrived_packets"], row["dropped_packets"]]
        # A row for each average; each reports the whole queue.
        queues = result.queues.filter(result.queues["replication"] == replication)
        held = queues["packets"].to_list()
        rows.append([*figures(counts, case), sum(held) / len(held)])
    return rows


def far(case: Case, seed: int, count: int) -> list[str]:
    """Return the differences that exceed chance."""
    own, other = of_perhop(case, seed, count), of_ns2(case, seed, count)
    precedences = range(len(case.curves))
    names = [f"{what} of precedence {number}" for number in precedences for what in ("goodput", "drops")]
    found = []
    for index, what in enumerate([*names, "mean queue"]):
        mine, theirs = [row[index] for row in own], [row[index] for row in other]
        chance = float((half(mine) ** 2 + half(theirs) ** 2) ** 0.5)
        difference = mean(mine) - mean(theirs)
        line = f"{what}: {mean(mine):.3f}, ns-2 {mean(theirs):.3f}, apart {difference:.3f} of {chance:.3f}"
        sys.stdout.write(line + "\n")
        if abs(difference) > chance:
            found.append(line)
    return found


def half(samples: list[float]) -> float:
    """Half of the 95 % interval of the mean."""
    return float(STUDENT[len(samples)] * stdev(samples) / len(samples) ** 0.5)


@pytest.mark.thorough
@needs("ns")
@pytest.mark.parametrize("name", CASES)
def test_a_law_agrees_with_ns2(name: str) -> None:
    """Ten seeds: one figure in twenty differs by chance, and must agree with forty other seeds."""
    if far(CASES[name], 1, 10):
        assert not far(CASES[name], 101, 40)
