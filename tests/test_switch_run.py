"""Runs of UADP switches: their limits equal those of `perhop buffers`, and drops have causes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from perhop import Scenario
from perhop.configuration import checked
from perhop.errors import InvalidInputError
from perhop.inference.bursts import burst_of
from perhop.switch_memory import switch_memory

SWITCH = """\
version 16.12
hostname access
switch 1 provision c9300-24t
qos queue-softmax-multiplier 1200
class-map match-any VOICE
 match dscp ef
class-map match-any BULK
 match dscp af11 af12 af13
class-map match-any PLAIN
 match dscp cs1
policy-map OUT
 class VOICE
  priority level 1
  queue-buffers ratio 10
 class BULK
  bandwidth remaining percent 30
  queue-buffers ratio 20
  queue-limit dscp af13 percent 80
  queue-limit dscp af12 percent 90
  queue-limit dscp af11 percent 100
 class PLAIN
  queue-buffers ratio 5
 class class-default
  bandwidth remaining percent 60
interface GigabitEthernet1/0/1
 service-policy output OUT
interface GigabitEthernet1/0/2
interface TenGigabitEthernet1/1/1
"""
#: A frame of 1518 bytes occupies six units of 256 bytes, and 1538 bytes on the wire.
UNITS, FRAME = 6, 1518


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    file = tmp_path / "switch.cfg"
    file.write_text(SWITCH)
    return file


def leaves(queueing: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the classes with queues by their names."""
    found = {}
    for queue in queueing["classes"]:
        found |= leaves(queue["queueing"]) if queue.get("queueing") else {queue["name"]: queue}
    return found


@pytest.mark.parametrize("name", ["GigabitEthernet1/0/1", "GigabitEthernet1/0/2"])
def test_the_limits_that_run_are_those_of_the_table(switch: Path, name: str) -> None:
    """The table of `perhop buffers` and the queues of a run have the same limits."""
    report = checked(SWITCH)
    [port] = [port for port in report["router"]["ports"] if port["name"] == name]
    memory = switch_memory(switch)
    [own] = [memory_port for memory_port in memory["ports"] if memory_port["interface"] == name]
    queueing = port["output"]["queueing"]
    fall = queueing["memory"]["port-fall"]
    assert (fall["start"], fall["end"]) == (own["soft_start"], own["soft_end"])
    assert queueing["memory"]["unit-bytes"] == memory["unit_bytes"]
    queues = leaves(queueing)
    named = [queue["class"].split(":")[0].removeprefix("all ") for queue in own["queues"]]
    assert sorted(queues) == sorted(named)
    for class_, queue in zip(named, own["queues"], strict=True):
        shared = queues[class_]["buffer"]["shared-memory"]
        assert shared.get("reserved", 0) == queue["hard"]
        assert shared["limit"] == queue["soft"]
        assert shared["port-minimum"] == queue["port_soft_min"]
        last = queue["thresholds"][-1]["units"]
        by_table = [threshold["units"] for threshold in queue["thresholds"] if threshold["packets"]]
        assert shared["thresholds"] == ([*by_table, last] if by_table else [last])


def test_codepoints_have_their_thresholds(switch: Path) -> None:
    queueing = checked(SWITCH)["router"]["ports"][0]["output"]["queueing"]
    bulk = leaves(queueing)["BULK"]
    assert bulk["precedence"]["by-dscp"][:3] == ["af13", "af12", "af11"]
    # 60 units and 1200 %: 720 units at 100 %, and 51 and 57 64ths of it.
    assert bulk["buffer"]["shared-memory"]["thresholds"][:3] == [720 * 51 // 64, 720 * 57 // 64, 720]


def run(perhop: Command, *arguments: object) -> dict[str, Any]:
    ended = perhop("run", *arguments, "--replications", "1", "--json")
    assert ended.code == 0, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


def means(document: dict[str, Any], column: str) -> dict[str, float]:
    return {row["class"]: row[column]["mean"] for row in document["classes"] if column in row}


@pytest.mark.parametrize("arrival", ["10Gb/s", "10Gb/s->1Gb/s", "2x5Gb/s", "5Gb/s → 1Gb/s"])
def test_a_burst_loses_what_the_table_says(perhop: Command, switch: Path, arrival: str) -> None:
    senders = 2 if "x" in arrival else 1
    size = 400 // senders
    found = run(perhop, switch, "--interface", "gi1/0/1", "--traffic", f"microburst({arrival}, {size} kB)")
    offered, dropped = means(found, "offered_packets"), means(found, "dropped_queue_full")
    frames = senders * -(-size * 1000 // FRAME)
    assert offered == {"VOICE": frames, "BULK": frames, "PLAIN": frames, "class-default": frames}
    [port] = [port for port in switch_memory(switch)["ports"] if port["interface"] == "GigabitEthernet1/0/1"]
    rate = 10 if "10" in arrival or senders == 2 else 5
    for queue in port["queues"]:
        # The first packet of BULK has af11, the last threshold. One frame leaves for every `rate` that
        # arrive.
        room = queue["thresholds"][-1]["units"] // UNITS
        lost = max(0.0, frames * (1 - 1 / rate) - room)
        # The frame in transmission, and the rounding of both rates.
        assert abs(dropped.get(queue["class"], 0.0) - lost) <= 3, queue["class"]
    assert means(found, "dropped_packets")["class-default"] == 0


def test_a_class_may_be_chosen_and_causes_are_named(perhop: Command, switch: Path) -> None:
    burst = "microburst(10Gb/s->1Gb/s, 200 kB, class=VOICE)"
    ended = perhop("run", switch, "--interface", "gi1/0/1", "--traffic", burst)
    assert ended.code == 0
    assert "VOICE: 113 of 132 frames dropped: 113 by threshold: the queue was at the limit" in ended.out
    words = " ".join(ended.out.split())
    # 80 frames of 1518 bytes of the burst wait: the queue has no soft part that could grow.
    assert "VOICE: no combination of multiplier and ratio gives the queue" in words
    assert "BULK" not in ended.out
    # The evidence of the rules is printed with the answer.
    assert "inferred: port-units" in ended.err and "recalled: open-ratio, level-1" in ended.err
    assert "the other ports of the chip use none of its 41608 shared units" in ended.err


def test_the_default_queues_have_their_bursts(perhop: Command, switch: Path) -> None:
    found = run(perhop, switch, "--interface", "gi1/0/2", "--traffic", "microburst(10Gb/s, 3 MB)")
    dropped = means(found, "dropped_packets")
    frames = -(-3_000_000 // FRAME)
    # `control` may use 120 reserved units and 1200 % of 480 shared units, `others` 1200 % of 720.
    for name, units in (("control", 120 + 5760), ("others", 8640)):
        assert abs(dropped[name] - (frames * 0.9 - units // UNITS)) <= 3


def test_the_setting_that_lets_a_burst_pass_is_printed(perhop: Command, switch: Path) -> None:
    text = switch.read_text().replace("qos queue-softmax-multiplier 1200\n", "")
    assert "softmax" not in text
    switch.write_text(text)
    burst = "microburst(10G->1G, 400 kB, class=others)"
    ended = perhop("run", switch, "--interface", "gi1/0/2", "--traffic", burst)
    words = " ".join(ended.out.split())
    assert "others: " in words and "by threshold" in words
    setting = re.search(r"others loses nothing with: (qos queue-softmax-multiplier \d+)", words)
    assert setting is not None and "--queue others --burst 400000B" in words
    switch.write_text(f"{setting[1]}\n{text}")
    assert means(run(perhop, switch, "--interface", "gi1/0/2", "--traffic", burst), "dropped_packets") == {
        "others": 0
    }


def test_a_small_pool_drops_by_the_pool(perhop: Command, switch: Path) -> None:
    """With 600 shared units, 100 frames fit into a queue that may have 1440."""
    burst = "microburst(10Gb/s, 3 MB, class=others)"
    found = run(
        perhop, switch, "--interface", "gi1/0/2", "--platform", "c9300,shared-units=600", "--traffic", burst
    )
    frames = -(-3_000_000 // FRAME)
    assert abs(means(found, "dropped_shared_memory")["others"] - (frames * 0.9 - 100)) <= 3
    assert means(found, "dropped_queue_full").get("others", 0) == 0


def test_hot_ports_share_the_pool(perhop: Command, switch: Path) -> None:
    """Equal bursts of two ports fill the 600 units together; the burst of one port fills them alone."""
    switch.write_text(SWITCH + "interface GigabitEthernet1/0/3\n")
    burst = "microburst(4x1Gb/s, 300 kB, class=others, also=gi1/0/3)"
    arguments = (switch, "--interface", "gi1/0/2", "--platform", "c9300,shared-units=600", "--traffic")
    both = means(run(perhop, *arguments, burst), "dropped_shared_memory")
    alone = means(run(perhop, *arguments, burst.replace(", also=gi1/0/3", "")), "dropped_shared_memory")
    frames = 4 * -(-300_000 // FRAME)
    # Each port sends a quarter of its frames while they arrive; 100 frames fit into the pool.
    assert abs(alone["others"] - (frames * 3 / 4 - 100)) <= 4
    assert set(both) == {"others", "others at GigabitEthernet1/0/3"}
    assert abs(sum(both.values()) - (2 * frames * 3 / 4 - 100)) <= 8
    groups = (*arguments[:4], "c9300,shared-units=600,pool-ports=2", "--traffic", burst)
    apart = means(run(perhop, *groups), "dropped_shared_memory")
    assert set(apart.values()) == {alone["others"]}


def test_ports_of_a_scenario_share_the_pool(perhop: Command, switch: Path) -> None:
    """A configuration with two output links: the reports of the ports name one pool."""
    pools = [
        port["output"]["queueing"]["memory"]["pool"]
        for port in checked(SWITCH)["router"]["ports"]
        if port["output"].get("queueing", {}).get("memory")
    ]
    assert set(pools) == {"module 1"} and len(pools) == 2


@pytest.mark.parametrize(
    ("burst", "message"),
    [
        ("microburst(10Gb/s)", "the rate of the senders or the size of the burst is missing"),
        ("microburst(10Gb/s, 200 kB", "the closing bracket is missing"),
        ("microburst(10, 200 kB)", "`10` is not a rate"),
        ("microburst(10T, 200 kB)", "`10T` is not a rate"),
        ("microburst(10Gb/s, 200)", "`200` is not a size"),
        ("microburst(0x10Gb/s, 200kB)", "0 senders are out of range"),
        ("microburst(10Gb/s, 200kB, queue=1)", "`queue=1` is none of class=NAME"),
        ("microburst(10Gb/s, 200kB, frame=20B)", "frame=20 is not the length of an Ethernet frame"),
        ("microburst(1Gb/s->2Gb/s->3Gb/s, 200kB)", "more than two rates"),
        ("microburst(10Gb/s, 2000000000000kB)", "more than 1,000,000 frames"),
    ],
)
def test_wrong_bursts_are_refused(burst: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        burst_of(burst)
    assert message in str(caught.value)
    assert caught.value.help is not None and "microburst(10Gb/s->1Gb/s, 200 kB)" in caught.value.help


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--interface", "gi1/0/1", "--traffic", "microburst(10Gb/s->2Gb/s, 9 kB)"], "at 1Gb/s, not at"),
        (["--interface", "gi1/0/1", "--traffic", "microburst(10Gb/s, 9 kB, class=BULKY)"], "mean `BULK`"),
        (["--interface", "te1/1/1"], "at 10000 Mb/s is not published"),
        (
            ["--interface", "gi1/0/1", "--traffic", "microburst(10G, 9 kB, also=gi1/0/1)"],
            "GigabitEthernet1/0/1 is already an interface of the run",
        ),
        (["--interface", "gi1/0/1", "--traffic", "microburst(10G, 9 kB, also=gi1/0/9)"], "no interface"),
    ],
)
def test_questions_without_an_answer_are_refused(
    perhop: Command, switch: Path, arguments: list[str], message: str
) -> None:
    ended = perhop("run", switch, *arguments)
    assert (ended.code, ended.out) == (2, "") and message in " ".join(ended.err.split())


def test_the_memory_of_the_ports_may_be_given(switch: Path) -> None:
    found = Scenario.infer(switch, "te1/1/1", platform="catalyst-uadp,port-units=560")
    assert found.inferred is not None and "memory of TenGigabitEthernet1/1/1: 560 units" in found.inferred


def test_a_class_without_memory_is_not_run(perhop: Command, switch: Path) -> None:
    switch.write_text(SWITCH.replace("ratio 5", "ratio 0"))
    ended = perhop("run", switch, "--interface", "gi1/0/1")
    assert (ended.code, ended.out) == (2, "") and "class PLAIN has no memory" in " ".join(ended.err.split())


def test_questions_without_a_run(perhop: Command, switch: Path) -> None:
    found = perhop("rates", switch)
    assert found.code == 0 and "others/BULK" in found.out
    traced = perhop("trace", switch, "--reach", "all")
    assert traced.code == 0 and "others/BULK: " in traced.out
    other = switch.with_name("other.cfg")
    other.write_text(SWITCH.replace("1200", "600"))
    differing = perhop("diff", switch, other)
    assert "port-fall start" in differing.out and "-> qos queue-softmax-multiplier 600" in differing.out
    bounded = perhop("bounds", switch)
    assert "may overflow" in bounded.out
    refused = perhop("show", "policy-map", "interface", switch)
    assert refused.code == 2 and "qos queue stats interface" in refused.err


def test_a_switch_runs_in_a_scenario(perhop: Command, switch: Path) -> None:
    scenario = switch.with_name("a.yaml")
    scenario.write_text(
        "perhop: 1\nname: a\nduration: 100ms\nhosts: {a: {}, b: {}}\n"
        "routers: {s: {configuration: {file: switch.cfg, platform: {settings: {port-units: 300}}}}}\n"
        "links:\n- {between: [a, s], rate: 10Gb/s, interfaces: {s: {name: Te1/1/1}}}\n"
        "- {between: [s, b], rate: 1Gb/s, interfaces: {s: {name: Gi1/0/1}}}\n"
        "traffic:\n- {from: a, to: b, name: x, dscp: ef, "
        "source: {cbr: {rate: 2Gb/s, packet: {ip: 1500B}}}}\n"
    )
    found = run(perhop, scenario)
    assert means(found, "dropped_queue_full")["x"] > 0
    scenario.write_text(scenario.read_text().replace(", platform: {settings: {port-units: 300}}", ""))
    refused = perhop("run", scenario)
    assert refused.code == 2 and "Te" in refused.err and "port-units" in refused.err


@pytest.mark.parametrize(
    ("line", "other", "reason"),
    [
        ("ratio 5", "ratio 75", "the ratios sum to 105 %"),
        (
            "  queue-limit dscp af11 percent 100\n",
            "  queue-limit dscp af11 percent 100\n  queue-limit dscp default percent 60\n",
            "class BULK has more than three thresholds",
        ),
    ],
)
def test_policies_that_the_switch_refuses_are_not_run(
    perhop: Command, switch: Path, line: str, other: str, reason: str
) -> None:
    switch.write_text(SWITCH.replace(line, other))
    ended = perhop("run", switch, "--interface", "gi1/0/1")
    assert (ended.code, ended.out) == (2, "") and reason in " ".join(ended.err.split())
    converted = perhop("convert", "--to", "yaml", switch)
    assert (converted.code, converted.out) == (2, "") and reason in " ".join(converted.err.split())


def test_a_burst_goes_through_a_router(perhop: Command, tmp_path: Path) -> None:
    """A queue of 64 packets stores 64 packets of a fast burst, and one more is being sent."""
    (tmp_path / "router.cfg").write_text(
        "version 15.2\nclass-map match-all VOICE\n match dscp ef\n"
        "policy-map WAN\n class VOICE\n  bandwidth 20000\n"
        "interface FastEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n service-policy output WAN\n"
    )
    found = run(perhop, "router.cfg", "--traffic", "microburst(10Gb/s->100Mb/s, 151800B)")
    assert means(found, "offered_packets") == {"VOICE": 100, "class-default": 100}
    for name, dropped in means(found, "dropped_queue_full").items():
        assert 100 - 64 - 4 <= dropped <= 100 - 64, name


def test_a_switch_runs_in_a_network(perhop: Command, tmp_path: Path) -> None:
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "r1.cfg").write_text(
        "version 15.2\nhostname r1\ninterface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.0\n"
        "interface GigabitEthernet0/1\n ip address 10.1.1.1 255.255.255.0\n"
        "ip route 10.2.2.0 255.255.255.0 10.0.0.2\n"
    )
    (folder / "s1.cfg").write_text(
        "version 16.12\nhostname s1\nswitch 1 provision c9300-24t\n"
        "interface GigabitEthernet1/0/1\n no switchport\n"
        " ip address 10.0.0.2 255.255.255.0\ninterface Vlan10\n ip address 10.2.2.1 255.255.255.0\n"
        "ip route 10.1.1.0 255.255.255.0 10.0.0.1\n"
    )
    ended = perhop("run", folder, "--replications", "1")
    assert ended.code == 0, ended.err
    words = " ".join((ended.out + ended.err).split())
    assert "s1 Gi1/0/1 control" in words
    assert "s1: the queues of Vlan10, which drop no packets in the run" in words


def test_queues_of_unknown_memory_are_not_proved_equal(perhop: Command, switch: Path) -> None:
    text = SWITCH.replace("c9300-24t", "c9500-40x").replace("GigabitEthernet1", "TenGigabitEthernet1")
    switch.write_text(text.replace("TenTen", "Ten"))
    changed = switch.with_name("changed.cfg")
    changed.write_text(switch.read_text().replace("queue-buffers ratio 20", "queue-buffers ratio 30"))
    ended = perhop("prove", switch, changed)
    assert ended.code == 1 and "the queues of TenGigabitEthernet1/0/1: " in " ".join(ended.out.split())
    renamed = switch.with_name("renamed.cfg")
    renamed.write_text(switch.read_text().replace("hostname access", "hostname other"))
    same = perhop("prove", switch, renamed)
    assert same.code == 0 and "the queues of TenGigabitEthernet1/0/1: " in " ".join(same.out.split())


def test_a_trace_shows_no_limit_of_unknown_memory(perhop: Command, switch: Path) -> None:
    switch.write_text(SWITCH.replace("c9300-24t", "c9500-40x"))
    words = ["--out", "gi1/0/1", "--packet", "udp 10.1.1.1:16384 > 10.2.2.2:16384 dscp ef len 200"]
    shown = " ".join(perhop("trace", switch, *words).out.split())
    assert "queue VOICE" in shown and "tail-drop" not in shown and "64 packets" not in shown
    assert "not looked at: the limits of the queues of GigabitEthernet1/0/1" in shown
    switch.write_text(SWITCH)
    assert "shared-memory" in perhop("trace", switch, *words).out
