"""`perhop diff` accounts for every changed line, of every attachment of a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command

IOS = """\
version 15.4
access-list 101 permit tcp any any eq bgp
access-list 102 permit icmp any any
class-map match-any VOICE
 match dscp ef
class-map match-all BGP
 match access-group 101
policy-map IN
 class VOICE
  set dscp af41
 class class-default
  police 64000 8000 conform-action transmit exceed-action drop
policy-map SPOKE
 class class-default
  shape average 500000
policy-map WAN
 class VOICE
  priority 400
policy-map COPP
 class BGP
  police 32000 4000 conform-action transmit exceed-action drop
interface GigabitEthernet0/0
 description office
 ip address 10.1.0.1 255.255.0.0
 service-policy input IN
interface GigabitEthernet0/2.10
 encapsulation dot1Q 10
 ip address 10.2.0.1 255.255.0.0
 rate-limit input 64000 8000 8000 conform-action transmit exceed-action drop
interface ATM1/0.1 point-to-point
 pvc 1/32
  cbr 1000
  service-policy output SPOKE
interface Tunnel0
 ip address 10.9.0.1 255.255.255.252
 tunnel source Serial0/0
 tunnel destination 192.0.2.2
 service-policy output SPOKE
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
control-plane
 service-policy input COPP
"""

TC = """\
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:10 htb rate 4mbit
tc class add dev eth0 parent 1: classid 1:20 htb rate 6mbit
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip prio 1 u32 match u32 0 0 police rate 1mbit burst 10k drop
"""

IN = "GigabitEthernet0/0 input conditioner"
#: Replaced text, its replacement, and the part that it changes.
COMPARED = {
    "set of an input policy": ("set dscp af41", "set dscp cs1", f"{IN} VOICE"),
    "set of an input policy, gone": ("  set dscp af41\n", "", f"{IN} VOICE"),
    "policer of an input policy": ("police 64000 8000", "police 128000 8000", f"{IN} class-default"),
    "burst of an input policer": ("police 64000 8000", "police 64000 9000", f"{IN} class-default"),
    "input policy, gone": (" service-policy input IN\n", "", f"{IN} VOICE"),
    "policer of the control plane": ("police 32000 4000", "police 64000 4000", "control-plane "),
    "list of the control plane": ("any eq bgp", "any eq 22", "control-plane "),
    "control plane, gone": ("control-plane\n service-policy input COPP\n", "", "control-plane "),
    "rate limit of a sub-interface": ("input 64000 8000", "input 96000 8000", "GigabitEthernet0/2.10 input"),
    "encapsulation of a sub-interface": ("dot1Q 10", "dot1Q 10 second-dot1q 20", "GigabitEthernet0/2.10 "),
    "rate of a circuit": ("cbr 1000", "cbr 500", "ATM1/0.1"),
    "policy of a circuit": ("1000\n  service-policy output SPOKE\n", "1000\n", "ATM1/0.1"),
    "policy of a tunnel": ("192.0.2.2\n service-policy output SPOKE\n", "192.0.2.2\n", "Tunnel0 "),
    "address of an interface": ("ip address 10.1.0.1", "ip address 10.1.0.2", "GigabitEthernet0/0 interface"),
    "state of an interface": (" description office\n", " shutdown\n", "GigabitEthernet0/0 interface"),
}
COMPARED_TC = {
    "ingress policer": ("police rate 1mbit burst", "police rate 2mbit burst", "eth0 input conditioner"),
    "burst of an ingress policer": ("burst 10k", "burst 20k", "eth0 input conditioner"),
    "ingress policer, gone": (TC.splitlines()[-1] + "\n", "", "eth0 input conditioner"),
    "class of htb": ("rate 6mbit", "rate 5mbit", "eth0 queue 1:20"),
    "filter of htb": ("0xb8", "0x28", "eth0 queue 1:10"),
}
#: Changes outside of the compared model: the text, its replacement, and a part of the reported line.
NOT_COMPARED = {
    "encryption": (" bandwidth 2000\n", " bandwidth 2000\n crypto map VPN\n", "crypto map VPN"),
    "shaping of old": (" bandwidth 2000\n", " bandwidth 2000\n traffic-shape rate 128000\n", "traffic-shape"),
    "a filter": (" bandwidth 2000\n", " bandwidth 2000\n ip access-group 102 in\n", "ip access-group"),
    "a list that no class uses": ("permit icmp", "permit gre", "access-list 102"),
    "a policy that no interface uses": ("version 15.4\n", "version 15.4\npolicy-map NONE\n", "policy-map"),
    "an unknown command": (" bandwidth 2000\n", " bandwidth 2000\n bandwith 1\n", "bandwith"),
}


@pytest.fixture
def changed(perhop: Command, tmp_path: Path) -> Any:
    def run(text: str, before: str, after: str, *options: str) -> dict[str, Any]:
        assert before in text
        suffix = ".tc" if text is TC else ".cfg"
        old, new = tmp_path / f"old{suffix}", tmp_path / f"new{suffix}"
        old.write_text(text)
        new.write_text(text.replace(before, after))
        ended = perhop("diff", old, new, "--strict", "--json", *options)
        assert ended.code == 4, ended.out
        found: dict[str, Any] = ended.json()
        return found

    return run


@pytest.mark.parametrize("case", [*COMPARED, *COMPARED_TC])
def test_every_attachment_is_compared(changed: Any, case: str) -> None:
    before, after, part = {**COMPARED, **COMPARED_TC}[case]
    found = changed(TC if case in COMPARED_TC else IOS, before, after)
    parts = [f"{entry['interface']} {entry['part']}" for line in found["lines"] for entry in line["parts"]]
    assert [name for name in parts if name.startswith(part)], parts
    assert not found["not_compared"]
    changes = {f"{change['interface']} {change['part']}" for change in found["changed"]}
    for move in found["moved"]:
        changes |= {f"{move['interface']} queue {move[side]}" for side in ("before", "after")}
    assert {*parts} <= changes


@pytest.mark.parametrize("case", NOT_COMPARED)
def test_lines_outside_the_model_are_listed(changed: Any, case: str) -> None:
    before, after, line = NOT_COMPARED[case]
    found = changed(IOS, before, after)
    texts = [entry[side]["text"] for entry in found["not_compared"] for side in ("old", "new") if entry[side]]
    assert texts
    assert all(text.startswith(line) for text in texts)
    assert all(entry["reason"] for entry in found["not_compared"])


def test_pre_classification_and_a_tunnel(changed: Any) -> None:
    text = IOS.replace("192.0.2.2\n", "192.0.2.2\n qos pre-classify\n")
    assert changed(text, " qos pre-classify\n", "")
    tunnel = IOS[IOS.index("interface Tunnel0") : IOS.index("interface Serial0/0")]
    found = changed(IOS, tunnel, "")
    assert any(change["part"] == "interface" and change["after"] is None for change in found["changed"])
    assert any("has no interface Tunnel0" in remark for remark in found["remarks"])


def test_numbers_of_lines_are_those_of_each_file(changed: Any) -> None:
    (line,) = changed(IOS, "set dscp af41", "set dscp cs1")["lines"]
    number = IOS.splitlines().index("  set dscp af41") + 1
    assert (line["old"], line["new"]) == (
        {"line": number, "text": "set dscp af41"},
        {"line": number, "text": "set dscp cs1"},
    )
    assert line["section"] == ["policy-map IN", "class VOICE"]


def test_a_changed_input_policy_moves_packets_to_another_queue(changed: Any) -> None:
    found = changed(IOS, "set dscp af41", "set dscp ef")
    moved = [move for move in found["moved"] if move["interface"] == "Serial0/0"]
    assert {move["arrives"] for move in moved} == {"GigabitEthernet0/0"}
    assert {(move["before"], move["after"]) for move in moved} == {("others/class-default", "VOICE")}
    (example,) = [candidate for candidate in found["examples"] if candidate["leaves"] == "Serial0/0"]
    assert (example["before"]["queue"], example["after"]["queue"]) == ("others/class-default", "VOICE")


def test_sections_in_another_order_are_the_same(perhop: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(IOS)
    voice = "class-map match-any VOICE\n match dscp ef\n"
    new.write_text(IOS.replace(voice, "") + voice + "hostname edge\n! a comment\n")
    ended = perhop("diff", old, new, "--strict")
    assert (ended.code, ended.out) == (0, "nothing differs\n")
    found = perhop("diff", old, new, "--json").json()
    assert [(line["new"]["text"], line["effect"]) for line in found["lines"]] == [
        ("hostname edge", "irrelevant")
    ]
    assert found["assumed"]
    assert found["not_looked_at"] == []


def test_a_comparison_of_one_interface_names_the_others(perhop: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(IOS)
    new.write_text(IOS.replace("shape average 500000", "shape average 600000"))
    found = perhop("diff", old, new, "--out", "Serial0/0", "--json").json()
    assert [line["effect"] for line in found["lines"]] == ["elsewhere"]
    assert "interfaces other than Serial0/0 (1 changed lines" in found["not_looked_at"][0]
    ended = perhop("diff", old, new, "--out", "Serial0/0")
    assert "interfaces other than Serial0/0" in ended.out


def test_markdown_has_lines_and_names(perhop: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(IOS)
    encrypted = IOS.replace(" bandwidth 2000\n", " bandwidth 2000\n crypto map VPN\n")
    new.write_text(encrypted.replace("VOICE", "CALLS"))
    out = perhop("diff", old, new, "--markdown").out
    assert "| Serial0/0 | queue VOICE | queue CALLS |" in out
    assert "| changed, not compared | line | parts or reason |" in out
    assert "`+ crypto map VPN`" in out


def test_an_example_arrives_by_the_interface_of_its_policy(perhop: Command, tmp_path: Path) -> None:
    text = (
        "class-map match-any VOICE\n match dscp ef\npolicy-map IN\n class VOICE\n  set dscp af41\n"
        "policy-map WAN\n class VOICE\n  priority 400\n"
        "interface Tunnel5\n ip address 172.16.0.1 255.255.255.252\n"
        "interface FastEthernet0/0\n ip address 10.0.0.1 255.255.255.0\n service-policy input IN\n"
        "interface Serial0/0\n bandwidth 2000\n service-policy output WAN\n"
    )
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(text)
    new.write_text(text.replace("set dscp af41", "set dscp cs1"))
    found = perhop("diff", old, new, "--no-simulate", "--json").json()
    assert {example["packet"].rpartition(" in ")[2] for example in found["examples"]} == {"FastEthernet0/0"}
