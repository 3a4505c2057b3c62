"""The load that `perhop run` infers: the bytes that queues and limits count, and several entrances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command

HTB = """\
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 2mbit LINK
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 500kbit ceil 2mbit prio 0 LINK
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 1500kbit ceil 2mbit prio 1 LINK
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
"""
CELLS = {
    "htb-cells": HTB.replace("LINK", "overhead 32 linklayer atm"),
    "htb-bytes": HTB.replace("LINK", "overhead 60"),
    "cake-cells": "tc qdisc add dev eth0 root cake bandwidth 2mbit besteffort atm overhead 40\n",
    "cake-ptm": "tc qdisc add dev eth0 root cake bandwidth 2mbit diffserv4 ptm overhead 30\n",
}


def verdicts(perhop: Command, folder: Path, text: str, name: str, *options: object) -> dict[str, Any]:
    (folder / name).write_text(text)
    document = perhop("run", folder / name, *options, "--json").json()
    return {verdict["class"]: verdict for verdict in document["verdicts"] if "(back)" not in verdict["class"]}


@pytest.mark.parametrize("case", CELLS)
def test_a_busy_load_fits_in_counted_cells(perhop: Command, tmp_path: Path, case: str) -> None:
    found = verdicts(perhop, tmp_path, CELLS[case], "uplink.tc")
    for name, verdict in found.items():
        # CAKE drops 8 % of these transfers without cells, by CoDel.
        assert verdict["loss_percent"] < (20 if case.startswith("cake") else 1), (name, verdict["text"])
        assert verdict["verdict"] == "fit"


LIMITED = """\
version 12.2
class-map match-any VOICE
 match ip dscp ef
policy-map WAN
 class VOICE
  priority 300
 class class-default
  shape average 3000000
interface Serial0/0
 bandwidth 4000
 ip address 192.0.2.1 255.255.255.252
 rate-limit output 1000000 187500 375000 conform-action transmit exceed-action drop
 service-policy output WAN
interface FastEthernet0/0
 ip address 10.0.1.1 255.255.255.0
"""
AT_FILTER = """\
tc qdisc add dev eth0 root handle 1: prio bands 3
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 5060 0xffff \\
    police rate 200kbit burst 10k drop flowid 1:1
"""


@pytest.mark.parametrize(
    ("text", "name", "line"), [(LIMITED, "edge.cfg", ()), (AT_FILTER, "uplink.tc", ("--rate", "10Mb/s"))]
)
def test_classes_share_the_limit_that_their_packets_pass(
    perhop: Command, tmp_path: Path, text: str, name: str, line: tuple[str, ...]
) -> None:
    found = verdicts(perhop, tmp_path, text, name, *line)
    assert max(verdict["loss_percent"] for verdict in found.values()) < 5
    over = verdicts(perhop, tmp_path, text, name, *line, "--load", "overload")
    assert max(verdict["loss_percent"] for verdict in over.values()) > 5


CORE = """\
version 16.9
class-map match-all EF
 match dscp ef
class-map match-all VOICE
 match qos-group 5
policy-map LAN
 class EF
  set qos-group 5
policy-map WAN
 class VOICE
  priority level 2
interface GigabitEthernet0/0/0
 ip address 10.1.0.1 255.255.255.252
 service-policy output WAN
interface GigabitEthernet0/0/1
 ip address 10.1.0.5 255.255.255.252
 service-policy input LAN
"""


def test_a_given_load_waits_at_the_policy_and_not_before_it(perhop: Command, tmp_path: Path) -> None:
    """The packets arrive by several interfaces, because one interface of the same rate would delay them."""
    file, rates = tmp_path / "core.cfg", tmp_path / "rates.csv"
    file.write_text(CORE)
    rates.write_text(
        "class,rate,packet_bytes,kind\nVOICE,100Mb/s,200,cbr\nclass-default,1200Mb/s,1500,poisson\n"
    )
    ended = perhop("run", file, "--traffic", rates, "--json")
    found = {row["class"]: row for row in ended.json()["classes"]}
    assert found["VOICE"]["throughput_bps"]["mean"] == pytest.approx(100e6, rel=0.01)
    assert found["VOICE"]["delay_p99_s"]["mean"] < 0.002
    assert found["class-default"]["dropped_percent"]["mean"] > 20
    assert "more than its rate, as if they came from several interfaces" in ended.err


def test_a_run_leaves_out_the_control_plane(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "core.cfg"
    policer = "policy-map COPP\n class class-default\n  police 64000\n"
    file.write_text(f"{CORE}{policer}control-plane\n service-policy input COPP\n")
    ended = perhop("run", file, "--replications", "1", "--json")
    omission = "the policy of control-plane, which applies to packets to the device itself"
    assert omission in ended.json()["not_looked_at"]
    assert f"not run: {omission}" in ended.err
