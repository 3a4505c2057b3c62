"""Blocks that lack a part, and ports that lack the lines of all similar ports: each fault is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_blocks import NETWORKS
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


INCOMPLETE = "network-block-incomplete"
# The network, the edits, a file with the line at fault, and the rule.
FAULTS = {
    "action of a policy between zones": (
        "firewall",
        [("f1.conf", "                    permit;\n", "")],
        ("f1.conf", "policy out {", INCOMPLETE),
    ),
    "application of a policy between zones": (
        "firewall",
        [("f1.conf", "                    application any;\n", "")],
        ("f1.conf", "policy out {", INCOMPLETE),
    ),
    "protocol of a zone": (
        "firewall",
        [("f1.conf", "                            bgp;\n", "")],
        ("f1.conf", "ge-0/0/0.0 {", "network-protocol-denied"),
    ),
    "detection in a zone": (
        "firewall",
        [("f1.conf", "                            bfd;\n", "")],
        ("f1.conf", "ge-0/0/0.0 {", "network-protocol-denied"),
    ),
    "interval of a session with braces": (
        "firewall",
        [("f1.conf", "minimum-interval 300;", "multiplier 3;")],
        ("f1.conf", "bfd-liveness-detection {", INCOMPLETE),
    ),
    "timers of a neighbor": (
        "firewall",
        [("r2.cfg", " bfd interval 300 min_rx 300 multiplier 3\n", "")],
        ("r2.cfg", "neighbor 192.0.2.1 fall-over bfd", INCOMPLETE),
    ),
    "timers without a session": (
        "firewall",
        [("r2.cfg", " neighbor 192.0.2.1 fall-over bfd\n", "")],
        ("r2.cfg", "bfd interval 300 min_rx 300 multiplier 3", INCOMPLETE),
    ),
    "detection of a port in a block": (
        "core",
        [("p2.cfg", "  bfd fast-detect ipv4\n", "")],
        ("p2.cfg", "bfd minimum-interval 150", INCOMPLETE),
    ),
    "title of a process": (
        "core",
        [("p1.cfg", " net 49.0001.0000.0000.0001.00\n", "")],
        ("p1.cfg", "router isis CORE", INCOMPLETE),
    ),
    "selector of a title": (
        "core",
        [("p1.cfg", "0000.0001.00\n", "0000.0001.01\n")],
        ("p1.cfg", "net 49.0001.0000.0000.0001.01", INCOMPLETE),
    ),
    "family of a port": (
        "core",
        [("p2.cfg", "  bfd fast-detect ipv4\n  address-family ipv4 unicast\n   metric 10\n", "")],
        ("p2.cfg", "interface TenGigE0/0/0/0", INCOMPLETE),
    ),
    "type of a port": (
        "core",
        [("p3.cfg", "  point-to-point\n", "")],
        ("p3.cfg", "interface TenGigE0/0/0/0", "network-setting-differs"),
    ),
    "port in no block": (
        "core",
        [("p3.cfg", " interface TenGigE0/0/0/1\n  point", " interface TenGigE0/0/0/7\n  point")],
        ("p3.cfg", "router isis CORE", "network-neighbors-missing"),
    ),
    "loopback in no block": (
        "core",
        [("p3.cfg", " interface Loopback0\n  passive", " interface Loopback7\n  passive")],
        ("p3.cfg", "router isis CORE", "network-route-missing"),
    ),
    "distinguisher in the block of BGP": (
        "core",
        [("p3.cfg", "  rd 64500:3\n", "")],
        ("p3.cfg", "vrf RED", INCOMPLETE),
    ),
    "family of a process": (
        "cloud",
        [("spoke11.cfg", " address-family ipv4 unicast autonomous-system 7\n", "")],
        ("spoke11.cfg", "router eigrp NET", INCOMPLETE),
    ),
    "mode of authentication": (
        "cloud",
        [("spoke12.cfg", "   authentication mode md5\n", "")],
        ("spoke12.cfg", "af-interface Tunnel1", INCOMPLETE),
    ),
    "hold time of one spoke": (
        "cloud",
        [("spoke12.cfg", "   hold-time 60\n", "")],
        ("spoke12.cfg", "af-interface Tunnel1", "network-port-incomplete"),
    ),
    "split horizon of one hub": (
        "cloud",
        [("hub1.cfg", "   no split-horizon\n", "")],
        ("hub1.cfg", "af-interface Tunnel1", "network-port-incomplete"),
    ),
    "passive port of one spoke": (
        "cloud",
        [("spoke13.cfg", "   no passive-interface\n", "")],
        ("spoke13.cfg", "af-interface Tunnel1", "network-neighbors-missing"),
    ),
    "network of one hub": (
        "cloud",
        [("hub2.cfg", "  network 172.16.0.0 0.0.0.255\n", "")],
        ("hub2.cfg", "address-family ipv4 unicast autonomous-system 7", "network-neighbors-missing"),
    ),
    "MTU at one end": (
        "cloud",
        [("spoke11.cfg", " ip mtu 1400\n", "")],
        ("spoke11.cfg", "interface Tunnel1", "network-mtu-differs"),
    ),
    "distinguisher": (
        "vpn",
        [("pe1.cfg", " rd 64500:1\n", "")],
        ("pe1.cfg", "vrf definition RED", INCOMPLETE),
    ),
    "imported targets": (
        "vpn",
        [("pe1.cfg", " route-target import 64500:1\n", "")],
        ("pe1.cfg", "vrf definition RED", "network-route-target-differs"),
    ),
    "type of an instance": (
        "vpn",
        [("pe2.conf", "        instance-type vrf;\n", "")],
        ("pe2.conf", "RED {", INCOMPLETE),
    ),
    "mode of a bundle": (
        "bundles",
        [("r1.conf", "            lacp {\n                active;\n            }\n", "")],
        ("r1.conf", "aggregated-ether-options {", "network-setting-differs"),
    ),
    "member of a bundle with braces": (
        "bundles",
        [("r1.conf", "            802.3ad ae0;\n", "")],
        ("r1.conf", "xe-0/0/1 {", "network-setting-differs"),
    ),
    "policy of a port with the same name": (
        "branches",
        [
            (
                "b2.cfg",
                " description voice\n ip address 10.2.2.1 255.255.255.0\n service-policy input LAN-IN\n",
                " description voice\n ip address 10.2.2.1 255.255.255.0\n",
            )
        ],
        ("b2.cfg", "interface GigabitEthernet0/2", "network-policy-missing"),
    ),
    "policy that is not attached": (
        "branches",
        [("edge.cfg", " service-policy input UNI-50M\n", "")],
        ("edge.cfg", "policy-map UNI-50M", "network-policy-missing"),
    ),
    "policy of the control plane": (
        "branches",
        [("edge.cfg", " service-policy input COPP\n", "")],
        ("edge.cfg", "policy-map COPP", "network-policy-missing"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))


# Edits without a fault.
HARMLESS = {
    "size of segments at one end": ("cloud", [("hub2.cfg", " ip tcp adjust-mss 1360\n", "")]),
    "list of the zone": (
        "firewall",
        [
            (
                "f1.conf",
                "                ge-0/0/0.0 {\n",
                "                ge-0/0/0.0;\n                ge-0/0/9.0 {\n",
            ),
            (
                "f1.conf",
                "security-zone wan {\n",
                "security-zone wan {\n            host-inbound-traffic {\n                protocols {\n"
                "                    all;\n                }\n            }\n",
            ),
        ],
    ),
    "detection of all ports": (
        "core",
        [
            (
                "p2.cfg",
                " address-family ipv4 unicast\n  metric-style wide\n",
                " bfd fast-detect ipv4\n address-family ipv4 unicast\n  metric-style wide\n",
            ),
            ("p2.cfg", "  bfd fast-detect ipv4\n  address", "  address"),
        ],
    ),
    "spare policy": (
        "branches",
        [
            (
                "edge.cfg",
                "interface GigabitEthernet0/0\n",
                "policy-map UNI-90M\n class class-default\n  police cir 90000000\n"
                "interface GigabitEthernet0/0\n",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_change_has_no_warning(tmp_path: Path, name: str) -> None:
    network, edits = HARMLESS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == set()
