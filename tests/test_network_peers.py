"""Devices with one task: the device that differs in routes, VLANs, services, groups or queues is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from network_peers import ORDERS_QUEUE, Files, closets, costs, sites, trusting, tunnels
from network_warnings import changed, found

NETWORKS: dict[str, Callable[[], Files]] = {"tunnels": tunnels, "sites": sites, "closets": closets}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]()) == set()


# The network, the file, the text that a fault removes, the text in its place, the line and the rule.
FAULTS = {
    "group of a tunnel": (
        "tunnels",
        "hub.cfg",
        "map group SPOKE2 ",
        "map group SPOKES2 ",
        "ip nhrp map group SPOKES2 service-policy output SPOKE2-20M",
        "network-tunnel-group-unknown",
    ),
    "shaper above the circuit of the spoke": (
        "tunnels",
        "hub.cfg",
        "shape average 30000000",
        "shape average 40000000",
        "shape average 40000000",
        "network-circuit-rate-differs",
    ),
    "MTU of one of several ends": (
        "tunnels",
        "spoke3.cfg",
        "ip mtu 1400",
        "ip mtu 1500",
        "ip mtu 1500",
        "network-mtu-differs",
    ),
    "queues forgotten below a shaper": (
        "tunnels",
        "spoke2.cfg",
        "  service-policy QUEUES\n",
        "",
        "policy-map QUEUES",
        "network-policy-missing",
    ),
    "kind of a class": (
        "sites",
        "site3.cfg",
        "class-map match-any ORDERS",
        "class-map match-all ORDERS",
        "class-map match-all ORDERS",
        "network-namesake-differs",
    ),
    "queue limit": (
        "sites",
        "site1.cfg",
        "queue-limit 128 packets",
        "queue-limit 8 packets",
        "queue-limit 8 packets",
        "network-queue-differs",
    ),
    "threshold": (
        "sites",
        "site1.cfg",
        "dscp 18 40 80 10",
        "dscp 18 4 8 10",
        "random-detect dscp 18 4 8 10",
        "network-queue-differs",
    ),
    "codepoint of a service": (
        "sites",
        "site2.cfg",
        "set dscp cs3",
        "set dscp af21",
        "set dscp af21",
        "network-service-differs",
    ),
    "exchanged digits of a port": (
        "sites",
        "site4.cfg",
        "eq 1521",
        "eq 1512",
        "permit tcp 10.4.1.0 0.0.0.255 host 10.99.0.21 eq 1512",
        "network-service-differs",
    ),
    "subnet that no device has": (
        "sites",
        "site4.cfg",
        "udp 10.4.2.0",
        "udp 10.42.2.0",
        "permit udp 10.42.2.0 0.0.0.255 any range 16384 32767",
        "network-service-differs",
    ),
    "codepoint without a class": (
        "sites",
        "site2.cfg",
        "set dscp af21",
        "set dscp af31",
        "set dscp af31",
        "network-mark-unmatched",
    ),
    "route to one subnet of a site": (
        "sites",
        "provider.cfg",
        "ip route 10.3.2.0 255.255.255.0 192.0.2.14\n",
        "",
        "ip route 10.3.1.0 255.255.255.0 192.0.2.14",
        "network-route-missing",
    ),
    "default route": (
        "sites",
        "site3.cfg",
        "ip route 0.0.0.0 0.0.0.0 192.0.2.13\n",
        "",
        "interface GigabitEthernet0/0",
        "network-route-missing",
    ),
    "duplex": ("sites", "site2.cfg", "duplex full", "duplex half", "duplex half", "network-setting-differs"),
    "speed": ("sites", "site2.cfg", "speed 100", "speed 10", "speed 10", "network-setting-differs"),
    "end that negotiates": (
        "sites",
        "site4.cfg",
        " duplex full\n speed 100\n",
        " negotiation auto\n",
        "negotiation auto",
        "network-setting-differs",
    ),
    "VLAN of one phone": (
        "closets",
        "closet2.cfg",
        "desk 3\n switchport access vlan 12\n switchport mode access\n switchport voice vlan 112",
        "desk 3\n switchport access vlan 12\n switchport mode access\n switchport voice vlan 113",
        "switchport voice vlan 113",
        "network-vlan-missing",
    ),
    "VLAN of the trunk": (
        "closets",
        "closet3.cfg",
        "allowed vlan 13,113,99",
        "allowed vlan 13,99",
        "switchport trunk allowed vlan 13,99",
        "network-vlan-missing",
    ),
    "VLAN of the other end": (
        "closets",
        "core.cfg",
        "allowed vlan 14,114,99",
        "allowed vlan 14,99",
        "switchport trunk allowed vlan 14,99",
        "network-vlan-missing",
    ),
    "VLAN without a tag": (
        "closets",
        "closet1.cfg",
        " switchport trunk allowed vlan 11,111,99\n",
        " switchport trunk allowed vlan 11,111,99\n switchport trunk native vlan 99\n",
        "switchport trunk native vlan 99",
        "network-tag-differs",
    ),
    "policy of a desk": (
        "closets",
        "closet1.cfg",
        " service-policy input DESK\ninterface GigabitEthernet1/0/3",
        "interface GigabitEthernet1/0/3",
        "interface GigabitEthernet1/0/2",
        "network-peers-disagree",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_exception_is_a_warning_at_its_line(tmp_path: Path, name: str) -> None:
    network, file, old, new, line, rule = FAULTS[name]
    assert (file, line, rule) in found(tmp_path, changed(NETWORKS[network](), (file, old, new)))


# The network, and by file the replaced and the new texts, without a fault.
CHANGES = {
    "faster circuit": (
        "tunnels",
        {
            "hub.cfg": ("shape average 20000000", "shape average 40000000"),
            "spoke2.cfg": ("bandwidth 20000\n", "bandwidth 40000\n"),
        },
    ),
    "renamed group": (
        "tunnels",
        {
            "hub.cfg": ("map group SPOKE2 ", "map group LEEDS "),
            "spoke2.cfg": ("nhrp group SPOKE2", "nhrp group LEEDS"),
        },
    ),
    "longer queue": ("sites", {"site1.cfg": ("queue-limit 128 packets", "queue-limit 192 packets")}),
    "two codepoints in one line": (
        "sites",
        {"site2.cfg": (" match dscp af21\n match dscp af22\n", " match dscp af21 af22\n")},
    ),
    "one more server": (
        "sites",
        {
            "site1.cfg": (
                "host 10.99.0.21 eq 443\n",
                "host 10.99.0.21 eq 443\n permit tcp any host 10.99.0.40 eq 22\n",
            )
        },
    ),
    "both ends negotiate": (
        "sites",
        {
            "site4.cfg": (" duplex full\n speed 100\n", " negotiation auto\n"),
            "provider.cfg": (
                " ip address 192.0.2.17 255.255.255.252\n duplex full\n speed 100\n",
                " ip address 192.0.2.17 255.255.255.252\n negotiation auto\n",
            ),
        },
    ),
    "small sites without a class": (
        "sites",
        {f"site{number}.cfg": (ORDERS_QUEUE, "") for number in (1, 2)},
    ),
    "unused port": (
        "closets",
        {
            "closet1.cfg": (
                "interface Vlan99",
                "interface GigabitEthernet1/0/9\n switchport access vlan 999\n shutdown\ninterface Vlan99",
            )
        },
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_without_a_fault_has_no_warning(tmp_path: Path, name: str) -> None:
    network, changes = CHANGES[name]
    files = NETWORKS[network]()
    for file, (old, new) in changes.items():
        assert files[file].count(old) == 1
        files[file] = files[file].replace(old, new)
    assert found(tmp_path, files) == set()


def test_the_only_link_with_two_costs_is_a_warning(tmp_path: Path) -> None:
    assert found(tmp_path, costs(1000)) == {("r2.cfg", "ip ospf cost 1000", "network-cost-unusual")}
    assert found(tmp_path, costs(100)) == set()


def test_the_only_codepoint_that_a_trusting_port_resets_is_a_warning(tmp_path: Path) -> None:
    at = ("r2.cfg", "set dscp default", "network-mark-changed")
    assert found(tmp_path, trusting("EF AF41 AF21")) == {at}
    assert found(tmp_path, trusting("EF CS3 AF41 AF21")) == set()
    # A port that trusts half of the codepoints resets the others.
    assert found(tmp_path, trusting("EF AF21")) == set()
