"""`check` reports shapers of tunnels and sub-interfaces that exceed their common port."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command

SITE = """\
version 15.4
policy-map SITE
 class class-default
  shape average RATE
interface Ethernet0/0
 ip address 192.0.2.1 255.255.255.0
"""
SUBINTERFACE = """\
interface Ethernet0/0.NUMBER
 encapsulation dot1Q NUMBER
 ip address 10.1.NUMBER.1 255.255.255.0
 service-policy output SITE
"""
TUNNEL = """\
interface TunnelNUMBER
 ip address 10.2.NUMBER.1 255.255.255.252
 tunnel source SOURCE
 tunnel destination 198.51.100.NUMBER
 service-policy output SITE
"""


def findings(perhop: Command, tmp_path: Path, text: str) -> list[str]:
    """Return the messages of the rule."""
    file = tmp_path / "router.cfg"
    file.write_text(text)
    files = perhop("check", file, "--json").json()["files"]
    return [
        finding["message"]
        for found in files
        for finding in found["diagnostics"]
        if finding["rule"] == "shapers-above-port"
    ]


@pytest.mark.parametrize("above", [SUBINTERFACE, TUNNEL])
@pytest.mark.parametrize("source", ["Ethernet0/0", "192.0.2.1"])
def test_shapers_that_exceed_their_common_port_are_reported(
    perhop: Command, tmp_path: Path, above: str, source: str
) -> None:
    parts = [above.replace("NUMBER", str(number)).replace("SOURCE", source) for number in (1, 2, 3)]
    found = findings(perhop, tmp_path, SITE.replace("RATE", "5000000") + "".join(parts))
    assert len(found) == 1
    assert "add up to 15Mb/s, 5Mb/s more than the 10Mb/s of Ethernet0/0" in found[0]
    assert not findings(perhop, tmp_path, SITE.replace("RATE", "3000000") + "".join(parts))
    assert not findings(perhop, tmp_path, SITE.replace("RATE", "5000000") + "".join(parts[:2]))


def test_a_single_shaper_belongs_to_another_rule(perhop: Command, tmp_path: Path) -> None:
    text = SITE.replace("RATE", "15000000") + SUBINTERFACE.replace("NUMBER", "1")
    assert not findings(perhop, tmp_path, text)


SITES = """\
version 15.4
hostname hub
class-map VOICE
 match dscp ef
policy-map CLASSES
 class VOICE
  priority percent 20
policy-map SITE
 class class-default
  shape average 6000000
  service-policy CLASSES
interface FastEthernet0/1
 ip address 10.20.0.1 255.255.255.0
interface Ethernet0/0
 no ip address
""" + "".join(SUBINTERFACE.replace("NUMBER", str(number)) for number in (1, 2, 3))


def obtained(summary: dict[str, Any]) -> dict[str, float]:
    """Return the bits per second that each class of a run gets."""
    return {row["class"]: row["throughput_bps"]["mean"] for row in summary["classes"]}


def test_a_run_of_the_whole_port_divides_its_rate_among_its_shapers(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(SITES)
    options = ("--duration", "6s", "--load", "overload", "--json")
    alone = obtained(perhop("run", file, "--interface", "e0/0.1", *options).json())
    assert sum(alone.values()) == pytest.approx(6e6, rel=0.04), "a shaper alone keeps its rate"
    ended = perhop("run", file, "--whole-port", "e0/0", *options)
    together = obtained(ended.json())
    # Headers of the wire occupy the remaining rate of the port.
    assert 9e6 < sum(together.values()) < 10e6
    for number in (1, 2, 3):
        site = [rate for name, rate in together.items() if name.startswith(f"Ethernet0/0.{number}/")]
        assert sum(site) == pytest.approx(sum(together.values()) / 3, rel=0.03), number
        assert together[f"Ethernet0/0.{number}/VOICE"] == pytest.approx(200 / 218 * 1200e3, rel=0.02)
    assert "get equal parts of its rate while the port is full" in ended.err
    # The hint about editing contains the option, and the scenario runs with equal results.
    assert "--whole-port e0/0" in ended.err
    init = ("init", "hub", "--from", file, "--whole-port", "e0/0", "--load", "overload")
    assert perhop(*init).code == 0
    written = perhop("run", tmp_path / "hub.perhop.yaml", "--duration", "6s", "--json")
    assert obtained(written.json()) == together


def test_the_whole_port_and_one_interface_exclude_each_other(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(SITES)
    ended = perhop("run", file, "--whole-port", "e0/0", "--interface", "e0/0.1")
    assert (ended.code, "exclude each other" in ended.err) == (2, True)
