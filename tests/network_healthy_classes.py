"""Healthy networks in which devices treat, mark or limit classes differently on purpose."""

from __future__ import annotations

from network_warnings import Files
from site_devices import FIREWALL, MANAGED_SWITCH, clinic, core_of_classes, of_customer, second

_CLASSES = "class-map match-any VOICE\n match dscp ef\nclass-map match-any DATA\n match dscp af21\n"
_QUEUES = """policy-map QUEUES
 class VOICE
  priority percent 20
 class DATA
  bandwidth remaining percent 40
 class class-default
  fair-queue
"""


def _gateway(number: int, guests_kbps: int) -> str:
    """Return one of two gateways of a site. The second one has a slower line and limits guests more."""
    return f"""hostname gw{number}
{_CLASSES}{_QUEUES}policy-map GUESTS
 class class-default
  set dscp default
  police cir {guests_kbps}000 bc 93750 conform-action transmit exceed-action drop
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 service-policy output QUEUES
interface GigabitEthernet0/1.50
 encapsulation dot1Q 50
 ip address 10.4.50.{number + 1} 255.255.255.0
 standby 50 ip 10.4.50.1
 standby 50 priority {120 - 10 * number}
 service-policy input GUESTS
"""


def _spoke(number: int) -> str:
    return f"""hostname site{number}
interface GigabitEthernet0/0
 bandwidth {number}000
 ip address 203.0.113.{4 * number + 2} 255.255.255.252
interface Tunnel0
 bandwidth {number}000
 ip address 172.16.0.{number} 255.255.255.0
 ip nhrp network-id 1
 ip nhrp nhs 172.16.0.1
 ip nhrp map 172.16.0.1 198.51.100.2
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
ip route 0.0.0.0 0.0.0.0 203.0.113.{4 * number + 1}
"""


HUB_OF_TUNNELS = """hostname hub
interface GigabitEthernet0/0
 bandwidth 100000
 ip address 198.51.100.2 255.255.255.252
interface Tunnel0
 bandwidth 100000
 ip address 172.16.0.1 255.255.255.0
 ip nhrp network-id 1
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface Tunnel9
 bandwidth 4000
 ip address 172.16.9.1 255.255.255.252
 tunnel source GigabitEthernet0/0
 tunnel destination 203.0.113.38
ip route 0.0.0.0 0.0.0.0 198.51.100.1
"""
SITE_WITH_ONE_TUNNEL = """hostname site9
interface GigabitEthernet0/0
 bandwidth 4000
 ip address 203.0.113.38 255.255.255.252
interface Tunnel9
 bandwidth 4000
 ip address 172.16.9.2 255.255.255.252
 tunnel source GigabitEthernet0/0
 tunnel destination 198.51.100.2
ip route 0.0.0.0 0.0.0.0 203.0.113.37
"""


def _access(site: int) -> str:
    """Return a switch whose lists name the subnets of its own site, which another device routes."""
    return f"""hostname acc{site}
class-map match-any VOICE
 match access-group name VOICE
class-map match-any VIDEO
 match access-group name VIDEO
policy-map EDGE
 class VOICE
  set dscp ef
 class VIDEO
  set dscp af41
 class class-default
  set dscp default
interface GigabitEthernet1/0/1
 switchport access vlan 20
 service-policy input EDGE
interface GigabitEthernet1/0/2
 no switchport
 ip address 10.254.{site}.1 255.255.255.252
ip access-list extended VOICE
 permit udp 10.{site}.20.0 0.0.0.255 any range 16384 32767
 permit udp 10.{site}.30.0 0.0.0.255 any range 16384 32767
ip access-list extended VIDEO
 permit udp 10.{site}.30.0 0.0.0.255 any range 2326 2485
"""


def without_video(text: str) -> str:
    """Return a switch without the class and the list for video."""
    text = text.replace("class-map match-any VIDEO\n match access-group name VIDEO\n", "")
    text = text.replace(" class VIDEO\n  set dscp af41\n", "")
    return text[: text.index("ip access-list extended VIDEO")]


def _provider_edge(number: int) -> str:
    """Return a router of a provider whose core has a class for the provider's own packets."""
    return f"""hostname pe{number}
{_CLASSES}class-map match-any CONTROL
 match dscp cs6
class-map match-any CORE-VOICE
 match mpls experimental topmost 5
class-map match-any CORE-CONTROL
 match mpls experimental topmost 6 7
 match dscp cs6 cs7
policy-map CORE
 class CORE-VOICE
  priority percent 30
 class CORE-CONTROL
  bandwidth remaining percent 5
 class class-default
  bandwidth remaining percent 95
policy-map CUSTOMER-IN
 class VOICE
  set mpls experimental imposition 5
 class CONTROL
  set mpls experimental imposition 6
 class class-default
  set mpls experimental imposition 0
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.252
 mpls ip
 service-policy output CORE
interface GigabitEthernet0/1
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 service-policy input CUSTOMER-IN
"""


def _customer(number: int) -> str:
    return f"""hostname ce{number}
{_CLASSES}class-map match-any CONTROL
 match dscp cs6
policy-map LINE
 class VOICE
  priority percent 20
 class CONTROL
  bandwidth remaining percent 5
 class class-default
  bandwidth remaining percent 95
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
 service-policy output LINE
interface GigabitEthernet0/1
 ip address 10.{number}.1.1 255.255.255.0
"""


def _branch(number: int, policy: str = " service-policy input MARK\n") -> str:
    return f"""hostname branch{number}
class-map match-any PHONES
 match access-group name PHONES
policy-map MARK
 class PHONES
  set dscp ef
 class class-default
  set dscp default
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.1.1 255.255.255.0
{policy}ip access-list extended PHONES
 permit udp any any range 16384 32767
"""


SWITCH_WITH_MARKS_AT_PORTS = """hostname agg
class-map match-any PHONES
 match access-group name PHONES
policy-map UNI
 class PHONES
  set dscp ef
interface GigabitEthernet0/1
 switchport access vlan 800
 service-policy input UNI
interface Vlan800
 ip address 10.80.0.1 255.255.255.0
ip access-list extended PHONES
 permit udp any any range 16384 32767
"""


def _carrier(number: int, labels: str) -> str:
    """Return a router of a carrier, with blocks that the other carriers also have."""
    return f"""hostname pe{number}
{labels}{_CLASSES}{_QUEUES}policy-map SHAPED
 class class-default
  shape average 10000000
  service-policy QUEUES
ip prefix-list ALL seq 5 permit 10.0.0.0/8
interface GigabitEthernet0/1
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 service-policy output SHAPED
interface GigabitEthernet0/2
 ip address 10.0.{number}.1 255.255.255.0
{" mpls ip" if labels else " no ip proxy-arp"}
"""


LABELS = "mpls label protocol ldp\n"


def with_scavenger(number: int, lower: str = "class-map match-any SCAVENGER\n match dscp cs1\n") -> str:
    """Return one of several routers on one subnet, whose policy has a class of lower effort."""
    own = " class SCAVENGER\n  bandwidth remaining percent 2\n" if lower else ""
    return f"""hostname r{number}
{_CLASSES}{lower}policy-map {"LINE" if lower else "SUBSCRIBER"}
 class VOICE
  priority percent 20
{own} class class-default
  bandwidth remaining percent 58
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
 service-policy output {"LINE" if lower else "SUBSCRIBER"}
"""


def border(upstream: str) -> str:
    """Return the border router of a campus: two fast ports to its cores, and slower lines to providers."""
    return f"""hostname border
{_CLASSES}{_QUEUES}policy-map SHAPED
 class class-default
  shape average 490000000
  service-policy QUEUES
interface Loopback0
 ip address 10.255.0.9 255.255.255.255
interface TenGigabitEthernet0/0/0
 ip address 10.254.1.1 255.255.255.252
interface TenGigabitEthernet0/0/1
 ip address 10.254.2.1 255.255.255.252
interface {upstream}
 ip address 203.0.113.2 255.255.255.252
 ip nat outside
 service-policy output SHAPED
ip route 0.0.0.0 0.0.0.0 203.0.113.1
"""


def _campus(number: int) -> str:
    return f"""hostname core{number}
{_CLASSES}{_QUEUES}interface TenGigabitEthernet0/0/0
 ip address 10.254.{number}.2 255.255.255.252
 service-policy output QUEUES
interface TenGigabitEthernet0/0/1
 ip address 10.254.9.{number} 255.255.255.252
 service-policy output QUEUES
"""


NETWORKS: dict[str, Files] = {
    "limits of guests at two gateways": {"gw1.cfg": _gateway(1, 3000), "gw2.cfg": _gateway(2, 1000)},
    "tunnels of a hub with the rates of sites": {
        "hub.cfg": HUB_OF_TUNNELS,
        "site9.cfg": SITE_WITH_ONE_TUNNEL,
    }
    | {f"site{number}.cfg": _spoke(number) for number in (2, 3, 4)},
    "lists of two sites": {f"acc{site}.cfg": _access(site) for site in (1, 2)}
    | {f"acc{site}.cfg": without_video(_access(site)) for site in (3, 4)},
    "class for the packets of the core": {
        f"{kind}{number}.cfg": text(number)
        for kind, text in (("pe", _provider_edge), ("ce", _customer))
        for number in (1, 2)
    },
    "marks at the ports of a VLAN": {f"branch{number}.cfg": _branch(number) for number in range(1, 6)}
    | {"agg.cfg": SWITCH_WITH_MARKS_AT_PORTS},
    "marks by a filter": {f"branch{number}.cfg": _branch(number) for number in range(1, 6)}
    | {"fw.conf": FIREWALL},
    "class that a site does not need": {f"p{number}.conf": core_of_classes(number) for number in (1, 2, 3)}
    | {"fw.conf": FIREWALL},
    "servers of two customers": {
        f"ce{number}.cfg": of_customer(number, "GigabitEthernet0/0/1", "172.28.11.5") for number in (1, 2, 3)
    }
    | {
        "ce4.cfg": of_customer(4, "GigabitEthernet0/0/1", "192.168.71.5"),
        "ce5.cfg": of_customer(5, "GigabitEthernet0/2", "192.168.71.5") + " ip tcp adjust-mss 1360\n",
    },
    "management of a switch": {f"clinic{number}.cfg": clinic(number) for number in range(1, 6)}
    | {f"second{number}.cfg": second(number) for number in range(1, 5)}
    | {"access.cfg": MANAGED_SWITCH},
    "carrier without labels": {
        "pe1.cfg": _carrier(1, LABELS),
        "pe2.cfg": _carrier(2, LABELS),
        "pe3.cfg": _carrier(3, ""),
    },
    "policy without lower effort": {f"r{number}.cfg": with_scavenger(number) for number in (1, 2, 3, 5)}
    | {"r4.cfg": with_scavenger(4, "")},
    "fast ports of a border": {"border.cfg": border("GigabitEthernet0/0/2")}
    | {f"core{number}.cfg": _campus(number) for number in (1, 2)},
}
