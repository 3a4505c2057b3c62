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
    return [(one["line"], f"{one['message']} ({one['remedy']})") for one in findings if one["rule"] == rule]


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
def test_a_burst_too_small_for_tcp_names_that_of_the_design(
    perhop: Command, tmp_path: Path, form: str, small: str, large: str
) -> None:
    needed = design.policer("10Mb/s", rtt="100ms")["Bc"]
    [(_, said)] = found(perhop, tmp_path, form.format(numbers=small), "police-burst-small")
    assert "TCP over 100 ms needs 125000 bytes" in said
    assert f"{needed:.0f} to keep it: `perhop design policer`" in said
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
    [(_, said)] = found(perhop, tmp_path, form.format(numbers=large), "police-burst-large")
    assert "passes 400kB at once, 3.2 s of its rate 1Mb/s" in said
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
    said = found(perhop, tmp_path, TBF.format(numbers=numbers), "tc-tbf-burst-small")
    assert bool(said) == is_small
    assert not said or "12500 bytes at 1000 Hz, 125000 at 100 Hz" in said[0][1]


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
    said = found(perhop, tmp_path, HTB.format(outer=outer, inner=inner), "shape-burst-large")
    assert [one for one, _ in said] == ([] if line is None else [line])


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
        ("10000 5000", "a burst of 5000 bytes is 25 packets of 200 bytes, and 125 calls have its rate"),
        ("10000 24999", "calls whose packets meet need 25000 bytes"),
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
