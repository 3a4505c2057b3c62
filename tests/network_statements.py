"""Small healthy networks for rules about single statements, as files."""

from __future__ import annotations

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


def _firewall() -> str:
    return """system {
    host-name fw;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.2/30;
            }
        }
    }
    ge-0/0/1 {
        unit 5 {
            family inet {
                address 10.5.0.1/24;
            }
        }
    }
    ge-0/0/2 {
        unit 0 {
            family inet {
                address 10.6.0.1/24;
            }
        }
    }
}
routing-options {
    autonomous-system 65002;
}
protocols {
    bgp {
        group OUT {
            type external;
            neighbor 192.0.2.1 {
                peer-as 65001;
                bfd-liveness-detection {
                    minimum-interval 300;
                }
            }
        }
    }
}
security {
    zones {
        security-zone out {
            interfaces {
                ge-0/0/0.0;
            }
        }
        security-zone in {
            interfaces {
                ge-0/0/1.5;
                ge-0/0/2.0;
            }
        }
    }
}
class-of-service {
    classifiers {
        dscp READ {
            forwarding-class SPEECH {
                loss-priority low code-points ef;
            }
            forwarding-class ORDERS {
                loss-priority low code-points af31;
            }
            forwarding-class REST {
                loss-priority low code-points be;
            }
        }
    }
    interfaces {
        ge-0/0/0 {
            unit 0 {
                classifiers {
                    dscp READ;
                }
            }
        }
        ge-0/0/1 {
            unit 5 {
                classifiers {
                    dscp READ;
                }
            }
        }
        ge-0/0/2 {
            unit 0 {
                classifiers {
                    dscp READ;
                }
            }
        }
    }
    rewrite-rules {
        dscp WRITE {
            forwarding-class SPEECH {
                loss-priority low code-point ef;
            }
            forwarding-class ORDERS {
                loss-priority low code-point af31;
            }
            forwarding-class REST {
                loss-priority low code-point be;
            }
        }
    }
}
"""


def _edge() -> str:
    return """system {
    host-name pe;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.1/30;
            }
        }
    }
    lo0 {
        unit 0 {
            family inet {
                filter {
                    input ENGINE;
                }
                address 10.0.0.1/32;
            }
        }
    }
}
routing-options {
    autonomous-system 65001;
}
protocols {
    bgp {
        group CUSTOMERS {
            type external;
            neighbor 192.0.2.2 {
                peer-as 65002;
                bfd-liveness-detection {
                    minimum-interval 300;
                }
            }
        }
    }
}
policy-options {
    prefix-list PEERS {
        192.0.2.0/24;
    }
}
firewall {
    family inet {
        filter ENGINE {
            term BGP {
                from {
                    source-prefix-list {
                        PEERS;
                    }
                    protocol tcp;
                    port bgp;
                }
                then accept;
            }
            term REST {
                then discard;
            }
        }
        filter SITE-A {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
        filter SITE-B {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
        filter SITE-C {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
        filter SITE-D {
            term SPEECH {
                from {
                    dscp ef;
                }
                then accept;
            }
        }
    }
}
class-of-service {
    traffic-control-profiles {
        LINE-20M {
            shaping-rate 19m;
        }
    }
}
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
# A shop without tills, whose share the other classes have.
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


def _customers() -> str:
    """Write a provider edge whose customers have equal policies, except for their rates."""
    lines = [
        "hostname edge",
        "class-map match-any VOICE",
        " match dscp ef",
        "policy-map INNER",
        " class VOICE",
        "  priority percent 10",
        " class class-default",
        "  fair-queue",
    ]
    for number, name in enumerate("ABC", start=1):
        lines += [
            f"policy-map {name}-OUT",
            " class class-default",
            f"  shape average {number}0000000",
            "  service-policy INNER",
            f"policy-map {name}-IN",
            " class class-default",
            f"  police cir {number}0000000 bc {number}00000 conform-action transmit exceed-action drop",
            f"interface GigabitEthernet0/{number}",
            f" ip address 192.0.2.{4 * number + 1} 255.255.255.252",
            f" service-policy input {name}-IN",
            f" service-policy output {name}-OUT",
        ]
    return "\n".join([*lines, ""])


def _border(number: int, protocols: str) -> str:
    return f"""hostname b{number}
interface GigabitEthernet0/0
 ip address 10.60.0.{number} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.6{number}.0.1 255.255.255.0
router ospf 1
 passive-interface default
 no passive-interface GigabitEthernet0/0
 network 10.0.0.0 0.255.255.255 area 0
{protocols}"""


BORDER = """ default-information originate always
router bgp 65030
 neighbor 192.0.2.9 remote-as 65040
 neighbor 192.0.2.9 prefix-list OWN out
 network 198.51.100.0
 network 203.0.113.0
ip route 198.51.100.0 255.255.255.0 Null0
ip route 203.0.113.0 255.255.255.0 Null0
ip prefix-list OWN seq 5 permit 198.51.100.0/24
ip prefix-list OWN seq 10 permit 203.0.113.0/24
interface GigabitEthernet0/2
 ip address 192.0.2.10 255.255.255.252
"""
LISTS = """hostname edge
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.30.0.1 255.255.255.0
router bgp 65010
 neighbor 192.0.2.2 remote-as 65020
 neighbor 192.0.2.2 prefix-list WANTED in
 neighbor 192.0.2.2 prefix-list NOTHING out
ip prefix-list WANTED seq 5 deny 10.0.0.0/8 le 32
ip prefix-list WANTED seq 10 permit 0.0.0.0/0 le 24
ip prefix-list NOTHING seq 5 deny 0.0.0.0/0 le 32
"""


def _dialer(number: int) -> str:
    return f"""hostname d{number}
interface GigabitEthernet0/0
 pppoe enable group global
 pppoe-client dial-pool-number 1
interface GigabitEthernet0/1
 ip address 10.4{number}.0.1 255.255.255.0
interface Dialer1
 ip address negotiated
 ip mtu 1492
 ip tcp adjust-mss 1452
 encapsulation ppp
 dialer pool 1
 ppp authentication chap callin
 ppp chap hostname office{number}
 ppp chap password 0 example{number}
ip route 0.0.0.0 0.0.0.0 Dialer1
username admin secret 9 example
"""


def _serial(number: int) -> str:
    return f"""hostname t{number}
interface Serial0/0/0
 ip address 192.0.2.{number} 255.255.255.252
 encapsulation ppp
 ppp authentication chap
interface GigabitEthernet0/1
 ip address 10.5{number}.0.1 255.255.255.0
username t{3 - number} password 0 example
ip route 0.0.0.0 0.0.0.0 192.0.2.{3 - number}
"""


EDGE_OF_XR = """hostname xr
vrf BLUE
 address-family ipv4 unicast
  import route-target
   65000:20
  !
  export route-target
   65000:20
  !
 !
!
interface Loopback0
 ipv4 address 10.254.0.1 255.255.255.255
!
interface TenGigE0/0/0/0
 ipv4 address 10.9.9.1 255.255.255.252
!
interface TenGigE0/0/0/1
 vrf BLUE
 ipv4 address 10.20.1.1 255.255.255.0
!
router bgp 65000
 address-family vpnv4 unicast
 !
 vrf BLUE
  rd 65000:201
  address-family ipv4 unicast
   redistribute connected
  !
 !
!
"""
EDGE_OF_JUNOS = """system {
    host-name mx;
}
interfaces {
    xe-0/0/0 {
        unit 0 {
            family inet {
                address 10.9.9.2/30;
            }
        }
    }
    xe-0/0/1 {
        unit 0 {
            family inet {
                address 10.20.2.1/24;
            }
        }
    }
}
routing-options {
    autonomous-system 65000;
}
routing-instances {
    BLUE {
        instance-type vrf;
        interface xe-0/0/1.0;
        route-distinguisher 65000:202;
        vrf-target target:65000:20;
        vrf-table-label;
    }
}
"""


# A network may have notes, but no warnings.
NETWORKS: dict[str, Files] = {
    "EIGRP": {f"r{number}.cfg": _eigrp(number) for number in (1, 2)},
    "switches": {f"sw{number}.cfg": _switch(number) for number in (1, 2)},
    "Junos": {"fw.conf": _firewall(), "pe.conf": _edge()},
    "XR": {"x1.cfg": _core(1), "x2.cfg": _core(2), "x3.cfg": CORE},
    "customers": {
        "edge.cfg": _customers(),
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
    "dialers": {f"d{number}.cfg": _dialer(number) for number in (1, 2)},
    "PPP": {f"t{number}.cfg": _serial(number) for number in (1, 2)},
    "border": {"b1.cfg": _border(1, BORDER), "b2.cfg": _border(2, "")},
    "hubs": {f"hub{number}.cfg": _hub(number) for number in (1, 2)},
}
