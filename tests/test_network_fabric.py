"""A fabric of NX-OS leaves and IOS XR spines, and a core of IOS XR with labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command


def leaf(number: int) -> str:
    uplinks = "".join(
        f"""\
interface Ethernet1/{49 + spine}
  no switchport
  medium p2p
  ip address 10.0.{spine}.{4 * number + 1}/30
  ip ospf network point-to-point
  ip router ospf UNDERLAY area 0.0.0.0
  no ip ospf passive-interface
"""
        for spine in range(2)
    )
    return f"""\
!Command: show running-config
version 10.2(3)
hostname leaf{number}
feature ospf
feature interface-vlan
interface Vlan20
  vrf member TENANT
  ip address 10.20.{number}.1/24
interface Vlan99
  ip address 10.99.{number}.1/24
  ip router ospf UNDERLAY area 0.0.0.0
{uplinks}interface loopback0
  ip address 10.255.1.{number}/32
  ip router ospf UNDERLAY area 0.0.0.0
router ospf UNDERLAY
  router-id 10.255.1.{number}
  passive-interface default
"""


def spine(number: int) -> str:
    ports = "".join(
        f"interface GigabitEthernet0/0/0/{leaf}\n ipv4 address 10.0.{number}.{4 * leaf + 2}/30\n!\n"
        for leaf in range(4)
    )
    listed = "".join(
        f"  interface GigabitEthernet0/0/0/{leaf}\n   passive disable\n  !\n" for leaf in range(4)
    )
    return f"""\
!! IOS XR Configuration 7.3.2
hostname spine{number + 1}
interface Loopback0
 ipv4 address 10.255.2.{number + 1} 255.255.255.255
!
{ports}router ospf 1
 router-id 10.255.2.{number + 1}
 network point-to-point
 passive enable
 area 0
  interface Loopback0
  !
{listed} !
!
end
"""


FABRIC = {
    **{f"leaf{number}.cfg": leaf(number) for number in range(4)},
    **{f"spine{number + 1}.cfg": spine(number) for number in range(2)},
}


def lab(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_fabric_has_paths_and_no_findings(tmp_path: Path, perhop: Command) -> None:
    folder = lab(tmp_path / "lab", FABRIC)
    assert "warning[network-" not in perhop("check", folder).out
    ends = ("--from", "10.99.0.5", "--to", "10.99.3.9", "--packet", "udp dscp ef")
    ended = perhop("trace", folder, *ends)
    assert "ospf route 10.99.3.0/24, next hop 10.0.0.2" in ended.out
    assert "delivered behind leaf3:Vlan99" in ended.out and "delivered behind leaf0:Vlan99" in ended.out


FAULTS = {
    "missing exception": (
        ("leaf2.cfg", "  no ip ospf passive-interface\ninterface Ethernet1/50", "interface Ethernet1/50"),
        "network-neighbors-missing]: leaf2:Ethernet1/49 and spine1:GigabitEthernet0/0/0/2",
    ),
    "missing exception of a list": (
        ("spine2.cfg", "0/0/0/1\n   passive disable\n", "0/0/0/1\n"),
        "network-neighbors-missing]: spine2:GigabitEthernet0/0/0/1 and leaf1:Ethernet1/50",
    ),
    "other area": (
        ("leaf3.cfg", "UNDERLAY area 0.0.0.0\n  no ip", "UNDERLAY area 0.0.0.1\n  no ip"),
        "network-neighbors-missing]: leaf3:Ethernet1/49 and spine1:GigabitEthernet0/0/0/3",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_fabric_is_found(name: str, tmp_path: Path, perhop: Command) -> None:
    (file, old, new), expected = FAULTS[name]
    assert old in FABRIC[file]
    files = {**FABRIC, file: FABRIC[file].replace(old, new, 1)}
    assert expected in perhop("check", lab(tmp_path / "lab", files)).out


def edge(number: int, other: int) -> str:
    return f"""\
version 15.4
hostname pe{number}
interface Loopback0
 ip address 10.255.0.{number} 255.255.255.255
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 mpls ip
interface GigabitEthernet0/2
 ip address 10.{number}.0.1 255.255.255.0
router ospf 1
 network 192.0.2.0 0.0.0.255 area 0
 network 10.255.0.0 0.0.0.255 area 0
ip route 10.{other}.0.0 255.255.255.0 10.255.0.{other}
end
"""


CORE = """\
!! IOS XR Configuration 7.3.2
hostname p
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.6 255.255.255.252
!
interface GigabitEthernet0/0/0/1
 ipv4 address 192.0.2.10 255.255.255.252
!
router ospf 1
 area 0
  interface GigabitEthernet0/0/0/0
  !
  interface GigabitEthernet0/0/0/1
  !
 !
!
mpls ldp
 interface GigabitEthernet0/0/0/0
 !
 interface GigabitEthernet0/0/0/1
 !
!
end
"""


def test_labels_lead_through_a_core_of_ios_xr(tmp_path: Path, perhop: Command) -> None:
    files = {"pe1.cfg": edge(1, 2), "p.cfg": CORE, "pe2.cfg": edge(2, 1)}
    folder = lab(tmp_path / "lab", files)
    ends = ("--from", "10.1.0.5", "--to", "10.2.0.9", "--packet", "udp dscp ef")
    ended = perhop("trace", folder, *ends)
    assert "adds labels 10.255.0.2/32: the label of p for 10.255.0.2/32" in ended.out
    assert "removes the last label: pe2 is the last router for 10.255.0.2/32" in ended.out
    assert "delivered behind pe2:GigabitEthernet0/2" in ended.out
    assert "warning[network-" not in perhop("check", folder).out
