"""Networks whose devices agree on maps, sessions, tunnels and classes of service."""

from __future__ import annotations

from network_warnings import Files

NUMBERS = range(1, 5)


def switches() -> Files:
    """Return switches with one map of marks and queues."""
    return {
        f"sw{number}.cfg": f"""hostname SW{number}
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos srr-queue output dscp-map queue 1 threshold 3 40 46
mls qos srr-queue output dscp-map queue 4 threshold 1 8
mls qos
interface Vlan{number}
 ip address 10.{number}.0.1 255.255.255.0
"""
        for number in NUMBERS
    }


def edges() -> Files:
    """Return the edges of a VPN, each with sessions to all others."""
    files = {}
    for number in NUMBERS:
        peers = [other for other in NUMBERS if other != number]
        sessions = "".join(
            f" neighbor 10.0.0.{peer} remote-as 64500\n neighbor 10.0.0.{peer} update-source Loopback0\n"
            for peer in peers
        )
        families = "".join(
            f"  neighbor 10.0.0.{peer} activate\n  neighbor 10.0.0.{peer} send-community extended\n"
            for peer in peers
        )
        files[f"pe{number}.cfg"] = f"""hostname PE{number}
vrf definition RED
 rd 64500:1
 route-target export 64500:1
 route-target import 64500:1
 !
 address-family ipv4
interface Loopback0
 ip address 10.0.0.{number} 255.255.255.255
interface GigabitEthernet0/0
 ip address 10.1.0.{number} 255.255.255.0
interface GigabitEthernet0/1
 vrf forwarding RED
 ip address 172.16.{number}.1 255.255.255.0
router bgp 64500
{sessions} address-family vpnv4
{families} exit-address-family
"""
    return files


def clouds() -> Files:
    """Return a hub with a class for each spoke; each spoke has two tunnels from one source."""
    classes = "".join(
        f"class-map match-all TO{number}\n match access-group name TO{number}\n" for number in NUMBERS
    )
    shapers = "".join(f" class TO{number}\n  shape average 9500000\n" for number in NUMBERS)
    lists = "".join(
        f"ip access-list extended TO{number}\n permit ip any host 198.51.100.{4 * number + 1}\n"
        for number in NUMBERS
    )
    secure = """vrf definition NET
 rd 1:1
 address-family ipv4
crypto ipsec security-association replay window-size 1024
crypto ipsec transform-set STRONG esp-gcm 256
crypto ipsec profile VPN
 set transform-set STRONG
"""
    hub = f"""hostname HUB
{secure}{classes}policy-map SITES
{shapers}interface Tunnel1
 ip address 172.31.1.250 255.255.255.0
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
 tunnel vrf NET
 tunnel protection ipsec profile VPN
interface GigabitEthernet0/0
 vrf forwarding NET
 ip address 192.0.2.1 255.255.255.252
 service-policy output SITES
{lists}"""
    return {"hub.cfg": hub, **{f"spoke{number}.cfg": cloud_end(number, secure) for number in NUMBERS}}


def cloud_end(number: int, secure: str) -> str:
    """Return a spoke of two clouds."""
    tunnels = "".join(
        f"""interface Tunnel{cloud}
 ip address 172.31.{cloud}.{number} 255.255.255.0
 qos pre-classify
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
 tunnel key {cloud}
 tunnel vrf NET
 tunnel protection ipsec profile VPN shared
"""
        for cloud in (1, 2)
    )
    return f"""hostname SPOKE{number}
{secure}{tunnels}interface GigabitEthernet0/0
 bandwidth 10000
 vrf forwarding NET
 ip address 198.51.100.{4 * number + 1} 255.255.255.252
"""


def cores() -> Files:
    """Return a ring of core routers with configurations in braces."""
    return {f"p{number}.conf": core(number) for number in NUMBERS}


def core(number: int) -> str:
    """Return a router with a link to each neighbor in the ring."""
    ends = [(0, number, 1), (1, number % len(NUMBERS) + 1, 2)]
    interfaces = "".join(
        f"""    ge-0/0/{port} {{
        unit 0 {{
            family inet {{
                address 10.0.{link}.{end}/30;
            }}
            family iso;
            family mpls;
        }}
    }}
"""
        for port, link, end in ends
    )
    ports = "".join(
        f"""        ge-0/0/{port} {{
            scheduler-map MAP;
            unit 0 {{
                classifiers {{
                    exp LABELS;
                }}
            }}
        }}
"""
        for port, _, _ in ends
    )
    named = "".join(f"        interface ge-0/0/{port}.0;\n" for port, _, _ in ends)
    return f"""system {{
    host-name p{number};
}}
interfaces {{
{interfaces}    lo0 {{
        unit 0 {{
            family inet {{
                address 10.255.0.{number}/32;
            }}
            family iso {{
                address 49.0001.0000.0000.000{number}.00;
            }}
        }}
    }}
}}
protocols {{
    mpls {{
{named}    }}
    isis {{
        level 1 disable;
{named}    }}
    ldp {{
{named}    }}
}}
class-of-service {{
    classifiers {{
        exp LABELS {{
            forwarding-class expedited-forwarding {{
                loss-priority low code-points 101;
            }}
        }}
    }}
    interfaces {{
{ports}    }}
    scheduler-maps {{
        MAP {{
            forwarding-class expedited-forwarding scheduler FIRST;
            forwarding-class best-effort scheduler REST;
        }}
    }}
    schedulers {{
        FIRST {{
            transmit-rate percent 30;
            priority strict-high;
        }}
        REST {{
            transmit-rate percent 70;
        }}
    }}
}}
"""
