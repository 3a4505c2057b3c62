"""Healthy networks in which one device has another design or other names than its peers."""

from __future__ import annotations

from network_warnings import Files


def _spoke(number: int, name: str, access: str) -> str:
    """Return a spoke whose list of voice has a `name`, with the lines of its `access` to a provider."""
    return f"""hostname s{number}
class-map match-any rtp
 match access-group name {name}
class-map match-any bulk
 match dscp af11
policy-map OUT
 class rtp
  priority percent 20
 class bulk
  bandwidth percent 10
interface GigabitEthernet0/0
{access}
 service-policy output OUT
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
ip access-list extended {name}
 permit udp any any range 16384 32767
"""


def lists() -> Files:
    """Return spokes with the same classes, of which one has other names of lists."""
    return {
        f"s{number}.cfg": _spoke(
            number,
            "rtp" if number == 4 else "rtp-flows",
            f" ip address 192.0.2.{4 * number + 1} 255.255.255.252",
        )
        for number in range(1, 5)
    }


def dynamic_address() -> Files:
    """Return spokes with a default route, of which one receives its address and its default route."""
    route = "ip route 0.0.0.0 0.0.0.0 192.0.2.{}\n"
    files = {
        f"s{number}.cfg": _spoke(number, "rtp", f" ip address 192.0.2.{4 * number + 1} 255.255.255.252")
        + route.format(4 * number + 2)
        for number in range(1, 5)
    }
    return {**files, "s5.cfg": _spoke(5, "rtp", " ip address dhcp")}


def virtual_port_channel() -> Files:
    """Return two switches of a vPC domain whose equal input policies have different names."""
    return {
        f"leaf{number}.cfg": f"""!Command: show running-config
version 9.3(5)
hostname leaf{number}
feature vpc
vlan 10
class-map type qos match-any VOICE
  match dscp 46
policy-map type qos {policy}
  class VOICE
    set qos-group 5
vpc domain 7
  peer-keepalive destination 192.0.2.{3 - number} source 192.0.2.{number}
interface port-channel11
  switchport mode trunk
  switchport trunk allowed vlan 10
  vpc 11
  service-policy type qos input {policy}
interface port-channel1
  switchport mode trunk
  vpc peer-link
interface mgmt0
  ip address 192.0.2.{number}/24
"""
        for number, policy in ((1, "SRV-EDGE"), (2, "SERVER-IN"))
    }


def generated_shares() -> Files:
    """Return routers with planned shares, and a switch with the shares of a generated policy."""
    plan = (("A", 20), ("B", 30), ("C", 50))
    generated = (("AutoQos-4.0-A", 10), ("AutoQos-4.0-B", 20), ("AutoQos-4.0-C", 45))

    def device(name: str, policy: str, shares: tuple[tuple[str, int], ...]) -> str:
        classes = "".join(
            f"class-map match-any {own}\n match dscp af{place + 1}1\n"
            for place, (own, _) in enumerate(shares)
        )
        inside = "".join(f" class {own}\n  bandwidth remaining percent {share}\n" for own, share in shares)
        rest = " class class-default\n  bandwidth remaining percent 5\n" if policy.startswith("Auto") else ""
        number = int(name[1:])
        return (
            f"hostname {name}\n{classes}policy-map {policy}\n{inside}{rest}interface GigabitEthernet0/0\n"
            f" ip address 192.0.2.{4 * number + 1} 255.255.255.252\n service-policy output {policy}\n"
        )

    files = {f"r{number}.cfg": device(f"r{number}", f"PLAN{number}", plan) for number in range(1, 5)}
    return {**files, "r5.cfg": device("r5", "AutoQos-4.0-Output-Policy", generated)}


def default_classes() -> Files:
    """Return branches with one policy, of which one has flow queues and an additional port in a list."""
    return {
        f"b{number}.cfg": f"""hostname b{number}
class-map match-any VOICE
 match dscp ef
class-map match-any SIGNALS
 match access-group name SIP
policy-map OUT
 class VOICE
  priority percent 20
 class SIGNALS
  bandwidth percent 5
 class class-default
  {"fair-queue" if number == 5 else "random-detect"}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 service-policy output OUT
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
ip access-list extended SIP
 permit tcp 10.{number}.0.0 0.0.0.255 any range 2000 2002
 permit tcp 10.{number}.0.0 0.0.0.255 any eq 5060
{" permit tcp 10.4.0.0 0.0.0.255 any eq 5061" if number == 4 else "!"}
"""
        for number in range(1, 6)
    }


def detection_in_family() -> Files:
    """Return a router of IOS XR and a router of Junos with BFD for IS-IS on their link."""
    return {
        "p1.cfg": """!! IOS XR Configuration 7.5.2
hostname p1
interface TenGigE0/0/0/0
 ipv4 address 10.0.0.0 255.255.255.254
!
router isis CORE
 is-type level-2-only
 net 49.0001.0000.0000.0001.00
 address-family ipv4 unicast
  metric-style wide
 !
 interface TenGigE0/0/0/0
  point-to-point
  bfd minimum-interval 100
  bfd multiplier 3
  bfd fast-detect ipv4
  address-family ipv4 unicast
  !
 !
!
""",
        "pe1.conf": """system {
    host-name pe1;
}
interfaces {
    xe-0/0/0 {
        unit 0 {
            family inet {
                address 10.0.0.1/31;
            }
            family iso;
        }
    }
    lo0 {
        unit 0 {
            family iso {
                address 49.0001.0000.0000.0002.00;
            }
        }
    }
}
protocols {
    isis {
        level 1 disable;
        level 2 wide-metrics-only;
        interface xe-0/0/0.0 {
            point-to-point;
            family inet {
                bfd-liveness-detection {
                    minimum-interval 100;
                    multiplier 3;
                }
            }
        }
        interface lo0.0 {
            passive;
        }
    }
}
""",
    }


def tracked_uplinks() -> Files:
    """Return two gateways of one group, of which the active one tracks its uplink."""
    tracks = " standby 7 track 1 decrement 20\n"
    return {
        f"gw{number}.cfg": f"""hostname gw{number}
track 1 interface GigabitEthernet0/0 line-protocol
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.7.0.{number} 255.255.255.0
 standby 7 ip 10.7.0.254
 standby 7 priority {120 - 10 * number}
 standby 7 preempt
{tracks if number == 1 else ""}"""
        for number in (1, 2)
    }


def two_clouds() -> Files:
    """Return two hubs, each with a policy for the group of both spokes, whose tunnels are in a zone."""
    policy = "policy-map SITES\n class class-default\n  shape average 9500000\n"
    hubs = {
        f"hub{cloud}.cfg": f"""hostname hub{cloud}
{policy}interface GigabitEthernet0/0
 ip address 198.51.100.{8 * cloud + 1} 255.255.255.248
interface Tunnel{cloud}
 ip address 172.16.{cloud}.1 255.255.255.0
 nhrp map group SMALL service-policy output SITES
 nhrp map group LARGE service-policy output SITES
 ip nhrp network-id {cloud}
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
ip route 0.0.0.0 0.0.0.0 198.51.100.{8 * cloud + 2}
"""
        for cloud in (1, 2)
    }
    tunnels = {
        number: "".join(
            f"""interface Tunnel{cloud}
 ip address 172.16.{cloud}.{number} 255.255.255.0
 nhrp group {group}
 ip nhrp network-id {cloud}
 ip nhrp nhs 172.16.{cloud}.1
 ip nhrp map 172.16.{cloud}.1 198.51.100.{8 * cloud + 1}
 zone-member security VPN
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
"""
            for cloud in (1, 2)
        )
        for number, group in ((2, "SMALL"), (3, "LARGE"))
    }
    spokes = {
        f"spoke{number}.cfg": f"""hostname spoke{number}
zone security VPN
interface GigabitEthernet0/0
 ip address 198.51.100.{8 * number + 25} 255.255.255.248
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
 zone-member security VPN
{text}ip route 0.0.0.0 0.0.0.0 198.51.100.{8 * number + 26}
"""
        for number, text in tunnels.items()
    }
    return {**hubs, **spokes}


NETWORKS: dict[str, Files] = {
    "other names of lists": lists(),
    "default route by DHCP": dynamic_address(),
    "equal policies in a vPC domain": virtual_port_channel(),
    "generated shares": generated_shares(),
    "default classes": default_classes(),
    "detection in a family": detection_in_family(),
    "tracked uplinks": tracked_uplinks(),
    "two clouds": two_clouds(),
}
