"""For random configurations and packets `trace` names the class, marks, queue and drops that `run` counts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from traced_runs import CODEPOINTS, SLOW, Language, drawn

#: The minimum number of runs, of 20, in which a conditioner drops packets.
LEAST_DROPPING = 5
ROUTER = Language("router.cfg", "GigabitEthernet0/0", "GigabitEthernet0/1")
DEVICE = Language("router.tc", "eth0", "eth1", {"at": "eth0", "out": "eth1"})
CRITERIA = [
    *(f"match dscp {codepoint}" for codepoint in CODEPOINTS[1:]),
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
    """Return a router with random policies on input and output."""
    lines = ["version 15.4", *LISTS.splitlines()]
    names = [f"C{number}" for number in range(4)]
    for name in names:
        lines += [f"class-map match-any {name}", f" {draw.choice(CRITERIA)}"]
    lines += ["class-map match-any GROUP", f" match qos-group {draw.randrange(1, 4)}"]
    lines += ["policy-map CHILD"]
    for name in draw.sample(names, 2):
        lines += [f" class {name}", *(f"  {action}" for action in actions(draw, "child"))]
    for side in ("input", "output"):
        lines.append(f"policy-map {side.upper()}")
        known = [*names, "GROUP"] if side == "output" else names
        for name in [*draw.sample(known, draw.randrange(1, 4)), "class-default"]:
            inner = side == "output" and draw.random() < 0.2
            own = ["shape average 50000000", "service-policy CHILD"] if inner else actions(draw, side)
            lines += [f" class {name}", *(f"  {action}" for action in own)]
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


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.thorough) for first in range(20, 200, 20))]
)
def test_a_run_counts_the_queues_that_trace_names(tmp_path: Path, first: int) -> None:
    dropping = 0
    for trial in range(first, first + 20):
        draw = drawn("ios", trial)
        dropping += ROUTER.compare(tmp_path, trial, configuration(draw), draw)
    assert dropping >= LEAST_DROPPING, f"only {dropping} of 20 runs drop packets: they prove little of drops"


#: Matches of filters of tc.
MATCHES = [
    *(f"u32 match ip tos {tos} 0xfc" for tos in ("0xb8", "0x28", "0x48", "0x20", "0x0")),
    "u32 match ip dport 9000 0xffff",
    "u32 match ip protocol 17 0xff match ip dport 9001 0xffff",
    "u32 match ip src 10.0.0.0/24",
    "flower ip_proto udp dst_port 9002",
    "flower ip_tos 0xb8/0xfc",
    "matchall",
]


def ingress(draw: random.Random) -> str:
    """Return an action of a filter for arriving packets."""
    exceed = draw.choice(["drop", "drop", "drop/continue", "continue/ok"])
    police = f"action police rate {draw.choice(['8kbit', '10mbit'])} burst 1500 conform-exceed {exceed}"
    mark = f"action pedit munge ip tos set {draw.choice(['0x28', '0xb8', '0x48'])} retain 0xfc"
    return draw.choice([police, police, police, mark, f"{mark} pipe {police}", "action drop"])


def uplink(draw: random.Random) -> str:
    """Return commands of tc with random filters on both sides of a device."""
    lines = ["tc qdisc add dev eth0 clsact"]
    lines += [
        f"tc filter add dev eth0 ingress protocol ip prio {number} {draw.choice(MATCHES)} {ingress(draw)}"
        for number in range(1, draw.randrange(2, 4))
    ]
    classes = ["1:10", "1:20", "1:30"]
    if draw.random() < 0.7:
        default = draw.choice(["10", "20", "30"])
        lines += [
            f"tc qdisc add dev eth1 root handle 1: htb default {default}",
            "tc class add dev eth1 parent 1: classid 1:1 htb rate 100mbit",
            *(
                f"tc class add dev eth1 parent 1:1 classid {class_id} htb rate 10mbit ceil 90mbit"
                for class_id in classes
            ),
        ]
    else:
        classes = ["1:1", "1:2", "1:3"]
        lines += ["tc qdisc add dev eth1 root handle 1: prio bands 3"]
    for number in range(1, draw.randrange(2, 6)):
        police = f" police rate {draw.choice(['8kbit', '8kbit', '10mbit'])} burst 1500 drop"
        lines += [
            f"tc filter add dev eth1 parent 1: protocol ip prio {number} {draw.choice(MATCHES)}"
            f"{police if draw.random() < 0.5 else ''} classid {draw.choice(classes)}"
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.thorough) for first in range(20, 200, 20))]
)
def test_a_run_counts_the_classes_of_tc_that_trace_names(tmp_path: Path, first: int) -> None:
    dropping = 0
    for trial in range(first, first + 20):
        draw = drawn("tc", trial)
        dropping += DEVICE.compare(tmp_path, trial, uplink(draw), draw)
    assert dropping >= LEAST_DROPPING, f"only {dropping} of 20 runs drop packets: they prove little of drops"
