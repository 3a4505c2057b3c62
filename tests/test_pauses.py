"""Priority flow control in the commands of perhop: the example, a Nexus switch, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perhop
from conftest import Command

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "priority-flow-control.perhop.yaml"

SWITCH = """\
version 10.3(4a) Bios:version 05.47
class-map type qos match-all STORAGE
  match dscp 24
policy-map type qos IN
  class STORAGE
    set qos-group 3
policy-map type network-qos LOSSLESS
  class type network-qos c-8q-nq3
    pause pfc-cos 3
policy-map type queuing ARRIVING
  class type queuing c-in-q3
    pause buffer-size 60000 pause-threshold 30000 resume-threshold 20000
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 50
system qos
  service-policy type network-qos LOSSLESS
  service-policy type queuing output OUT
  service-policy type queuing input ARRIVING
interface Ethernet1/1
  no switchport
  speed 10000
  priority-flow-control mode on
  service-policy type qos input IN
  ip address 10.0.1.1/24
interface Ethernet1/2
  no switchport
  speed 10000
  priority-flow-control mode on
  service-policy type qos input IN
  ip address 10.0.2.1/24
interface Ethernet1/3
  no switchport
  speed 10000
  ip address 10.0.3.1/24
"""
PLATFORM = "n9k-c93240yc-fx2"

#: Two hosts that obey pause frames send 7 Gb/s each to a third through the switch.
NETWORK = """\
perhop: 1
name: nexus
duration: 2ms
hosts:
  one: {address: 10.0.1.7}
  two: {address: 10.0.2.7}
  storage: {address: 10.0.3.7}
routers:
  leaf:
    configuration: {file: leaf.cfg, platform: {profile: n9k-c93240yc-fx2}}
policies:
  server:
    queueing:
      classes: [{name: all, buffer: {tail-drop: {limit: 64MB}}, pause: {priority: 3}}]
links:
  - between: [one, leaf]
    rate: 10Gb/s
    delay: 100ns
    interfaces: {one: {output: server}, leaf: {name: Ethernet1/1}}
  - between: [two, leaf]
    rate: 10Gb/s
    delay: 100ns
    interfaces: {two: {output: server}, leaf: {name: Ethernet1/2}}
  - between: [leaf, storage]
    rate: 10Gb/s
    delay: 100ns
    interfaces: {leaf: {name: Ethernet1/3}}
traffic:
  - {name: one, from: one, to: storage, dscp: cs3, source: {cbr: {rate: 7Gb/s, packet: {ip: 1500B}}}}
  - {name: two, from: two, to: storage, dscp: cs3, source: {cbr: {rate: 7Gb/s, packet: {ip: 1500B}}}}
"""


@pytest.fixture
def network(tmp_path: Path) -> Path:
    (tmp_path / "leaf.cfg").write_text(SWITCH)
    file = tmp_path / "nexus.perhop.yaml"
    file.write_text(NETWORK)
    return file


def test_the_example_pauses_instead_of_dropping(perhop: Command) -> None:
    ended = perhop("run", EXAMPLE, "--replications", "1", "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    classes = {row["class"]: row for row in document["classes"]}
    assert all(row["dropped_packets"]["mean"] == 0 for row in classes.values())
    pauses = {row["port"]: row for row in document["pauses"]}
    # The leaf pauses the spine, and the spine the servers.
    assert pauses["spine->leaf"]["deepest_links"]["mean"] == 1
    assert pauses["writer-1->spine"]["deepest_links"]["mean"] == 2
    assert pauses["writer-1->spine"]["spread_pauses"]["mean"] > 0
    # The victim shares a paused queue, the bystander does not.
    delays = {name: row["delay_p99_s"]["mean"] for name, row in classes.items()}
    assert delays["victim"] > 20 * delays["bystander"]
    shown = perhop("run", EXAMPLE, "--replications", "1").out
    assert "paused: spine->leaf, priority 3: " in shown and "deadlock" not in shown


def test_without_headroom_the_drops_have_their_cause() -> None:
    scenario = perhop.Scenario.load(EXAMPLE).changed(
        {"policies.switch-port.queueing.classes.0.pause.buffer.headroom": "0B"}
    )
    results = scenario.run()
    dropped = results.classes
    assert dropped["dropped_headroom"].sum() > 0
    assert dropped["dropped_packets"].sum() == dropped["dropped_headroom"].sum()
    assert results.pauses["pauses"].sum() > 0


def test_a_link_with_one_end_has_a_finding(perhop: Command, network: Path) -> None:
    network.write_text(NETWORK.replace("two: {output: server}, ", ""))
    ended = perhop("check", network)
    assert "on this link `leaf` has priority flow control for priority 3, but `two` does not" in ended.err


def test_a_nexus_pauses_its_neighbors(perhop: Command, network: Path) -> None:
    checked = perhop("check", network.with_name("leaf.cfg"), "--platform", PLATFORM)
    assert "0 not modelled, 0 suspicious, 0 not recognized" in checked.out, checked.out
    assert "pause-thresholds-assumed" not in checked.out + checked.err
    ended = perhop("run", network, "--replications", "1", "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert all(row["dropped_packets"]["mean"] == 0 for row in document["classes"])
    pauses = {row["port"]: row for row in document["pauses"]}
    for port in ("one->leaf", "two->leaf"):
        assert pauses[port]["pauses"]["mean"] > 5
        # Both hosts send 7 of 10 Gb/s, and their queues grow: each is paused half of the time.
        assert 0.3 < pauses[port]["paused_s"]["mean"] / 2e-3 < 0.6
        assert 30_000 < pauses[port]["most_bytes"]["mean"] <= 60_000


def test_thresholds_without_a_line_are_assumed_and_reported(perhop: Command, network: Path) -> None:
    file = network.with_name("leaf.cfg")
    file.write_text(SWITCH.replace("  service-policy type queuing input ARRIVING\n", ""))
    checked = perhop("check", file, "--platform", PLATFORM)
    text = checked.out + checked.err
    assert "pause-thresholds-assumed" in text and "103360 bytes are assumed" in text
    assert "pause buffer-size 60000" in checked.out, "the policy is not attached: the line is not modeled"
    ended = perhop("run", network, "--replications", "1", "--json")
    rows = json.loads(ended.out)["pauses"]
    assert all(103_360 < row["most_bytes"]["mean"] < 103_360 + 16_000 for row in rows)


def test_an_interface_without_flow_control_does_not_pause(perhop: Command, network: Path) -> None:
    file = network.with_name("leaf.cfg")
    file.write_text(SWITCH.replace("  priority-flow-control mode on\n", "", 1))
    ended = perhop("run", network, "--replications", "1", "--json")
    pauses = {row["port"]: row for row in json.loads(ended.out)["pauses"]}
    assert "one->leaf" not in pauses and pauses["two->leaf"]["pauses"]["mean"] > 0


def test_parts_without_flow_control_refuse_it(perhop: Command, tmp_path: Path) -> None:
    captured = perhop("run", EXAMPLE, "--pcap", tmp_path / "captures")
    assert captured.code != 0 and "priority flow control" in captured.err
    bounds = perhop("bounds", EXAMPLE)
    assert "the neighbor may pause this port" in bounds.out
    converted = perhop("convert", EXAMPLE, "--to", "ios")
    assert "pause" in converted.err + converted.out
