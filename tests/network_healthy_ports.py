"""Healthy networks whose ports differ for a reason that their other lines show."""

from __future__ import annotations

from network_warnings import Files


def _router(name: str, address: str) -> str:
    return f"hostname {name}\ninterface GigabitEthernet0/0\n ip address {address}\n"


def borders() -> Files:
    """Return border routers whose filters of announced routes are in a peer group."""
    return {
        f"b{number}.cfg": f"""hostname b{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
router bgp {65000 + number}
 network 10.{number}.0.0 mask 255.255.255.0
 neighbor PROVIDERS peer-group
 neighbor PROVIDERS remote-as 64500
 neighbor PROVIDERS route-map ANNOUNCED out
 neighbor 192.0.2.{4 * number + 2} peer-group PROVIDERS
 neighbor 192.0.2.{4 * number + 2} prefix-list RECEIVED in
ip prefix-list RECEIVED seq 10 permit 0.0.0.0/0 le 24
ip prefix-list OLD seq 10 permit 10.0.0.0/8
ip prefix-list OWN seq 5 permit 10.{number}.0.0/24
route-map ANNOUNCED permit 10
 match ip address prefix-list OWN
"""
        for number in (1, 2)
    }


def firewall() -> Files:
    """Return a firewall whose sub-interfaces have their tags in `vlan`, and a router."""
    return {
        "asa.cfg": """hostname asa
interface GigabitEthernet0/0
 nameif outside
 security-level 0
 ip address 192.0.2.1 255.255.255.252
interface GigabitEthernet0/1
 no nameif
 no security-level
 no ip address
interface GigabitEthernet0/1.10
 vlan 10
 nameif inside
 security-level 100
 ip address 10.0.10.1 255.255.255.0
interface GigabitEthernet0/1.20
 vlan 20
 nameif guests
 security-level 50
 ip address 10.0.20.1 255.255.255.0
""",
        "r1.cfg": _router("r1", "192.0.2.2 255.255.255.252"),
    }


def edge() -> Files:
    """Return an edge router. The port to its provider has queues only."""
    policies = """class-map match-any VOICE
 match dscp ef
policy-map LIMIT
 class class-default
  police cir 20000000
policy-map QUEUES
 class VOICE
  priority percent 20
 class class-default
  fair-queue
"""
    customer = """interface GigabitEthernet0/{0}
 description customer {0}
 ip address 198.51.100.{1} 255.255.255.252
 service-policy input LIMIT
 service-policy output QUEUES
"""
    return {
        "edge.cfg": f"hostname edge\n{policies}"
        + "".join(customer.format(number, 4 * number + 1) for number in range(1, 4))
        + "interface GigabitEthernet0/0\n description provider\n ip address 192.0.2.1 255.255.255.252\n"
        " service-policy output QUEUES\n",
        "provider.cfg": _router("provider", "192.0.2.2 255.255.255.252"),
    }


def switch() -> Files:
    """Return a switch that uses VLAN 1, with a reader of cards at 10 Mb/s."""
    desk = "interface GigabitEthernet1/0/{0}\n description desk {0}\n switchport mode access\n{1}"
    printer = """interface GigabitEthernet1/0/{0}
 description {1}
 switchport access vlan 10
 switchport mode access
 speed {2}
 duplex full
"""
    return {
        "sw.cfg": "hostname sw\nvlan 10\n"
        + "".join(desk.format(number, " switchport access vlan 10\n") for number in range(1, 4))
        + desk.format(4, " spanning-tree portfast\n")
        + "".join(printer.format(number, f"printer {number}", 100) for number in range(5, 9))
        + printer.format(9, "card reader", 10)
        + "interface Vlan1\n ip address 10.0.1.2 255.255.255.0\n"
        "interface Vlan10\n ip address 10.0.10.2 255.255.255.0\n",
        "gw.cfg": _router("gw", "10.0.10.1 255.255.255.0"),
    }


def aggregation() -> Files:
    """Return an aggregation router with sessions of subscribers, and a leaf with a VLAN of a VRF."""
    customer = (
        "interface GigabitEthernet0/0/1.{0}\n encapsulation dot1Q {0}\n ip address 10.0.{0}.1 255.255.255.0\n"
    )
    vlan = "interface Vlan{0}\n no shutdown\n vrf member RED\n ip address 10.1.{0}.1/24\n"
    return {
        "bng.cfg": "hostname bng\n"
        + "".join(customer.format(number) for number in (10, 20, 30))
        + "interface GigabitEthernet0/0/1.99\n encapsulation ambiguous dot1q 100-199\n"
        " ipsubscriber ipv4 l2-connected\n  initiator dhcp\n",
        "leaf.cfg": "hostname leaf\nfeature interface-vlan\nvrf context RED\n vni 50999\n"
        "vlan 10,20,30,999\n"
        + "".join(vlan.format(number) for number in (10, 20, 30))
        + "interface Vlan999\n no shutdown\n vrf member RED\n ip forward\n",
    }


def tunnels() -> Files:
    """Return routers with tunnels to IOS XR, to a hub with a template, and for traffic engineering."""
    return {
        "r1.cfg": """hostname r1
interface Loopback0
 ip address 10.255.0.1 255.255.255.255
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.248
interface Tunnel1
 ip unnumbered Loopback0
 tunnel source GigabitEthernet0/0
 tunnel destination 192.0.2.2
interface Tunnel2
 ip unnumbered Loopback0
 tunnel source GigabitEthernet0/0
 tunnel mode ipsec ipv4
 tunnel destination 192.0.2.3
 tunnel protection ipsec profile VPN
interface Tunnel3
 ip unnumbered Loopback0
 tunnel mode mpls traffic-eng
 tunnel destination 10.255.0.4
 tunnel mpls traffic-eng path-option 10 dynamic
crypto ipsec profile VPN
 set transform-set T
""",
        "xr.cfg": """hostname xr
interface tunnel-ip1
 ipv4 unnumbered GigabitEthernet0/0/0/0
 tunnel source GigabitEthernet0/0/0/0
 tunnel destination 192.0.2.1
!
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.2 255.255.255.248
!
""",
        "hub.cfg": """hostname hub
interface GigabitEthernet0/0
 ip address 192.0.2.3 255.255.255.248
interface Virtual-Template1 type tunnel
 ip unnumbered GigabitEthernet0/0
 tunnel mode ipsec ipv4
 tunnel protection ipsec profile VPN
crypto ipsec profile VPN
 set transform-set T
""",
        "r4.cfg": """hostname r4
interface Loopback0
 ip address 10.255.0.4 255.255.255.255
interface GigabitEthernet0/0
 ip address 192.0.2.4 255.255.255.248
""",
    }


def default_queues() -> Files:
    """Return a router without a policy whose neighbors are switches with default queues."""
    switches = {
        f"n{number}.cfg": f"""!Command: show running-config
version 9.3(5)
hostname n{number}
interface Ethernet1/1
  no switchport
  ip address 10.0.0.{4 * number + 2}/30
interface Ethernet1/2
  no switchport
  ip address 10.0.1.{number}/24
"""
        for number in (1, 2)
    }
    router = _router("r1", "10.0.0.5 255.255.255.252")
    return {
        **switches,
        "r1.cfg": f"{router}interface GigabitEthernet0/1\n ip address 10.1.0.1 255.255.255.0\n",
    }


NETWORKS: dict[str, Files] = {
    "filters of a peer group": borders(),
    "tags of a firewall": firewall(),
    "queues to a provider": edge(),
    "switch with VLAN 1": switch(),
    "interfaces without addresses": aggregation(),
    "tunnels of other kinds": tunnels(),
    "default queues of switches": default_queues(),
}
