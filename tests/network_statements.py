"""Small healthy networks for rules about single statements, as files."""

from __future__ import annotations

from statements_borders import BORDER, LISTS, border, customers, dialer, serial
from statements_junos import EDGE_OF_JUNOS, EDGE_OF_XR, edge, firewall

Files = dict[str, str]


def _eigrp(number: int) -> str:
    return f"""hostname r{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
router eigrp NET
 address-family ipv4 unicast autonomous-system 7
  af-interface GigabitEthernet0/0
   hello-interval 10
   hold-time 30
  exit-af-interface
  network 192.0.2.0 0.0.0.3
"""


def _switch(number: int) -> str:
    return f"""hostname sw{number}
interface GigabitEthernet1/0/1
 description to sw{3 - number} GigabitEthernet1/0/1
 channel-group 5 mode active
interface GigabitEthernet1/0/2
 description to sw{3 - number} GigabitEthernet1/0/2
 channel-group 5 mode active
interface GigabitEthernet1/0/3
 description to sw{3 - number} GigabitEthernet1/0/3
 negotiation auto
interface Vlan7
 ip address 192.0.2.{number} 255.255.255.0
ip route 0.0.0.0 0.0.0.0 192.0.2.254
"""


def _core(number: int) -> str:
    """Return one of two edge routers of IOS XR behind a router that passes on their routes."""
    return f"""hostname x{number}
interface Loopback0
 ipv4 address 10.0.0.{number} 255.255.255.255
!
interface TenGigE0/0/0/0
 ipv4 address 10.9.{number}.1 255.255.255.252
!
router isis CORE
 net 49.0001.0000.0000.000{number}.00
 interface TenGigE0/0/0/0
  point-to-point
  hello-password hmac-md5 encrypted 02050D480809
 !
!
mpls ldp
 interface TenGigE0/0/0/0
 !
!
router bgp 65000
 neighbor 10.0.0.3
  remote-as 65000
  update-source Loopback0
  address-family vpnv4 unicast
  !
 !
!
"""


CORE = """hostname x3
interface Loopback0
 ipv4 address 10.0.0.3 255.255.255.255
!
interface TenGigE0/0/0/1
 ipv4 address 10.9.1.2 255.255.255.252
!
interface TenGigE0/0/0/2
 ipv4 address 10.9.2.2 255.255.255.252
!
router isis CORE
 net 49.0001.0000.0000.0003.00
 interface TenGigE0/0/0/1
  point-to-point
  hello-password hmac-md5 encrypted 070C285F4D06
 !
 interface TenGigE0/0/0/2
  point-to-point
  hello-password hmac-md5 encrypted 070C285F4D06
 !
!
mpls ldp
 interface TenGigE0/0/0/1
 !
 interface TenGigE0/0/0/2
 !
!
router bgp 65000
 neighbor-group EDGES
  remote-as 65000
  update-source Loopback0
  address-family vpnv4 unicast
   route-reflector-client
  !
 !
 neighbor 10.0.0.1
  use neighbor-group EDGES
 !
 neighbor 10.0.0.2
  use neighbor-group EDGES
 !
!
"""


def _site(number: int) -> str:
    return f"""hostname s{number}
class-map match-any CM-EF
 match dscp ef
class-map match-any CM-AF3
 match dscp af31
policy-map PHONE-IN
 class CM-EF
  police cir 256000 bc 8000
policy-map TO-WAN
 class CM-EF
  priority percent 20
 class class-default
  fair-queue
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
 service-policy output TO-WAN
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
 service-policy input PHONE-IN
"""


CARRIER = """hostname carrier
class-map match-any LABEL5
 match mpls experimental topmost 5
class-map match-any CUSTOMER-EF
 match dscp ef
policy-map TO-CORE
 class LABEL5
  priority percent 20
 class class-default
  fair-queue
policy-map TO-CUSTOMER
 class CUSTOMER-EF
  priority percent 20
 class class-default
  fair-queue
vrf definition RED
 rd 65000:1
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.252
 mpls ip
 service-policy output TO-CORE
interface GigabitEthernet0/1
 vrf forwarding RED
 ip address 192.0.2.5 255.255.255.252
 service-policy output TO-CUSTOMER
"""
CUSTOMER = """hostname customer
interface GigabitEthernet0/0
 ip address 192.0.2.6 255.255.255.252
"""
FILTERED = """hostname f1
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.1 255.255.255.252
!
prefix-set SITE
  10.1.0.0/16 le 24
end-set
!
route-policy IN
  if destination in SITE then
    pass
  else
    drop
  endif
end-policy
!
router bgp 65000
 neighbor 192.0.2.2
  remote-as 65001
  address-family ipv4 unicast
   route-policy IN in
  !
 !
!
"""
ANNOUNCED = """hostname f2
interface GigabitEthernet0/0
 ip address 192.0.2.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.1.1.1 255.255.255.0
router bgp 65001
 neighbor 192.0.2.1 remote-as 65000
 network 10.1.1.0 mask 255.255.255.0
"""


def _hub(number: int) -> str:
    groups = "".join(
        f" ip nhrp map group SITES-{rate}M service-policy output SPOKE-{rate}M\n" for rate in (10, 50)
    )
    policies = "".join(
        f"policy-map SPOKE-{rate}M\n class class-default\n  shape average {rate}000000\n" for rate in (10, 50)
    )
    return f"""hostname hub{number}
{policies}interface Tunnel{number}
 ip address 10.9.{number}.1 255.255.255.0
{groups} tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface GigabitEthernet0/0
 ip address 198.51.100.{number} 255.255.255.0
"""


def _shop(number: int, classes: str) -> str:
    return f"""hostname shop{number}
class-map match-any SPEECH
 match dscp ef
class-map match-any TILLS
 match dscp af31
class-map match-any MAIL
 match dscp af21
policy-map LINE
 class SPEECH
  priority percent 20
{classes}interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
 service-policy output LINE
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
"""


def _shares(**shares: int) -> str:
    return "".join(
        f" class {name}\n  bandwidth remaining percent {share}\n" for name, share in shares.items()
    )


USUAL = _shares(TILLS=40, MAIL=20) + " class class-default\n  bandwidth remaining percent 40\n"
# A shop without the class of tills: the other classes have its share.
WITHOUT_TILLS = _shares(MAIL=35) + " class class-default\n  bandwidth remaining percent 65\n"

OSPF = """router ospf 1
 network 10.0.0.0 0.255.255.255 area 0
"""


def _ospf(number: int, name: str) -> str:
    return f"""hostname {name}
interface GigabitEthernet0/0
 ip address 10.0.{number}.1 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.0.{number + 1}.2 255.255.255.252
{OSPF}"""


NEXUS = """hostname nexus
feature ospf
interface Ethernet1/1
  no switchport
  ip address 10.0.3.1/30
  ip router ospf 1 area 0.0.0.0
router ospf 1
"""
SWITCH = """hostname access
mls qos
mls qos srr-queue output cos-map queue 1 threshold 3 5
mls qos srr-queue output cos-map queue 3 threshold 3 2
mls qos srr-queue output dscp-map queue 1 threshold 3 46
mls qos srr-queue output dscp-map queue 2 threshold 3 16
mls qos srr-queue output dscp-map queue 3 threshold 3 18 20 22
interface GigabitEthernet0/1
 switchport mode access
 mls qos trust dscp
"""
EDGE_OF_VPN = """hostname pe
vrf definition RED
 rd 65000:1
interface Loopback0
 ip address 10.255.0.1 255.255.255.255
 ip ospf 1 area 0
interface GigabitEthernet0/1
 vrf forwarding RED
 ip address 192.0.2.1 255.255.255.252
router ospf 1
 router-id 10.255.0.1
router bgp 65000
 neighbor 10.255.0.9 remote-as 65000
 neighbor 10.255.0.9 update-source Loopback0
 address-family ipv4 vrf RED
  redistribute connected
  neighbor 192.0.2.2 remote-as 65001
  neighbor 192.0.2.2 activate
"""
EDGE_OF_CUSTOMER = """hostname ce
interface GigabitEthernet0/0
 ip address 192.0.2.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
 ip ospf 1 area 0
router ospf 1
 redistribute bgp 65001 subnets
router bgp 65001
 neighbor 192.0.2.1 remote-as 65000
 network 10.1.0.0 mask 255.255.255.0
"""


# A network may have notes, but no warnings.
NETWORKS: dict[str, Files] = {
    "EIGRP": {f"r{number}.cfg": _eigrp(number) for number in (1, 2)},
    "switches": {f"sw{number}.cfg": _switch(number) for number in (1, 2)},
    "Junos": {"fw.conf": firewall(), "pe.conf": edge()},
    "XR": {"x1.cfg": _core(1), "x2.cfg": _core(2), "x3.cfg": CORE},
    "customers": {
        "edge.cfg": customers(),
        "core.cfg": "hostname core\ninterface GigabitEthernet0/0\n ip address 192.0.2.254 255.255.255.252\n",
    },
    "sites": {f"s{number}.cfg": _site(number) for number in (1, 2)},
    "carrier": {"carrier.cfg": CARRIER, "customer.cfg": CUSTOMER},
    "filter": {"f1.cfg": FILTERED, "f2.cfg": ANNOUNCED},
    "shop without tills": {
        **{f"shop{number}.cfg": _shop(number, USUAL) for number in (1, 2)},
        "shop3.cfg": _shop(3, WITHOUT_TILLS),
    },
    "OSPF of NX-OS": {
        "a.cfg": _ospf(1, "a"),
        "b.cfg": _ospf(2, "b"),
        "c.cfg": _ospf(0, "c"),
        "nexus.cfg": NEXUS,
    },
    "queues of one switch": {"access.cfg": SWITCH, "customer.cfg": CUSTOMER},
    "VPN": {"pe.cfg": EDGE_OF_VPN, "ce.cfg": EDGE_OF_CUSTOMER},
    "VPN of two makers": {"xr.cfg": EDGE_OF_XR, "mx.conf": EDGE_OF_JUNOS},
    "prefix lists": {"edge.cfg": LISTS, "customer.cfg": CUSTOMER.replace("192.0.2.6", "192.0.2.2")},
    "dialers": {f"d{number}.cfg": dialer(number) for number in (1, 2)},
    "PPP": {f"t{number}.cfg": serial(number) for number in (1, 2)},
    "border": {"b1.cfg": border(1, BORDER), "b2.cfg": border(2, "")},
    "hubs": {f"hub{number}.cfg": _hub(number) for number in (1, 2)},
}
