"""`check` reports shapers of tunnels and sub-interfaces that exceed their common port."""

from __future__ import annotations

from pathlib import Path

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
        one["message"]
        for found in files
        for one in found["diagnostics"]
        if one["rule"] == "shapers-above-port"
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


def test_a_shaper_alone_is_the_matter_of_another_rule(perhop: Command, tmp_path: Path) -> None:
    text = SITE.replace("RATE", "15000000") + SUBINTERFACE.replace("NUMBER", "1")
    assert not findings(perhop, tmp_path, text)
