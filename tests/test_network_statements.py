"""Rules about single statements: each fault is named, and the healthy network has no warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_statements import NETWORKS, USUAL, WITHOUT_TILLS
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, a file with the line at fault, and the rule.
FAULTS = {
    "missing class without a share": (
        "shop without tills",
        [
            ("shop2.cfg", " class TILLS\n  bandwidth remaining percent 40\n", ""),
            ("shop3.cfg", WITHOUT_TILLS, USUAL),
        ],
        ("shop2.cfg", "policy-map LINE", "network-namesake-differs"),
    ),
    "queue of a codepoint": (
        "queues of one switch",
        [("access.cfg", "queue 1 threshold 3 46", "queue 4 threshold 3 40")],
        ("access.cfg", "mls qos srr-queue output dscp-map queue 4 threshold 3 40", "network-map-differs"),
    ),
    "hold time": (
        "EIGRP",
        [("r1.cfg", "hold-time 30", "hold-time 9")],
        ("r1.cfg", "hold-time 9", "network-hold-time-short"),
    ),
    "mode of a bundle": (
        "switches",
        [("sw1.cfg", "channel-group 5 mode active", "channel-group 5 mode on")],
        ("sw1.cfg", "channel-group 5 mode on", "network-setting-differs"),
    ),
    "fixed duplex": (
        "switches",
        [("sw1.cfg", " negotiation auto", " speed 100\n duplex full")],
        ("sw2.cfg", "negotiation auto", "network-setting-differs"),
    ),
    "route to the own address": (
        "switches",
        [("sw1.cfg", "0.0.0.0 192.0.2.254", "0.0.0.0 192.0.2.1")],
        ("sw1.cfg", "ip route 0.0.0.0 0.0.0.0 192.0.2.1", "network-next-hop-unknown"),
    ),
    "port without a zone": (
        "Junos",
        [("fw.conf", "ge-0/0/1.5;", "ge-0/0/1.6;")],
        ("fw.conf", "unit 5 {", "network-port-incomplete"),
    ),
    "port without a classifier": (
        "Junos",
        [
            (
                "fw.conf",
                "        ge-0/0/2 {\n            unit 0 {\n                classifiers",
                "        xe-9/0/0 {\n            unit 0 {\n                classifiers",
            )
        ],
        ("fw.conf", "ge-0/0/2 {", "network-port-incomplete"),
    ),
    "codepoint of another class": (
        "Junos",
        [("fw.conf", "loss-priority low code-point af31;", "loss-priority low code-point be;")],
        ("fw.conf", "loss-priority low code-point be;", "network-map-differs"),
    ),
    "BFD of one end": (
        "Junos",
        [
            (
                "fw.conf",
                "                bfd-liveness-detection {\n                    minimum-interval 300;\n"
                "                }\n",
                "",
            )
        ],
        ("pe.conf", "bfd-liveness-detection {", "network-session-differs"),
    ),
    "neighbor that a filter drops": (
        "Junos",
        [("pe.conf", "        192.0.2.0/24;", "        198.51.100.0/24;")],
        ("pe.conf", "prefix-list PEERS {", "network-protocol-denied"),
    ),
    "codepoint of a term": (
        "Junos",
        [("pe.conf", "dscp ef;", "dscp af41;")],
        ("pe.conf", "dscp af41;", "network-map-differs"),
    ),
    "unit of a profile": (
        "Junos",
        [("pe.conf", "shaping-rate 19m;", "shaping-rate 19k;")],
        ("pe.conf", "shaping-rate 19k;", "network-rate-name"),
    ),
    "password of hellos": (
        "XR",
        [("x1.cfg", "encrypted 02050D480809", "encrypted 070C285F4D07")],
        ("x1.cfg", "hello-password hmac-md5 encrypted 070C285F4D07", "network-key-differs"),
    ),
    "port without labels": (
        "XR",
        [("x3.cfg", " interface TenGigE0/0/0/2\n !\n!\nrouter bgp", "!\nrouter bgp")],
        ("x3.cfg", "mpls ldp", "network-setting-differs"),
    ),
    "neighbors that are no clients": (
        "XR",
        [("x3.cfg", "   route-reflector-client\n", "")],
        ("x3.cfg", "neighbor-group EDGES", "network-neighbor-incomplete"),
    ),
    "policy that no port uses": (
        "sites",
        [("s1.cfg", " service-policy output TO-WAN\n", "")],
        ("s1.cfg", "interface GigabitEthernet0/0", "network-policy-missing"),
    ),
    "port without the policy of its customer": (
        "customers",
        [("edge.cfg", " service-policy output B-OUT\n", "")],
        ("edge.cfg", "interface GigabitEthernet0/2", "network-policy-missing"),
    ),
    "shaper without an inner policy": (
        "customers",
        [("edge.cfg", "  shape average 20000000\n  service-policy INNER\n", "  shape average 20000000\n")],
        ("edge.cfg", "shape average 20000000", "network-policy-missing"),
    ),
    "digit of a policer": (
        "sites",
        [("s2.cfg", "police cir 256000", "police cir 25600")],
        ("s2.cfg", "police cir 25600 bc 8000", "network-namesake-differs"),
    ),
    "codepoint in a name": (
        "sites",
        [("s2.cfg", "match dscp ef", "match dscp cs5")],
        ("s2.cfg", "match dscp cs5", "network-mark-name"),
    ),
    "classes of labels towards a customer": (
        "carrier",
        [("carrier.cfg", "output TO-CUSTOMER", "output TO-CORE")],
        ("carrier.cfg", "service-policy output TO-CORE", "network-attachment-unusual"),
    ),
    "prefix set without the neighbor": (
        "filter",
        [("f1.cfg", "10.1.0.0/16 le 24", "10.11.0.0/16 le 24")],
        ("f1.cfg", "10.11.0.0/16 le 24", "network-route-missing"),
    ),
    "prefix list that permits nothing": (
        "prefix lists",
        [("edge.cfg", "seq 10 permit 0.0.0.0/0 le 24", "seq 10 deny 0.0.0.0/0 le 24")],
        ("edge.cfg", "ip prefix-list WANTED seq 10 deny 0.0.0.0/0 le 24", "network-route-missing"),
    ),
    "dialer without PPP": (
        "dialers",
        [("d1.cfg", " encapsulation ppp\n", "")],
        ("d1.cfg", "interface Dialer1", "network-port-incomplete"),
    ),
    "password of a dialer": (
        "dialers",
        [("d2.cfg", " ppp chap password 0 example2\n", "")],
        ("d2.cfg", "interface Dialer1", "network-port-incomplete"),
    ),
    "MTU of a dialer": (
        "dialers",
        [("d2.cfg", " ip mtu 1492\n", "")],
        ("d2.cfg", "interface Dialer1", "network-port-incomplete"),
    ),
    "password that the other end requires": (
        "PPP",
        [("t2.cfg", "username t1 password 0 example\n", "")],
        ("t2.cfg", "interface Serial0/0/0", "network-port-incomplete"),
    ),
    "announced network without a route": (
        "border",
        [("b1.cfg", "ip route 203.0.113.0 255.255.255.0 Null0\n", "")],
        ("b1.cfg", "network 203.0.113.0", "network-route-missing"),
    ),
    "digit of an announced network": (
        "border",
        [("b1.cfg", "permit 203.0.113.0/24", "permit 203.0.13.0/24")],
        ("b1.cfg", "ip prefix-list OWN seq 10 permit 203.0.13.0/24", "network-route-missing"),
    ),
    "serial port without PPP": (
        "PPP",
        [("t1.cfg", " encapsulation ppp\n", "")],
        ("t1.cfg", "interface Serial0/0/0", "network-port-incomplete"),
    ),
    "imported route target": (
        "VPN of two makers",
        [("xr.cfg", "   65000:20\n", "   65000:26\n")],
        ("xr.cfg", "65000:26", "network-route-target-differs"),
    ),
    "no imported route target": (
        "VPN of two makers",
        [("xr.cfg", "   65000:20\n", "")],
        ("xr.cfg", "vrf BLUE", "network-route-target-differs"),
    ),
    "route targets at the other end": (
        "VPN of two makers",
        [("mx.conf", "target:65000:20", "target:65000:2")],
        ("mx.conf", "vrf-target target:65000:2;", "network-route-target-differs"),
    ),
    "VRF without route targets": (
        "VPN of two makers",
        [("mx.conf", "        vrf-target target:65000:20;\n", "")],
        ("mx.conf", "BLUE {", "network-route-target-differs"),
    ),
    "policy of another group": (
        "hubs",
        [
            (
                "hub2.cfg",
                "SITES-10M service-policy output SPOKE-10M",
                "SITES-10M service-policy output SPOKE-50M",
            )
        ],
        ("hub2.cfg", "ip nhrp map group SITES-10M service-policy output SPOKE-50M", "network-rate-name"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))


# Differences that are correct.
HARMLESS = {
    "equal passive and active mode": (
        "switches",
        [("sw1.cfg", "channel-group 5 mode active", "channel-group 5 mode passive")],
    ),
    "fast port with a fixed speed": ("switches", [("sw1.cfg", " negotiation auto", " speed 1000")]),
    "all ports in zones": ("Junos", [("fw.conf", "ge-0/0/1.5;", "all;")]),
    "list of addresses that the device computes": (
        "Junos",
        [("pe.conf", "        192.0.2.0/24;", '        apply-path "protocols bgp group <*> neighbor <*>";')],
    ),
    "labels at all ports": (
        "XR",
        [
            ("x3.cfg", " interface TenGigE0/0/0/2\n !\n!\nrouter bgp", "!\nrouter bgp"),
            (
                "x3.cfg",
                " net 49.0001.0000.0000.0003.00",
                " net 49.0001.0000.0000.0003.00\n address-family ipv4 unicast\n  mpls ldp auto-config",
            ),
        ],
    ),
    "customer without policies": (
        "customers",
        [("edge.cfg", " service-policy input B-IN\n service-policy output B-OUT\n", "")],
    ),
    "two shapers without inner policies": (
        "customers",
        [
            ("edge.cfg", "  shape average 20000000\n  service-policy INNER\n", "  shape average 20000000\n"),
            ("edge.cfg", "  shape average 30000000\n  service-policy INNER\n", "  shape average 30000000\n"),
        ],
    ),
    "prefix list that no line uses": (
        "prefix lists",
        [
            ("edge.cfg", "seq 10 permit 0.0.0.0/0 le 24", "seq 10 deny 0.0.0.0/0 le 24"),
            ("edge.cfg", " neighbor 192.0.2.2 prefix-list WANTED in\n", ""),
        ],
    ),
    "segments limited at the hosts": (
        "dialers",
        [
            ("d2.cfg", " ip tcp adjust-mss 1452\n", ""),
            ("d2.cfg", " 10.42.0.1 255.255.255.0\n", " 10.42.0.1 255.255.255.0\n ip tcp adjust-mss 1452\n"),
        ],
    ),
    "announced network of another device": (
        "border",
        [
            ("b1.cfg", "ip route 203.0.113.0 255.255.255.0 Null0\n", ""),
            ("b2.cfg", "router ospf 1\n", "ip route 203.0.113.0 255.255.255.0 Null0\nrouter ospf 1\n"),
        ],
    ),
    "network that only the internal neighbors learn": (
        "border",
        [("b1.cfg", "permit 203.0.113.0/24", "permit 192.88.99.0/24")],
    ),
    "policies for route targets": (
        "VPN of two makers",
        [("mx.conf", "vrf-target target:65000:20;", "vrf-import TAKE;\n        vrf-export MARK;")],
    ),
    "shaper of an access line": (
        "customers",
        [
            ("edge.cfg", "  shape average 20000000\n  service-policy INNER\n", "  shape average 20000000\n"),
            (
                "edge.cfg",
                "interface GigabitEthernet0/2\n",
                "interface Tunnel1\n ip address 192.0.2.33 255.255.255.252\n"
                " tunnel source GigabitEthernet0/2\n tunnel destination 192.0.2.10\n"
                " service-policy output C-OUT\ninterface TenGigabitEthernet0/2\n",
            ),
        ],
    ),
    "policers of all sites": (
        "sites",
        [
            ("s1.cfg", "police cir 256000 bc 8000", "police cir 128000 bc 8000"),
            ("s2.cfg", "police cir 256000 bc 8000", "police cir 512000 bc 16000"),
        ],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_correct_difference_has_no_warning(tmp_path: Path, name: str) -> None:
    network, edits = HARMLESS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == set()
