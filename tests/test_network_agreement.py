"""Devices that have to agree on sessions, filters, maps and tunnels: the device that differs is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from network_agreement import (
    Files,
    borders,
    customers,
    gateways,
    reflectors,
    routers_with_braces,
    spokes,
    switches,
)
from network_warnings import changed, found

NETWORKS: dict[str, Callable[[], Files]] = {
    "borders": borders,
    "reflectors": reflectors,
    "customers": customers,
    "switches": switches,
    "braces": routers_with_braces,
    "spokes": spokes,
    "gateways": gateways,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]()) == set()


# The network, the file, the text that a fault removes, the text in its place, the line and the rule.
FAULTS = {
    "source of a session": (
        "borders",
        "border2.cfg",
        " neighbor 10.0.0.1 update-source Loopback0\n",
        "",
        "neighbor 10.0.0.1 remote-as 65000",
        "network-session-differs",
    ),
    "other source of a session": (
        "borders",
        "border2.cfg",
        "update-source Loopback0",
        "update-source GigabitEthernet0/0",
        "neighbor 10.0.0.1 update-source GigabitEthernet0/0",
        "network-session-differs",
    ),
    "next hop of external routes": (
        "borders",
        "border1.cfg",
        " neighbor 10.0.0.2 next-hop-self\n",
        "",
        "neighbor 10.0.0.2 remote-as 65000",
        "network-neighbor-incomplete",
    ),
    "client of a reflector": (
        "reflectors",
        "r2.cfg",
        "  neighbor 10.0.0.4 route-reflector-client\n",
        "",
        "neighbor 10.0.0.4 activate",
        "network-neighbor-incomplete",
    ),
    "family of a session": (
        "reflectors",
        "r4.cfg",
        "  neighbor 10.0.0.2 activate\n",
        "",
        "neighbor 10.0.0.2 remote-as 65000",
        "network-neighbor-incomplete",
    ),
    "filter without a subnet": (
        "customers",
        "ce2.cfg",
        "permit 10.2.2.0/24",
        "permit 10.2.22.0/24",
        "ip prefix-list OWN seq 10 permit 10.2.22.0/24",
        "network-route-missing",
    ),
    "filter that denies": (
        "customers",
        "ce2.cfg",
        "seq 10 permit",
        "seq 10 deny",
        "ip prefix-list OWN seq 10 deny 10.2.2.0/24",
        "network-route-missing",
    ),
    "queues of a switch": ("switches", "sw3.cfg", "mls qos\n", "", "hostname SW3", "network-peers-disagree"),
    "queues of a switch turned off": (
        "switches",
        "sw3.cfg",
        "mls qos\n",
        "no mls qos\n",
        "no mls qos",
        "network-peers-disagree",
    ),
    "map of a switch": (
        "switches",
        "sw3.cfg",
        "mls qos map cos-dscp 0 8 16 24 32 46 48 56\n",
        "",
        "hostname SW3",
        "network-map-differs",
    ),
    "mark of a map": (
        "switches",
        "sw3.cfg",
        "threshold 3 40 46",
        "threshold 3 40",
        "mls qos srr-queue output dscp-map queue 1 threshold 3 40",
        "network-map-differs",
    ),
    "buffers of a switch": (
        "switches",
        "sw3.cfg",
        "buffers 15 25 40 20",
        "buffers 1 25 54 20",
        "mls qos queue-set output 1 buffers 1 25 54 20",
        "network-peers-disagree",
    ),
    "relay of a subnet": (
        "switches",
        "sw3.cfg",
        "ip helper-address 10.9.9.9",
        "ip helper-address 10.9.9.90",
        "ip helper-address 10.9.9.90",
        "network-peers-disagree",
    ),
    "queue of a class": (
        "braces",
        "r2.conf",
        "class VOICE queue-num 5;",
        "class VOICE queue-num 4;",
        "class VOICE queue-num 4;",
        "network-map-differs",
    ),
    "source of a group": (
        "braces",
        "r2.conf",
        "local-address 10.0.0.2;",
        "local-address 10.1.0.2;",
        "local-address 10.1.0.2;",
        "network-session-differs",
    ),
    "neighbor of a group": (
        "braces",
        "r2.conf",
        "            neighbor 10.0.0.3;\n",
        "",
        "bgp {",
        "network-session-differs",
    ),
    "outer address of the hub": (
        "spokes",
        "spoke2.cfg",
        "nhrp map 172.16.0.1 198.51.100.1",
        "nhrp map 172.16.0.1 198.51.100.11",
        "ip nhrp map 172.16.0.1 198.51.100.11",
        "network-tunnel-one-way",
    ),
    "bandwidth of a tunnel": (
        "spokes",
        "spoke2.cfg",
        " bandwidth 20000\n ip address 172",
        " bandwidth 2000\n ip address 172",
        "bandwidth 2000",
        "network-circuit-rate-differs",
    ),
    "routes that are not passed on": (
        "gateways",
        "gw2.cfg",
        " redistribute bgp 65000 subnets\n",
        "",
        "router ospf 1",
        "network-route-missing",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_device_that_does_not_agree_is_named(tmp_path: Path, name: str) -> None:
    network, file, old, new, line, rule = FAULTS[name]
    assert (file, line, rule) in found(tmp_path, changed(NETWORKS[network](), (file, old, new)))


# The network, and by file the replaced and the new texts, without a fault.
CHANGES = {
    "session of the link": (
        "borders",
        {
            f"border{own}.cfg": (
                f" neighbor 10.0.0.{far} remote-as 65000\n neighbor 10.0.0.{far} update-source Loopback0\n"
                f" neighbor 10.0.0.{far} ",
                f" neighbor 10.1.0.{far} remote-as 65000\n neighbor 10.1.0.{far} ",
            )
            for own, far in ((1, 2), (2, 1))
        },
    ),
    "one filter for both subnets": (
        "customers",
        {
            "ce2.cfg": (
                "seq 5 permit 10.2.1.0/24\nip prefix-list OWN seq 10 permit 10.2.2.0/24",
                "seq 5 permit 10.2.0.0/16 le 24",
            )
        },
    ),
    "map in two lines": (
        "switches",
        {
            "sw2.cfg": (
                "queue 1 threshold 3 40 46",
                "queue 1 threshold 3 40\nmls qos srr-queue output dscp-map queue 1 threshold 3 46",
            )
        },
    ),
    "second relay": (
        "switches",
        {"sw2.cfg": ("helper-address 10.9.9.9", "helper-address 10.9.9.9\n ip helper-address 10.9.9.10")},
    ),
    "class with its queue in the other form": (
        "braces",
        {"r2.conf": ("class VOICE queue-num 5;", "queue 5 VOICE;")},
    ),
    "faster circuit": (
        "spokes",
        {"spoke2.cfg": (" bandwidth 20000\n ip address 1", " bandwidth 50000\n ip address 1")},
    ),
    "other metric of passed routes": (
        "gateways",
        {"gw2.cfg": ("redistribute bgp 65000 subnets", "redistribute bgp 65000 metric 20 subnets")},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_without_a_fault_has_no_warning(tmp_path: Path, name: str) -> None:
    network, changes = CHANGES[name]
    files = NETWORKS[network]()
    for file, (old, new) in changes.items():
        assert old in files[file]
        files[file] = files[file].replace(old, new)
    assert found(tmp_path, files) == set()


def test_a_next_hop_of_several_devices_is_outside_of_the_folder(tmp_path: Path) -> None:
    def router(number: int, hop: int) -> str:
        return f"""hostname R{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.0
ip route 0.0.0.0 0.0.0.0 192.0.2.{hop}
"""

    assert found(tmp_path, {"r1.cfg": router(1, 9), "r2.cfg": router(2, 9)}) == set()
    named = found(tmp_path, {"r1.cfg": router(1, 9), "r2.cfg": router(2, 8)})
    assert {rule for _, _, rule in named} == {"network-next-hop-unknown"}


def test_bgp_announces_subnets_of_other_protocols(tmp_path: Path) -> None:
    inside = """hostname INSIDE
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.252
 ip ospf 1 area 0
interface GigabitEthernet0/1
 ip address 10.5.0.1 255.255.255.0
 ip ospf 1 area 0
router ospf 1
 router-id 10.0.0.1
"""
    networks = "".join(f"interface Loopback{n}\n ip address 10.6.{n}.1 255.255.255.0\n" for n in range(6))
    named = "".join(f" network 10.6.{n}.0 mask 255.255.255.0\n" for n in range(6))
    border = f"""hostname BORDER
{networks}interface GigabitEthernet0/0
 ip address 10.0.0.2 255.255.255.252
 ip ospf 1 area 0
router ospf 1
 router-id 10.0.0.2
router bgp 65000
{named} network 10.5.0.0 mask 255.255.255.0
"""
    files = {"inside.cfg": inside, "border.cfg": border}
    assert found(tmp_path, files) == set()
    # The same line without the protocol at the subnet.
    files["inside.cfg"] = inside.replace(
        "10.5.0.1 255.255.255.0\n ip ospf 1 area 0", "10.5.0.1 255.255.255.0"
    )
    line = "network 10.5.0.0 mask 255.255.255.0"
    assert ("border.cfg", line, "network-route-missing") in found(tmp_path, files)
