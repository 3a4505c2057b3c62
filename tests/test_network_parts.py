"""Ports, routes and sessions that lack a part: each fault is named, and healthy networks have no warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_parts import NETWORKS
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


INCOMPLETE = "network-block-incomplete"
# The network, the edits, a file with the line at fault, and the rule.
FAULTS = {
    "feature": (
        "campus",
        [("n1.cfg", "feature bfd\n", "")],
        ("n1.cfg", "ip ospf bfd", INCOMPLETE),
    ),
    "default route": (
        "campus",
        [("r1.cfg", "ip route 0.0.0.0 0.0.0.0 198.51.100.1\n", "")],
        ("r1.cfg", "default-information originate", "network-route-missing"),
    ),
    "duplex of one port": (
        "campus",
        [("sw1.cfg", " duplex full\n", "")],
        ("sw1.cfg", "speed 100", "network-setting-differs"),
    ),
    "speed of one port": (
        "campus",
        [("sw1.cfg", " speed 100\n", " speed 10\n")],
        ("sw1.cfg", "speed 10", "network-setting-differs"),
    ),
    "split horizon of the only hub": (
        "spokes",
        [("hub.cfg", " no ip split-horizon eigrp 7\n", "")],
        ("hub.cfg", "interface Tunnel1", "network-route-missing"),
    ),
    "passive port in the classic form": (
        "spokes",
        [("spoke11.cfg", " no passive-interface Tunnel1\n", "")],
        ("spoke11.cfg", "passive-interface default", "network-neighbors-missing"),
    ),
    "action in a prefix list": (
        "borders",
        [("e2.cfg", "seq 10 permit 0.0.0.0/0 le 24", "seq 10 deny 0.0.0.0/0 le 24")],
        ("e2.cfg", "ip prefix-list RECEIVED seq 10 deny 0.0.0.0/0 le 24", "network-route-missing"),
    ),
    "filter of a neighbor": (
        "borders",
        [("e2.cfg", " neighbor 192.0.2.10 prefix-list RECEIVED in\n", "")],
        ("e2.cfg", "ip prefix-list RECEIVED seq 5 deny 192.168.0.0/16 le 32", "network-neighbor-incomplete"),
    ),
    "policy of a routed port": (
        "uplinks",
        [("core.cfg", " service-policy output QUEUES\n", "")],
        ("core.cfg", "interface GigabitEthernet1/0/1", "network-peers-disagree"),
    ),
    "limit in one direction": (
        "uplinks",
        [("edge.cfg", " service-policy input IN-20M\n", "")],
        ("edge.cfg", "interface GigabitEthernet0/1.301", "network-policy-missing"),
    ),
    "VLAN of an access port": (
        "desks",
        [("sw1.cfg", " switchport access vlan 10\n", "")],
        ("sw1.cfg", "interface GigabitEthernet1/0/1", "network-vlan-missing"),
    ),
    "VLAN of a phone": (
        "desks",
        [("sw1.cfg", " switchport voice vlan 11\n", "")],
        ("sw1.cfg", "interface GigabitEthernet1/0/1", "network-vlan-missing"),
    ),
    "address of a VLAN": (
        "desks",
        [("sw1.cfg", " ip address 10.0.20.2 255.255.255.0\n", "")],
        ("sw1.cfg", "interface Vlan20", "network-port-incomplete"),
    ),
    "address of a group": (
        "desks",
        [("sw2.cfg", " standby 20 ip 10.0.20.1\n", "")],
        ("sw2.cfg", "standby 20 priority 100", INCOMPLETE),
    ),
    "version of a group": (
        "desks",
        [("sw2.cfg", " standby version 2\n", "")],
        ("sw2.cfg", "interface Vlan10", "network-group-differs"),
    ),
    "tracking of a group": (
        "desks",
        [("sw1.cfg", " standby 30 track 1 decrement 20\n", "")],
        ("sw1.cfg", "standby 30 ip 10.0.30.1", "network-group-differs"),
    ),
    "queues of one port": (
        "mesh",
        [("p2.conf", "            scheduler-map MAP;\n", "")],
        ("p2.conf", "ge-0/0/0 {", "network-policy-missing"),
    ),
    "unit of class of service": (
        "mesh",
        [
            (
                "p2.conf",
                "            scheduler-map MAP;\n",
                "            scheduler-map MAP;\n            unit 7;\n",
            )
        ],
        ("p2.conf", "unit 7;", "network-port-incomplete"),
    ),
    "class of a rewrite rule": (
        "mesh",
        [
            (
                "p3.conf",
                "            forwarding-class VIDEO {\n                loss-priority low code-point 100;\n"
                "            }\n",
                "",
            )
        ],
        ("p3.conf", "exp LABELS {", "network-map-differs"),
    ),
    "codepoint of a class": (
        "mesh",
        [("p3.conf", "                loss-priority low code-point 100;\n", "")],
        ("p3.conf", "forwarding-class VIDEO {", INCOMPLETE),
    ),
    "next hop of an instance": (
        "mesh",
        [("p1.conf", "next-hop 172.16.1.2", "next-hop 172.16.1.20")],
        ("p1.conf", "route 10.91.0.0/16 next-hop 172.16.1.20;", "network-next-hop-unknown"),
    ),
    "title of a process with braces": (
        "mesh",
        [("p1.conf", "                address 49.0001.0000.0000.0001.00;\n", "")],
        ("p1.conf", "isis {", INCOMPLETE),
    ),
    "port of the protocol of labels": (
        "mesh",
        [("p4.conf", "    mpls {\n        interface ge-0/0/0.0;\n", "    mpls {\n")],
        ("p4.conf", "protocols {", INCOMPLETE),
    ),
    "distribution of labels": (
        "mesh",
        [
            (
                "p4.conf",
                "    ldp {\n        interface ge-0/0/0.0;\n        interface ge-0/0/1.0;\n"
                "        interface ge-0/0/2.0;\n    }\n",
                "",
            )
        ],
        ("p4.conf", "unit 0 {", "network-setting-differs"),
    ),
    "tag of a unit": (
        "mesh",
        [("p4.conf", "            vlan-id 10;\n", "")],
        ("p4.conf", "unit 10 {", INCOMPLETE),
    ),
    "tags of an interface": (
        "mesh",
        [("p4.conf", "        vlan-tagging;\n", "")],
        ("p4.conf", "unit 10 {", INCOMPLETE),
    ),
    "number of a neighbor in a block": (
        "mixed",
        [("pe.cfg", "  remote-as 65001\n", "  remote-as 65010\n")],
        ("pe.cfg", "remote-as 65010", "network-session-differs"),
    ),
    "number of the process with blocks": (
        "mixed",
        [("ce.cfg", "remote-as 64500", "remote-as 64501")],
        ("ce.cfg", "neighbor 192.0.2.1 remote-as 64501", "network-session-differs"),
    ),
    "neighbor without a number": (
        "mixed",
        [("pe.cfg", "  remote-as 65001\n", "  description customer\n")],
        ("pe.cfg", "neighbor 192.0.2.2", INCOMPLETE),
    ),
    "neighbor in a block": (
        "mixed",
        [("pe.cfg", " neighbor 192.0.2.2\n", " neighbor 192.0.2.9\n")],
        ("pe.cfg", "router bgp 64500", "network-session-differs"),
    ),
    "type of a port with braces": (
        "mixed",
        [("p.conf", "                interface-type p2p;\n", "                metric 10;\n")],
        ("p.conf", "interface ge-0/0/0.0 {", "network-setting-differs"),
    ),
    "tag of a sub-interface": (
        "mixed",
        [("ce.cfg", " encapsulation dot1Q 10\n", "")],
        ("ce.cfg", "interface GigabitEthernet0/1.10", INCOMPLETE),
    ),
    "server of a spoke": (
        "registered",
        [("s12.cfg", " ip nhrp nhs 172.16.0.1 nbma 203.0.113.1 multicast\n", " no ip redirects\n")],
        ("s12.cfg", "interface Tunnel1", "network-tunnel-incomplete"),
    ),
    "number of a process": (
        "registered",
        [("s11.cfg", "autonomous-system 7", "autonomous-system 8")],
        ("s11.cfg", "address-family ipv4 unicast autonomous-system 8", "network-neighbors-missing"),
    ),
    "peer of a keyring": (
        "encrypted",
        [("t1.cfg", " peer far\n  address 203.0.113.2\n", " peer far\n  address 203.0.113.9\n")],
        ("t1.cfg", "crypto ikev2 keyring KEYS", "network-key-differs"),
    ),
    "hosts of a spoke": (
        "registered",
        [("s13.cfg", "  network 10.0.0.0\n", "")],
        ("s13.cfg", "address-family ipv4 unicast autonomous-system 7", "network-route-missing"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))


# Edits without a fault.
HARMLESS = {
    "number of another system": (
        "mixed",
        [
            (
                "pe.cfg",
                " neighbor 192.0.2.2\n",
                " neighbor 192.0.2.77\n  remote-as 65077\n neighbor 192.0.2.2\n",
            )
        ],
    ),
    "port that is down": (
        "desks",
        [
            (
                "sw1.cfg",
                " description desk 1\n switchport access vlan 10\n",
                " description desk 1\n shutdown\n",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_change_has_no_warning(tmp_path: Path, name: str) -> None:
    network, edits = HARMLESS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == set()
