"""perhop compared with ns-2: RED and RIO-C with and without TCP, each with several seeds.

Quantities are means over seeds with 95 % confidence intervals. A difference of 1 % is allowed in addition to
chance, because smaller differences do not matter in a network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

import perhop
from fidelity.comparison import BY_CHANCE, Comparison, estimate
from fidelity.document import Part
from fidelity.reasons import Reason, reason
from fidelity.simulating import SEED, Effort, by_replication, mean_of, simulate, sum_of
from perhop.results import Results

PEER = "ns-2"
ROOT = Path(__file__).parents[1]
# The laws of perhop's buffer managers that match ns-2. They are set only here. The scripts switch off
# `gentle_` and `bytes_`, which are on in ns-2.35.
RED_LAW = {"law": "ns-2.35", "above-max": "drop", "probability": "per-packet"}
DSRED_LAW = {"law": "ns-2.35-dsred"}
SECONDS, WARMUP = 200, 20
# The size of the packets of studies/drop-precedence on the wire, bits, and the time in which it counts them.
PACKET_BITS, COUNTED_S = 576 * 8, 100.1
RED_OF_STUDY = "policies.red-n.queueing.classes.af1.buffer.mred"

#: The results of a run by quantity.
Row = list[float]


def missing() -> str | None:
    """Return the reason why ns-2 is not available; `None` if it is available."""
    return None if shutil.which("ns") else "there is no program `ns` (Debian's package ns2)"


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with ns-2."""
    yield from _red(effort)
    for kind, pairs in (("udp", 10), ("tcp", 10), ("tcp", 30)):
        yield from _dsred(kind, pairs, effort)
    for plain in (True, False):
        for rate in ("128Kb", "1.28Mb"):
            yield from _study(rate, effort, plain=plain)


def _by_ns2(script: Path, seeds: int, *arguments: object) -> list[Row]:
    """Return the numbers that a script prints, for each seed."""

    def run(seed: int) -> Row:
        command = ["ns", str(script), str(seed), *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        return [float(word) for word in ended.stdout.split()]

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        return list(workers.map(run, range(seeds)))


def _compared(
    name: str,
    case: str,
    quantities: list[tuple[str, str]],
    rows: tuple[list[Row], list[Row]],
    known: dict[str, Reason] | None = None,
) -> Iterator[Comparison]:
    """Generate a comparison for each column of the rows of perhop and of ns-2."""
    own, peer = rows
    for column, (quantity, unit) in enumerate(quantities):
        yield Comparison(
            PEER,
            name,
            case,
            quantity,
            unit,
            estimate([row[column] for row in peer]),
            "ns-2.35",
            estimate([row[column] for row in own]),
            BY_CHANCE,
            (known or {}).get(quantity),
        )


def _many(effort: Effort) -> Effort:
    """Return an effort with one replication per seed, and more replications than for theory."""
    return Effort(effort.replications + 2, effort.scale)


def _bottleneck(
    rate: str, policy: dict[str, Any], flows: list[dict[str, Any]], seconds: int, warmup: int
) -> dict[str, Any]:
    """Return a scenario of flows between separate hosts through a bottleneck with a delay of 20 ms."""
    hosts: dict[str, Any] = {}
    links: list[dict[str, Any]] = []
    traffic = []
    for number, flow in enumerate(flows):
        source, sink = f"source{number}", f"sink{number}"
        hosts |= {source: {}, sink: {}}
        delay = flow.pop("delay")
        links += [
            {"between": [source, "r1"], "rate": "100Mb/s", "delay": delay},
            {"between": ["r2", sink], "rate": "100Mb/s", "delay": "1ms"},
        ]
        traffic.append({"name": source, "class": "all", "from": source, "to": sink, **flow})
    slow = {"between": ["r1", "r2"], "rate": rate, "delay": "20ms", "interfaces": {"r1": {"output": "core"}}}
    return {
        "perhop": 1,
        "name": "ns-2",
        "duration": f"{seconds}s",
        "hosts": hosts,
        "routers": {"r1": {}, "r2": {}},
        "links": [*links, slow],
        "policies": {"core": policy},
        "traffic": traffic,
        "measure": {"warmup": f"{warmup}s", "queues": [{"from": "r1", "to": "r2", "every": "5ms"}]},
    }


def _tcp(window: str = "64 packets") -> dict[str, Any]:
    return {"bulk": {"tcp": {"profile": "ns2-reno-1999", "window": window}}}


def _spans(effort: Effort) -> tuple[int, int]:
    seconds = int(effort.seconds(SECONDS).removesuffix("s"))
    return seconds, max(1, round(WARMUP * seconds / SECONDS))


def _queue(results: Results) -> list[float]:
    """Return the mean queue of the bottleneck in packets, per replication."""
    # Each precedence has a row with the packets of the whole queue, so that one row is sufficient.
    moments = results.queues.filter(pl.col("precedence") == 0)
    return by_replication(moments, lambda rows: mean_of(rows, "packets"))


def _ports(results: Results, value: Callable[[pl.DataFrame], float]) -> list[float]:
    return by_replication(results.ports.filter(pl.col("port") == "r1->r2"), value)


def _dropped(rows: pl.DataFrame) -> float:
    """Return the dropped packets in percent of the arriving packets."""
    return 100 * sum_of(rows, "dropped_packets") / sum_of(rows, "arrived_packets")


def _red(effort: Effort) -> Iterator[Comparison]:
    """Compare ten Reno connections through RED."""
    seconds, warmup = _spans(effort)
    red = {
        "precedences": [{"min": "5 packets", "max": "15 packets", "max-probability": 0.1}],
        "mean-packet-size": "1000B",
        "limit": "60 packets",
        **RED_LAW,
    }
    flows = [{"delay": f"{number + 1}ms", "start-within": "1s", "source": _tcp()} for number in range(10)]
    policy = {"queueing": {"classes": [{"name": "all", "buffer": {"red": red}}]}}
    many = _many(effort)
    results = simulate(_bottleneck("5Mb/s", policy, flows, seconds, warmup), many)
    sent = _ports(results, lambda rows: sum_of(rows, "sent_packets") / (seconds - warmup))
    lost = _ports(results, _dropped)
    own = [list(row) for row in zip(sent, lost, _queue(results), strict=True)]
    script = ROOT / "crates" / "perhop-sim" / "tests" / "ns2" / "red.tcl"
    peer = _by_ns2(script, many.replications, seconds, warmup)
    quantities = [("sent", "packets/s"), ("dropped", "%"), ("mean queue", "packets")]
    yield from _compared("RED", "10 Reno connections, 5 Mb/s, wait", quantities, (own, peer), {})


def _dsred(kind: str, pairs: int, effort: Effort) -> Iterator[Comparison]:
    """Compare RIO-C with two precedences behind a token bucket with ns-2's dsRED."""
    seconds, warmup = _spans(effort)
    rio = {
        "precedences": [
            {"min": "40 packets", "max": "70 packets", "max-probability": 0.02},
            {"min": "10 packets", "max": "40 packets", "max-probability": 0.1},
        ],
        "mean-packet-size": "1000B",
        "limit": "200 packets",
        **DSRED_LAW,
    }
    policy = {
        "conditioners": [
            {
                "meter": {"token-bucket": {"rate": "6Mb/s", "burst": "10kB"}},
                "green": [{"mark": "af11"}],
                "red": [{"mark": "af12"}],
            }
        ],
        "queueing": {"classes": [{"name": "af1", "buffer": {"rio-c": rio}}]},
    }
    if kind == "udp":
        rate = f"{12_000_000 // pairs}b/s"
        source: dict[str, Any] = {"cbr": {"rate": rate, "packet": {"ip": "1000B"}}}
        within = "100ms"
    else:
        source, within = _tcp(), "1s"
    flows = [{"delay": "1ms", "start-within": within, "source": source} for _ in range(pairs)]
    many = _many(effort)
    results = simulate(_bottleneck("10Mb/s", policy, flows, seconds, warmup), many)

    def lost(precedence: int) -> list[float]:
        return _ports(results, lambda rows: _dropped(rows.filter(pl.col("precedence") == precedence)))

    sent = _ports(results, lambda rows: sum_of(rows, "sent_packets") / (seconds - warmup))
    columns = (sent, lost(0), lost(1), _queue(results))
    own = [list(row) for row in zip(*columns, strict=True)]
    script = Path(__file__).parent / "scripts" / "dsred.tcl"
    peer = _by_ns2(script, many.replications, kind, pairs, seconds, warmup)
    quantities = [
        ("sent", "packets/s"),
        ("green dropped", "%"),
        ("yellow dropped", "%"),
        ("mean queue", "packets"),
    ]
    what = "CBR sources of 12 Mb/s" if kind == "udp" else "Reno connections"
    yield from _compared("RIO-C (dsRED)", f"{pairs} {what}, 10 Mb/s", quantities, (own, peer), {})


def _study(rate: str, effort: Effort, *, plain: bool) -> Iterator[Comparison]:
    """Compare the rows without precedences of studies/drop-precedence: 45 TCP and 5 UDP flows."""
    study = ROOT / "studies" / "drop-precedence"
    scenario = perhop.Scenario.load(study / "drop-precedence.perhop.yaml")
    scenario.set("policies.edge.conditioners", [])
    scenario.set("traffic.udp-*.source.cbr.rate", rate.replace("b", "b/s").replace("K", "k"))
    scenario.set(
        f"{RED_OF_STUDY}.precedences",
        [{"min": "20 packets", "max": "40 packets", "max-probability": 1 / 30}],
    )
    if plain:
        scenario.set(f"{RED_OF_STUDY}.drop-spacing", "wait")
        scenario.set("traffic.tcp-*.source.bulk.tcp.acknowledgment", "every-packet")
    many = _many(effort)
    flows = scenario.run(seed=SEED, replications=many.replications).flows

    def each(kind: str) -> list[float]:
        rows = flows.filter(pl.col("class") == kind)
        return by_replication(rows, lambda group: mean_of(group, "throughput_bps") / 1000)

    own = [list(row) for row in zip(each("tcp"), each("udp"), strict=True)]
    sink, wait = ("TCPSink", "true") if plain else ("TCPSink/DelAck", "false")
    counts = _by_ns2(study / "peer" / "none.tcl", many.replications, rate, sink, wait)
    peer = []
    for row in counts:
        got = [count * PACKET_BITS / COUNTED_S / 1000 for count in row]
        udp = got[9::10]
        peer.append([(sum(got) - sum(udp)) / (len(got) - len(udp)), sum(udp) / len(udp)])
    case = f"45 TCP against 5 UDP of {rate}/s, {'wait' if plain else 'uniform'}, {sink}"
    known = reason("tcp", "ns-2.35 tcp/tcp.cc, slowdown")
    yield from _compared(
        "RED without precedence",
        case,
        [("TCP, mean", "kb/s"), ("UDP, mean", "kb/s")],
        (own, peer),
        {"TCP, mean": known, "UDP, mean": known},
    )


def part(effort: Effort) -> Part:
    """Return the comparisons with ns-2 as a part of the page."""
    about = (
        "Each row has several seeds on both sides; TCP has the defaults of 1999 in both. The scripts are in\n"
        "`fidelity/scripts`, `crates/perhop-sim/tests/ns2` and `studies/drop-precedence/peer`."
    )
    title = "ns-2"
    why = missing()
    if why:
        return Part(PEER, title, about, skipped={"RED, RIO-C and TCP": why})
    return Part(PEER, title, about, list(compare(effort)))
