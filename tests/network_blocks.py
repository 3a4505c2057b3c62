"""Networks with blocks that need all their parts: firewalls, BFD, IS-IS, VPNs, EIGRP and bundles."""

from __future__ import annotations

from network_warnings import Files

NUMBERS = range(1, 4)


def firewall() -> Files:
    """Return a firewall with zones, and a router at its end of a session with BFD."""
    return {
        "f1.conf": """version 21.4R1;
system {
    host-name f1;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.1/30;
            }
        }
    }
    ge-0/0/1 {
        unit 0 {
            family inet {
                address 10.1.0.1/24;
            }
        }
    }
}
routing-options {
    autonomous-system 65001;
}
protocols {
    bgp {
        group WAN {
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
security {
    policies {
        from-zone lan to-zone wan {
            policy out {
                match {
                    source-address any;
                    destination-address any;
                    application any;
                }
                then {
                    permit;
                }
            }
        }
    }
    zones {
        security-zone wan {
            interfaces {
                ge-0/0/0.0 {
                    host-inbound-traffic {
                        protocols {
                            bgp;
                            bfd;
                        }
                    }
                }
            }
        }
        security-zone lan {
            interfaces {
                ge-0/0/1.0;
            }
        }
    }
}
""",
        "r2.cfg": """hostname r2
interface GigabitEthernet0/0
 ip address 192.0.2.2 255.255.255.252
 bfd interval 300 min_rx 300 multiplier 3
interface GigabitEthernet0/1
 ip address 10.2.0.1 255.255.255.0
router bgp 65002
 neighbor 192.0.2.1 remote-as 65001
 neighbor 192.0.2.1 fall-over bfd
""",
    }


def core() -> Files:
    """Return a ring of routers with IS-IS in blocks, and internal sessions between their loopbacks."""
    files = {}
    for number in NUMBERS:
        after, before = number % 3 + 1, (number + 1) % 3 + 1
        sessions = "".join(
            f" neighbor 10.0.0.{peer}\n  remote-as 64500\n  update-source Loopback0\n"
            "  address-family vpnv4 unicast\n"
            for peer in (before, after)
        )
        files[f"p{number}.cfg"] = f"""hostname p{number}
interface Loopback0
 ipv4 address 10.0.0.{number} 255.255.255.255
interface TenGigE0/0/0/0
 ipv4 address 10.1.{number}.1 255.255.255.0
interface TenGigE0/0/0/1
 ipv4 address 10.1.{before}.2 255.255.255.0
router isis CORE
 is-type level-2-only
 net 49.0001.0000.0000.000{number}.00
 address-family ipv4 unicast
  metric-style wide
 interface Loopback0
  passive
  address-family ipv4 unicast
 interface TenGigE0/0/0/0
  point-to-point
  bfd minimum-interval 150
  bfd fast-detect ipv4
  address-family ipv4 unicast
   metric 10
 interface TenGigE0/0/0/1
  point-to-point
  bfd minimum-interval 150
  bfd fast-detect ipv4
  address-family ipv4 unicast
   metric 10
router bgp 64500
 address-family vpnv4 unicast
{sessions} vrf RED
  rd 64500:{number}
  address-family ipv4 unicast
"""
    return files


def cloud() -> Files:
    """Return two hubs and three spokes of one cloud of tunnels with EIGRP."""
    head = """interface Tunnel1
 ip address 172.16.0.{0} 255.255.255.0
 ip mtu 1400
 ip tcp adjust-mss 1360
 {1}
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface GigabitEthernet0/0
 ip address 203.0.113.{0} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{0}.0.1 255.255.255.0
key chain CLOUD
 key 1
  key-string shared
router eigrp NET
 address-family ipv4 unicast autonomous-system 7
  af-interface default
   passive-interface
  af-interface Tunnel1
   authentication mode md5
   authentication key-chain CLOUD
   hello-interval 20
   hold-time 60
{2}   no passive-interface
  network 10.0.0.0
  network 172.16.0.0 0.0.0.255
"""
    map_of_hubs = "ip nhrp map 172.16.0.{0} 203.0.113.{0}"
    maps = "\n ".join(map_of_hubs.format(hub) for hub in (1, 2))
    hubs = {
        f"hub{number}.cfg": f"hostname hub{number}\n"
        + head.format(number, "ip nhrp map multicast dynamic", "   no split-horizon\n")
        for number in (1, 2)
    }
    spokes = {
        f"spoke{number}.cfg": f"hostname spoke{number}\n"
        + head.format(number, maps, "")
        + "  eigrp stub connected\n"
        for number in (11, 12, 13)
    }
    return {**hubs, **spokes}


def vpn() -> Files:
    """Return two edges of a VPN, one of which has braces."""
    return {
        "pe1.cfg": """hostname pe1
vrf definition RED
 rd 64500:1
 route-target export 64500:1
 route-target import 64500:1
 address-family ipv4
interface Loopback0
 ip address 10.0.0.1 255.255.255.255
interface GigabitEthernet0/0
 ip address 10.1.0.1 255.255.255.252
interface GigabitEthernet0/1
 vrf forwarding RED
 ip address 172.16.1.1 255.255.255.0
router bgp 64500
 neighbor 10.1.0.2 remote-as 64500
 address-family vpnv4
  neighbor 10.1.0.2 activate
 address-family ipv4 vrf RED
  redistribute connected
""",
        "pe2.conf": """version 21.4R1;
system {
    host-name pe2;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 10.1.0.2/30;
            }
        }
    }
    ge-0/0/1 {
        unit 0 {
            family inet {
                address 172.16.2.1/24;
            }
        }
    }
}
routing-options {
    autonomous-system 64500;
}
protocols {
    bgp {
        group PE {
            type internal;
            family inet-vpn {
                unicast;
            }
            neighbor 10.1.0.1;
        }
    }
}
routing-instances {
    RED {
        instance-type vrf;
        interface ge-0/0/1.0;
        route-distinguisher 64500:2;
        vrf-target target:64500:1;
    }
}
""",
    }


def bundles() -> Files:
    """Return two devices with a bundle of two cables between them."""
    member = """    xe-0/0/{0} {{
        description "to sw1 TenGigabitEthernet1/0/{0}";
        gigether-options {{
            802.3ad ae0;
        }}
    }}
"""
    lines = """interface TenGigabitEthernet1/0/{0}
 description to r1 xe-0/0/{0}
 switchport mode trunk
 channel-group 1 mode active
"""
    return {
        "r1.conf": f"""version 21.4R1;
system {{
    host-name r1;
}}
interfaces {{
{member.format(1)}{member.format(2)}    ae0 {{
        aggregated-ether-options {{
            lacp {{
                active;
            }}
        }}
        unit 0 {{
            family inet {{
                address 10.1.0.1/24;
            }}
        }}
    }}
}}
""",
        "sw1.cfg": f"""hostname sw1
interface Port-channel1
 switchport mode trunk
{lines.format(1)}{lines.format(2)}interface Vlan1
 ip address 10.1.0.2 255.255.255.0
""",
    }


def branches() -> Files:
    """Return three branches with the same ports, and limits at the ports of one of them."""
    files = {
        f"b{number}.cfg": f"""hostname b{number}
class-map match-any BULK
 match dscp af11
policy-map LAN-IN
 class BULK
  set dscp default
policy-map WAN-OUT
 class class-default
  fair-queue
interface GigabitEthernet0/0
 description to the provider
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 service-policy output WAN-OUT
interface GigabitEthernet0/1
 description data
 ip address 10.{number}.1.1 255.255.255.0
 service-policy input LAN-IN
interface GigabitEthernet0/2
 description voice
 ip address 10.{number}.2.1 255.255.255.0
 service-policy input LAN-IN
"""
        for number in NUMBERS
    }
    files["edge.cfg"] = """hostname edge
policy-map UNI-20M
 class class-default
  police cir 20000000
policy-map UNI-50M
 class class-default
  police cir 50000000
policy-map COPP
 class class-default
  police cir 64000
interface GigabitEthernet0/0
 ip address 198.51.100.1 255.255.255.252
 service-policy input UNI-20M
interface GigabitEthernet0/1
 ip address 198.51.100.5 255.255.255.252
 service-policy input UNI-50M
control-plane
 service-policy input COPP
"""
    return files


NETWORKS: dict[str, Files] = {
    "firewall": firewall(),
    "core": core(),
    "cloud": cloud(),
    "vpn": vpn(),
    "bundles": bundles(),
    "branches": branches(),
}
