"""Networks with ports, routes and sessions that need all their parts."""

from __future__ import annotations

from itertools import combinations

from network_warnings import Files

NUMBERS = range(1, 4)


def campus() -> Files:
    """Return fixed ports, a router that announces a default route, and a switch with features."""
    ports = "".join(
        f"interface FastEthernet0/{number}\n description desk\n switchport mode access\n speed 100\n"
        " duplex full\n"
        for number in range(1, 6)
    )
    return {
        "sw1.cfg": f"hostname sw1\n{ports}interface Vlan1\n ip address 10.1.0.2 255.255.255.0\n",
        "r1.cfg": """hostname r1
interface GigabitEthernet0/0
 ip address 10.1.0.1 255.255.255.0
interface GigabitEthernet0/1
 ip address 198.51.100.2 255.255.255.252
router ospf 1
 network 10.1.0.0 0.0.0.255 area 0
 default-information originate
ip route 0.0.0.0 0.0.0.0 198.51.100.1
""",
        "n1.cfg": """hostname n1
feature ospf
feature bfd
feature interface-vlan
interface Vlan10
  ip address 10.2.0.1/24
interface Ethernet1/1
  no switchport
  ip address 10.1.9.1/30
  ip router ospf 1 area 0.0.0.0
  ip ospf bfd
router ospf 1
""",
    }


def spokes() -> Files:
    """Return a hub and two spokes with EIGRP in the classic form."""
    body = """interface Tunnel1
 ip address 172.16.0.{0} 255.255.255.0
 {1}
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface GigabitEthernet0/0
 ip address 203.0.113.{0} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{0}.0.1 255.255.255.0
router eigrp 7
 network 10.0.0.0
 network 172.16.0.0
 passive-interface default
 no passive-interface Tunnel1
"""
    hub = "ip nhrp map multicast dynamic\n no ip split-horizon eigrp 7"
    files = {"hub.cfg": "hostname hub\n" + body.format(1, hub)}
    for number in (11, 12):
        spoke = body.format(number, "ip nhrp map 172.16.0.1 203.0.113.1")
        files[f"spoke{number}.cfg"] = f"hostname spoke{number}\n{spoke}"
    return files


def borders() -> Files:
    """Return three border routers with the same filters of routes."""
    return {
        f"e{number}.cfg": f"""hostname e{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
router bgp {65000 + number}
 network 10.{number}.0.0 mask 255.255.255.0
 neighbor 192.0.2.{4 * number + 2} remote-as 64500
 neighbor 192.0.2.{4 * number + 2} prefix-list RECEIVED in
 neighbor 192.0.2.{4 * number + 2} route-map ANNOUNCED out
ip prefix-list RECEIVED seq 5 deny 192.168.0.0/16 le 32
ip prefix-list RECEIVED seq 10 permit 0.0.0.0/0 le 24
ip prefix-list OWN seq 5 permit 10.{number}.0.0/24
route-map ANNOUNCED permit 10
 match ip address prefix-list OWN
"""
        for number in NUMBERS
    }


def uplinks() -> Files:
    """Return a switch whose routed ports have the same policy, and an edge with limits in both directions."""
    limits = """policy-map {0}-20M
 class class-default
  police cir 20000000
policy-map {0}-50M
 class class-default
  police cir 50000000
"""
    customer = """interface GigabitEthernet0/1.{0}
 encapsulation dot1Q {0}
 ip address 198.51.100.{1} 255.255.255.252
 service-policy input IN-{2}M
 service-policy output OUT-{2}M
"""
    uplink = """interface GigabitEthernet1/0/{0}
 description to site {0}
 no switchport
 ip address 198.18.{0}.1 255.255.255.252
 ip ospf cost 10
 ip ospf network point-to-point
 service-policy output QUEUES
"""
    return {
        "core.cfg": "hostname core\nclass-map match-any VOICE\n match dscp ef\n"
        "policy-map QUEUES\n class VOICE\n"
        "  priority level 1 percent 20\n class class-default\n  bandwidth remaining percent 50\n"
        + "".join(uplink.format(number) for number in range(1, 5)),
        "edge.cfg": "hostname edge\n"
        + limits.format("IN")
        + limits.format("OUT")
        + customer.format(301, 1, 20)
        + customer.format(302, 5, 50)
        + customer.format(303, 9, 20),
    }


def desks() -> Files:
    """Return two switches with the same access ports and groups of gateways."""
    files = {}
    for number in (1, 2):
        ports = "".join(
            f"interface GigabitEthernet1/0/{port}\n description desk {port}\n switchport access vlan 10\n"
            " switchport mode access\n switchport voice vlan 11\n"
            for port in range(1, 4)
        )
        gateways = "".join(
            f"interface Vlan{vlan}\n ip address 10.0.{vlan}.{number + 1} 255.255.255.0\n standby version 2\n"
            f" standby {vlan} ip 10.0.{vlan}.1\n standby {vlan} priority {120 - 10 * number}\n"
            f" standby {vlan} preempt\n standby {vlan} track 1 decrement 20\n"
            for vlan in (10, 20, 30)
        )
        files[f"sw{number}.cfg"] = (
            f"hostname sw{number}\nvlan 10,11,20,30\n{ports}{gateways}"
            "track 1 interface GigabitEthernet1/0/9 line-protocol\n"
        )
    return files


def _mesh_node(number: int, others: list[int]) -> str:
    """Return a provider's router with braces, and a link to each of the others."""
    ports = isis = ldp = mpls = queues = ""
    for place, other in enumerate(others):
        low, high = sorted((number, other))
        host = 1 if number == low else 2
        ports += f"""    ge-0/0/{place} {{
        unit 0 {{
            family inet {{
                address 10.{low}{high}.0.{host}/30;
            }}
            family iso;
            family mpls;
        }}
    }}
"""
        isis += f"        interface ge-0/0/{place}.0;\n"
        ldp += f"        interface ge-0/0/{place}.0;\n"
        mpls += f"        interface ge-0/0/{place}.0;\n"
        queues += f"        ge-0/0/{place} {{\n            scheduler-map MAP;\n        }}\n"
    classes = ("VOICE", "VIDEO", "DATA", "BULK")
    maps = "".join(f"            forwarding-class {name} scheduler S-{name};\n" for name in classes)
    marks = "".join(
        f"            forwarding-class {name} {{\n                loss-priority low code-point {mark};\n"
        "            }\n"
        for name, mark in zip(classes, ("101", "100", "011", "001"), strict=True)
    )
    schedulers = "".join(
        f"        S-{name} {{\n            transmit-rate percent 25;\n        }}\n" for name in classes
    )
    numbers = "".join(f"        queue {place} {name};\n" for place, name in enumerate(classes))
    return f"""version 21.4R1;
system {{
    host-name p{number};
}}
interfaces {{
{ports}    ge-0/1/0 {{
        vlan-tagging;
        unit 10 {{
            description "to the customer";
            vlan-id 10;
            family inet {{
                address 172.16.{number}.1/30;
            }}
        }}
    }}
    lo0 {{
        unit 0 {{
            family inet {{
                address 10.0.0.{number}/32;
            }}
            family iso {{
                address 49.0001.0000.0000.000{number}.00;
            }}
        }}
    }}
}}
protocols {{
    isis {{
{isis}        interface lo0.0;
        level 1 disable;
        level 2 wide-metrics-only;
    }}
    ldp {{
{ldp}    }}
    mpls {{
{mpls}    }}
}}
routing-instances {{
    RED {{
        instance-type vrf;
        interface ge-0/1/0.10;
        route-distinguisher 64500:{number};
        vrf-target target:64500:1;
        routing-options {{
            static {{
                route 10.9{number}.0.0/16 next-hop 172.16.{number}.2;
            }}
        }}
    }}
}}
class-of-service {{
    forwarding-classes {{
{numbers}    }}
    interfaces {{
{queues}    }}
    rewrite-rules {{
        exp LABELS {{
{marks}        }}
    }}
    scheduler-maps {{
        MAP {{
{maps}        }}
    }}
    schedulers {{
{schedulers}    }}
}}
"""


def mesh() -> Files:
    """Return four routers of a provider with links between all of them."""
    links = list(combinations(range(1, 5), 2))
    return {
        f"p{number}.conf": _mesh_node(number, [sum(link) - number for link in links if number in link])
        for number in range(1, 5)
    }


def mixed() -> Files:
    """Return an edge whose neighbors are blocks, a customer, and a router with braces in its area."""
    return {
        "pe.cfg": """hostname pe
interface TenGigE0/0/0/0
 ipv4 address 192.0.2.1 255.255.255.252
interface TenGigE0/0/0/1
 ipv4 address 10.0.1.1 255.255.255.252
router ospf 1
 area 0
  interface TenGigE0/0/0/1
   network point-to-point
router bgp 64500
 address-family ipv4 unicast
 neighbor 192.0.2.2
  remote-as 65001
  address-family ipv4 unicast
""",
        "ce.cfg": """hostname ce
interface GigabitEthernet0/0
 ip address 192.0.2.2 255.255.255.252
interface GigabitEthernet0/1.10
 encapsulation dot1Q 10
 ip address 10.1.0.1 255.255.255.0
router bgp 65001
 network 10.1.0.0 mask 255.255.255.0
 neighbor 192.0.2.1 remote-as 64500
""",
        "p.conf": """version 21.4R1;
system {
    host-name p;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 10.0.1.2/30;
            }
        }
    }
}
protocols {
    ospf {
        area 0.0.0.0 {
            interface ge-0/0/0.0 {
                interface-type p2p;
            }
        }
    }
}
""",
    }


def registered() -> Files:
    """Return a hub and three spokes that register with it."""
    body = """hostname {0}
interface Tunnel1
 ip address 172.16.0.{1} 255.255.255.0
 {2}
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface GigabitEthernet0/0
 ip address 203.0.113.{1} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{1}.0.1 255.255.255.0
router eigrp NET
 address-family ipv4 unicast autonomous-system 7
  topology base
  exit-af-topology
  network 10.0.0.0
  network 172.16.0.0 0.0.0.255
"""
    hub = "ip nhrp map multicast dynamic\n no ip split-horizon eigrp 7"
    server = "ip nhrp nhs 172.16.0.1 nbma 203.0.113.1 multicast"
    files = {"hub.cfg": body.format("hub", 1, hub)}
    files.update({f"s{number}.cfg": body.format(f"s{number}", number, server) for number in (11, 12, 13)})
    return files


def encrypted() -> Files:
    """Return two routers with an encrypted tunnel, and keys for both ends."""
    return {
        f"t{number}.cfg": f"""hostname t{number}
crypto ikev2 keyring KEYS
 peer far
  address 203.0.113.{3 - number}
  pre-shared-key secret
crypto ikev2 profile IKE
 authentication remote pre-share
 authentication local pre-share
 keyring local KEYS
crypto ipsec profile VPN
 set ikev2-profile IKE
interface GigabitEthernet0/0
 ip address 203.0.113.{number} 255.255.255.0
interface Tunnel1
 ip address 172.16.0.{number} 255.255.255.252
 tunnel source GigabitEthernet0/0
 tunnel destination 203.0.113.{3 - number}
 tunnel protection ipsec profile VPN
"""
        for number in (1, 2)
    }


NETWORKS: dict[str, Files] = {
    "encrypted": encrypted(),
    "campus": campus(),
    "spokes": spokes(),
    "borders": borders(),
    "uplinks": uplinks(),
    "desks": desks(),
    "mesh": mesh(),
    "mixed": mixed(),
    "registered": registered(),
}
