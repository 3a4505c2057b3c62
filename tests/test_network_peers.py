"""Devices with one task: the one that differs in routes, VLANs, services, groups or queues is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from perhop.network.findings import between_devices

Files = dict[str, str]
SPOKES = range(1, 4)
SITES = range(1, 5)
CLOSETS = range(1, 5)

CLASSES = """class-map match-any VOICE
 match dscp ef
class-map match-any SIGNALING
 match dscp cs3
class-map match-any ORDERS
 match dscp af21
 match dscp af22
"""
QUEUES = """ class VOICE
  priority percent 20
 class SIGNALING
  bandwidth percent 5
 class ORDERS
  bandwidth percent 30
  queue-limit 128 packets
  random-detect dscp-based
  random-detect dscp 18 40 80 10
 class class-default
  fair-queue
"""


def tunnels() -> Files:
    """Return a hub with a policy for the group of each spoke."""
    groups = "".join(
        f"policy-map SPOKE{number}-{number}0M\n class class-default\n  shape average {number}0000000\n"
        "  service-policy QUEUES\n"
        for number in SPOKES
    )
    maps = "".join(
        f" ip nhrp map group SPOKE{number} service-policy output SPOKE{number}-{number}0M\n"
        for number in SPOKES
    )
    hub = f"""hostname HUB
{CLASSES}policy-map QUEUES
{QUEUES}{groups}interface GigabitEthernet0/0
 ip address 198.51.100.1 255.255.255.248
interface Tunnel1
 ip address 172.16.0.1 255.255.255.0
 ip mtu 1400
{maps} tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
ip route 0.0.0.0 0.0.0.0 198.51.100.2
"""
    return {"hub.cfg": hub, **{f"spoke{number}.cfg": spoke(number) for number in SPOKES}}


def spoke(number: int) -> str:
    """Return a spoke with a circuit of its own."""
    return f"""hostname SPOKE{number}
{CLASSES}policy-map QUEUES
{QUEUES}policy-map LINE-{number}0M
 class class-default
  shape average {number}0000000
  service-policy QUEUES
interface GigabitEthernet0/0
 bandwidth {number}0000
 ip address 198.51.100.{8 * number + 1} 255.255.255.248
 service-policy output LINE-{number}0M
interface Tunnel1
 ip address 172.16.0.{number + 1} 255.255.255.0
 ip mtu 1400
 ip nhrp group SPOKE{number}
 ip nhrp nhs 172.16.0.1
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
ip route 0.0.0.0 0.0.0.0 198.51.100.{8 * number + 2}
"""


def sites() -> Files:
    """Return a provider with static routes to the two subnets of each site."""
    ports = "".join(
        f"""interface GigabitEthernet0/{number}
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 duplex full
 speed 100
 service-policy output LINE
"""
        for number in SITES
    )
    routes = "".join(
        f"ip route 10.{number}.{part}.0 255.255.255.0 192.0.2.{4 * number + 2}\n"
        for number in SITES
        for part in (1, 2)
    )
    provider = f"hostname PROVIDER\n{CLASSES}policy-map LINE\n{QUEUES}{ports}{routes}"
    return {"provider.cfg": provider, **{f"site{number}.cfg": site(number) for number in SITES}}


def site(number: int) -> str:
    """Return a site with hosts, phones and a default route."""
    return f"""hostname SITE{number}
{CLASSES}class-map match-any PHONES
 match access-group name PHONES
class-map match-any CALLS
 match access-group name CALLS
class-map match-any SERVERS
 match access-group name SERVERS
policy-map LAN{number}
 class PHONES
  set dscp ef
 class CALLS
  set dscp cs3
 class SERVERS
  set dscp af21
 class class-default
  set dscp default
policy-map LINE
{QUEUES}interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
 duplex full
 speed 100
 service-policy output LINE
interface GigabitEthernet0/1.10
 encapsulation dot1Q 10
 ip address 10.{number}.1.1 255.255.255.0
 service-policy input LAN{number}
interface GigabitEthernet0/1.20
 encapsulation dot1Q 20
 ip address 10.{number}.2.1 255.255.255.0
 service-policy input LAN{number}
ip route 0.0.0.0 0.0.0.0 192.0.2.{4 * number + 1}
ip access-list extended PHONES
 permit udp 10.{number}.2.0 0.0.0.255 any range 16384 32767
ip access-list extended CALLS
 permit tcp 10.{number}.2.0 0.0.0.255 host 10.99.0.10 eq 5060
ip access-list extended SERVERS
 permit tcp 10.{number}.1.0 0.0.0.255 host 10.99.0.21 eq 1521
 permit tcp 10.{number}.1.0 0.0.0.255 host 10.99.0.21 eq 443
"""


def closets() -> Files:
    """Return a core with a trunk to each closet, whose phones have a VLAN of their own."""
    trunks = "".join(
        f"""interface TenGigabitEthernet1/0/{number}
 description CLOSET{number} Te1/1/1
 switchport mode trunk
 switchport trunk allowed vlan {10 + number},{110 + number},99
"""
        for number in CLOSETS
    )
    own = "".join(
        f"interface Vlan{vlan}\n ip address 10.20.{vlan}.1 255.255.255.0\n"
        for vlan in (99, *(base + number for base in (10, 110) for number in CLOSETS))
    )
    core = f"version 16.12\nswitch 1 provision c9300-24t\nhostname CORE\n{trunks}{own}"
    return {"core.cfg": core, **{f"closet{number}.cfg": closet(number) for number in CLOSETS}}


def closet(number: int) -> str:
    """Return a closet with four desks and a trunk."""
    desks = "".join(
        f"""interface GigabitEthernet1/0/{desk}
 description desk {desk}
 switchport access vlan {10 + number}
 switchport mode access
 switchport voice vlan {110 + number}
 spanning-tree portfast
 service-policy input DESK
"""
        for desk in range(1, 5)
    )
    return f"""version 16.12
switch 1 provision c9300-24t
hostname CLOSET{number}
class-map match-any PHONES
 match access-group name PHONES
policy-map DESK
 class PHONES
  set dscp ef
 class class-default
  set dscp default
{desks}interface TenGigabitEthernet1/1/1
 description CORE Te1/0/{number}
 switchport mode trunk
 switchport trunk allowed vlan {10 + number},{110 + number},99
interface Vlan99
 ip address 10.20.99.{number + 1} 255.255.255.0
ip access-list extended PHONES
 permit udp 10.20.{110 + number}.0 0.0.0.255 any range 16384 32767
"""


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, str]]:
    """Return the files, lines and rules of the findings between devices that are warnings."""
    for name, text in files.items():
        (folder / name).write_text(text)
    named = between_devices([folder], [folder / name for name in files]).findings
    return {
        (file.name, files[file.name].splitlines()[(one.line or 1) - 1].strip(), one.rule)
        for file, several in named.items()
        for one in several
        if one.severity != "note"
    }


NETWORKS: dict[str, Callable[[], Files]] = {"tunnels": tunnels, "sites": sites, "closets": closets}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]()) == set()


# The network, the file, the text that a fault takes out, the text in its place, the line and the rule.
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
    files = NETWORKS[network]()
    assert files[file].count(old) == 1
    files[file] = files[file].replace(old, new)
    assert (file, line, rule) in found(tmp_path, files)


# The network, and texts with those in their place by file, without a fault.
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


def costs(odd: int) -> Files:
    """Return a ring of four routers whose links have costs; one end of one link has the cost `odd`."""
    files = {}
    for router, others in {1: (2, 4), 2: (1, 3), 3: (2, 4), 4: (1, 3)}.items():
        text = f"hostname R{router}\n"
        for other in others:
            subnet = 4 * (10 * min(router, other) + max(router, other))
            host = subnet + (1 if router < other else 2)
            text += f"interface GigabitEthernet0/{other}\n ip address 192.0.2.{host} 255.255.255.252\n"
            text += f" ip ospf cost {odd if (router, other) == (2, 3) else 100}\n"
        text += f"interface GigabitEthernet0/9\n ip address 10.{router}.0.1 255.255.255.0\n"
        files[f"r{router}.cfg"] = text + "router ospf 1\n network 0.0.0.0 255.255.255.255 area 0\n"
    return files


def test_the_only_link_with_two_costs_is_a_warning(tmp_path: Path) -> None:
    assert found(tmp_path, costs(1000)) == {("r2.cfg", "ip ospf cost 1000", "network-cost-unusual")}
    assert found(tmp_path, costs(100)) == set()
