"""perhop compared with qdiscs of Linux: counters of `tc -s` in a separate network namespace.

Datagrams leave from one end of a pair of virtual interfaces, whose qdisc is compared; the other end discards
them. The namespace and its interfaces end with the process that keeps the namespace. The qdiscs depend on the
kernel; the page lists the compared qdiscs that the kernel lacks. Bytes are the bytes that the kernel counts,
with the Ethernet header; perhop's packets have the same length as IP packets.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from fidelity.comparison import Comparison, Rule, estimate
from fidelity.document import Part
from fidelity.namespace import missing, namespace
from fidelity.simulating import Effort, by_replication, mean_of, of_class, one_link, simulate

PEER = "kernel"
RUNS, SECONDS, WARMUP_S = 3, 5.0, 0.5
# The size of a packet in IP bytes, and in the bytes that the kernel counts.
LENGTH, COUNTED = 986, 1000
# The size of HTB's buckets in bytes. It is sufficient for late timers.
BURST = 15_000
# In addition to chance, timers of the sender and of the kernel are inexact on a shared machine.
NEAR = Rule(chance=True, relative=0.01)
NEAR_PERCENT = Rule(chance=True, absolute=0.5, what="half a point")
ONE_PACKET = Rule(chance=True, absolute=1.0, what="1 packet")
# Qdiscs with a counterpart in perhop, and the options with which `tc` checks whether the kernel has them.
WANTED = {
    "pfifo": "limit 10",
    "bfifo": "limit 10000",
    "tbf": "rate 2mbit burst 5000 limit 20000",
    "htb": "",
    "prio": "",
    "drr": "",
    "red": "limit 60000 min 15000 max 45000 avpkt 1000 burst 20 bandwidth 2mbit",
    "gred": "setup vqs 3 default 0",
    "sfq": "",
    "ets": "bands 3",
    "netem": "delay 10ms",
    "codel": "",
    "fq_codel": "",
    "pie": "",
}

# If the sender was later than this, the result depends on the machine, because a late sender sends bursts.
LATE_S = 0.05
ATTEMPTS = 5

# Sends datagrams at even intervals. Its argument contains ports with packets per second, the payload in
# bytes, and the duration in seconds. It prints every new greatest delay of a packet, in seconds.
_SEND = """
import json, socket, sys, time
flows, payload, seconds = json.loads(sys.argv[1])
ends = []
for port, rate in flows:
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, 32, 1 << 23)  # SO_SNDBUFFORCE: what waits in the qdisc counts as sent
    end.setblocking(False)
    end.connect(("10.9.0.2", port))
    ends.append([0.0, 1 / rate, end])
data = bytes(payload)
print("ready", flush=True)
start = time.monotonic()
latest = 0.0
while True:
    now = time.monotonic() - start
    if now > seconds:
        break
    late = now - min(one[0] for one in ends)
    if late > latest:
        latest = late
        print(latest, flush=True)
    for one in ends:
        while one[0] <= now:
            try:
                one[2].send(data)
            except BlockingIOError:
                pass
            one[0] += one[1]
    time.sleep(max(0.0, min(one[0] for one in ends) - (time.monotonic() - start)))
"""


@dataclass(frozen=True)
class Case:
    """A qdisc under load, and its counterpart in perhop."""

    name: str
    case: str
    #: The words of commands after `tc`, without `dev near0`. The destination port selects a class.
    commands: tuple[str, ...]
    #: The counterpart in perhop, and the rate of its link.
    queueing: Mapping[str, Any]
    rate: str
    #: The minor number of a class (0 for the qdisc itself), and a rate in b/s. The port is 5000 plus the
    #: number.
    flows: tuple[tuple[int, float], ...]
    #: The compared quantities: `rates` of classes, or `rate`, `loss` and `queue`.
    quantities: tuple[str, ...]
    #: The qdiscs that the case needs.
    needs: tuple[str, ...]


def _classes(*shares: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": f"class {number}",
            "match": {"dscp": [f"cs{number}"]},
            "share": share,
            "buffer": {"tail-drop": {"limit": "50 packets"}},
        }
        for number, share in enumerate(shares, 1)
    ]


def _managed(words: str) -> tuple[str, ...]:
    """Return the commands for a queue below a class of HTB that carries 2 Mb/s."""
    return (
        "qdisc add root handle 1: htb default 1",
        "class add parent 1: classid 1:1 htb rate 2mbit",
        f"qdisc add parent 1:1 handle 2: {words}",
    )


def _htb(parent: str, *classes: str) -> tuple[str, ...]:
    """Return the commands for classes of HTB, each with a FIFO of 50 packets and the port 5000 + number."""
    buckets = f"burst {BURST}b cburst {BURST}b"
    commands = [
        "qdisc add root handle 1: htb",
        f"class add parent 1: classid 1:10 htb rate {parent} {buckets}",
    ]
    for number, words in enumerate(classes, 1):
        commands += [
            f"class add parent 1:10 classid 1:{number} htb {words} {buckets}",
            f"qdisc add parent 1:{number} pfifo limit 50",
            f"filter add parent 1: protocol ip u32 match ip dport {5000 + number} 0xffff flowid 1:{number}",
        ]
    return tuple(commands)


def _buckets(parent: str, *shares: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counterpart of `_htb` in perhop."""
    buckets = {"burst": f"{BURST}B", "ceil-burst": f"{BURST}B"}
    inside = {"scheduler": "htb", "classes": _classes(*({**share, **buckets} for share in shares))}
    link = {"name": "link", "share": {"rate": parent, **buckets}, "queueing": inside}
    return {"scheduler": "htb", "classes": [link]}


def _fifo(limit: str) -> dict[str, Any]:
    return _single_class({"tail-drop": {"limit": limit}})


def _single_class(buffer: dict[str, Any]) -> dict[str, Any]:
    return {"classes": [{"name": "class 0", "buffer": buffer}]}


CASES = (
    Case(
        "tbf",
        "2 Mb/s, limit 30 packets, 4 Mb/s offered",
        ("qdisc add root handle 1: tbf rate 2mbit burst 3000 limit 30000",),
        _fifo("30 packets"),
        "2Mb/s",
        ((0, 4e6),),
        ("rate", "loss", "queue"),
        ("tbf",),
    ),
    Case(
        "pfifo below htb",
        "2 Mb/s, limit 20 packets, 3 Mb/s offered",
        _managed("pfifo limit 20"),
        _fifo("20 packets"),
        "2Mb/s",
        ((0, 3e6),),
        ("rate", "loss", "queue"),
        ("pfifo", "htb"),
    ),
    Case(
        "bfifo below htb",
        "2 Mb/s, limit 20000 bytes, 3 Mb/s offered",
        _managed("bfifo limit 20000"),
        _fifo("20000B"),
        "2Mb/s",
        ((0, 3e6),),
        ("rate", "loss", "queue"),
        ("bfifo", "htb"),
    ),
    *(
        Case(
            f"{discipline} below htb",
            "2 Mb/s, 2.4 Mb/s offered",
            _managed(discipline),
            _single_class({buffer: {"law": "linux"}}),
            "2Mb/s",
            ((0, 2.4e6),),
            ("rate", "loss", "queue"),
            (discipline, "htb"),
        )
        for discipline, buffer in (("codel", "codel"), ("fq_codel", "fq-codel"), ("pie", "pie"))
    ),
    Case(
        "htb",
        "8 Mb/s, rates 1, 2 and 5, all overloaded",
        _htb("8mbit", "rate 1mbit ceil 8mbit", "rate 2mbit ceil 8mbit", "rate 5mbit ceil 8mbit"),
        _buckets("8Mb/s", *({"rate": f"{rate}Mb/s", "ceil": "8Mb/s"} for rate in (1, 2, 5))),
        "100Mb/s",
        ((1, 6e6), (2, 6e6), (3, 8e6)),
        ("rates",),
        ("htb", "pfifo"),
    ),
    Case(
        "htb, borrowing",
        "8 Mb/s, rates 1, 2 and 5, the last one sends 0.5 Mb/s",
        _htb("8mbit", "rate 1mbit ceil 8mbit", "rate 2mbit ceil 8mbit", "rate 5mbit ceil 8mbit"),
        _buckets("8Mb/s", *({"rate": f"{rate}Mb/s", "ceil": "8Mb/s"} for rate in (1, 2, 5))),
        "100Mb/s",
        ((1, 8e6), (2, 8e6), (3, 0.5e6)),
        ("rates",),
        ("htb", "pfifo"),
    ),
    Case(
        "htb, ceilings",
        "8 Mb/s, rates 1 and 1, ceilings 3 and 8, both overloaded",
        _htb("8mbit", "rate 1mbit ceil 3mbit", "rate 1mbit ceil 8mbit"),
        _buckets("8Mb/s", {"rate": "1Mb/s", "ceil": "3Mb/s"}, {"rate": "1Mb/s", "ceil": "8Mb/s"}),
        "100Mb/s",
        ((1, 9e6), (2, 9e6)),
        ("rates",),
        ("htb", "pfifo"),
    ),
    Case(
        "htb, quanta",
        "6 Mb/s, rates 0.5 each, quanta 3000, 6000 and 3000, prio 0, 0 and 1, all overloaded",
        _htb(
            "6mbit",
            "rate 500kbit ceil 6mbit prio 0 quantum 3000",
            "rate 500kbit ceil 6mbit prio 0 quantum 6000",
            "rate 500kbit ceil 6mbit prio 1 quantum 3000",
        ),
        _buckets(
            "6Mb/s",
            {"rate": "500kb/s", "ceil": "6Mb/s", "quantum": "3000B"},
            {"rate": "500kb/s", "ceil": "6Mb/s", "quantum": "6000B"},
            {"rate": "500kb/s", "ceil": "6Mb/s", "level": 1, "quantum": "3000B"},
        ),
        "100Mb/s",
        ((1, 7e6), (2, 7e6), (3, 7e6)),
        ("rates",),
        ("htb", "pfifo"),
    ),
    Case(
        "htb, priorities",
        "4 Mb/s, prio 0 sends 1 Mb/s, prio 1 and 2 are overloaded",
        _htb(
            "4mbit",
            "rate 8kbit ceil 4mbit prio 0 quantum 1514",
            "rate 8kbit ceil 4mbit prio 1 quantum 1514",
            "rate 8kbit ceil 4mbit prio 2 quantum 1514",
        ),
        _buckets(
            "4Mb/s",
            *({"rate": "8kb/s", "ceil": "4Mb/s", "level": level, "quantum": "1514B"} for level in range(3)),
        ),
        "100Mb/s",
        ((1, 1e6), (2, 2e6), (3, 4e6)),
        ("rates",),
        ("htb", "pfifo"),
    ),
    Case(
        "htb, link layer",
        "2 Mb/s in cells with 18 bytes beside each packet, 3 Mb/s offered",
        _htb("9mbit", "rate 2mbit linklayer atm overhead 18", "rate 1mbit"),
        _buckets(
            "9Mb/s",
            {"rate": "2Mb/s", "link-layer": {"overhead": 18, "cells": "atm"}},
            {"rate": "1Mb/s"},
        ),
        "100Mb/s",
        ((1, 3e6), (2, 3e6)),
        ("rates",),
        ("htb", "pfifo"),
    ),
)


def lacking() -> dict[str, str]:
    """Return the qdiscs that this kernel lacks, with the error messages."""
    found = {}
    for name, options in WANTED.items():
        with namespace() as inside:
            words = ["tc", "qdisc", "add", "dev", "near0", "root", "handle", "1:", name, *options.split()]
            tried = subprocess.run(inside.within(*words), capture_output=True, text=True, check=False)
        if tried.returncode:
            found[name] = f"this kernel reports `{tried.stderr.splitlines()[0].rstrip('.')}`"
    return found


def compare(effort: Effort, lacks: Sequence[str] = ()) -> Iterator[Comparison]:
    """Generate the comparisons with the kernel."""
    runs, seconds = (RUNS, SECONDS) if effort.scale >= 1 else (2, 1.5)
    for case in CASES:
        if set(case.needs) & set(lacks):
            continue
        peer = [_by_kernel(case, seconds) for _ in range(runs)]
        own = _by_perhop(case, seconds, effort)
        for quantity in peer[0]:
            unit, rule = _UNITS[quantity.partition(" of ")[0]]
            yield Comparison(
                PEER,
                case.name,
                case.case,
                quantity,
                unit,
                estimate([row[quantity] for row in peer]),
                "tc -s",
                estimate(own[quantity]),
                rule,
            )


_UNITS = {
    "rate": ("kb/s", NEAR),
    "loss": ("%", NEAR_PERCENT),
    "queue": ("packets", ONE_PACKET),
}


class BusyMachineError(Exception):
    """The processes of a measurement waited too long for a processor."""


def _by_kernel(case: Case, seconds: float) -> dict[str, float]:
    """Return the quantities of a case from the kernel's counters.

    Measure again if the sender was more than `LATE_S` late; raise `BusyMachineError` after `ATTEMPTS`.
    """
    for _ in range(ATTEMPTS):
        measured, late_s = _measure(case, seconds)
        if late_s <= LATE_S:
            return measured
    message = f"{case.name}: the sender was {late_s * 1000:.0f} ms late in the last of {ATTEMPTS} attempts"
    raise BusyMachineError(message)


def _measure(case: Case, seconds: float) -> tuple[dict[str, float], float]:
    """Return the quantities of a case from the kernel's counters, and the sender's greatest delay, s."""
    with namespace() as inside:
        for words in case.commands:
            inside.tc(words)
        flows = [(5000 + number, rate / 8 / COUNTED) for number, rate in case.flows]
        # The headers of IP and UDP have 28 bytes.
        load = json.dumps([flows, LENGTH - 28, seconds + WARMUP_S + 1])
        command = inside.within(sys.executable, "-c", _SEND, load)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:
            try:
                assert sender.stdout is not None
                sender.stdout.readline()
                time.sleep(WARMUP_S)
                what = "class" if "rates" in case.quantities else "qdisc"
                before, began = inside.counters(what), time.monotonic()
                waiting = []
                while time.monotonic() < began + seconds:
                    time.sleep(0.1)
                    waiting.append(inside.counters("qdisc"))
                after, ended = inside.counters(what), time.monotonic()
            finally:
                sender.kill()
            late_s = float((sender.stdout.read().split() or ["0"])[-1])
    during = {
        handle: {key: after[handle][key] - before[handle][key] for key in ("bytes", "packets", "drops")}
        for handle in after
    }
    if "rates" in case.quantities:
        sent = {number: during[f"1:{number}"]["bytes"] for number, _ in case.flows}
        rates = {number: sent_bytes * 8 / (ended - began) / 1000 for number, sent_bytes in sent.items()}
        return {f"rate of class {number}": rate for number, rate in rates.items()}, late_s
    queue = "2:" if "2:" in after else "1:"
    counted = during[queue]
    quantities = {
        "rate": counted["bytes"] * 8 / (ended - began) / 1000,
        "loss": 100 * counted["drops"] / (counted["packets"] + counted["drops"]),
        "queue": sum(sample[queue]["waiting"] for sample in waiting) / len(waiting),
    }
    return quantities, late_s


def _by_perhop(case: Case, seconds: float, effort: Effort) -> dict[str, list[float]]:
    """Return the quantities of a case from a simulation, one number per replication."""
    traffic = [
        {
            "name": f"class {number}",
            "dscp": f"cs{number}",
            "start-within": "20ms",
            "source": {"cbr": {"rate": f"{rate:.0f}b/s", "packet": {"ip": f"{COUNTED}B"}}},
        }
        for number, rate in case.flows
    ]
    scenario = one_link(case.name, case.rate, dict(case.queueing), traffic)
    scenario |= {
        "duration": f"{seconds + WARMUP_S:g}s",
        "measure": {"warmup": f"{WARMUP_S:g}s", "queues": [{"from": "a", "to": "b", "every": "100ms"}]},
    }
    results = simulate(scenario, effort)
    rates = {number: of_class(results, f"class {number}", "throughput_bps") for number, _ in case.flows}
    if "rates" in case.quantities:
        return {f"rate of class {number}": [rate / 1000 for rate in got] for number, got in rates.items()}
    late = results.queues.filter(pl.col("time_s") > WARMUP_S)
    return {
        "rate": [rate / 1000 for rate in rates[0]],
        "loss": of_class(results, "class 0", "dropped_percent"),
        "queue": by_replication(late, lambda rows: mean_of(rows, "packets")),
    }


def part(effort: Effort) -> Part:
    """Return the comparisons with the kernel as a part of the page."""
    title = "Linux"
    release = platform.release().partition("-")[0]
    about = (
        f"The peer is the counters of `tc -s` on Linux {release}, in a network namespace, {RUNS} times for "
        f"{SECONDS:g} s.\n"
        "These numbers differ from run to run and from machine to machine."
    )
    why = missing()
    if why:
        return Part(PEER, title, about, skipped={"queueing disciplines": why})
    lacks = lacking()
    return Part(PEER, title, about, list(compare(effort, list(lacks))), lacks)
