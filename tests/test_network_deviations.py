"""Blocks of devices with one task: the block that differs from all others is named with its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from perhop.network.findings import between_devices

SHOPS = range(1, 6)


def shop(number: int) -> str:
    """Return the configuration of a shop: a tunnel to the hub, tills, and a session of BGP."""
    return f"""hostname SHOP{number}
class-map match-any CALLS
 match dscp ef
class-map match-any ROOMS
 match dscp af41 af42
policy-map TO-HUB
 class CALLS
  priority percent 20
 class ROOMS
  bandwidth percent 20
 class class-default
  fair-queue
policy-map SHAPE-{number}M
 class class-default
  shape average {number}000000
  service-policy TO-HUB
crypto ipsec transform-set SHOP esp-aes 256 esp-sha256-hmac
 mode transport
interface Loopback0
 ip address 192.0.2.{number} 255.255.255.255
interface GigabitEthernet0/0.{100 + number}
 description uplink
 encapsulation dot1Q {100 + number}
 bandwidth {number}000
 ip address 10.9.{number}.2 255.255.255.252
 bfd interval 300 min_rx 300 multiplier 3
 service-policy output SHAPE-{number}M
interface GigabitEthernet0/1
 description tills
 ip address 10.1.{number}.1 255.255.255.0
 ip ospf message-digest-key 1 md5 7 045802150C2E1D1C5A
 ip ospf 1 area 0
 standby 1 ip 10.1.{number}.254
router bgp {65000 + number}
 bgp router-id 192.0.2.{number}
 network 10.1.{number}.0 mask 255.255.255.0
 neighbor 10.9.{number}.1 remote-as 64999
 neighbor 10.9.{number}.1 password secret{number}
ip access-list extended TILLS
 permit tcp 10.1.{number}.0 0.0.0.255 any eq 8443
ip access-list extended CARDS
 permit tcp any host 203.0.113.9 eq 9443
 permit tcp any host 203.0.113.9 eq 9444
mpls label range 100 199
"""


def hub() -> str:
    """Return the configuration of the hub, with a port and a neighbor for each shop."""
    ports = [
        f"""interface GigabitEthernet0/0.{100 + number}
 encapsulation dot1Q {100 + number}
 bandwidth {number}000
 ip address 10.9.{number}.1 255.255.255.252
 bfd interval 300 min_rx 300 multiplier 3
"""
        for number in SHOPS
    ]
    neighbors = [
        f""" neighbor 10.9.{number}.2 remote-as {65000 + number}
 neighbor 10.9.{number}.2 password secret{number}
"""
        for number in SHOPS
    ]
    return "hostname HUB\n" + "".join(ports) + "router bgp 64999\n" + "".join(neighbors)


def network() -> dict[str, str]:
    """Return the files of the healthy network."""
    return {"hub.cfg": hub(), **{f"shop{number}.cfg": shop(number) for number in SHOPS}}


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the files and texts of the lines that rules about networks name."""
    for name, text in files.items():
        (folder / name).write_text(text)
    named = between_devices([folder], [folder / name for name in files]).findings
    return {
        (file.name, files[file.name].splitlines()[(finding.line or 1) - 1].strip())
        for file, several in named.items()
        for finding in several
        if finding.rule.startswith("network-")
    }


def test_equal_blocks_have_no_finding(tmp_path: Path) -> None:
    assert found(tmp_path, network()) == set()


# The file, the text that a fault removes, the text in its place, and the line that a finding has to name.
FAULTS = {
    "line forgotten": ("shop3.cfg", "  fair-queue\n", "", "class class-default"),
    "line forgotten at a port": (
        "shop2.cfg",
        " ip ospf 1 area 0\n standby",
        " standby",
        "interface GigabitEthernet0/1",
    ),
    "value": ("shop4.cfg", "min_rx 300", "min_rx 50", "bfd interval 300 min_rx 50 multiplier 3"),
    "number of the port": ("shop4.cfg", "dot1Q 104", "dot1Q 140", "encapsulation dot1Q 140"),
    "name of another rate": (
        "shop5.cfg",
        "output SHAPE-5M",
        "output SHAPE-3M",
        "service-policy output SHAPE-3M",
    ),
    "address of another site": (
        "shop1.cfg",
        "tcp 10.1.1.0",
        "tcp 10.11.1.0",
        "permit tcp 10.11.1.0 0.0.0.255 any eq 8443",
    ),
    "one end of a link": ("shop2.cfg", "bandwidth 2000\n", "bandwidth 200\n", "bandwidth 200"),
    "number of the neighbor": (
        "hub.cfg",
        "remote-as 65004",
        "remote-as 65040",
        "neighbor 10.9.4.2 remote-as 65040",
    ),
    "secret of the neighbor": ("shop3.cfg", "secret3", "secret8", "neighbor 10.9.3.1 password secret8"),
    "neighbor without a secret": ("hub.cfg", " neighbor 10.9.5.2 password secret5\n", "", "router bgp 64999"),
    "subnet not announced": (
        "shop4.cfg",
        " network 10.1.4.0 mask 255.255.255.0\n",
        " network 192.0.2.4 mask 255.255.255.255\n",
        "router bgp 65004",
    ),
    "entry turned around": (
        "shop3.cfg",
        "any host 203.0.113.9 eq 9443",
        "any eq 9443 host 203.0.113.9",
        "permit tcp any eq 9443 host 203.0.113.9",
    ),
    "first line of a block": (
        "shop2.cfg",
        "esp-aes 256 esp-sha256-hmac",
        "esp-aes esp-sha-hmac",
        "crypto ipsec transform-set SHOP esp-aes esp-sha-hmac",
    ),
    "line outside of blocks": ("shop5.cfg", "mpls label range 100 199\n", "", "hostname SHOP5"),
    "part of a line": ("shop4.cfg", "match dscp af41 af42", "match dscp af42", "match dscp af42"),
    "hidden password": (
        "shop3.cfg",
        "7 045802150C2E1D1C5A",
        "7 045802150C2E1D1C5B",
        "ip ospf message-digest-key 1 md5 7 045802150C2E1D1C5B",
    ),
    "port shut down": (
        "shop1.cfg",
        " standby 1 ip 10.1.1.254\n",
        " standby 1 ip 10.1.1.254\n shutdown\n",
        "shutdown",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_exception_is_named(tmp_path: Path, name: str) -> None:
    file, old, new, line = FAULTS[name]
    files = network()
    assert files[file].count(old) == 1
    files[file] = files[file].replace(old, new)
    assert (file, line) in found(tmp_path, files)


# The file, a text, and the text in its place, without an effect on packets.
CHANGES = {
    "codepoint as a number": ("shop3.cfg", "dscp ef", "dscp 46"),
    "description": ("shop2.cfg", " description tills", " description shop floor"),
    "one more address": (
        "shop4.cfg",
        "interface GigabitEthernet0/1",
        "interface Loopback7\n ip address 203.0.113.7 255.255.255.255\ninterface GigabitEthernet0/1",
    ),
    "order of lines": (
        "shop5.cfg",
        " ip ospf 1 area 0\n standby 1 ip 10.1.5.254\n",
        " standby 1 ip 10.1.5.254\n ip ospf 1 area 0\n",
    ),
    "password with another salt": ("shop2.cfg", "7 045802150C2E1D1C5A", "7 02050D4808095E731F"),
    "higher limit": ("shop1.cfg", "  fair-queue\n", "  fair-queue\n  queue-limit 96 packets\n"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_without_effect_has_no_finding(tmp_path: Path, name: str) -> None:
    file, old, new = CHANGES[name]
    files = network()
    assert files[file].count(old) == 1
    files[file] = files[file].replace(old, new)
    assert found(tmp_path, files) == set()


def test_a_renamed_policy_has_no_finding(tmp_path: Path) -> None:
    files = network()
    files["shop2.cfg"] = files["shop2.cfg"].replace("TO-HUB", "QUEUES").replace("CALLS", "PHONES")
    assert found(tmp_path, files) == set()
