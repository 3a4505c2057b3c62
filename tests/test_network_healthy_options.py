"""Optional features have no warnings, and the faults next to them still have one."""

from __future__ import annotations

from pathlib import Path

import pytest

import network_healthy_braces
import network_healthy_designs
import network_healthy_options
import network_healthy_ports
from network_warnings import changed, found

INCOMPLETE = "network-block-incomplete"
NETWORKS = (
    network_healthy_options.NETWORKS
    | network_healthy_braces.NETWORKS
    | network_healthy_designs.NETWORKS
    | network_healthy_ports.NETWORKS
)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, the file and line at fault, and the rule.
FAULTS = {
    "small decrement": (
        "tracked uplinks",
        [("gw1.cfg", "decrement 20", "decrement 5")],
        ("gw1.cfg", "standby 7 track 1 decrement 5", "network-group-differs"),
    ),
    "group of the other tunnel": (
        "two clouds",
        [("hub2.cfg", " nhrp map group SMALL service-policy output SITES\n", "")],
        ("hub2.cfg", "interface Tunnel2", "network-tunnel-group-unknown"),
    ),
    "tunnel without a zone": (
        "two clouds",
        [("spoke2.cfg", " zone-member security VPN\n tunnel source", " tunnel source")],
        ("spoke2.cfg", "interface Tunnel1", "network-port-incomplete"),
    ),
    "timers that no protocol uses": (
        "gateways with BFD and a follower",
        [("gw1.cfg", " ip ospf bfd\n", "")],
        ("gw1.cfg", "bfd interval 300 min_rx 300 multiplier 3", INCOMPLETE),
    ),
    "version of a group": (
        "gateways with BFD and a follower",
        [("gw2.cfg", " standby version 2\n", "")],
        ("gw2.cfg", "interface GigabitEthernet0/1", "network-group-differs"),
    ),
    "VRF without imports": (
        "VRFs for one direction",
        [("pe2.cfg", "  route-target import 65000:100\n", "")],
        ("pe2.cfg", "vrf definition SPOKE", "network-route-target-differs"),
    ),
    "target of no VRF": (
        "VRFs for one direction",
        [("pe2.cfg", "import 65000:100", "import 65000:101")],
        ("pe2.cfg", "route-target import 65000:101", "network-route-target-differs"),
    ),
    "number of a system": (
        "neighbors in a subnet",
        [("leaf1.cfg", "remote-as 1.10", "remote-as 1.11")],
        ("leaf1.cfg", "neighbor 10.0.1.1 remote-as 1.11", "network-session-differs"),
    ),
    "subnet of neighbors": (
        "neighbors in a subnet",
        [("core.cfg", "neighbor 10.0.2.0/30", "neighbor 10.0.9.0/30")],
        ("core.cfg", "router bgp 65546", "network-session-differs"),
    ),
    "port of a second process": (
        "processes of IS-IS with groups",
        [("p2.cfg", " interface TenGigE0/0/0/1\n  point", " interface TenGigE0/0/0/9\n  point")],
        ("p2.cfg", "router isis CORE", "network-neighbors-missing"),
    ),
    "rate with a wrong unit": (
        "rates with units",
        [("x1.cfg", "50 mbps", "50 kbps")],
        ("x1.cfg", "shape average 50 kbps", "network-circuit-rate-differs"),
    ),
    "group without a number": (
        "groups of two words",
        [("leaf1.cfg", "   neighbor FABRIC remote-as 65002\n", "")],
        ("leaf1.cfg", "neighbor 192.0.2.2 peer group FABRIC", "network-session-differs"),
    ),
    "address of two ports": (
        "gateway of a fabric",
        [(f"leaf{number}.cfg", " fabric forwarding mode anycast-gateway\n", "") for number in (1, 2)],
        ("leaf2.cfg", "ip address 10.1.10.1/24", "network-address-duplicate"),
    ),
    "policy without applications": (
        "policy for detected applications",
        [("srx.conf", "                    dynamic-application [ junos:HTTP junos:SSL ];\n", "")],
        ("srx.conf", "policy WEB {", INCOMPLETE),
    ),
    "class without a mark": (
        "imported rewrite rule",
        [("r2.conf", "            import default;\n", "")],
        ("r2.conf", "dscp OUT {", "network-map-differs"),
    ),
    "port without labels": (
        "LDP without the port for management",
        [("p1.conf", "        interface ge-0/0/0.0;\n", "")],
        ("p1.conf", "protocols {", INCOMPLETE),
    ),
    "next hop outside of an instance": (
        "routes that instances share",
        [
            ("cpe.conf", "    interface-routes {\n        rib-group inet SHARED;\n    }\n", ""),
            ("cpe.conf", "    rib-groups {", "    router-id 192.0.2.1;\n    inactive: rib-groups {"),
        ],
        ("cpe.conf", "route 0.0.0.0/0 next-hop 192.0.2.2;", "network-next-hop-unknown"),
    ),
    "tunnel in one direction": (
        "tunnel to Junos",
        [("far.conf", "gr-0/0/0", "ge-0/0/1")],
        ("near.cfg", "tunnel destination 192.0.2.2", "network-tunnel-one-way"),
    ),
    "filter of received routes": (
        "filters of a peer group",
        [
            ("b1.cfg", " neighbor 192.0.2.6 prefix-list RECEIVED in\n", ""),
            ("b1.cfg", "ip prefix-list OLD seq 10 permit 10.0.0.0/8\n", ""),
        ],
        ("b1.cfg", "ip prefix-list RECEIVED seq 10 permit 0.0.0.0/0 le 24", "network-neighbor-incomplete"),
    ),
    "tag of a firewall": (
        "tags of a firewall",
        [("asa.cfg", " vlan 10\n", "")],
        ("asa.cfg", "interface GigabitEthernet0/1.10", INCOMPLETE),
    ),
    "limit of a customer": (
        "queues to a provider",
        [("edge.cfg", "description provider", "description customer 9")],
        ("edge.cfg", "interface GigabitEthernet0/0", "network-policy-missing"),
    ),
    "VLAN of a desk": (
        "switch with VLAN 1",
        [("sw.cfg", " ip address 10.0.1.2 255.255.255.0\n", " no ip address\n")],
        ("sw.cfg", "interface GigabitEthernet1/0/4", "network-vlan-missing"),
    ),
    "speed of a printer": (
        "switch with VLAN 1",
        [("sw.cfg", "description card reader", "description printer 9")],
        ("sw.cfg", "speed 10", "network-setting-differs"),
    ),
    "address of a sub-interface": (
        "interfaces without addresses",
        [
            ("bng.cfg", " encapsulation ambiguous dot1q 100-199\n", " encapsulation dot1Q 99\n"),
            ("bng.cfg", " ipsubscriber ipv4 l2-connected\n  initiator dhcp\n", ""),
        ],
        ("bng.cfg", "interface GigabitEthernet0/0/1.99", "network-port-incomplete"),
    ),
    "tunnel to a router without one": (
        "tunnels of other kinds",
        [("xr.cfg", "interface tunnel-ip1", "interface Loopback7")],
        ("r1.cfg", "tunnel destination 192.0.2.2", "network-tunnel-one-way"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))
