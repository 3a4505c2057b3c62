"""Catalyst 2960, 3560 and 3750 with `mls qos`: queue-sets, trust and shaped round robin in all commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from perhop.errors import InvalidInputError
from perhop.switch_memory import memory_in_text

SWITCH = """\
version 15.0
hostname access
switch 1 provision ws-c2960x-24ts-l
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos srr-queue output dscp-map queue 4 threshold 1 8
mls qos srr-queue output dscp-map queue 4 threshold 2 10 12 14
mls qos queue-set output 1 threshold 3 36 77 100 318
mls qos queue-set output 1 threshold 4 20 50 67 400
mls qos queue-set output 1 buffers 10 10 26 54
mls qos
interface GigabitEthernet1/0/1
 srr-queue bandwidth share 10 10 60 20
 srr-queue bandwidth shape 10 0 0 0
 mls qos trust dscp
interface GigabitEthernet1/0/2
 mls qos trust dscp
interface TenGigabitEthernet1/0/1
 mls qos trust dscp
"""
#: A frame of 1518 bytes occupies six units of 256 bytes.
UNITS, FRAME = 6, 1518
UNITS_OF_PORT = 1000
PLATFORM = ("--platform", f"catalyst-mls,port-units={UNITS_OF_PORT}")


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    file = tmp_path / "switch.cfg"
    file.write_text(SWITCH)
    return file


def test_the_table_of_a_port(perhop: Command, switch: Path) -> None:
    ended = perhop("buffers", switch, "--interface", "gi1/0/1")
    assert ended.code == 0, ended.err
    words = " ".join(ended.out.split())
    assert "GigabitEthernet1/0/1: 1 Gb/s, queue-set 1, trust dscp" in words
    assert "100 Mb/s, shaped" in words and "shares by 60" in words
    assert "The memory of a port is not published: thresholds are percentages" in words
    assert "recalled: " in words and "documented: " in words
    given = perhop("buffers", switch, "--interface", "gi1/0/1", "--port-units", "200")
    assert "200 units of 256 bytes" in given.out and "at units" in given.out


def test_the_document_of_a_port(perhop: Command, switch: Path) -> None:
    document: dict[str, Any] = perhop("buffers", switch, "--json").json()
    port = document["ports"][0]
    assert (port["units"], port["queue_set"], port["trust"], port["has_qos"]) == (None, 1, "dscp", True)
    assert [queue["number"] for queue in port["queues"]] == [1, 2, 3, 4]
    assert [queue["shaped_weight"] for queue in port["queues"]] == [10, 0, 0, 0]
    third = port["queues"][2]
    assert (third["hard"], third["soft"], third["buffers_percent"]) == (None, None, 26)
    assert [limit["percent"] for limit in third["thresholds"]] == [36, 77, 318]
    assert all(limit["room"] is None for limit in third["thresholds"])
    assert "dscp af11" in port["queues"][3]["thresholds"][1]["packets"]
    assert [queue["buffers_percent"] for queue in document["input_queues"]] == [90, 10]
    [first, second] = document["queue_sets"]
    assert [queue["buffers_percent"] for queue in first["queues"]] == [10, 10, 26, 54]
    assert second["queues"][1]["threshold1_percent"] == 200
    assert document["maps"]["cos-dscp"][5] == 46 and document["maps"]["dscp-cos"][46] == 5


def test_an_output_of_the_switch_is_not_printed(perhop: Command, switch: Path) -> None:
    ended = perhop("buffers", switch, "--printed")
    assert (ended.code, ended.out) == (2, "") and "does not print the output of this switch" in ended.err


def test_a_run_without_the_memory_is_not_decided(perhop: Command, switch: Path) -> None:
    ended = perhop("run", switch, "--interface", "gi1/0/1")
    assert (ended.code, ended.out) == (2, "")
    words = " ".join(ended.err.split())
    assert "the memory of the switch's ports is not published" in words
    assert "--platform catalyst-mls,port-units=N" in words
    assert perhop("rates", switch).code == 0


def run(perhop: Command, *arguments: object) -> dict[str, Any]:
    ended = perhop("run", *arguments, "--replications", "1", "--json")
    assert ended.code == 0, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


def means(document: dict[str, Any], column: str) -> dict[str, float]:
    return {row["class"]: row[column]["mean"] for row in document["classes"] if column in row}


def test_a_burst_loses_what_the_thresholds_say(perhop: Command, switch: Path) -> None:
    """A burst at ten times the rate: one frame leaves for every ten arrivals; fewer leave a shaped queue."""
    burst = "microburst(10Gb/s->1Gb/s, 4 MB)"
    found = run(perhop, switch, "--interface", "gi1/0/1", *PLATFORM, "--traffic", burst)
    frames = -(-4_000_000 // FRAME)
    offered, dropped = means(found, "offered_packets"), means(found, "dropped_queue_full")
    assert set(offered) == {f"queue {number}" for number in (1, 2, 3, 4)}
    memory = memory_in_text(SWITCH, port_units=UNITS_OF_PORT)
    [port] = [port for port in memory["ports"] if port["interface"] == "GigabitEthernet1/0/1"]
    for queue in port["queues"]:
        # Queue 1 is shaped to a tenth of the rate.
        leaves = 1 / 100 if queue["number"] == 1 else 1 / 10
        rooms = {(limit["units"] or 0) // UNITS for limit in queue["thresholds"] if limit["packets"]}
        losses = {frames * (1 - leaves) - room for room in rooms}
        own = dropped[queue["class"]]
        assert min(abs(own - lost) for lost in losses) <= 5, (queue["class"], own, losses)


def test_the_evidence_of_a_run_is_printed(perhop: Command, switch: Path) -> None:
    burst = "microburst(10Gb/s->1Gb/s, 4 MB, class=queue 3)"
    ended = perhop("run", switch, "--interface", "gi1/0/1", *PLATFORM, "--traffic", burst)
    assert ended.code == 0, ended.err
    words = " ".join(ended.err.split())
    assert "recalled: " in words
    assert "the common pool of the memory always has room, because its size is not published" in words
    assert "by threshold: the queue was at the limit of its packets" in " ".join(ended.out.split())


def test_a_common_pool_may_be_given(perhop: Command, switch: Path) -> None:
    burst = "microburst(10Gb/s->1Gb/s, 4 MB, class=queue 2)"
    platform = f"{PLATFORM[1]},shared-units=60"
    found = run(perhop, switch, "--interface", "gi1/0/1", "--platform", platform, "--traffic", burst)
    assert means(found, "dropped_shared_memory")["queue 2"] > 0


def test_queues_share_the_rate_by_their_weights(perhop: Command, switch: Path) -> None:
    """Queue 1 is shaped to 100 Mb/s; the others share the remaining rate by weights of 10, 60 and 20."""
    rates = perhop("rates", switch, "--interface", "gi1/0/1", "--json").json()
    text = json.dumps(rates)
    assert "queue 3" in text
    switch.with_name("load.yaml").write_text(
        "perhop: 1\nname: a\nduration: 200ms\nhosts: {a: {}, b: {}}\n"
        "routers: {s: {configuration: {file: switch.cfg, platform: {profile: catalyst-mls, "
        f"settings: {{port-units: {UNITS_OF_PORT}}}}}}}}}}}\n"
        "links:\n- {between: [a, s], rate: 10Gb/s, interfaces: {s: {name: Te1/0/1}}}\n"
        "- {between: [s, b], rate: 1Gb/s, interfaces: {s: {name: Gi1/0/1}}}\n"
        "measure: {warmup: 50ms}\n"
        "traffic:\n"
        + "".join(
            f"- {{from: a, to: b, name: q{queue}, dscp: {dscp}, "
            "source: {poisson: {rate: 1.2Gb/s, packet: {ip: 1500B}}}}\n"
            for queue, dscp in [(1, "ef"), (2, "default"), (3, "af31"), (4, "cs6")]
        )
    )
    found = run(perhop, switch.with_name("load.yaml"))
    rate = {row["class"]: row["throughput_bps"]["mean"] for row in found["classes"]}
    # Shapers count the Ethernet header, and results count IP bytes: 1500 of 1514 or 1518.
    assert rate["q1"] == pytest.approx(100e6 * 1500 / 1516, rel=0.02)
    total = sum(rate[name] for name in ("q2", "q3", "q4"))
    for name, share in [("q2", 10 / 90), ("q3", 60 / 90), ("q4", 20 / 90)]:
        assert rate[name] / total == pytest.approx(share, rel=0.03)


def test_trust_and_its_consequences_are_checked(perhop: Command, switch: Path) -> None:
    switch.write_text(SWITCH.replace(" mls qos trust dscp\n", ""))
    found = perhop("check", switch).out
    assert "no port trusts its packets" in found
    switch.write_text(SWITCH)
    shaped = " ".join(perhop("check", switch).out.split())
    # Gi1/0/1 has its own line.
    assert "the default weight limits the queue of dscp ef to 40000 kb/s" in shaped
    words = ["--out", "gi1/0/1", "--packet", "udp 10.1.1.1:16384 > 10.2.2.2:16384 dscp ef len 200"]
    traced = " ".join(perhop("trace", switch, *words).out.split())
    assert "queue 1" in traced


def test_packets_of_ports_without_trust_wait_in_one_queue(perhop: Command, switch: Path) -> None:
    """A run adds a fast interface, which trusts marks; a slow port without trust resets them."""
    switch.write_text(SWITCH.replace(" mls qos trust dscp\n", ""))
    words = ["--at", "gi1/0/2", "--out", "gi1/0/1"]
    packet = ["--packet", "udp 10.1.1.1:16384 > 10.2.2.2:16384 dscp ef len 200"]
    traced = " ".join(perhop("trace", switch, *words, *packet).out.split())
    assert "queue 2" in traced and "queue 1" not in traced
    burst = "microburst(10Gb/s->1Gb/s, 100 kB)"
    found = run(perhop, switch, "--interface", "gi1/0/1", *PLATFORM, "--traffic", burst)
    assert len(means(found, "offered_packets")) == 4


def test_an_output_policy_is_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "switch.cfg").write_text(
        "version 12.2\nswitch 1 provision ws-c3750x-24\nmls qos\nclass-map match-any SAN\n match dscp af11\n"
        "policy-map LIMIT\n class SAN\n  police 47000000 10000 exceed-action drop\n"
        "interface GigabitEthernet1/0/1\n no switchport\n mls qos trust dscp\n service-policy output LIMIT\n"
    )
    found = perhop("check", "switch.cfg")
    assert "output-policy-refused" in found.out and found.code != 0


def test_lines_that_are_left_out_have_their_numbers(perhop: Command, switch: Path) -> None:
    added = "mls qos\nno mls qos rewrite ip dscp\nmls qos map dscp-cos 46 to 5\ninterface"
    text = SWITCH.replace("mls qos\ninterface", added, 1)
    switch.write_text(text.replace(" mls qos trust dscp", " mls qos vlan-based\n mls qos trust dscp", 1))
    [document] = perhop("check", switch, "--lines", "--json").json()["files"]
    states = {line["text"].strip(): line["state"] for line in document["lines"]}
    for text in ("no mls qos rewrite ip dscp", "mls qos map dscp-cos 46 to 5", "mls qos vlan-based"):
        assert states[text] == "not-modelled"
    left_out = perhop("buffers", switch).out
    assert "line 11: no mls qos rewrite ip dscp" in left_out and "line 16: mls qos vlan-based" in left_out


def test_settings_of_another_switch_are_refused(switch: Path) -> None:
    from perhop import design

    with pytest.raises(InvalidInputError) as caught:
        design.buffers(switch, "200kB", "10Gb/s", interface="gi1/0/1")
    assert "neither a multiplier nor ratios" in str(caught.value)
