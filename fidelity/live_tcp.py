"""Compare `linux-6` with the TCP of this machine's kernel in the testbed of `perhop live`.

Four CUBIC flows share a link of perhop's own forwarder. The hosts are network namespaces with the sockets of
the kernel. The simulation runs the same scenario. The version and the timer ticks of this machine's kernel
may differ from those that the profile models.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import perhop
from fidelity.comparison import Comparison, Rule, estimate
from fidelity.document import Part
from fidelity.simulating import SEED, Effort, simulate
from perhop.live import rights
from perhop.live.building import offered_congestion_controls
from perhop.live.measuring import Measured, measure
from perhop.live.priority import in_real_time
from perhop.results import Results

PEER = "live-tcp"
RUNS, SECONDS, WARMUP_S = 3, 60.0, 10.0
#: At tail drop, all flows may lose packets at once. Their shares of a minute then differ by ten points.
RUNS_AT_TAIL_DROP = 10
FLOWS = (1, 2, 3, 4)
RATE = "20Mb/s"
#: Transmission time of a full frame on the link, ms. A frame has 1514 bytes, as in the counts of Linux's
#: qdiscs.
FRAME_MS = 1514 * 8 / 20e3
BUFFERS: Mapping[str, dict[str, Any]] = {
    "tail drop": {"tail-drop": {"limit": "100 packets"}},
    "codel": {"codel": {"law": "linux"}},
    "fq-codel": {"fq-codel": {"law": "linux"}},
    "pie": {"pie": {"law": "linux"}},
}
POINTS = Rule(absolute=5.0, what="5 points")
GOODPUT = Rule(relative=0.03)
DELAY = Rule(relative=0.15)


@dataclass(frozen=True)
class Case:
    """A queue, and the delays of the links of the four hosts, ms."""

    buffer: str
    delays_ms: tuple[int, int, int, int]

    @property
    def name(self) -> str:
        """The description of the load."""
        round_trips = [str(2 * delay) for delay in self.delays_ms]
        if len(set(round_trips)) == 1:
            return f"round trips of {round_trips[0]} ms"
        return f"round trips of {', '.join(round_trips[:-1])} and {round_trips[-1]} ms"

    @property
    def runs(self) -> int:
        """The number of compared runs of the kernel."""
        return RUNS_AT_TAIL_DROP if self.buffer == "tail drop" else RUNS


EQUAL, UNEQUAL = (10, 10, 10, 10), (5, 10, 20, 40)
CASES = tuple(Case(buffer, delays) for buffer in BUFFERS for delays in (EQUAL, UNEQUAL))


def scenario(case: Case, seconds: float = SECONDS, warmup_s: float = WARMUP_S) -> dict[str, Any]:
    """Return four flows from hosts with separate links to the queue."""
    tcp = {"profile": "linux-6", "window": "1MiB"}
    return {
        "perhop": 1,
        "name": f"{case.buffer}, {case.name}",
        "duration": f"{seconds:g}s",
        "hosts": {**{f"server{number}": {} for number in FLOWS}, "client": {}},
        "routers": {"router": {}},
        "links": [
            *(
                {"between": [f"server{number}", "router"], "rate": "1Gb/s", "delay": f"{delay}ms"}
                for number, delay in zip(FLOWS, case.delays_ms, strict=True)
            ),
            {
                "between": ["router", "client"],
                "rate": RATE,
                "framing": "ethernet-header",
                "interfaces": {"router": {"output": "queue"}},
            },
        ],
        "policies": {"queue": {"queueing": {"classes": [{"name": "all", "buffer": BUFFERS[case.buffer]}]}}},
        "traffic": [
            {
                "name": f"flow {number}",
                "class": f"flow {number}",
                "from": f"server{number}",
                "to": "client",
                "start": f"{100 * number}ms",
                "start-within": "100ms",
                "source": {"bulk": {"tcp": tcp}},
            }
            for number in FLOWS
        ],
        "measure": {"warmup": f"{warmup_s:g}s"},
    }


def measured(case: Case, results: Results) -> dict[str, list[float]]:
    """Return each quantity of a case, one number per replication."""
    assert results.tcp is not None
    runs = sorted(results.tcp["replication"].unique().to_list())
    goodputs = {
        (row["replication"], row["class"]): row["goodput_bps"] / 1e6
        for row in results.tcp.group_by("replication", "class").sum().iter_rows(named=True)
    }
    delays = {
        (row["replication"], row["class"]): 1e3 * row["delay_mean_s"]
        for row in results.classes.iter_rows(named=True)
    }
    found: dict[str, list[float]] = {"goodput": [], "queue delay, mean": []}
    for run in runs:
        each = [goodputs[run, f"flow {number}"] for number in FLOWS]
        found["goodput"].append(math.fsum(each))
        waits = [
            delays[run, f"flow {number}"] - own - FRAME_MS
            for number, own in zip(FLOWS, case.delays_ms, strict=True)
        ]
        found["queue delay, mean"].append(_mean(waits))
        for number, goodput in zip(FLOWS, each, strict=True):
            found.setdefault(f"share of flow {number}", []).append(100 * goodput / math.fsum(each))
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def live(case: Case, runs: int = RUNS, seconds: float = SECONDS, warmup_s: float = WARMUP_S) -> Measured:
    """Run a case with the kernel's TCP, one run after the other."""
    with in_real_time():
        return measure(perhop.Scenario(scenario(case, seconds, warmup_s)), seed=SEED, replications=runs)


def compared(
    case: Case, kernel: Mapping[str, Sequence[float]], own: Mapping[str, Sequence[float]]
) -> Iterator[Comparison]:
    """Generate the comparisons of a case."""
    release = platform.release().partition("-")[0]
    for quantity, numbers in kernel.items():
        unit, rule = _UNITS[quantity.partition(" of ")[0]]
        yield Comparison(
            PEER,
            case.buffer,
            case.name,
            quantity,
            unit,
            estimate(numbers),
            f"TCP of Linux {release}",
            estimate(own[quantity]),
            rule,
        )


_UNITS = {
    "goodput": ("Mb/s", GOODPUT),
    "queue delay, mean": ("ms", DELAY),
    "share": ("%", POINTS),
}


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with the kernel's TCP."""
    seconds, warmup_s = (SECONDS, WARMUP_S) if effort.scale >= 1 else (10.0, 3.0)
    for case in CASES:
        runs = case.runs if effort.scale >= 1 else 1
        # The runs are not simultaneous, because the simulation would delay the packets.
        many = replace(effort, replications=max(effort.replications, runs))
        own = measured(case, simulate(scenario(case, seconds, warmup_s), many))
        there = live(case, runs, seconds, warmup_s).results
        assert there is not None
        yield from compared(case, measured(case, there), own)


def missing() -> str | None:
    """Return the reason why the comparison cannot run on this machine; `None` if it can."""
    lacks = rights.missing_capabilities()
    if lacks:
        return f"this user lacks {', '.join(lacks)}"
    return None if "cubic" in offered_congestion_controls() else "this kernel has no CUBIC"


def part(effort: Effort) -> Part:
    """Return the comparisons with the kernel's TCP as a part of the page."""
    release = platform.release().partition("-")[0]
    about = (
        f"The peer is four CUBIC flows of the TCP of Linux {release} through the queues of `perhop live`,\n"
        f"{RUNS} times ({RUNS_AT_TAIL_DROP} through tail drop) for {SECONDS:g} s at "
        f"{RATE.replace('Mb', ' Mb')}. perhop simulates the same\n"
        f"scenario with `linux-6`. Both count from {WARMUP_S:g} s on. The numbers of the peer differ from\n"
        "run to run. Intervals are not part of the rules."
    )
    why = missing()
    if why:
        return Part(PEER, "Live TCP", about, skipped={"four CUBIC flows": why})
    return Part(PEER, "Live TCP", about, list(compare(effort)))
