"""A Nexus switch with NX-OS in the commands of perhop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command

LEAF = """\
!Command: show running-config
!Time: Mon Mar  3 11:56:19 2025

version 10.3(4a) Bios:version 05.47
hostname leaf-1
feature lacp

hardware qos dynamic-buffer-sharing

ip access-list SERVERS
  10 permit tcp any 198.51.100.0/24 eq 443
class-map type qos match-any VOICE
  match dscp 46
class-map type qos match-all STORAGE
  match dscp 24-31
class-map type qos match-any WEB
  match access-group name SERVERS
policy-map type qos IN
  class VOICE
    set qos-group 7
  class STORAGE
    set qos-group 3
  class WEB
    set qos-group 1
    police cir 1 gbps bc 200 ms conform transmit violate drop
policy-map type network-qos LOSSLESS
  class type network-qos c-8q-nq3
    pause pfc-cos 3
    mtu 9216
  class type network-qos c-8q-nq-default
    mtu 9216
policy-map type queuing OUT
  class type queuing c-out-8q-q7
    priority level 1
    shape min 0 mbps max 2000 mbps
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 300 kbytes maximum-threshold 300 kbytes drop-probability 100 weight 0 ecn
  class type queuing c-out-8q-q1
    bandwidth percent 2
    queue-limit dynamic 3
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 48
system qos
  service-policy type network-qos LOSSLESS
  service-policy type queuing output OUT
vrf context management
  ip route 0.0.0.0/0 192.0.2.254
ip route 198.51.100.0/24 10.0.2.2

interface Ethernet1/1
  description servers
  no switchport
  speed 25000
  mtu 9216
  priority-flow-control mode on
  service-policy type qos input IN
  ip address 10.0.1.1/24
  no shutdown

interface Ethernet1/2
  description spine-1
  no switchport
  speed 10000
  ip address 10.0.2.1/24
  no shutdown

interface mgmt0
  vrf member management
  ip address 192.0.2.1/24
"""
PLATFORM = ("--platform", "n9k-c93240yc-fx2")


@pytest.fixture
def leaf(tmp_path: Path) -> Path:
    file = tmp_path / "leaf.cfg"
    file.write_text(LEAF)
    return file


def test_check_accounts_for_every_line(perhop: Command, leaf: Path) -> None:
    ended = perhop("check", leaf, *PLATFORM)
    assert ended.code == 0
    assert "platform: n9k-c93240yc-fx2 (--platform); memory: " in ended.out.splitlines()[0]
    assert "0 not modelled, 0 suspicious, 0 not recognized" in ended.out
    assert "pause-thresholds-assumed" in ended.out + ended.err


def test_a_switch_without_a_product_asks_for_it(perhop: Command, leaf: Path) -> None:
    for question in (["run"], ["rates"], ["trace", "--reach", "all"], ["buffers"]):
        refused = perhop(*question, leaf)
        assert (refused.code, refused.out) == (2, ""), question
        assert "does not name the product of the switch" in refused.err
    named = leaf.with_name("named.cfg")
    named.write_text(f"PID: N9K-C93240YC-FX2 , VID: V01\n{LEAF}")
    assert perhop("rates", named).code == 0


def test_it_is_never_run_as_a_router(perhop: Command, leaf: Path) -> None:
    leaf.write_text(f"PID: N7K-C7010 , VID: V01\n{LEAF}")
    refused = perhop("run", leaf)
    assert (refused.code, refused.out) == (2, "")
    assert "n7k-c7010 queues by other rules than a Nexus 9300 or 3064" in refused.err


def test_the_group_takes_a_packet_to_its_queue(perhop: Command, leaf: Path) -> None:
    packet = "udp 10.0.1.7:20000 > 198.51.100.9:5004 dscp ef"
    ended = perhop("trace", leaf, *PLATFORM, "--at", "Ethernet1/1", "--packet", packet, "--json")
    assert ended.code == 0, ended.err
    assert "c-out-8q-q7" in ended.out and "Ethernet1/2" in ended.out


def test_rates_have_the_shaped_priority_and_the_shares_of_the_rest(perhop: Command, leaf: Path) -> None:
    rows = perhop("rates", leaf, *PLATFORM, "--interface", "Ethernet1/2").out.splitlines()
    found = {row.split()[0]: row.split()[1:] for row in rows if "c-out-8q-q" in row}
    assert found["c-out-8q-q7"] == ["(priority)", "2", "2", "2", "-"]
    # 2 % of the port, and 98 % in the proportion of 50 and 48.
    assert found["others/c-out-8q-q3"][-2:] == ["50", "%"]
    assert found["others/c-out-8q-q-default"][-2:] == ["48", "%"]
    assert found["others/c-out-8q-q1"][-2:] == ["2", "%"]


def test_buffers_are_those_of_the_factors(perhop: Command, leaf: Path) -> None:
    named = ("--model", "n9k-c93240yc-fx2")
    document = json.loads(perhop("buffers", leaf, *named, "--interface", "eth1/2", "--json").out)
    [port] = document["ports"]
    assert (document["unit_bytes"], document["shared_units"]) == (416, 18 * 4096)
    limits = {queue["class"]: queue["soft"] for queue in port["queues"]}
    # Factors of 3/4 and 14: 3/7 and 14/15 of the memory.
    assert limits["c-out-8q-q1"] == 18 * 4096 * 3 // 7
    assert limits["c-out-8q-q7"] == 18 * 4096 * 14 // 15
    table = perhop("buffers", leaf, *named).out
    assert "recalled: factors, dynamic, without-share, default-factor" in table
    assert "begin to fall" not in table
    printed = perhop("buffers", leaf, *named, "--printed")
    assert printed.code == 2 and "does not print the output" in printed.err


def test_memory_that_is_not_published_is_given(perhop: Command, leaf: Path) -> None:
    refused = perhop("run", leaf, "--platform", "n9k-c93180yc-fx")
    assert (refused.code, refused.out) == (2, "") and "shared-units" in refused.err
    assert perhop("run", leaf, "--platform", "n9k-c93180yc-fx,shared-units=49152").code == 0


def test_run_names_what_it_leaves_out(perhop: Command, leaf: Path) -> None:
    ended = perhop("run", leaf, *PLATFORM)
    assert ended.code == 0, ended.err
    assert "c-out-8q-q7" in ended.out
    assert "neither interface pauses the other" in ended.out + ended.err, "an inferred sender obeys no pauses"


def test_show_has_the_layout_of_a_queuing_policy(perhop: Command, leaf: Path) -> None:
    ended = perhop("show", "policy-map", "interface", leaf, "Ethernet1/2", *PLATFORM)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    first = lines.index("  Service-policy (queuing) output:   OUT")
    assert lines[first - 4 : first] == ["Global statistics status :   enabled", "", "Ethernet1/2", ""]
    queue = lines.index("    Class-map (queuing):   c-out-8q-q3 (match-any)")
    assert lines[queue + 1] == "      bandwidth remaining percent 50"
    assert lines[queue + 2].startswith("      queue dropped pkts : ")
    assert lines.index("      priority level 1") < queue
    assert "class-default" not in ended.out


def test_queues_with_0_percent_have_no_guaranteed_rate(perhop: Command, leaf: Path) -> None:
    out = perhop("rates", leaf, *PLATFORM, "--interface", "Ethernet1/2").out
    found = {row.split()[0]: row.split()[1:] for row in out.splitlines() if "c-out-8q-q" in row}
    assert found["others/c-out-8q-q6"][0] == "-" and found["others/c-out-8q-q6"][-2:] == ["0", "%"]
    assert "e-0" not in out
    assert "No guaranteed rate, because the share is 0 percent: c-out-8q-q6" in " ".join(out.split())


def test_the_assumed_speed_is_stated(perhop: Command, leaf: Path) -> None:
    leaf.write_text(LEAF.replace("  speed 10000\n", ""))
    rates = perhop("rates", leaf, *PLATFORM, "--interface", "Ethernet1/2")
    assert "Ethernet1/2: line 10 Gb/s, assumed, because no line sets it; set it with --rate" in rates.out
    run = perhop("run", leaf, *PLATFORM, "--interface", "Ethernet1/2", "--duration", "10ms")
    assert "the line of Ethernet1/2 is Ethernet of 10Gb/s" in " ".join(run.err.split())
    assert "speed-assumed" in perhop("check", leaf, *PLATFORM).out
    assert "no line sets the speed" in perhop("buffers", leaf, "--model", "n9k-c93240yc-fx2").out
    leaf.write_text(LEAF)
    rates = perhop("rates", leaf, *PLATFORM, "--interface", "Ethernet1/2")
    assert "Ethernet1/2: line 10 Gb/s, configured" in rates.out


def test_a_port_channel_does_not_stop_a_conversion(perhop: Command, leaf: Path) -> None:
    text = LEAF + "interface port-channel10\n  no switchport\ninterface Ethernet1/9\n  channel-group 10\n"
    leaf.write_text(text)
    for language in ("yaml", "ios"):
        ended = perhop("convert", leaf, "--to", language, *PLATFORM)
        assert ended.code in (0, 3) and "c-out-8q-q3" in ended.out, ended.err
        assert "policy OUT at Port-channel10 output: queues: left out" in " ".join(ended.err.split())
    only = perhop("convert", leaf, "--to", "yaml", *PLATFORM, "--interface", "port-channel10")
    assert only.code == 2 and "perhop does not model the queues of" in only.err
