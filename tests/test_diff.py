"""`perhop diff`: the effects of a change to a configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

OLD = """\
version 15.1
class-map match-all VOICE
 match dscp ef
class-map match-any DATA
 match dscp af21 af22
policy-map WAN
 class VOICE
  priority 400
 class DATA
  bandwidth 500
  queue-limit 64 packets
interface GigabitEthernet0/0
 ip address 10.1.0.1 255.255.0.0
interface Serial0/0
 bandwidth 2000
 clock rate 2000000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.cfg"
    file.write_text(OLD)
    return file


def _changed(old: Path, *changes: tuple[str, str]) -> Path:
    text = OLD
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    file = old.with_name("new.cfg")
    file.write_text(text)
    return file


def test_the_same_configuration_has_no_difference(perhop: Command, old: Path) -> None:
    new = _changed(old, ("version 15.1\n", "version 15.1\nhostname edge\n"))
    ended = perhop("diff", old, new, "--strict")
    assert (ended.code, ended.out) == (0, "nothing differs\n")


def test_packets_that_change_queues_have_an_example(perhop: Command, old: Path) -> None:
    new = _changed(old, ("match dscp af21 af22", "match dscp af21"))
    found = perhop("diff", old, new, "--json").json()
    (moved,) = found["moved"]
    assert (moved["before"], moved["after"]) == ("others/DATA", "others/class-default")
    assert "dscp af22" in moved["packet"]
    assert moved["interface"] == "Serial0/0"


def test_queue_parameters_and_guarantees(perhop: Command, old: Path) -> None:
    new = _changed(old, ("bandwidth 500\n", "bandwidth 700\n"), ("queue-limit 64", "queue-limit 128"))
    ended = perhop("diff", old, new, "--strict")
    assert ended.code == 4
    assert "queue others/DATA, buffer: tail-drop limit 64 packets -> tail-drop limit 128 packets" in ended.out
    assert "guaranteed: " in ended.out


def test_input_marks_are_applied(perhop: Command, old: Path) -> None:
    """The input policy marks all arriving packets, so none of them changes its class."""
    mark = "policy-map IN\n class class-default\n  set dscp af21\ninterface Gig"
    text = OLD.replace("interface Gig", mark).replace(
        "255.255.0.0\n", "255.255.0.0\n service-policy input IN\n"
    )
    old.write_text(text)
    new = old.with_name("new.cfg")
    new.write_text(text.replace("match dscp af21 af22", "match dscp af21"))
    assert perhop("diff", old, new, "--json").json()["moved"]
    assert perhop("diff", old, new, "--json", "--at", "Gi0/0").json()["moved"] == []


def test_markdown_for_a_comment(perhop: Command, old: Path) -> None:
    new = _changed(old, ("match dscp af21 af22", "match dscp af21"))
    rows = perhop("diff", old, new, "--markdown").out.splitlines()
    assert rows[0] == "### QoS: `old.cfg` to `new.cfg`"
    assert any(row.startswith("| Serial0/0 | others/DATA | others/class-default | `") for row in rows)


def test_a_scenario_is_simulated_with_each(perhop: Command, old: Path) -> None:
    new = _changed(old, ("priority 400", "priority 100"))
    scenario = old.with_name("branch.perhop.yaml")
    ended = perhop("init", "--from", old, scenario)
    assert ended.code == 0, ended.err
    found = perhop("diff", old, new, "--scenario", scenario, "--replications", "3", "--json").json()
    assert {row["unit"] for row in found["simulated"]}
    assert any(row["inside_interval"] is False for row in found["simulated"])


def test_incomparable_inputs_are_refused(perhop: Command, old: Path) -> None:
    scenario = old.with_name("s.perhop.yaml")
    perhop("init", scenario)
    ended = perhop("diff", old, scenario)
    assert ended.code == 2
    assert "old.cfg is a router configuration, but" in ended.err
    new = _changed(old, ("Serial0/0", "Serial0/1"))
    renamed = perhop("diff", old, new, "--strict")
    assert renamed.code == 4
    assert "has no interface Serial0/" in renamed.out
    assert "removed: queue VOICE" in renamed.out
    assert "neither configuration has an interface `Gi9/9`" in perhop("diff", old, new, "--out", "Gi9/9").err
    missing = perhop("diff", old, "gone.cfg")
    assert missing.code == 2
    assert "there is no such file" in missing.err


def test_devices_of_linux_are_compared(perhop: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.tc", tmp_path / "new.tc"
    old.write_text(
        "tc qdisc add dev eth0 root cake bandwidth 18mbit diffserv4\n"
        "tc qdisc add dev eth1 root handle 1: htb default 20\n"
        "tc class add dev eth1 parent 1: classid 1:20 htb rate 20mbit\n"
    )
    assert "nothing differs" in perhop("diff", old, old).out
    new.write_text(old.read_text().replace("diffserv4", "diffserv3").replace("rate 20mbit", "rate 25mbit"))
    ended = perhop("diff", old, new, "--strict")
    assert ended.code == 4
    # CS2 belongs to video with four tins, and to no special tin with three.
    assert "cake/video -> cake/best-effort: udp 192.0.2.1:50000 > 198.51.100.1:9 dscp cs2" in ended.out
    assert "queue 1:20, share: rate 20 Mb/s -> rate 25 Mb/s" in ended.out
