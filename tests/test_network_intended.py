"""Intended settings have no warnings, and the faults that look like them still have one."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_intended import NETWORKS as SETTINGS
from network_intended_ports import NETWORKS as PORTS
from network_warnings import changed, found

NETWORKS = {**SETTINGS, **PORTS}


@pytest.mark.parametrize("name", NETWORKS)
def test_an_intended_setting_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


SETTING = "network-setting-differs"
INCOMPLETE = "network-block-incomplete"
ROUTE = "network-route-missing"
POLICE = "police 50000000 2000 conform-action transmit exceed-action drop"
# The network, the edits, a file with the line at fault, and the rule.
FAULTS = {
    "port outside of a process": (
        "ports of OSPF in a process",
        [("r2.cfg", "  interface GigabitEthernet0/0/0/0\n", "")],
        ("r2.cfg", "router ospf 1", "network-neighbors-missing"),
    ),
    "port without trust for DHCP": (
        "snooping that is off",
        [("sw1.cfg", "ip dhcp snooping vlan 10\n", "ip dhcp snooping\nip dhcp snooping vlan 10\n")],
        ("sw1.cfg", "interface GigabitEthernet0/1", "network-port-incomplete"),
    ),
    "port without trust for ARP": (
        "filter of ARP",
        [("sw1.cfg", "ip arp inspection filter GATEWAY vlan 10\n", "")],
        ("sw1.cfg", "interface GigabitEthernet0/1", "network-port-incomplete"),
    ),
    "points of one system": (
        "points of two systems",
        [
            ("r2.cfg", "router bgp 65002", "router bgp 65001"),
            ("r1.cfg", "remote-as 65002", "remote-as 65001"),
        ],
        ("r1.cfg", "ip pim rp-address 10.255.0.1", SETTING),
    ),
    "point of the same groups": (
        "groups in lists of two names",
        [("r2.cfg", "rp-address 10.255.0.1", "rp-address 10.255.0.2")],
        ("r2.cfg", "ip pim rp-address 10.255.0.2 GROUPS", SETTING),
    ),
    "group of a fabric": (
        "one fabric",
        [("leaf12.cfg", "239.1.0.5", "239.1.0.6")],
        ("leaf12.cfg", "mcast-group 239.1.0.6", SETTING),
    ),
    "group of one of two fabrics": (
        "two fabrics",
        [("leaf22.cfg", "239.2.0.5", "239.1.0.5")],
        ("leaf22.cfg", "mcast-group 239.1.0.5", SETTING),
    ),
    "keepalives to another address": (
        "keepalives",
        [("n1.cfg", "destination 192.0.2.2", "destination 192.0.2.3")],
        ("n1.cfg", "peer-keepalive destination 192.0.2.3 vrf management", SETTING),
    ),
    "keepalives with IPv6 to another address": (
        "keepalives with IPv6",
        [("n1.cfg", "destination 2001:db8::2", "destination 2001:db8::3")],
        ("n1.cfg", "peer-keepalive destination 2001:db8::3 vrf management", SETTING),
    ),
    "tag that no router sets": (
        "tags of one router",
        [("r1.cfg", "match tag 100", "match tag 101")],
        ("r1.cfg", "match tag 101", "network-route-astray"),
    ),
    "entry with a wrong number": (
        "all wanted networks",
        [
            ("r2.cfg", "seq 20 permit 10.1.2.0/24", "seq 20 permit 10.1.4.0/24"),
            ("r2.cfg", "ip prefix-list WANTED seq 90 permit 10.1.3.0/24\n", ""),
        ],
        ("r2.cfg", "ip prefix-list WANTED seq 20 permit 10.1.4.0/24", ROUTE),
    ),
    "domain of a clock": (
        "clocks",
        [("n1.cfg", "ptp domain 5", "ptp domain 6")],
        ("n1.cfg", "ptp domain 6", SETTING),
    ),
    "access port without a VLAN": (
        "routed port with an old VLAN",
        [("sw1.cfg", " no switchport\n", "")],
        ("sw1.cfg", "switchport access vlan 99", "network-vlan-missing"),
    ),
    "burst of a port": (
        "policer of a port",
        [("r1.cfg", "50000000 200000", "50000000 2000")],
        ("r1.cfg", POLICE, "network-queue-differs"),
    ),
    "burst of a port with braces": (
        "policer of a loopback",
        [("p.conf", "    lo0 {", "    ge-0/0/1 {"), ("p.conf", "10.255.0.1/32", "10.1.0.1/24")],
        ("p.conf", "burst-size-limit 2k;", "network-queue-differs"),
    ),
    "codepoint of voice": (
        "map with background packets",
        [("r1.cfg", "32 46 48", "32 10 48")],
        ("r1.cfg", "mls qos map cos-dscp 10 8 16 24 32 10 48 56", "network-map-differs"),
    ),
    "tunnel without another end": (
        "template of tunnels",
        [("r1.cfg", "interface Virtual-Template1 type tunnel", "interface Tunnel1")],
        ("r1.cfg", "interface Tunnel1", INCOMPLETE),
    ),
    "interface without tags": (
        "tags of an interface",
        [("p.conf", "        vlan-tagging;\n", "")],
        ("p.conf", "unit 10 {", INCOMPLETE),
    ),
    "type of a port": (
        "type of an area",
        [("r2.cfg", "  network point-to-point\n", "")],
        ("r2.cfg", "interface GigabitEthernet0/0/0/0", SETTING),
    ),
    "static routes that are missing": (
        "routes of peers",
        [("r1.cfg", " reverse-route\n", "")],
        ("r1.cfg", "redistribute static subnets", ROUTE),
    ),
    "default route that is missing": (
        "default route of OSPF",
        [("r1.cfg", "originate always", "originate")],
        ("r1.cfg", "default-information originate", ROUTE),
    ),
    "hub with split horizon": (
        "split horizon of all ports",
        [("hub.cfg", "   no split-horizon\n", "")],
        ("hub.cfg", "af-interface Tunnel1", ROUTE),
    ),
    "hub without keys": (
        "keys of all ports",
        [("hub.cfg", "   authentication mode md5\n", "")],
        ("hub.cfg", "af-interface Tunnel1", INCOMPLETE),
    ),
    "port outside of a bundle": (
        "bundle without range",
        [("p.conf", "        gigether-options {\n            802.3ad ae0;\n        }\n", "")],
        ("p.conf", "xe-0/0/0 {", SETTING),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))
