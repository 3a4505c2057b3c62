"""Networks whose devices have to agree on sessions, filters, maps, tunnels and gateways, as files."""

from __future__ import annotations

from collections.abc import Mapping

from network_warnings import Files


def borders() -> Files:
    """Return two border routers with a session between their loopbacks, and one to a provider each."""

    def border(number: int, other: int) -> str:
        return f"""hostname BORDER{number}
interface Loopback0
 ip address 10.0.0.{number} 255.255.255.255
 ip ospf 1 area 0
interface GigabitEthernet0/0
 ip address 10.1.0.{number} 255.255.255.252
 ip ospf 1 area 0
interface GigabitEthernet0/1
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
router ospf 1
 router-id 10.0.0.{number}
router bgp 65000
 network 10.1.0.0 mask 255.255.255.252
 neighbor 10.0.0.{other} remote-as 65000
 neighbor 10.0.0.{other} update-source Loopback0
 neighbor 10.0.0.{other} next-hop-self
 neighbor 192.0.2.{4 * number + 2} remote-as 64500
"""

    return {"border1.cfg": border(1, 2), "border2.cfg": border(2, 1)}


def reflectors() -> Files:
    """Return two route reflectors with two clients, whose sessions carry routes of VPNs."""

    def router(number: int, others: Mapping[int, str]) -> str:
        sessions = "".join(
            f" neighbor 10.0.0.{other} remote-as 65000\n neighbor 10.0.0.{other} update-source Loopback0\n"
            for other in others
        )
        activated = "".join(
            f"  neighbor 10.0.0.{other} activate\n{line.format(other)}" for other, line in others.items()
        )
        return f"""hostname R{number}
interface Loopback0
 ip address 10.0.0.{number} 255.255.255.255
interface GigabitEthernet0/0
 ip address 10.1.0.{number} 255.255.255.0
router bgp 65000
 no bgp default ipv4-unicast
{sessions} address-family vpnv4
{activated} exit-address-family
"""

    client = "  neighbor 10.0.0.{} route-reflector-client\n"
    return {
        "r1.cfg": router(1, {2: "", 3: client, 4: client}),
        "r2.cfg": router(2, {1: "", 3: client, 4: client}),
        "r3.cfg": router(3, {1: "", 2: ""}),
        "r4.cfg": router(4, {1: "", 2: ""}),
    }


def customers() -> Files:
    """Return three customers that announce two subnets each through a filter."""
    files = {}
    for number in range(1, 4):
        files[f"ce{number}.cfg"] = f"""hostname CE{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.1.1 255.255.255.0
interface GigabitEthernet0/2
 ip address 10.{number}.2.1 255.255.255.0
router bgp {65000 + number}
 network 10.{number}.1.0 mask 255.255.255.0
 network 10.{number}.2.0 mask 255.255.255.0
 neighbor 192.0.2.{4 * number + 2} remote-as 64500
 neighbor 192.0.2.{4 * number + 2} prefix-list OWN out
ip prefix-list OWN seq 5 permit 10.{number}.1.0/24
ip prefix-list OWN seq 10 permit 10.{number}.2.0/24
"""
    return files


def switches() -> Files:
    """Return four switches with one map from marks to queues."""
    return {
        f"sw{number}.cfg": f"""version 12.2
hostname SW{number}
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos srr-queue output dscp-map queue 1 threshold 3 40 46
mls qos srr-queue output dscp-map queue 4 threshold 1 8
mls qos queue-set output 1 buffers 15 25 40 20
mls qos
interface GigabitEthernet0/1
 no switchport
 ip address 10.0.{number}.1 255.255.255.0
 mls qos trust dscp
interface Vlan10
 ip address 10.1.{number}.1 255.255.255.0
 ip helper-address 10.9.9.9
"""
        for number in range(1, 5)
    }


def routers_with_braces() -> Files:
    """Return a router with sessions to two others; all three have queues for classes."""
    files = {}
    for number in range(1, 4):
        others = [other for other in range(1, 4) if other != number]
        neighbors = "".join(f"            neighbor 10.0.0.{other};\n" for other in others)
        files[f"r{number}.conf"] = f"""version 18.4R3;
system {{
    host-name r{number};
}}
chassis {{
    network-services enhanced-ip;
}}
interfaces {{
    ge-0/0/0 {{
        unit 0 {{
            family inet {{
                address 10.1.0.{number}/24;
            }}
        }}
    }}
    lo0 {{
        unit 0 {{
            family inet {{
                address 10.0.0.{number}/32;
            }}
        }}
    }}
}}
routing-options {{
    autonomous-system 65000;
}}
protocols {{
    bgp {{
        group INSIDE {{
            type internal;
            local-address 10.0.0.{number};
{neighbors}        }}
    }}
}}
class-of-service {{
    forwarding-classes {{
        class DATA queue-num 0;
        class VOICE queue-num 5;
    }}
}}
"""
    return files


def spokes() -> Files:
    """Return a hub and three spokes with a tunnel each."""
    hub = """hostname HUB
interface GigabitEthernet0/0
 bandwidth 90000
 ip address 198.51.100.1 255.255.255.248
interface Tunnel1
 bandwidth 90000
 ip address 172.16.0.1 255.255.255.0
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
ip route 0.0.0.0 0.0.0.0 198.51.100.2
"""
    files = {"hub.cfg": hub}
    for number in range(1, 4):
        files[f"spoke{number}.cfg"] = f"""hostname SPOKE{number}
interface GigabitEthernet0/0
 bandwidth {number}0000
 ip address 198.51.100.{8 * number + 1} 255.255.255.248
interface Tunnel1
 bandwidth {number}0000
 ip address 172.16.0.{number + 1} 255.255.255.0
 ip nhrp map 172.16.0.1 198.51.100.1
 ip nhrp nhs 172.16.0.1
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
ip route 0.0.0.0 0.0.0.0 198.51.100.{8 * number + 2}
"""
    return files


def gateways() -> Files:
    """Return both gateways of a campus, which pass the routes of a provider on."""

    def gateway(number: int) -> str:
        return f"""hostname GW{number}
class-map match-any VOICE
 match dscp ef
class-map match-any DATA
 match dscp af21
policy-map QUEUES
 class VOICE
  priority percent 20
 class DATA
  bandwidth percent 30
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
 ip ospf 1 area 0
 service-policy output QUEUES
interface GigabitEthernet0/1
 ip address 10.1.0.{number} 255.255.255.0
 standby 1 ip 10.1.0.254
 ip ospf 1 area 0
interface GigabitEthernet0/2
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
router ospf 1
 router-id 10.0.0.{number}
 log-adjacency-changes
 redistribute bgp 65000 subnets
 passive-interface GigabitEthernet0/1
 passive-interface GigabitEthernet0/2
 area 0 authentication message-digest
 auto-cost reference-bandwidth 100000
router bgp 65000
 neighbor 192.0.2.{4 * number + 2} remote-as 64500
"""

    return {"gw1.cfg": gateway(1), "gw2.cfg": gateway(2)}
