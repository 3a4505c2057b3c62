"""Rules about ports and tunnels whose ends or peers must agree: vPC, bundles, E1 lines, VRFs and BFD."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_warnings import changed, found

Files = dict[str, str]


def _nexus(number: int) -> str:
    """Return one of two switches of a vPC domain."""
    other = 3 - number
    return f"""hostname leaf{number}
feature lacp
feature vpc
policy-map type network-qos JUMBO
  class type network-qos c-8q-nq-default
    mtu 9216
system qos
  service-policy type network-qos JUMBO
vlan 1,30-31
vpc domain 5
  peer-keepalive destination 192.0.2.{other} source 192.0.2.{number}
  peer-gateway
interface port-channel9
  description peer link to leaf{other} port-channel9
  switchport mode trunk
  switchport trunk allowed vlan 30-31
  vpc peer-link
interface port-channel20
  description server
  switchport mode trunk
  switchport trunk allowed vlan 30-31
  mtu 9216
  vpc 20
interface Ethernet1/1
  description server member
  switchport mode trunk
  switchport trunk allowed vlan 30-31
  mtu 9216
  channel-group 20 mode active
interface Ethernet1/2
  description to leaf{other} Ethernet1/2
  switchport mode trunk
  switchport trunk allowed vlan 30-31
  channel-group 9 mode active
interface Ethernet1/3
  description to leaf{other} Ethernet1/3
  switchport mode trunk
  switchport trunk allowed vlan 30-31
  channel-group 9 mode active
interface mgmt0
  vrf member management
  ip address 192.0.2.{number}/24
"""


def _line(number: int) -> str:
    """Return one of two routers with a bundle of two E1 lines."""
    return f"""hostname line{number}
controller E1 0/1/0
 channel-group 0 timeslots 1-31
controller E1 0/1/1
 channel-group 0 timeslots 1-31
interface Multilink1
 ip address 192.0.2.{number} 255.255.255.252
 ppp multilink
 ppp multilink group 1
interface Serial0/1/0:0
 no ip address
 encapsulation ppp
 ppp multilink
 ppp multilink group 1
interface Serial0/1/1:0
 no ip address
 encapsulation ppp
 ppp multilink
 ppp multilink group 1
"""


HUB = """hostname hub
vrf definition OUTSIDE
 rd 65000:9
interface GigabitEthernet0/0
 vrf forwarding OUTSIDE
 ip address 198.51.100.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.0.0.1 255.255.255.0
interface Tunnel5
 ip address 172.16.5.1 255.255.255.0
 ip nhrp network-id 5
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
 tunnel vrf OUTSIDE
ip route vrf OUTSIDE 0.0.0.0 0.0.0.0 198.51.100.1
"""


def _spoke(number: int) -> str:
    subnet = 4 * number
    return f"""hostname spoke{number}
vrf definition OUTSIDE
 rd 65000:9
interface GigabitEthernet0/0
 vrf forwarding OUTSIDE
 ip address 203.0.113.{subnet + 2} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
interface Tunnel5
 ip address 172.16.5.{number + 1} 255.255.255.0
 ip nhrp network-id 5
 ip nhrp nhs 172.16.5.1 nbma 198.51.100.2 multicast
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
 tunnel vrf OUTSIDE
ip route vrf OUTSIDE 0.0.0.0 0.0.0.0 203.0.113.{subnet + 1}
"""


def _ospf(number: int) -> str:
    return f"""hostname r{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
 ip ospf bfd
 bfd interval 100 min_rx 100 multiplier 3
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
router ospf 1
 router-id 10.255.0.{number}
 network 0.0.0.0 255.255.255.255 area 0
"""


def _isis(number: int) -> str:
    return f"""hostname x{number}
interface Loopback0
 ipv4 address 10.0.0.{number} 255.255.255.255
!
interface TenGigE0/0/0/1
 ipv4 address 192.0.2.{number} 255.255.255.252
!
router isis CORE
 net 49.0001.0000.0000.000{number}.00
 address-family ipv4 unicast
  metric-style wide
 !
 interface TenGigE0/0/0/1
  point-to-point
  bfd minimum-interval 50
  bfd fast-detect ipv4
  address-family ipv4 unicast
  !
 !
!
"""


# A network may have notes, but no warnings.
NETWORKS: dict[str, Files] = {
    "vPC": {f"leaf{number}.cfg": _nexus(number) for number in (1, 2)},
    "E1": {f"line{number}.cfg": _line(number) for number in (1, 2)},
    "VRF": {"hub.cfg": HUB, **{f"spoke{number}.cfg": _spoke(number) for number in (1, 2)}},
    "OSPF": {f"r{number}.cfg": _ospf(number) for number in (1, 2)},
    "IS-IS": {f"x{number}.cfg": _isis(number) for number in (1, 2)},
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


SERVER = """  description server member
  switchport mode trunk
  switchport trunk allowed vlan 30-31
  mtu 9216
"""
# The network, the edits, a file with the line at fault, and the rule.
FAULTS = {
    "mode of a vPC": (
        "vPC",
        [("leaf1.cfg", "channel-group 20 mode active", "channel-group 20 mode on")],
        ("leaf1.cfg", "channel-group 20 mode on", "network-setting-differs"),
    ),
    "MTU of a vPC": (
        "vPC",
        [("leaf2.cfg", "  mtu 9216\n  vpc 20", "  vpc 20")],
        ("leaf2.cfg", "interface port-channel20", "network-setting-differs"),
    ),
    "MTU of a member": (
        "vPC",
        [("leaf2.cfg", SERVER, SERVER.replace("9216", "9116"))],
        ("leaf2.cfg", "mtu 9116", "network-setting-differs"),
    ),
    "port channel without a vPC": (
        "vPC",
        [("leaf1.cfg", "  vpc 20\n", "")],
        ("leaf1.cfg", "interface port-channel20", "network-setting-differs"),
    ),
    "policy of the switch": (
        "vPC",
        [("leaf1.cfg", "  service-policy type network-qos JUMBO\n", "")],
        ("leaf1.cfg", "vpc domain 5", "network-setting-differs"),
    ),
    "port in no bundle": (
        "vPC",
        [
            (
                "leaf1.cfg",
                "  channel-group 9 mode active\ninterface Ethernet1/3",
                "interface Ethernet1/3",
            )
        ],
        ("leaf1.cfg", "interface Ethernet1/2", "network-setting-differs"),
    ),
    "E1 line without a group": (
        "E1",
        [
            (
                "line2.cfg",
                "controller E1 0/1/1\n channel-group 0 timeslots 1-31",
                "controller E1 0/1/1\n framing crc4",
            )
        ],
        ("line2.cfg", "controller E1 0/1/1", "network-port-incomplete"),
    ),
    "next hop in no subnet of the VRF": (
        "VRF",
        [("spoke1.cfg", "0.0.0.0 0.0.0.0 203.0.113.5", "0.0.0.0 0.0.0.0 203.0.113.15")],
        ("spoke1.cfg", "ip route vrf OUTSIDE 0.0.0.0 0.0.0.0 203.0.113.15", "network-next-hop-unknown"),
    ),
    "spoke without a route": (
        "VRF",
        [("spoke2.cfg", "ip route vrf OUTSIDE 0.0.0.0 0.0.0.0 203.0.113.9\n", "")],
        ("spoke2.cfg", "tunnel vrf OUTSIDE", "network-route-missing"),
    ),
    "hub without a route": (
        "VRF",
        [("hub.cfg", "ip route vrf OUTSIDE 0.0.0.0 0.0.0.0 198.51.100.1\n", "")],
        ("hub.cfg", "tunnel vrf OUTSIDE", "network-route-missing"),
    ),
    "BFD of OSPF": (
        "OSPF",
        [("r1.cfg", " ip ospf bfd\n", "")],
        ("r2.cfg", "ip ospf bfd", "network-setting-differs"),
    ),
    "timers of BFD": (
        "OSPF",
        [("r1.cfg", " bfd interval 100 min_rx 100 multiplier 3\n", "")],
        ("r1.cfg", "interface GigabitEthernet0/0", "network-setting-differs"),
    ),
    "BFD of IS-IS": (
        "IS-IS",
        [("x1.cfg", "  bfd fast-detect ipv4\n", "")],
        ("x2.cfg", "bfd fast-detect ipv4", "network-setting-differs"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))


# Differences that are correct.
HARMLESS = {
    "passive mode": (
        "vPC",
        [("leaf1.cfg", "channel-group 20 mode active", "channel-group 20 mode passive")],
    ),
    "another list of the same VLANs": (
        "vPC",
        [
            (
                "leaf1.cfg",
                "allowed vlan 30-31\n  mtu 9216\n  vpc 20",
                "allowed vlan 30,31\n  mtu 9216\n  vpc 20",
            )
        ],
    ),
    "routes from DHCP": (
        "VRF",
        [
            ("spoke2.cfg", "ip address 203.0.113.10 255.255.255.252", "ip address dhcp"),
            ("spoke2.cfg", "ip route vrf OUTSIDE 0.0.0.0 0.0.0.0 203.0.113.9\n", ""),
        ],
    ),
    "next hop of the global table": (
        "VRF",
        [("spoke1.cfg", "0.0.0.0 0.0.0.0 203.0.113.5", "0.0.0.0 0.0.0.0 10.1.0.9 global")],
    ),
    "BFD for all ports": (
        "OSPF",
        [
            ("r1.cfg", " ip ospf bfd\n", ""),
            ("r1.cfg", "router ospf 1\n", "router ospf 1\n bfd all-interfaces\n"),
        ],
    ),
    "no BFD": (
        "IS-IS",
        [(name, "  bfd fast-detect ipv4\n", "") for name in ("x1.cfg", "x2.cfg")],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_correct_difference_has_no_warning(tmp_path: Path, name: str) -> None:
    network, edits = HARMLESS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == set()
