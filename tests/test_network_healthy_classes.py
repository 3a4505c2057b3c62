"""Intended differences between classes have no warnings, and the faults next to them still have one."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_healthy_classes import NETWORKS
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, the file and line at fault, and the rule.
FAULTS = {
    "rate of a tunnel": (
        "tunnels of a hub with the rates of sites",
        [("hub.cfg", " bandwidth 4000", " bandwidth 40000")],
        ("hub.cfg", "bandwidth 40000", "network-circuit-rate-differs"),
    ),
    "subnet of another site": (
        "lists of two sites",
        [("acc1.cfg", "10.1.30.0 0.0.0.255 any range 2326", "10.9.30.0 0.0.0.255 any range 2326")],
        ("acc1.cfg", "permit udp 10.9.30.0 0.0.0.255 any range 2326 2485", "network-peers-disagree"),
    ),
    "class for routing protocols": (
        "class for the packets of the core",
        [("pe1.cfg", " class CONTROL\n  set mpls experimental imposition 6\n", "")],
        ("pe1.cfg", "set mpls experimental imposition 0", "network-mark-changed"),
    ),
    "undefined forwarding class": (
        "class that a site does not need",
        [("fw.conf", "forwarding-class RT;", "forwarding-class VID;")],
        ("fw.conf", "queue 0 BE;", "network-map-differs"),
    ),
    "server of no customer": (
        "servers of two customers",
        [("ce4.cfg", "192.168.71.5", "192.168.71.9")],
        ("ce4.cfg", "ip helper-address 192.168.71.9", "network-peers-disagree"),
    ),
    "labels without a protocol": (
        "carrier without labels",
        [("pe3.cfg", " no ip proxy-arp", " mpls ip")],
        ("pe3.cfg", "hostname pe3", "network-peers-disagree"),
    ),
    "criterion of lower effort": (
        "policy without lower effort",
        [("r3.cfg", "match dscp cs1", "match dscp cs5")],
        ("r3.cfg", "match dscp cs5", "network-class-missing"),
    ),
    "fast port of a provider": (
        "fast ports of a border",
        [("border.cfg", "interface GigabitEthernet0/0/2", "interface TenGigabitEthernet0/0/2")],
        ("border.cfg", "interface TenGigabitEthernet0/0/0", "network-policy-missing"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))
