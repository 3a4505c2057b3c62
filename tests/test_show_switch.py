"""`perhop show platform … qos queue`: the queues of a Catalyst with a UADP chip, printed and read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command
from perhop import _core
from perhop.switch_memory import memory_in_text

SWITCH = """\
version 16.12
hostname access
switch 1 provision c9300-24t
class-map match-any VOICE
 match dscp ef
class-map match-any BULK
 match dscp af11 af12 af13
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
 class class-default
  bandwidth remaining percent 60
interface GigabitEthernet1/0/1
 service-policy output OUT
interface GigabitEthernet1/0/2
interface TenGigabitEthernet1/1/1
"""
COMMAND = ("show", "platform", "hardware", "fed", "switch", "active", "qos", "queue")
BURST = ("--traffic", "microburst(10Gb/s, 200 kB)")
FRAMES, FRAME = 132, 1518


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    file = tmp_path / "switch.cfg"
    file.write_text(SWITCH)
    return file


def test_drops_have_their_columns(perhop: Command, switch: Path) -> None:
    shown = perhop(*COMMAND, "stats", "interface", switch, "gi1/0/1", *BURST, "--json")
    assert shown.code == 0, shown.err
    [router] = json.loads(shown.out)["routers"]
    queues = {queue["class"]: queue for queue in router["interfaces"][0]["queues"]}
    run = json.loads(
        perhop("run", switch, "--interface", "gi1/0/1", *BURST, "--replications", "1", "--json").out
    )
    lost = {row["class"]: row["dropped_packets"]["mean"] for row in run["classes"]}
    assert lost["VOICE"] > 0 and lost["BULK"] > 0
    for name, queue in queues.items():
        dropped = queue["dropped_bytes"]
        assert sum(dropped["threshold"]) + dropped["memory"] == pytest.approx(lost[name] * FRAME), name
        assert dropped["policer"] == 0
        bytes = sum(queue["enqueued_bytes"]) + sum(dropped["threshold"]) + dropped["memory"]
        assert bytes == pytest.approx(FRAMES * FRAME), name
    # The packets of the burst have af11, the last of the three thresholds.
    assert queues["BULK"]["enqueued_bytes"][:2] == [0, 0]


def test_the_counters_read_back(perhop: Command, switch: Path) -> None:
    shown = perhop(*COMMAND, "stats", "interface", switch, "gi1/0/1", *BURST)
    assert shown.code == 0, shown.err
    assert "GlobalSoftLimit: 41608   |   GlobalSoftBufCount: 0" in shown.out
    read = json.loads(_core.read_show(shown.out))
    assert read["commands"] == [" ".join([*COMMAND[1:], "stats", "interface"])]
    [port] = read["policies"]
    assert [row["path"] for row in port["classes"]] == [[f"queue {number}"] for number in range(8)]
    voice, bulk, rest = (row["numbers"] for row in port["classes"][:3])
    for numbers in (voice, bulk, rest):
        assert numbers["bytes"] == numbers["sent_bytes"] + numbers["dropped_bytes"] == FRAMES * FRAME
    assert voice["dropped_th2_bytes"] % FRAME == 0 and voice["dropped_th2_bytes"] > 0
    assert bulk["enqueued_th2_bytes"] == bulk["sent_bytes"]
    assert port["classes"][3]["numbers"]["bytes"] == 0


def test_a_run_agrees_with_its_own_output(perhop: Command, switch: Path, tmp_path: Path) -> None:
    output = tmp_path / "stats.txt"
    heading = (
        "access#show platform hardware fed switch active qos queue stats interface GigabitEthernet1/0/1\n"
    )
    output.write_text(heading + perhop(*COMMAND, "stats", "interface", switch, "gi1/0/1", *BURST).out)
    [port] = json.loads(_core.read_show(output.read_text()))["policies"]
    assert port["interface"] == "GigabitEthernet1/0/1"
    text = output.read_text()
    compared = json.loads(_core.compare_shown(text, text, 5.0, 2.0))
    assert compared["agrees"] is True
    quantities = {row["quantity"] for row in compared["policies"][0]["rows"]}
    assert {"share of what is sent", "dropped bytes"} <= quantities
    cut = text[: text.index("Hardware Drop Counters")]
    with pytest.raises(ValueError, match="incomplete"):
        _core.read_show(cut)


def test_the_memory_of_a_port_reads_back(perhop: Command, switch: Path) -> None:
    shown = perhop(*COMMAND, "config", "interface", switch, "gi1/0/1")
    assert shown.code == 0, shown.err
    assert shown.out in perhop("buffers", switch, "--interface", "gi1/0/1", "--printed").out
    [port] = memory_in_text(shown.out)["ports"]
    parts = [(queue["hard"], queue["soft"]) for queue in port["queues"]]
    assert parts == [(30, 0), (0, 60), (0, 840)]
    every = perhop(*COMMAND, "config", "interface", switch)
    assert every.out.count("DTS  Hardmax") == 2


def test_other_switches_have_no_such_command(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "leaf.cfg"
    file.write_text(
        "!Command: show running-config\nversion 9.3(5)\ninterface Ethernet1/1\n  no switchport\n"
        "  ip address 192.0.2.1/24\n"
    )
    refused = perhop(*COMMAND, "stats", "interface", file, "--platform", "n9k-c93240yc-fx2")
    assert refused.code == 2 and "have no such command" in refused.err
