"""Settings that must be equal at both ends or in a whole network: each fault is named, no harmless change."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_ends import NETWORKS
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, a file with the line at fault, and the rule.
FAULTS = {
    "number of a key": (
        "core",
        [("r1.cfg", "message-digest-key 1 md5", "message-digest-key 2 md5")],
        ("r1.cfg", "ip ospf message-digest-key 2 md5 7 02050D480809", "network-key-differs"),
    ),
    "key": (
        "core",
        [("r2.cfg", "7 070C285F4D06", "7 070C285F4D07")],
        ("r2.cfg", "ip ospf message-digest-key 1 md5 7 070C285F4D07", "network-key-differs"),
    ),
    "key of one router of a group": (
        "core",
        [("r2.cfg", " standby 5 authentication md5 key-string lan\n", "")],
        ("r2.cfg", "interface GigabitEthernet0/1", "network-key-differs"),
    ),
    "autonomous system of a neighbor with braces": (
        "core",
        [("p1.conf", "peer-as 65001;", "peer-as 65010;")],
        ("p1.conf", "peer-as 65010;", "network-session-differs"),
    ),
    "family of a neighbor": (
        "core",
        [("r1.cfg", "  neighbor 10.0.0.2 activate\n", "")],
        ("r1.cfg", "neighbor 10.0.0.2 remote-as 65001", "network-session-differs"),
    ),
    "source of a session": (
        "core",
        [("r1.cfg", "10.0.0.2 update-source Loopback0", "10.0.0.2 update-source GigabitEthernet0/1")],
        ("r1.cfg", "neighbor 10.0.0.2 update-source GigabitEthernet0/1", "network-session-differs"),
    ),
    "class of a codepoint in a filter": (
        "core",
        [("p1.conf", "forwarding-class voice;", "forwarding-class best-effort;")],
        ("p1.conf", "forwarding-class best-effort;", "network-map-differs"),
    ),
    "direction of a policy": (
        "core",
        [("p1.conf", "input CUSTOMER-IN;", "output CUSTOMER-IN;")],
        ("p1.conf", "output CUSTOMER-IN;", "network-attachment-unusual"),
    ),
    "key of a tunnel": (
        "branches",
        [("s1.cfg", "pre-shared-key one", "pre-shared-key eno")],
        ("s1.cfg", "pre-shared-key eno", "network-key-differs"),
    ),
    "passive tunnel": (
        "branches",
        [("s1.cfg", "   no passive-interface\n", "")],
        ("s1.cfg", "af-interface Tunnel1", "network-neighbors-missing"),
    ),
    "route to the end of a tunnel": (
        "branches",
        [("s1.cfg", "ip route 198.51.100.2 255.255.255.255 Cellular0/2/0\n", "")],
        ("s1.cfg", "tunnel source Cellular0/2/0", "network-route-missing"),
    ),
    "pool of a dialer": (
        "branches",
        [("s1.cfg", " pppoe-client dial-pool-number 1\n", "")],
        ("s1.cfg", "dialer pool 1", "network-port-incomplete"),
    ),
    "entry of a prefix list": (
        "sites",
        [("hub.cfg", "ip prefix-list SITES seq 30 permit 10.3.0.0/16\n", "")],
        ("hub.cfg", "ip prefix-list SITES seq 10 permit 10.1.0.0/16", "network-route-missing"),
    ),
    "own network in a prefix list": (
        "sites",
        [
            (
                "site1.cfg",
                "ip prefix-list OWN seq 10 permit 10.1.0.0/16",
                "ip prefix-list OWN seq 10 permit 10.11.0.0/16",
            )
        ],
        ("site1.cfg", "ip prefix-list OWN seq 10 permit 10.11.0.0/16", "network-route-missing"),
    ),
    "preference of a neighbor": (
        "sites",
        [("site1.cfg", "set local-preference 200", "set local-preference 50")],
        ("site1.cfg", "set local-preference 50", "network-route-asymmetric"),
    ),
    "trust of one uplink": (
        "switches",
        [("sw1.cfg", " mls qos trust dscp\n", "")],
        ("sw1.cfg", "interface GigabitEthernet0/23", "network-peers-disagree"),
    ),
    "service of a switch": (
        "switches",
        [("sw1.cfg", "mls qos\n", "")],
        ("sw1.cfg", "mls qos srr-queue output cos-map queue 1 threshold 3 5", "network-service-off"),
    ),
    "queue of a codepoint": (
        "switches",
        [("sw1.cfg", "dscp-map queue 1 threshold 3 46", "dscp-map queue 3 threshold 3 46")],
        ("sw1.cfg", "mls qos srr-queue output dscp-map queue 3 threshold 3 46", "network-map-differs"),
    ),
    "VLAN of a sub-interface": (
        "switches",
        [("rt1.cfg", "encapsulation dot1Q 30", "encapsulation dot1Q 300")],
        ("rt1.cfg", "encapsulation dot1Q 300", "network-tag-differs"),
    ),
    "class of service of frames": (
        "switches",
        [("agg.cfg", "match cos 5", "match cos 6")],
        ("agg.cfg", "policy-map UPLINK", "network-mark-unmatched"),
    ),
    "lost address": (
        "switches",
        [("rt1.cfg", " ip address 198.51.100.1 255.255.255.252\n", "")],
        ("rt1.cfg", "interface GigabitEthernet0/2", "network-subnet-differs"),
    ),
    "network without a route": (
        "sites",
        [("site2.cfg", "ip route 10.2.0.0 255.255.0.0 Null0\n", "")],
        ("site2.cfg", "network 10.2.0.0 mask 255.255.0.0", "network-route-missing"),
    ),
    "line about a neighbor that does not exist": (
        "sites",
        [("site2.cfg", "neighbor 192.0.2.5 prefix-list", "neighbor 192.0.2.16 prefix-list")],
        ("site2.cfg", "neighbor 192.0.2.16 prefix-list OWN out", "network-session-differs"),
    ),
    "port in a list about the own subnet": (
        "sites",
        [("site2.cfg", "any eq 1883", "any eq 3881")],
        ("site2.cfg", "permit tcp 10.2.0.0 0.0.0.255 any eq 3881", "network-peers-disagree"),
    ),
    "length of frames": (
        "switches",
        [("agg.cfg", " mtu 1530\n", " mtu 1500\n")],
        ("agg.cfg", "mtu 1500", "network-mtu-differs"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))


HARMLESS = {
    "a new key at both ends": (
        "core",
        [
            ("r1.cfg", "1 md5 7 02050D480809", "1 md5 other"),
            ("r2.cfg", "1 md5 7 070C285F4D06", "1 md5 other"),
        ],
    ),
    "one more key at one end": (
        "core",
        [("r1.cfg", " ip ospf 1 area 0\n", " ip ospf message-digest-key 2 md5 next\n ip ospf 1 area 0\n")],
    ),
    "a secret hidden with another salt": ("core", [("r2.cfg", "070C285F4D06", "14141B180F0B")]),
    "a smaller tunnel at both ends": (
        "branches",
        [("hub.cfg", "ip mtu 1400", "ip mtu 1380"), ("s1.cfg", "ip mtu 1400", "ip mtu 1380")],
    ),
    "another pool of a dialer at both places": (
        "branches",
        [
            ("s1.cfg", " dialer pool 1\n", " dialer pool 2\n"),
            ("s1.cfg", "dial-pool-number 1", "dial-pool-number 2"),
        ],
    ),
    "a shorter prefix for all sites": (
        "sites",
        [
            (
                "hub.cfg",
                "ip prefix-list SITES seq 30 permit 10.3.0.0/16\n",
                "ip prefix-list SITES seq 30 permit 10.0.0.0/8 le 16\n",
            )
        ],
    ),
    "higher preference": ("sites", [("site1.cfg", "set local-preference 200", "set local-preference 300")]),
    "an unused port without trust": (
        "switches",
        [
            (
                "sw1.cfg",
                "interface GigabitEthernet0/1\n",
                "interface GigabitEthernet0/9\n description unused port\n switchport mode access\n shutdown\n"
                "interface GigabitEthernet0/1\n",
            )
        ],
    ),
    "storm control on a port of guests": (
        "switches",
        [
            (
                "sw1.cfg",
                " switchport access vlan 40\n",
                " switchport access vlan 40\n storm-control broadcast level 5.00\n",
            )
        ],
    ),
    "longer frames at both ends": (
        "switches",
        [("agg.cfg", " mtu 1530\n", " mtu 1600\n"), ("rt1.cfg", " mtu 1530\n", " mtu 1600\n")],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_change_has_no_warning(tmp_path: Path, name: str) -> None:
    network, edits = HARMLESS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == set()
