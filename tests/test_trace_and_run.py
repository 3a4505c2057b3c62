"""For random configurations and packets `trace` names the class, marks, queue and drops that `run` counts.

A run sends packets of one flow through a router, behind which another counts them by codepoint. Every counted
queue must be in a path of `trace`; every path that a packet surely takes must be counted, also if it ends
with a drop.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import perhop
from perhop.tracing import traced
from seeds import SEED

#: Bits per second of a meter that most packets of a run exceed.
SLOW = 8000
#: Runs of 20 in which a conditioner drops packets, at least.
LEAST_DROPPING = 2
CODEPOINTS = ["default", "ef", "af11", "af21", "af22", "af41", "cs1", "cs3", "cs6"]
CRITERIA = [
    *(f"match dscp {one}" for one in CODEPOINTS[1:]),
    "match dscp af21 af22",
    "match precedence 2",
    "match not dscp ef",
    "match access-group 101",
    "match access-group 102",
    "match protocol tcp",
]
LISTS = """\
access-list 101 permit udp any any eq 9000
access-list 102 deny udp 10.0.0.0 0.0.0.255 any eq 9001
access-list 102 permit ip any any
"""
SCENARIO = """\
perhop: 1
name: one flow
duration: 100ms
hosts: {a: {address: 10.0.0.2}, b: {address: 203.0.113.2}}
routers: {r: {configuration: {file: router.cfg}}, p: {}}
links:
  - {between: [a, r], rate: 1Gb/s, interfaces: {r: {name: GigabitEthernet0/0}}}
  - {between: [r, p], rate: 1Gb/s, interfaces: {r: {name: GigabitEthernet0/1}, p: {input: count}}}
  - {between: [p, b], rate: 1Gb/s}
traffic:
  - {name: flow, from: a, to: b, dscp: DSCP, destination-port: PORT,
     source: {cbr: {rate: 400kb/s, packet: {ip: 500B}}}}
policies:
  count:
    conditioners:
STAGES
measure: {warmup: 0s}
"""


def actions(draw: random.Random, side: str) -> list[str]:
    """Return the actions of a class on one side."""
    marks = [f"set dscp {draw.choice(CODEPOINTS)}", f"set precedence {draw.randrange(8)}"]
    exceed = draw.choice([*["drop"] * 3, "transmit", f"set-dscp-transmit {draw.choice(CODEPOINTS)}"])
    rate = draw.choice([SLOW, SLOW, SLOW, 10_000_000])
    polices = [f"police {rate} 1500 1500 conform-action transmit exceed-action {exceed}"]
    lines = draw.choice([[], [draw.choice(marks)], polices, polices, polices])
    if side == "output" and draw.random() < 0.6:
        lines = [*lines, draw.choice(["bandwidth 1000", "bandwidth 2000", "shape average 50000000"])]
    if side == "input" and draw.random() < 0.3:
        lines = [*lines, f"set qos-group {draw.randrange(1, 4)}"]
    return lines or ["set dscp af11"]


def configuration(draw: random.Random) -> str:
    """Return a router with random policies on both sides of its way."""
    lines = ["version 15.4", *LISTS.splitlines()]
    names = [f"C{number}" for number in range(4)]
    for name in names:
        lines += [f"class-map match-any {name}", f" {draw.choice(CRITERIA)}"]
    lines += ["class-map match-any GROUP", f" match qos-group {draw.randrange(1, 4)}"]
    for side in ("input", "output"):
        lines.append(f"policy-map {side.upper()}")
        known = [*names, "GROUP"] if side == "output" else names
        for name in [*draw.sample(known, draw.randrange(1, 4)), "class-default"]:
            lines += [f" class {name}", *(f"  {one}" for one in actions(draw, side))]
    limit = " rate-limit input access-group 101 10000000 8000 8000 conform-action set-prec-continue 3"
    lines += [
        "interface GigabitEthernet0/0",
        " ip address 10.0.0.1 255.255.255.0",
        *([f"{limit} exceed-action drop"] if draw.random() < 0.3 else []),
        *([" service-policy input INPUT"] if draw.random() < 0.8 else []),
        "interface GigabitEthernet0/1",
        " ip address 192.0.2.1 255.255.255.252",
        " service-policy output OUTPUT",
        "ip route 0.0.0.0 0.0.0.0 192.0.2.2",
    ]
    return "\n".join(lines) + "\n"


def counted(folder: Path, dscp: str, port: int) -> dict[str, set[Any]]:
    """Return the stages, queues and codepoints of a run, and whether a conditioner drops."""
    stages = "\n".join(
        f"      - {{name: {one}, match: {{dscp: {one}}}, actions: [transmit]}}" for one in every()
    )
    file = folder / "one.perhop.yaml"
    file.write_text(SCENARIO.replace("DSCP", dscp).replace("PORT", str(port)).replace("STAGES", stages))
    results = perhop.run(perhop.Scenario.load(file), replications=1, threads=1)
    rows = [row for row in results.conditioners.iter_rows(named=True) if row["packets"]]
    ports = [row for row in results.ports.iter_rows(named=True) if row["port"] == "r->p"]
    return {
        "stages": {(row["side"], row["stage"]) for row in rows if row["node"] == "r"},
        "queues": {row["queue"] for row in ports if row["arrived_packets"] and row["queue"] != "(none)"},
        "codepoints": {row["stage"] for row in rows if row["node"] == "p"},
        "drops": {True} if sum(results.classes["dropped_policed"]) else set(),
    }


def every() -> list[str]:
    """Return all codepoints that a mark can give."""
    return [*CODEPOINTS, "cs2", "cs4", "cs5", "cs7"]


def named_by(path: dict[str, Any]) -> dict[str, set[Any]]:
    """Return the same of a path of `trace`."""
    conditioners = [one for one in path["stages"] if one["stage"] == "conditioner"]
    words = path["packet"].split()
    is_queued = path["end"] == "queued"
    return {
        "stages": {(one["side"], one["name"]) for one in conditioners},
        "queues": {path["queue"]} if is_queued else set(),
        "codepoints": {words[words.index("dscp") + 1]} if is_queued else set(),
        "drops": {True} if path["end"] == "dropped" else set(),
    }


def occurs(path: dict[str, Any]) -> bool:
    """Whether a run is sure to have packets on a path.

    Every meter finds room for the first packets. A slow one then finds none: of its packets the later ones
    exceed, if no other slow meter has the same packets.
    """
    colors = [(one["color"], is_slow(one)) for one in path["stages"] if one.get("color") is not None]
    if all(color == "green" for color, _ in colors):
        return True
    return sum(slow for _, slow in colors) == 1 and all(slow or color == "green" for color, slow in colors)


def is_slow(conditioner: dict[str, Any]) -> bool:
    """Whether the packets of a run exceed a meter."""
    return f'"rate": "{SLOW // 1000}kb/s"' in json.dumps(conditioner["meter"])


def compare(folder: Path, trial: int) -> set[Any]:
    """Compare what a run counts with the paths of `trace`; return whether a conditioner drops."""
    draw = random.Random(f"{SEED}/{trial}")
    text = configuration(draw)
    router = folder / "router.cfg"
    router.write_text(text)
    dscp, port = draw.choice(CODEPOINTS), draw.choice([9000, 9001, 9002])
    packet = f"udp 10.0.0.2:40000 > 203.0.113.2:{port} dscp {dscp} len 500"
    paths = traced(router).answer(packet)["paths"]
    run = counted(folder, dscp, port)
    for key, found in run.items():
        possible = set().union(*(named_by(path)[key] for path in paths))
        assert found <= possible, f"{key}: the run counts {found - possible}\n{packet}\n{text}"
    for path in filter(occurs, paths):
        for key, named in named_by(path).items():
            assert named <= run[key], f"{key}: the run counts none of {named - run[key]}\n{packet}\n{text}"
    return run["drops"]


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.thorough) for first in range(20, 200, 20))]
)
def test_a_run_counts_the_queues_that_trace_names(tmp_path: Path, first: int) -> None:
    dropping = sum(bool(compare(tmp_path, trial)) for trial in range(first, first + 20))
    assert dropping >= LEAST_DROPPING, f"only {dropping} of 20 runs drop packets: they prove little of drops"
