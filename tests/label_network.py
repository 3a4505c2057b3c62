"""A network with MPLS: CE1 - PE1 - P1 - P2 - PE2 - CE2, with OSPF and LDP between the provider's routers.

The hosts are in 10.1.0.0/24 behind CE1 and in 10.2.0.0/24 behind CE2. P1 and P2 know only the provider's
addresses, so packets between hosts can cross them only with labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import Command

#: Queues of ports in the provider's network: by the EXP of labels, or by the codepoint of IP packets.
CORE = """\
class-map match-all EXP5
 match mpls experimental topmost 5
class-map match-all EXP1
 match mpls experimental topmost 1
class-map match-all DSCP-EF
 match dscp ef
policy-map CORE
 class EXP5
  bandwidth percent 20
 class EXP1
  bandwidth percent 5
 class DSCP-EF
  bandwidth percent 10
"""
OSPF = "router ospf 1\n network 10.0.0.0 0.0.0.255 area 0\n network 192.0.2.0 0.0.0.255 area 0\n"
VRF = " vrf forwarding RED\n"


def port(name: str, address: str, further: str = "", mask: str = "255.255.255.252") -> str:
    return f"interface {name}\n{further} ip address {address} {mask}\n"


def core(name: str, address: str, further: str = "") -> str:
    """Return a port between routers of the provider."""
    return port(name, address, further) + " mpls ip\n service-policy output CORE\n"


def loopback(number: int) -> str:
    return port("Loopback0", f"10.0.0.{number}", mask="255.255.255.255")


def customer(number: int, address: str, gateway: str) -> str:
    return (
        f"version 15.4\nhostname CE{number}\n"
        + port("GigabitEthernet0/0", address)
        + port("GigabitEthernet0/1", f"10.{number}.0.1", mask="255.255.255.0")
        + f"ip route 0.0.0.0 0.0.0.0 {gateway}\n"
    )


def edge(number: int, own: str, to_customer: tuple[str, str], routes: str, of_port: str = "") -> str:
    """Return a provider edge router. `to_customer` are the addresses of both ends of the customer's link."""
    return (
        f"version 15.4\nhostname PE{number}\n{CORE}"
        + loopback(1 if number == 1 else 4)
        + core("GigabitEthernet0/0", own)
        + port("GigabitEthernet0/1", to_customer[0], of_port)
        + " service-policy output CORE\n"
        + OSPF
        + routes
    )


def inner(number: int, left: str, right: str) -> str:
    return (
        f"version 15.4\nhostname P{number}\n{CORE}"
        + loopback(number + 1)
        + core("GigabitEthernet0/0", left)
        + core("GigabitEthernet0/1", right)
        + OSPF
    )


def files() -> dict[str, str]:
    """Return the configurations by name. Static routes of the global table lead to the other edge."""
    static = "ip route 10.{0}.0.0 255.255.255.0 {1}\n"
    return {
        "ce1": customer(1, "198.51.100.2", "198.51.100.1"),
        "pe1": edge(
            1,
            "192.0.2.1",
            ("198.51.100.1", "198.51.100.2"),
            static.format(1, "198.51.100.2") + static.format(2, "10.0.0.4"),
        ),
        "p1": inner(1, "192.0.2.2", "192.0.2.5"),
        "p2": inner(2, "192.0.2.6", "192.0.2.9"),
        "pe2": edge(
            2,
            "192.0.2.10",
            ("198.51.100.5", "198.51.100.6"),
            static.format(2, "198.51.100.6") + static.format(1, "10.0.0.1"),
        ),
        "ce2": customer(2, "198.51.100.6", "198.51.100.5"),
    }


def vpn_files() -> dict[str, str]:
    """Return the configurations with the customer in a VRF. They do not contain the routes of the VPN."""
    static = "ip route vrf RED 10.{0}.0.0 255.255.255.0 {1}\n"
    found = files()
    found["pe1"] = edge(1, "192.0.2.1", ("198.51.100.1", ""), static.format(1, "198.51.100.2"), of_port=VRF)
    found["pe2"] = edge(2, "192.0.2.10", ("198.51.100.5", ""), static.format(2, "198.51.100.6"), of_port=VRF)
    return found


#: The routes that the edges learn from each other by BGP.
VPN_ROUTES = "routes:\n  PE1: [vrf RED 10.2.0.0/24 = 10.0.0.4]\n  PE2: [vrf RED 10.1.0.0/24 = 10.0.0.1]\n"


def write(folder: Path, configurations: dict[str, str], facts: str = "") -> Path:
    for name, text in configurations.items():
        (folder / f"{name}.cfg").write_text(text)
    if facts:
        (folder / "network.yaml").write_text(facts)
    return folder


def walk(perhop: Command, folder: Path, packet: str = "udp dscp ef") -> dict[str, Any]:
    """Return the first path from the hosts of CE1 to the hosts of CE2."""
    ends = ("--from", "10.1.0.5", "--to", "10.2.0.9")
    ended = perhop("trace", folder, *ends, "--packet", packet, "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = ended.json()["walks"][0]["there"]
    assert len(found["paths"]) == 1
    return {**found["paths"][0], "assumed": found["assumed"]}


def hops(path: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """Return each device with the labels and the queue with which the packet leaves it."""

    def labels(hop: dict[str, Any]) -> str:
        return ", ".join(f"{label['label']} exp {label['exp']}" for label in hop["labels"])

    return [
        (hop["device"], labels(hop), hop["queue"] and hop["queue"].split("/")[-1]) for hop in path["hops"]
    ]


def operations(path: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (hop["device"], stage["operation"])
        for hop in path["hops"]
        for stage in hop["stages"]
        if stage["stage"] == "labels"
    ]


#: P2 as a router of Junos without rewrite rules. It classifies EXP 5 as expedited forwarding.
JUNOS_P2 = """\
set system host-name P2
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.6/30
set interfaces ge-0/0/0 unit 0 family mpls
set interfaces ge-0/0/1 unit 0 family inet address 192.0.2.9/30
set interfaces ge-0/0/1 unit 0 family mpls
set interfaces lo0 unit 0 family inet address 10.0.0.3/32
set protocols mpls interface all
set protocols ldp interface ge-0/0/0.0
set protocols ldp interface ge-0/0/1.0
set class-of-service classifiers exp core import default
edit class-of-service classifiers exp core
set forwarding-class expedited-forwarding loss-priority low code-points 101
top
set class-of-service schedulers ef transmit-rate percent 20
set class-of-service schedulers be transmit-rate remainder
set class-of-service scheduler-maps core forwarding-class expedited-forwarding scheduler ef
set class-of-service scheduler-maps core forwarding-class best-effort scheduler be
set class-of-service interfaces ge-0/0/0 scheduler-map core
set class-of-service interfaces ge-0/0/0 unit 0 classifiers exp core
set class-of-service interfaces ge-0/0/1 scheduler-map core
set class-of-service interfaces ge-0/0/1 unit 0 classifiers exp core
"""
#: PE2 as a router of IOS XR, which requests packets with the explicit-null label.
XR_PE2 = """\
!! IOS XR Configuration 7.5.2
hostname PE2
class-map match-any EXP5
 match mpls experimental topmost 5
 end-class-map
class-map match-any DSCP-EF
 match dscp ef
 end-class-map
policy-map FROM-CORE
 class EXP5
  set qos-group 5
 !
 class class-default
 !
 end-policy-map
interface Loopback0
 ipv4 address 10.0.0.4 255.255.255.255
!
interface GigabitEthernet0/0/0/0
 service-policy input FROM-CORE
 ipv4 address 192.0.2.10 255.255.255.252
!
interface GigabitEthernet0/0/0/1
 ipv4 address 198.51.100.5 255.255.255.252
!
router static
 address-family ipv4 unicast
  10.2.0.0/24 198.51.100.6
 !
!
mpls ldp
 router-id 10.0.0.4
 address-family ipv4
  label
   local
    advertise
     explicit-null
    !
   !
  !
 !
 interface GigabitEthernet0/0/0/0
 !
!
"""
#: The routes of all routers to the loopback addresses of the edges.
CORE_ROUTES = """\
routes:
  PE1: [10.0.0.4/32 = 192.0.2.2, 10.2.0.0/24 = 10.0.0.4]
  P1: [10.0.0.4/32 = 192.0.2.6, 10.0.0.1/32 = 192.0.2.1]
  P2: [10.0.0.4/32 = 192.0.2.10, 10.0.0.1/32 = 192.0.2.5]
  PE2: [10.0.0.1/32 = 192.0.2.9, 10.1.0.0/24 = 10.0.0.1]
"""


def targets(imports: str = "65000:1", exports: str = "65000:1", further: str = "") -> str:
    lines = f" rd 65000:1\n route-target export {exports}\n route-target import {imports}\n"
    return f"ip vrf RED\n{lines}{further}"


def bgp(*neighbors: str, of_family: str = "", announces: str | None = None, source: str = "Loopback0") -> str:
    """Return a BGP process with sessions for routes of VPNs."""
    sessions = "".join(
        f" neighbor {address} remote-as 65000\n neighbor {address} update-source {source}\n"
        for address in neighbors
    )
    active = "".join(f"  neighbor {address} activate\n" for address in neighbors)
    own = ""
    if announces is not None:
        own = f" address-family ipv4 vrf RED\n{announces} exit-address-family\n"
    family = f" address-family vpnv4\n{active}{of_family} exit-address-family\n"
    return f"router bgp 65000\n no bgp default ipv4-unicast\n{sessions}{family}{own}"


ANNOUNCES = "  redistribute connected\n  redistribute static\n"


def announced_files() -> dict[str, str]:
    """Return the configurations of the VPN with a session between the edges, which announce their routes."""
    found = vpn_files()
    found["pe1"] += targets() + bgp("10.0.0.4", announces=ANNOUNCES)
    found["pe2"] += targets() + bgp("10.0.0.1", announces=ANNOUNCES)
    return found
