"""`perhop buffers`: the packet memory of a switch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from perhop import Scenario, design, run
from perhop.errors import InvalidInputError
from perhop.switch_memory import switch_memory

SWITCH = """\
version 16.12
switch 1 provision c9300-24t
qos queue-softmax-multiplier 1200
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
  bandwidth remaining percent 70
interface GigabitEthernet1/0/1
 service-policy output OUT
interface GigabitEthernet1/0/2
interface TenGigabitEthernet1/1/1
"""


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    file = tmp_path / "switch.cfg"
    file.write_text(SWITCH)
    return file


def rows(out: str) -> dict[str, list[str]]:
    """Return the numbers of each row of a table by the packets of the row."""
    found = {}
    for line in out.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            packets = "others" if "others" in words else words[words.index("dscp") + 1]
            found[f"{words[1]} {packets}"] = words[words.index(packets) + 1 :]
    return found


def test_the_table_of_a_port(perhop: Command, switch: Path) -> None:
    ended = perhop("buffers", switch, "--interface", "gi1/0/1", "--arrival", "10Gb/s")
    assert ended.code == 0
    table = rows(ended.out)
    # 30 units: five frames of six units, sent in 5 * 1538 * 8 ns.
    assert table["VOICE others"][:6] == ["30", "0", "30", "5", "7590", "61.52"]
    assert table["BULK af11"][:5] == ["0", "720", "720", "120", "182160"]
    assert table["class-default others"][:3] == ["0", "10080", "10080"]
    # The queue grows by 9 Gb/s: a burst at 10 Gb/s is 10/9 of it.
    assert table["BULK af11"][6:] == ["202400", "161.9"]
    assert "GigabitEthernet1/0/2" not in ended.out
    assert "recalled: open-ratio, level-1" in ended.out


def test_all_ports_and_the_unknown_one(perhop: Command, switch: Path) -> None:
    out = perhop("buffers", switch).out
    assert "GigabitEthernet1/0/2: 1 Gb/s, 300 units of 256 bytes, no output policy" in out
    assert "unknown: TenGigabitEthernet1/1/1" in out and "port-units=N" in out


def test_json_has_the_library_s_document(perhop: Command, switch: Path) -> None:
    document: dict[str, Any] = perhop("buffers", switch, "--json", "--frame", "9000").json()
    found = switch_memory(switch, frame_bytes=9000)
    assert document["ports"] == found["ports"]
    # Each jumbo frame occupies 36 units.
    bulk = found["ports"][0]["queues"][1]["thresholds"][-1]
    assert bulk["room"]["frames"] == 720 // 36


def test_the_output_of_a_switch_gives_the_same_table(perhop: Command, switch: Path, tmp_path: Path) -> None:
    printed = perhop("buffers", switch, "--printed", "--interface", "gi1/0/2").out
    (tmp_path / "output.txt").write_text(printed)
    queues = switch_memory(tmp_path / "output.txt")["ports"][0]["queues"]
    assert [(queue["hard"], queue["soft"]) for queue in queues] == [(120, 5760), (0, 8640)]
    assert perhop("buffers", tmp_path / "output.txt").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interface", "te9/9"], "there is no switch port `te9/9`"),
        (["--model", "isr4331"], "the memory of isr4331 is not known"),
        (["--frame", "20"], "is not the length of an Ethernet frame"),
        (["--arrival", "10"], "is not a rate"),
    ],
)
def test_wrong_options_are_refused(perhop: Command, switch: Path, options: list[str], message: str) -> None:
    ended = perhop("buffers", switch, *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_a_switch_without_a_product_asks_for_it(perhop: Command, switch: Path) -> None:
    switch.write_text(SWITCH.replace("switch 1 provision c9300-24t\n", ""))
    ended = perhop("buffers", switch)
    assert ended.code == 2
    assert "does not name the product" in ended.err and "c9300" in ended.err
    assert perhop("buffers", switch, "--model", "c9300").code == 0


def test_a_design_gives_the_smallest_multiplier(perhop: Command, switch: Path) -> None:
    text = SWITCH.replace("qos queue-softmax-multiplier 1200\n", "")
    switch.write_text(text)
    options = ("--interface", "gi1/0/2", "--burst", "1500kB", "--arrival", "10Gb/s", "--json")
    found = perhop("design", "buffers", switch, *options).json()
    values = {step["name"]: step["value"] for step in found["steps"]}
    # 90 % of the burst waits: 890 frames of six units; the queue has 720 units at 100 %.
    assert (values["frames"], values["need"], values["now"]) == (890, 5340, 720)
    assert values["multiplier"] == 742 and values["after"] >= 5340
    assert found["ios"] == "qos queue-softmax-multiplier 742"
    # 989 frames arrive, one leaves for every ten arrivals, and 120 frames of six units fit.
    assert 989 * 9 // 10 - 120 - 3 <= values["lost"] <= 989 * 9 // 10 - 120 + 3
    assert values["left"] == 0
    for percent, fits in ((742, True), (741, False)):
        switch.write_text(f"qos queue-softmax-multiplier {percent}\n{text}")
        queue = switch_memory(switch)["ports"][1]["queues"][1]
        assert (queue["thresholds"][-1]["room"]["frames"] >= 890) == fits


def test_a_design_gives_a_ratio_where_no_multiplier_is_enough(switch: Path) -> None:
    text = SWITCH.replace("  queue-limit dscp af11 percent 100\n", "")
    switch.write_text(text)
    advice = design.buffers(switch, "1000kB", "10Gb/s", interface="gi1/0/1", queue="BULK")
    # 593 frames need 3558 units: 25 % of 300 units, four times and twelve times, are 3600.
    assert (advice["need"], advice["ratio"], advice["after"]) == (3558, 25, 3600)
    assert "queue-buffers ratio 25" in advice.ios
    with pytest.raises(InvalidInputError, match="no combination of multiplier and ratio"):
        design.buffers(switch, "10000kB", "10Gb/s", interface="gi1/0/1", queue="BULK")


def burst_through_a_queue(packets: int) -> dict[str, Any]:
    """Send packets of 1500 bytes at 10 Gb/s to a line of 1 Gb/s with a queue of 90 packets."""
    gap_ns = 1200
    link = {"delay": "0s", "framing": "raw"}
    all_packets = {"name": "all", "buffer": {"tail-drop": {"limit": "90 packets"}}}
    queue = {"queueing": {"scheduler": "fifo", "classes": [all_packets]}}
    ports = {"switch": {"output": "queue"}}
    scenario = {
        "perhop": 1,
        "name": "burst",
        "duration": "10ms",
        "hosts": {"sender": {}, "receiver": {}},
        "routers": {"switch": {}},
        "links": [
            {"between": ["sender", "switch"], "rate": "100Gb/s", **link},
            {
                "between": ["switch", "receiver"],
                "rate": "1Gb/s",
                **link,
                "interfaces": ports,
            },
        ],
        "policies": {"queue": queue},
        "traffic": [
            {
                "name": "burst",
                "from": "sender",
                "to": "receiver",
                "stop": f"{packets * gap_ns}ns",
                "source": {"cbr": {"rate": "10Gb/s", "packet": {"ip": "1500B"}}},
            }
        ],
    }
    (row,) = run(Scenario(scenario)).summary["classes"]
    return row


def test_the_backlog_of_a_design_is_that_of_the_simulator() -> None:
    """90 packets wait at the end of 100 at ten times the rate of the line."""
    fits, too_long = burst_through_a_queue(100), burst_through_a_queue(104)
    assert (fits["offered_packets"]["mean"], fits["dropped_packets"]["mean"]) == (100, 0)
    assert too_long["dropped_packets"]["mean"] > 0


def test_a_router_has_no_such_memory(tmp_path: Path) -> None:
    (tmp_path / "router.cfg").write_text("version 15.4\ninterface GigabitEthernet0/1\n")
    with pytest.raises(InvalidInputError, match="no device whose packet memory perhop models"):
        switch_memory(tmp_path / "router.cfg")


def test_the_page_shows_the_output(perhop: Command, switch: Path) -> None:
    page = (ROOT / "docs" / "buffers.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```console\n\$ perhop (.*?)\n(.*?)```", page, re.DOTALL)
    ended = perhop(*shown[0].split(), COLUMNS="110")
    assert ended.out.startswith(shown[1])


def test_a_printed_table_names_the_ports_that_are_left_out(perhop: Command, switch: Path) -> None:
    ended = perhop("buffers", switch, "--printed", "--interface", "te1/1/1")
    assert (ended.code, ended.out) == (2, "")
    assert "unknown: TenGigabitEthernet1/1/1" in ended.err


def test_the_rules_have_their_evidence(perhop: Command, switch: Path) -> None:
    out = perhop("buffers", switch, "--rules", "--interface", "gi1/0/1").out
    assert "level-1" in out and "recalled" in out and "Cisco TAC 200594" in out


def test_a_check_of_a_switch_names_the_evidence_of_its_memory(perhop: Command, switch: Path) -> None:
    ended = perhop("check", switch)
    assert "platform: catalyst-uadp (line 2: switch 1 provision c9300-24t); memory: " in ended.out
    assert "recalled: open-ratio, level-1" in " ".join(ended.out.split())


SILICON_ONE = """\
version 17.12
license udi pid C9500X-28C8D sn FOC00000000
class-map match-any VOICE
 match dscp ef
policy-map OUT
 class VOICE
  priority level 1
  police rate percent 10
 class class-default
  bandwidth remaining percent 100
interface TenGigabitEthernet1/0/1
 service-policy output OUT
"""


def test_a_switch_with_silicon_one_has_one_limit_for_each_speed(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "core.cfg"
    file.write_text(SILICON_ONE)
    found = perhop("buffers", file, "--json").json()
    assert (found["chip"], found["unit_bytes"]) == ("Silicon One", 1)
    [port] = found["ports"]
    # 1220 blocks of 6144 bytes at 10 Gb/s.
    assert [queue["soft"] for queue in port["queues"]] == [7495680, 7495680]
    assert port["queues"][0]["thresholds"][0]["room"]["frames"] == 7495680 // 1518
    ended = perhop("buffers", file, "--rules")
    assert "TenGigabitEthernet1/0/1: 10 Gb/s, limits in bytes, policy OUT" in ended.out
    assert "1220 blocks" in ended.out and "the limits are lower while it is nearly full" in ended.out
    assert "memory-division" in ended.out and "TAC 218444" in ended.out
    refused = perhop("buffers", file, "--model", "c9300-24t")
    assert refused.code == 2 and "c9500x-28c8d has virtual output queues" in refused.err
    refused = perhop(
        "design", "buffers", file, "--interface", "te1/0/1", "--burst", "200kB", "--arrival", "40Gb/s"
    )
    assert refused.code == 2 and "neither a multiplier nor ratios" in refused.err
    refused = perhop("buffers", file, "--printed")
    assert refused.code == 2 and "does not print the output of this switch" in refused.err


def test_a_switch_with_silicon_one_runs_by_its_own_rules(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "core.cfg"
    file.write_text(SILICON_ONE.replace("percent 100\n", "percent 100\n  queue-buffers ratio 40\n"))
    checked = perhop("check", file)
    assert "platform: catalyst-silicon-one (line 2: license udi pid C9500X-28C8D" in checked.out
    assert "error[memory-command-refused]: class class-default has `queue-buffers ratio`" in checked.out
    file.write_text(SILICON_ONE)
    # A burst of 15 MB at 100 Gb/s: the queue stores 7.5 MB, and the line sends a tenth meanwhile.
    burst = "microburst(100Gb/s, 15 MB, class=class-default)"
    [row] = perhop("run", file, "--traffic", burst, "--json").json()["classes"]
    frames = -(-15_000_000 // 1518)
    expected = frames * 0.9 - 7_495_680 / 1518
    assert abs(row["dropped_queue_full"]["mean"] - expected) <= 0.02 * frames
    refused = perhop("run", file, "--platform", "c9500", "--traffic", burst)
    assert refused.code == 2 and "virtual output queues" in refused.err
