"""Findings about needs: bursts for TCP and calls, the control plane for routing, marks of packets."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from perhop import design


def found(perhop: Command, tmp_path: Path, text: str, rule: str) -> list[tuple[int, str]]:
    """Return line and text of the findings of `rule` that `perhop check` reports for `text`."""
    (tmp_path / "given.cfg").write_text(text)
    findings = perhop("check", "given.cfg", "--json").json()["files"][0]["findings"]
    return [
        (finding["line"], f"{finding['message']} ({finding['remedy']})")
        for finding in findings
        if finding["rule"] == rule
    ]


CAR = """\
version 12.4
interface Ethernet0/0
 ip address 192.0.2.1 255.255.255.0
 rate-limit output {numbers} conform-action transmit exceed-action drop
"""
POLICE = """\
version 15.1
policy-map P
 class class-default
  police cir {numbers} conform-action transmit exceed-action drop
interface GigabitEthernet0/1
 ip address 192.0.2.1 255.255.255.252
 service-policy input P
"""
TC_POLICE = """\
tc qdisc add dev eth0 clsact
tc filter add dev eth0 ingress protocol ip pref 1 u32 match u32 0 0 police {numbers} drop
"""
TBF = "tc qdisc add dev eth0 root tbf {numbers} latency 50ms\n"


# 10 Mb/s over 100 ms are 125,000 bytes.
@pytest.mark.parametrize(
    ("form", "small", "large"),
    [
        (CAR, "10000000 80000 80000", "10000000 1875000 3750000"),
        (POLICE, "10000000 bc 80000", "10000000 bc 250000"),
        (TC_POLICE, "rate 10mbit burst 80000", "rate 10mbit burst 250000"),
    ],
)
def test_a_burst_too_small_for_tcp_names_the_designed_burst(
    perhop: Command, tmp_path: Path, form: str, small: str, large: str
) -> None:
    needed = design.policer("10Mb/s", rtt="100ms")["Bc"]
    [(_, message)] = found(perhop, tmp_path, form.format(numbers=small), "police-burst-small")
    assert "TCP with an RTT of 100 ms needs 125000 bytes" in message
    assert f"{needed:.0f} bytes to reach it; see `perhop design policer`" in message
    assert f" {needed:,.0f} B" in perhop("design", "policer", "--rate", "10Mb/s", "--rtt", "100ms").out
    assert found(perhop, tmp_path, form.format(numbers=large), "police-burst-small") == []


# 1 Mb/s are 125,000 bytes in a second.
@pytest.mark.parametrize(
    ("form", "large", "usual"),
    [
        (CAR, "1000000 400000 800000", "1000000 187500 375000"),
        (POLICE, "1000000 bc 400000", "1000000 bc 187500"),
        (TC_POLICE, "rate 1mbit burst 400000", "rate 1mbit burst 187500"),
    ],
)
def test_a_policer_that_passes_seconds_of_its_rate(
    perhop: Command, tmp_path: Path, form: str, large: str, usual: str
) -> None:
    [(_, message)] = found(perhop, tmp_path, form.format(numbers=large), "police-burst-large")
    assert "passes 400kB at once, 3.2 s of its rate 1Mb/s" in message
    assert found(perhop, tmp_path, form.format(numbers=usual), "police-burst-large") == []


def test_the_burst_of_the_design_is_neither_too_small_nor_too_large(perhop: Command, tmp_path: Path) -> None:
    for rate in (256_000, 2_000_000, 50_000_000):
        burst = design.policer(rate, rtt="100ms")["Bc"]
        text = POLICE.format(numbers=f"{rate} bc {burst:.0f}")
        for rule in ("police-burst-small", "police-burst-large"):
            assert found(perhop, tmp_path, text, rule) == [], (rate, rule)


# A millisecond of 100 Mb/s are 12,500 bytes; 10 kbyte at 10 Mb/s is the example of tc-tbf(8).
@pytest.mark.parametrize(
    ("numbers", "is_small"),
    [
        ("rate 100mbit burst 4096", True),
        ("rate 100mbit burst 12500", False),
        ("rate 10mbit burst 10k", False),
        ("rate 1mbit burst 1600", False),
    ],
)
def test_a_burst_of_tbf_below_a_tick(perhop: Command, tmp_path: Path, numbers: str, is_small: bool) -> None:
    findings = found(perhop, tmp_path, TBF.format(numbers=numbers), "tc-tbf-burst-small")
    assert bool(findings) == is_small
    assert not findings or "12500 bytes at 1000 Hz or 125000 at 100 Hz" in findings[0][1]


HTB = """\
tc qdisc add dev eth0 root handle 1: htb default 10
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit {outer}
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1mbit ceil 10mbit {inner}
"""


# 320,000 bytes are 256 ms of 10 Mb/s.
@pytest.mark.parametrize(
    ("outer", "inner", "line"),
    [
        ("", "cburst 320000", 3),
        ("", "cburst 300000", None),
        ("", "burst 320000", None),
        ("burst 320000 cburst 320000", "", 2),
        ("cburst 320000", "", None),
    ],
)
def test_a_large_cburst_of_htb(
    perhop: Command, tmp_path: Path, outer: str, inner: str, line: int | None
) -> None:
    findings = found(perhop, tmp_path, HTB.format(outer=outer, inner=inner), "shape-burst-large")
    assert [number for number, _ in findings] == ([] if line is None else [line])


PRIORITY = """\
version 15.1
class-map match-all VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority {numbers}
interface GigabitEthernet0/1
 bandwidth 20000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
"""


# 125 calls of 80 kb/s fill 10 Mb/s: a packet of 200 bytes each are 25,000 bytes.
@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("64 1600", "a burst of 1600 bytes is 8 packets of 200 bytes or 1 of 1500"),
        ("10000 5000", "a burst of 5000 bytes is 25 packets of 200 bytes, but 10Mb/s carries 125 calls"),
        ("10000 24999", "if all calls send at the same time, they need 25000 bytes"),
        ("10000 25000", None),
        ("64 3000", None),
        ("1000", None),
    ],
)
def test_a_priority_burst_of_a_few_packets(
    perhop: Command, tmp_path: Path, numbers: str, said: str | None
) -> None:
    reported = found(perhop, tmp_path, PRIORITY.format(numbers=numbers), "priority-burst-small")
    assert len(reported) == (said is not None)
    assert said is None or said in reported[0][1]


COPP = """\
version 15.4
ip access-list extended ROUTING
 permit {entry}
class-map match-all ROUTING
 match access-group name ROUTING
policy-map COPP
 class ROUTING
  {police}
 class class-default
  {rest}
control-plane
 service-policy input COPP
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.252
interface GigabitEthernet0/2
 ip address 10.0.2.1 255.255.255.252
interface Loopback0
 ip address 10.9.9.9 255.255.255.255
"""
OSPF = "router ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n"
FREE = "police 1000000 30000 conform-action transmit exceed-action drop"


def policed(rate: int) -> str:
    """Return a policer that drops the excess."""
    return f"police {rate} 3000 conform-action transmit exceed-action drop"


# An OSPF neighbor on each of three interfaces: 1500 bytes in 5 s, 2.4 kb/s each, are 7.2 kb/s in total.
@pytest.mark.parametrize(
    ("entry", "police", "routing", "said"),
    [
        ("ospf any any", policed(8000), OSPF, None),
        ("ospf any any", policed(8000), OSPF + "interface GigabitEthernet0/3\n ip address 10.0.3.1 "
         "255.255.255.252\n", "polices OSPF to 8kb/s, but the neighbors may need 9600b/s"),
        ("ospf any any", policed(8000), OSPF + " passive-interface default\n no passive-interface Gi0/0\n",
         None),
        ("eigrp any any", "drop", "router eigrp 1\n network 10.0.0.0\n",
         "class ROUTING drops packets of EIGRP to the router itself (after a failure all neighbors send at "
         "once, and drops end the routing sessions: 3 EIGRP neighbors (assumed: one on each interface)"),
        ("tcp any any eq bgp", policed(8000), "router bgp 64500\n neighbor 10.0.0.2 remote-as 64501\n",
         "polices BGP to 8kb/s, but the neighbors may need 12kb/s"),
        ("tcp any any eq bgp", policed(16000), "router bgp 64500\n neighbor 10.0.0.2 remote-as 64501\n",
         None),
        ("tcp any any eq bgp", policed(16000), "router bgp 64500\n neighbor 10.0.0.2 remote-as 64501\n"
         " neighbor 10.0.1.2 remote-as 64502\n", "2 BGP neighbors, each with a packet of 1500 bytes per 1 s"),
        ("tcp any any eq bgp", policed(8000), "", "1 BGP neighbor (assumed"),
        # A protocol that no line configures sends nothing.
        ("tcp any any eq bgp", policed(8000), OSPF, None),
    ],
)  # fmt: skip
def test_the_rate_that_routing_needs(
    perhop: Command, tmp_path: Path, entry: str, police: str, routing: str, said: str | None
) -> None:
    text = COPP.format(entry=entry, police=police, rest=FREE) + routing
    reported = found(perhop, tmp_path, text, "control-plane-rate-low")
    line = 7 if police == "drop" else 8
    assert [line for line, _ in reported] == ([] if said is None else [line])
    assert said is None or said in reported[0][1]


def test_routing_packets_in_class_default(perhop: Command, tmp_path: Path) -> None:
    text = COPP.format(entry="icmp any any", police=policed(8000), rest="drop") + OSPF
    [(line, message)] = found(perhop, tmp_path, text, "control-plane-rate-low")
    assert line == 9
    assert "class class-default drops packets of OSPF" in message
    without = COPP.format(entry="icmp any any", police=policed(8000), rest="drop")
    assert found(perhop, tmp_path, without, "control-plane-rate-low") == []


def test_packets_per_second_of_the_control_plane(perhop: Command, tmp_path: Path) -> None:
    slow = "police rate 1 pps conform-action transmit exceed-action drop"
    peers = "".join(f" neighbor 10.0.{number}.2 remote-as 64501\n" for number in range(2))
    text = COPP.format(entry="tcp any any eq bgp", police=slow, rest=FREE) + f"router bgp 64500\n{peers}"
    [(_, message)] = found(perhop, tmp_path, text, "control-plane-rate-low")
    assert "polices BGP to 1 packets/s, but the neighbors may need 2.0" in message
    fast = text.replace("rate 1 pps", "rate 100 pps")
    assert found(perhop, tmp_path, fast, "control-plane-rate-low") == []


MARKED = """\
{firewall}
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit
tc class add dev eth0 parent 1: classid 1:20 htb rate 9mbit
tc filter add dev eth0 parent 1: protocol ip prio 1 handle 6 fw classid 1:10
"""
RULE = "iptables -t mangle -A POSTROUTING -p udp -j {target}"


@pytest.mark.parametrize(
    ("firewall", "said"),
    [
        ("", "no line of the file sets mark 6; no line sets any mark"),
        (RULE.format(target="MARK --set-mark 7"), "no line of the file sets mark 6; the lines set only 7"),
        (RULE.format(target="MARK --set-mark 6"), None),
        (RULE.format(target="MARK --set-xmark 0x6/0xff"), None),
        (RULE.format(target="CONNMARK --restore-mark"), None),
        ("nft add rule ip mangle out udp dport 5060 meta mark set 6", None),
        ("tc qdisc add dev eth0 clsact\ntc filter add dev eth0 egress protocol ip prio 1 flower ip_proto udp "
         "action skbedit mark 6", None),
    ],
)  # fmt: skip
def test_a_mark_that_no_line_sets(perhop: Command, tmp_path: Path, firewall: str, said: str | None) -> None:
    text = MARKED.format(firewall=firewall)
    reported = found(perhop, tmp_path, text, "tc-mark-never-set")
    assert len(reported) == (said is not None)
    assert said is None or said in reported[0][1]
    # Another firewall may set either mark, so that `diff` cannot compare the filters.
    (tmp_path / "new.cfg").write_text(text.replace("handle 6 fw", "handle 8 fw"))
    ended = perhop("diff", "given.cfg", "new.cfg", "--no-simulate")
    assert "nothing differs" not in ended.out
    if said is not None:
        assert "changed, not compared" in ended.out


BUCKETS = """\
class-map match-all DATA
 match dscp af21
policy-map IN
 class DATA
  police {police} conform-action transmit exceed-action {exceed} violate-action drop
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.0
 service-policy input IN
"""


@pytest.mark.parametrize(
    ("police", "exceed", "message"),
    [
        (
            "cir 750000 bc 100000 be 1000",
            "drop",
            "an excess burst of 1kB: no packet of 1500 bytes fits into it",
        ),
        (
            "cir 750000 bc 100000 be 1000",
            "set-dscp-transmit af22",
            "such a packet conforms or violates but never exceeds",
        ),
        (
            "cir 750000 bc 100000 pir 900000 be 1000",
            "transmit",
            "a peak burst of 1kB: no packet of 1500 bytes",
        ),
        ("cir 750000 bc 1000 be 1000", "drop", "a burst of 1kB: no packet of 1500 bytes conforms"),
        ("cir 750000 bc 100000 be 1500", "transmit", None),
    ],
)
def test_each_bucket_of_a_policer_must_hold_a_packet(
    perhop: Command, tmp_path: Path, police: str, exceed: str, message: str | None
) -> None:
    """RFC 2697 §3 and RFC 2698 §3: a bucket never has enough tokens for a packet that is longer."""
    text = BUCKETS.format(police=police, exceed=exceed)
    reported = found(perhop, tmp_path, text, "police-burst-below-packet")
    assert len(reported) == (message is not None)
    assert message is None or message in reported[0][1]
