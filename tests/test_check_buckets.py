"""Findings about buckets, labels and sums of rates, which an expert would notice first in a configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

INTERFACE = """\
interface GigabitEthernet0/0/1
 bandwidth 10000
 ip address 10.0.1.1 255.255.255.0
 service-policy output OUT
"""
LABELLED = """\
version 16.9
class-map match-any EF
 match dscp ef
class-map match-any CHOSEN
 match {criterion}
policy-map IN
 class EF
  set {mark}
policy-map OUT
 class CHOSEN
  priority percent 10
interface GigabitEthernet0/0/0
 ip address 10.0.0.1 255.255.255.0
{attachment}"""


def rules(perhop: Command, tmp_path: Path, text: str, name: str = "r.cfg") -> dict[str, list[int]]:
    """Return the lines of each rule that `perhop check` reports for `text`."""
    (tmp_path / name).write_text(text)
    found: dict[str, list[int]] = {}
    for finding in perhop("check", name, "--json").json()["files"][0]["findings"]:
        found.setdefault(finding["rule"], []).append(finding["line"])
    return found


@pytest.mark.parametrize("criterion", ["qos-group 5", "discard-class 2"])
def test_a_label_that_no_attached_policy_sets(perhop: Command, tmp_path: Path, criterion: str) -> None:
    text = LABELLED.format(criterion=criterion, mark=criterion, attachment="") + INTERFACE
    assert rules(perhop, tmp_path, text)["label-never-set"] == [5]
    attached = LABELLED.format(criterion=criterion, mark=criterion, attachment=" service-policy input IN\n")
    assert "label-never-set" not in rules(perhop, tmp_path, attached + INTERFACE)


def test_packets_have_group_0_until_a_policy_sets_another(perhop: Command, tmp_path: Path) -> None:
    text = LABELLED.format(criterion="qos-group 0", mark="qos-group 5", attachment="") + INTERFACE
    (tmp_path / "r.cfg").write_text(text)
    printed = perhop("check", "r.cfg").out
    assert "warning[label-never-set]: class-map CHOSEN: no attached policy sets a qos-group" in printed
    assert "every packet matches" in printed
    attached = LABELLED.format(
        criterion="qos-group 0", mark="qos-group 5", attachment=" service-policy input IN\n"
    )
    assert "label-never-set" not in rules(perhop, tmp_path, attached + INTERFACE)


def test_a_group_copied_from_a_field_may_have_any_value(perhop: Command, tmp_path: Path) -> None:
    text = LABELLED.format(
        criterion="qos-group 5", mark="qos-group dscp", attachment=" service-policy input IN\n"
    )
    assert "label-never-set" not in rules(perhop, tmp_path, text + INTERFACE)


@pytest.mark.parametrize(
    ("police", "is_slow"), [("8000 1500", True), ("8000 3000", False), ("64000 1500", False)]
)
def test_a_policer_of_the_control_plane_that_stalls_a_session(
    perhop: Command, tmp_path: Path, police: str, is_slow: bool
) -> None:
    text = f"""\
version 15.4
ip access-list extended BGP
 permit tcp any any eq bgp
class-map match-all BGP
 match access-group name BGP
policy-map COPP
 class BGP
  police {police} conform-action transmit exceed-action drop
control-plane
 service-policy input COPP
interface GigabitEthernet0/0
 ip address 198.51.100.1 255.255.255.0
"""
    assert ("police-rate-slow" in rules(perhop, tmp_path, text)) == is_slow


TBF = "tc qdisc add dev eth0 root handle 1: tbf rate 15mbit burst {burst} latency 25ms\n"
HTB = """\
tc qdisc add dev eth0 root handle 1: htb default 10
tc class add dev eth0 parent 1: classid 1:1 htb rate 100kbit ceil 100kbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate {first} ceil 100kbit {burst}
tc class add dev eth0 parent 1:1 classid 1:20 htb rate {second} ceil 100kbit
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.1.0.20/32 flowid 1:20
"""


def test_a_bucket_of_tbf_longer_than_a_quarter_of_a_second(perhop: Command, tmp_path: Path) -> None:
    assert "shape-burst-large" in rules(perhop, tmp_path, TBF.format(burst="256mb"), "large.tc")
    assert "shape-burst-large" not in rules(perhop, tmp_path, TBF.format(burst="32k"), "small.tc")


def test_buckets_and_sums_of_htb(perhop: Command, tmp_path: Path) -> None:
    right = HTB.format(first="50kbit", second="50kbit", burst="")
    found = rules(perhop, tmp_path, right, "right.tc")
    assert not {"rates-above-parent", "shape-burst-large"} & set(found)
    above = HTB.format(first="60kbit", second="60kbit", burst="burst 50kb cburst 50kb")
    found = rules(perhop, tmp_path, above, "above.tc")
    assert found["rates-above-parent"] == [2]
    assert "shape-burst-large" in found


@pytest.mark.parametrize(
    ("parent", "first", "said"),
    [
        ("rate 100kbit ceil 200kbit", "90kbit", "add up to 140kb/s, above its own rate 100kb/s"),
        ("rate 100kbit ceil 200kbit", "110kbit", "above its own rate 100kb/s; class 1:10 alone exceeds it"),
        ("rate 100kbit", "60kbit", "up to 110kb/s are sent, more than the ceiling 100kb/s"),
    ],
)
def test_a_rate_above_that_of_the_class_around(
    perhop: Command, tmp_path: Path, parent: str, first: str, said: str
) -> None:
    text = HTB.format(first=first, second="50kbit", burst="")
    (tmp_path / "above.tc").write_text(text.replace("rate 100kbit ceil 100kbit\n", f"{parent}\n", 1))
    assert said in perhop("check", "above.tc").out


QUANTA = """\
tc qdisc add dev eth0 root handle 1: htb default 20 {r2q}
tc class add dev eth0 parent 1: classid 1:1 htb rate 1gbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate {first} ceil 1gbit {options}
tc class add dev eth0 parent 1:1 classid 1:20 htb rate {second} ceil 1gbit
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.1.0.10/32 flowid 1:10
"""


# 600 Mb/s are 75,000,000 bytes/s: a tenth is above 200,000 bytes. 64 kb/s give 800 bytes, below 1,000.
@pytest.mark.parametrize(
    ("r2q", "first", "second", "said"),
    [
        ("", "600mbit", "300mbit", "7500000 bytes of class 1:10 become 200000, 3750000 bytes of class 1:20"),
        ("", "600mbit", "300mbit", "do not borrow in proportion to their rates: write `r2q 1250`"),
        (
            "",
            "300mbit",
            "300mbit",
            "Linux logs a warning; the shares of the classes do not change: write `r2q 625`",
        ),
        ("", "64kbit", "10mbit", "800 bytes of class 1:10 become 1000"),
        ("", "64kbit", "900mbit", "write a `quantum` at each class"),
        ("r2q 1", "16mbit", "1mbit", "2000000 bytes of class 1:10 become 200000"),
    ],
)
def test_a_quantum_that_linux_cuts(
    perhop: Command, tmp_path: Path, r2q: str, first: str, second: str, said: str
) -> None:
    (tmp_path / "q.tc").write_text(QUANTA.format(r2q=r2q, first=first, second=second, options=""))
    printed = " ".join(perhop("check", "q.tc").out.split())
    assert "note[tc-htb-quantum]" in printed
    assert said in printed


@pytest.mark.parametrize(
    ("r2q", "first", "second"),
    [("r2q 1250", "600mbit", "300mbit"), ("", "16mbit", "8mbit"), ("r2q 2", "64kbit", "1mbit")],
)
def test_quanta_within_the_limits(perhop: Command, tmp_path: Path, r2q: str, first: str, second: str) -> None:
    text = QUANTA.format(r2q=r2q, first=first, second=second, options="")
    assert "tc-htb-quantum" not in rules(perhop, tmp_path, text, "q.tc")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("quantum 400", {"tc-htb-quantum": [3]}),
        ("quantum 300000", {"tc-htb-quantum": [3]}),
        ("quantum 1514", {}),
        ("prio 8", {"tc-htb-prio": [3]}),
        ("prio 7", {}),
    ],
)
def test_written_quanta_and_priorities(
    perhop: Command, tmp_path: Path, options: str, found: dict[str, list[int]]
) -> None:
    text = QUANTA.format(r2q="", first="16mbit", second="8mbit", options=options)
    reported = rules(perhop, tmp_path, text, "q.tc")
    assert {rule: lines for rule, lines in reported.items() if rule.startswith("tc-htb")} == found


@pytest.mark.parametrize(
    ("r2q", "first", "options", "said"),
    [
        ("", "8mbit", "", "quantum 100kB = rate / r2q 10"),
        ("r2q 100", "8mbit", "", "quantum 10kB = rate / r2q 100"),
        ("", "80mbit", "", "quantum 200kB, the limit of HTB (rate / r2q 10 = 1MB)"),
        ("", "8mbit", "quantum 3000", "quantum 3kB as written"),
    ],
)
def test_trace_shows_the_quantum(
    perhop: Command, tmp_path: Path, r2q: str, first: str, options: str, said: str
) -> None:
    (tmp_path / "q.tc").write_text(QUANTA.format(r2q=r2q, first=first, second="1mbit", options=options))
    traced = perhop("trace", "q.tc", "--packet", "udp 10.0.0.1:5000 > 10.1.0.10:5004")
    assert said in traced.out
    other = perhop("trace", "q.tc", "--packet", "udp 10.0.0.1:5000 > 10.1.0.11:5004", "--json").json()
    classes = other["packets"][0]["paths"][0]["stages"][-1]["classes"]
    assert [row["name"] for row in classes if "turn" in row] == ["1:20"]


def test_two_priority_classes_without_a_limit_are_one_finding(perhop: Command, tmp_path: Path) -> None:
    text = """\
version 16.9
class-map match-any EF
 match dscp ef
class-map match-any VIDEO
 match dscp af41
policy-map OUT
 class EF
  priority level 1
 class VIDEO
  priority level 2
"""
    assert rules(perhop, tmp_path, text + INTERFACE)["priority-unbounded"] == [7]
    prio = "tc qdisc add dev eth0 root handle 1: prio bands 4\n"
    assert "priority-unbounded" not in rules(perhop, tmp_path, prio, "prio.tc")


@pytest.mark.parametrize(
    ("options", "rate"), [("delay 1000ms", "1000 packets/s"), ("delay 20ms limit 100", "5000 packets/s")]
)
def test_the_throughput_of_netem_with_its_limit(
    perhop: Command, tmp_path: Path, options: str, rate: str
) -> None:
    (tmp_path / "delay.tc").write_text(
        "tc qdisc add dev eth0 root handle 1: prio\n"
        f"tc qdisc add dev eth0 parent 1:1 handle 10: netem {options}\n"
    )
    assert rate in perhop("check", "delay.tc").out
