"""Healthy networks with optional features, next to which a line looks like a fault."""

from __future__ import annotations

from network_warnings import Files

BFD = " bfd interval 300 min_rx 300 multiplier 3\n"


def gateways() -> Files:
    """Return two gateways whose groups use BFD by default, and a group that follows another group."""
    return {
        f"gw{number}.cfg": f"""hostname gw{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
{BFD} ip ospf bfd
 ip ospf 1 area 0
interface GigabitEthernet0/1
 ip address 10.0.10.{number + 1} 255.255.255.0
{BFD} standby version 2
 standby 10 ip 10.0.10.1
 standby 10 name MAIN
 standby 10 track 1 decrement 20
interface GigabitEthernet0/2
 ip address 10.0.20.{number + 1} 255.255.255.0
 standby version 2
 standby 20 ip 10.0.20.1
 standby 20 track 1 decrement 20
interface GigabitEthernet0/3
 ip address 10.0.30.{number + 1} 255.255.255.0
 standby version 2
 standby 30 follow MAIN
 standby 30 ip 10.0.30.1
interface GigabitEthernet0/5
 description management, without an uplink
 ip address 10.0.50.{number + 1} 255.255.255.0
 standby version 2
 standby 50 ip 10.0.50.1
 standby 50 priority {120 - 10 * number}
interface GigabitEthernet0/4
 shutdown
 standby 40 priority 110
router ospf 1
 router-id 192.0.2.{number}
track 1 interface GigabitEthernet0/0 line-protocol
"""
        for number in (1, 2)
    }


def branches() -> Files:
    """Return two branches with the same VLAN and group, whose gateways have different versions of HSRP."""
    return {
        f"branch{number}.cfg": f"""hostname branch{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
interface Vlan10
 ip address 10.{number}.10.2 255.255.255.0
{" standby version 2" if number == 2 else " no ip redirects"}
 standby 10 ip 10.{number}.10.1
"""
        for number in (1, 2)
    }


def _vpn(name: str, number: int, targets: str) -> str:
    return f"""hostname {name}
{targets}interface Loopback0
 ip address 10.255.0.{number} 255.255.255.255
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
 mpls ip
router ospf 1
 network 10.0.0.0 0.255.255.255 area 0
"""


def one_way_targets() -> Files:
    """Return a hub with a VRF for each direction, and two spokes."""
    hub = """vrf definition HUB-IN
 rd 65000:1
 address-family ipv4
  route-target import 65000:200
 exit-address-family
vrf definition HUB-OUT
 rd 65000:2
 address-family ipv4
  route-target export 65000:100
 exit-address-family
"""
    spoke = """vrf definition SPOKE
 rd 65000:3{0}
 address-family ipv4
  route-target export 65000:200
  route-target import 65000:100
 exit-address-family
"""
    spokes = {f"pe{number}.cfg": _vpn(f"pe{number}", number, spoke.format(number)) for number in (2, 3)}
    return {"pe1.cfg": _vpn("pe1", 1, hub)} | spokes


def prefix_lists() -> Files:
    """Return routers whose lists deny the router's own subnet, and deny other routes at their ends."""
    return {
        f"r{number}.cfg": f"""hostname r{number}
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
router bgp {65000 + number}
 network 10.{number}.0.0 mask 255.255.255.0
"""
        + "".join(
            f" neighbor 10.0.0.{other} remote-as {65000 + other}\n"
            f" neighbor 10.0.0.{other} prefix-list OTHERS in\n"
            for other in range(1, 4)
            if other != number
        )
        + "".join(
            f"ip prefix-list OTHERS seq {other}0 "
            f"{'deny' if other == number else 'permit'} 10.{other}.0.0/24\n"
            for other in range(1, 4)
        )
        + "ip prefix-list OTHERS seq 100 deny 192.168.0.0/16 le 32\n"
        for number in range(1, 4)
    }


def encrypted() -> Files:
    """Return routers with a keyring for remote users, and tunnels with other kinds of authentication."""
    tunnels = """crypto isakmp policy 10
 authentication pre-share
crypto isakmp key example address 203.0.113.{far}
crypto ikev2 keyring USERS
 peer office
  address 198.51.100.7
  pre-shared-key example
crypto ikev2 profile CERTIFICATES
 match identity remote address 203.0.113.{far} 255.255.255.255
 authentication remote ecdsa-sig
 authentication local ecdsa-sig
 pki trustpoint CA
crypto ipsec transform-set T esp-aes 256 esp-sha256-hmac
crypto ipsec profile OLD
 set transform-set T
crypto ipsec profile NEW
 set transform-set T
 set ikev2-profile CERTIFICATES
interface GigabitEthernet0/0
 ip address 203.0.113.{own} 255.255.255.0
interface Tunnel1
 ip address 172.16.1.{own} 255.255.255.252
 tunnel source GigabitEthernet0/0
 tunnel destination 203.0.113.{far}
 tunnel protection ipsec profile OLD
interface Tunnel2
 ip address 172.16.2.{own} 255.255.255.252
 tunnel source GigabitEthernet0/0
 tunnel mode ipsec ipv4
 tunnel destination 203.0.113.{far}
 tunnel protection ipsec profile NEW
"""
    return {f"t{own}.cfg": f"hostname t{own}\n" + tunnels.format(own=own, far=3 - own) for own in (1, 2)}


def dynamic_neighbors() -> Files:
    """Return a core of IOS XR with neighbors in a subnet, and routers with numbers in other forms."""
    leaf = """hostname leaf{0}
interface GigabitEthernet0/0
 ip address 10.0.{0}.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{0}.0.1 255.255.255.0
router bgp 65001
 bgp log-neighbor-changes
 network 10.{0}.0.0 mask 255.255.255.0
 neighbor 10.0.{0}.1 remote-as 1.10
"""
    return {
        "core.cfg": """hostname core
interface GigabitEthernet0/0/0/1
 ipv4 address 10.0.1.1 255.255.255.252
!
interface GigabitEthernet0/0/0/2
 ipv4 address 10.0.2.1 255.255.255.252
!
route-policy PASS
  pass
end-policy
!
router bgp 65546
 address-family ipv4 unicast
 !
 neighbor 10.0.1.2
  remote-as 65001
  address-family ipv4 unicast
   route-policy PASS in
   route-policy PASS out
  !
 !
 neighbor 10.0.2.0/30
  remote-as 65001
  address-family ipv4 unicast
   route-policy PASS in
   route-policy PASS out
  !
 !
!
""",
        "leaf1.cfg": leaf.format(1),
        "leaf2.cfg": leaf.format(2),
    }


def confederation() -> Files:
    """Return a router of Junos inside a confederation, and an external router of IOS XR."""
    return {
        "mx.conf": """system {
    host-name mx;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.1/30;
            }
        }
    }
}
routing-options {
    autonomous-system 65010;
    confederation 64500 members [ 65010 65020 ];
}
protocols {
    bgp {
        group PEER {
            type external;
            peer-as 64510;
            neighbor 192.0.2.2;
        }
    }
}
""",
        "peer.cfg": """hostname peer
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.2 255.255.255.252
!
router bgp 64510
 neighbor 192.0.2.1
  remote-as 64500
  address-family ipv4 unicast
  !
 !
!
""",
    }


def _isis(number: int, processes: str) -> str:
    far = 3 - number
    return f"""hostname p{number}
group P2P
 router isis '.*'
  interface 'TenGigE.*'
   point-to-point
  !
 !
end-group
interface Loopback0
 ipv4 address 10.255.0.{number} 255.255.255.255
!
interface TenGigE0/0/0/0
 description to p{far}
 ipv4 address 10.0.0.{number} 255.255.255.252
!
interface TenGigE0/0/0/1
 description to p{far}
 ipv4 address 10.0.1.{number} 255.255.255.252
!
{processes}"""


def _process(name: str, number: int, port: str, lines: str) -> str:
    return f"""router isis {name}
 is-type level-2-only
 net 49.0001.0000.0000.000{number}.00
 address-family ipv4 unicast
  metric-style wide
 !
 interface Loopback0
  passive
  address-family ipv4 unicast
  !
 !
 interface {port}
{lines}  address-family ipv4 unicast
  !
 !
!
"""


def isis() -> Files:
    """Return routers of IOS XR with two processes, one of which inherits lines of a group."""
    lines = "  point-to-point\n"
    first = _process("CORE", 1, "TenGigE0/0/0/0", lines) + _process("EDGE", 1, "TenGigE0/0/0/1", lines)
    inherits = _process("CORE", 2, "TenGigE0/0/0/0", "").replace(" is-type", " apply-group P2P\n is-type")
    second = inherits + _process("EDGE", 2, "TenGigE0/0/0/1", lines)
    return {"p1.cfg": _isis(1, first), "p2.cfg": _isis(2, second)}


def spokes() -> Files:
    """Return a hub without a limit of segments, and spokes that receive its inner address at run time."""
    files = {
        f"spoke{number}.cfg": f"""hostname spoke{number}
interface GigabitEthernet0/0
 ip address 203.0.113.{number} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
interface Tunnel1
 ip address 172.16.0.{number} 255.255.255.0
 no ip redirects
 ip mtu 1400
 ip nhrp network-id 1
 ip nhrp nhs dynamic nbma 203.0.113.1 multicast
 ip tcp adjust-mss 1360
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
"""
        for number in range(11, 15)
    }
    files["hub.cfg"] = """hostname hub
interface GigabitEthernet0/0
 ip address 203.0.113.1 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
interface Tunnel1
 ip address 172.16.0.1 255.255.255.0
 no ip redirects
 ip mtu 1400
 ip nhrp network-id 1
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
"""
    return files


def fabric() -> Files:
    """Return two switches of a fabric with the same gateway in a VLAN."""
    return {
        f"leaf{number}.cfg": f"""hostname leaf{number}
feature interface-vlan
feature fabric forwarding
fabric forwarding anycast-gateway-mac 0000.2222.3333
vlan 10
interface Vlan10
 no shutdown
 ip address 10.1.10.1/24
 fabric forwarding mode anycast-gateway
interface Ethernet1/1
 no switchport
 ip address 192.0.2.{number}/30
 no shutdown
"""
        for number in (1, 2)
    }


def groups_of_two_words() -> Files:
    """Return two switches of EOS whose neighbor has the number of its group."""
    return {
        f"leaf{number}.cfg": f"""hostname leaf{number}
interface Ethernet1
   no switchport
   ip address 192.0.2.{number}/30
ip routing
router bgp 6500{number}
   neighbor FABRIC peer group
   neighbor FABRIC remote-as 6500{3 - number}
   neighbor 192.0.2.{3 - number} peer group FABRIC
"""
        for number in (1, 2)
    }


def shapers() -> Files:
    """Return two routers of IOS XR whose rates have units."""
    return {
        f"x{number}.cfg": f"""hostname x{number}
policy-map CUSTOMER-50M
 class class-default
  shape average 50 mbps
 !
 end-policy-map
!
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.{number} 255.255.255.252
!
interface GigabitEthernet0/0/0/1
 service-policy output CUSTOMER-50M
 ipv4 address 10.{number}.0.1 255.255.255.0
!
"""
        for number in (1, 2)
    }


NETWORKS: dict[str, Files] = {
    "gateways with BFD and a follower": gateways(),
    "branches with one VLAN": branches(),
    "VRFs for one direction": one_way_targets(),
    "lists that deny own subnets": prefix_lists(),
    "tunnels without a keyring": encrypted(),
    "neighbors in a subnet": dynamic_neighbors(),
    "confederation": confederation(),
    "processes of IS-IS with groups": isis(),
    "spokes without the address of a hub": spokes(),
    "gateway of a fabric": fabric(),
    "groups of two words": groups_of_two_words(),
    "rates with units": shapers(),
}
