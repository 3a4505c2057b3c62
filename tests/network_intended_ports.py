"""Healthy networks with policers, maps, ports and routes that look incomplete, but are not."""

from __future__ import annotations

from network_warnings import Files


def _routers(first: str, second: str = "", port: str = "") -> Files:
    """Return two routers on a link, the first with lines for its port, both with additional lines."""
    head = "hostname r{0}\ninterface GigabitEthernet0/0\n ip address 10.0.0.{0} 255.255.255.252\n"
    return {"r1.cfg": head.format(1) + port + first, "r2.cfg": head.format(2) + second}


def _junos(ports: str, before: str = "", after: str = "") -> str:
    """Return a router with Junos: statements before and after the block of its interfaces."""
    return (
        f"version 21.4R1;\nsystem {{\n    host-name p;\n}}\n{before}interfaces {{\n{ports}"
        "    ge-0/0/0 {\n        unit 0 {\n            family inet {\n                address 10.0.0.1/30;\n"
        f"            }}\n        }}\n    }}\n}}\n{after}"
    )


def _beside(text: str) -> Files:
    """Return a router with Junos and its neighbor."""
    neighbor = "hostname r2\ninterface GigabitEthernet0/0\n ip address 10.0.0.2 255.255.255.252\n"
    return {"p.conf": text, "r2.cfg": neighbor}


CLASS = "class-map match-any VIDEO\n match dscp af41\n"
LIMIT = f"{CLASS}policy-map LIMIT\n class VIDEO\n  police {{}} conform-action transmit exceed-action drop\n"
FIREWALL = """firewall {
    family inet {
        filter PROTECT {
            term A {
                then {
                    policer SMALL;
                    accept;
                }
            }
        }
    }
    policer SMALL {
        if-exceeding {
            bandwidth-limit 50m;
            burst-size-limit 2k;
        }
        then discard;
    }
}
"""
LOOPBACK = """    lo0 {
        unit 0 {
            family inet {
                filter {
                    input PROTECT;
                }
                address 10.255.0.1/32;
            }
        }
    }
"""
UNIT = """    {0} {{
{1}        unit 10 {{
            {2}vlan-id 10;
            family inet {{
                address 10.1.0.1/24;
            }}
        }}
    }}
"""
TAGGED = "        vlan-tagging;\n"
GROUP = """groups {
    TAGGED {
        interfaces {
            <ge-*> {
                vlan-tagging;
            }
        }
    }
}
apply-groups TAGGED;
"""


def _listed(process: str) -> Files:
    """Return a router with IOS XR whose process lists its port, and a neighbor with a point-to-point port."""
    return {
        "r1.cfg": "hostname r1\ninterface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.252\n"
        " ip ospf network point-to-point\nrouter ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n",
        "r2.cfg": "!! IOS XR Configuration 7.5.2\nhostname r2\n"
        "interface GigabitEthernet0/0/0/0\n ipv4 address 10.0.0.2 255.255.255.252\n"
        f"router ospf 1\n{process}",
    }


def _cloud(hub: str, process: str = "") -> Files:
    """Return a hub and three spokes of a cloud of tunnels with EIGRP."""
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
key chain CLOUD
 key 1
  key-string shared
router eigrp NET
 address-family ipv4 unicast autonomous-system 7
{3}  network 10.0.0.0
  network 172.16.0.0 0.0.0.255
"""
    server = "ip nhrp nhs 172.16.0.1 nbma 203.0.113.1 multicast"
    keys = "  af-interface default\n   authentication mode md5\n   authentication key-chain CLOUD\n"
    files = {"hub.cfg": body.format("hub", 1, "ip nhrp map multicast dynamic", keys + hub) + process}
    spoke = "  af-interface Tunnel1\n   hello-interval 20\n"
    files.update(
        {f"s{number}.cfg": body.format(f"s{number}", number, server, keys + spoke) for number in (11, 12, 13)}
    )
    return files


def _bundle(ports: str, near: str = "xe-0/0/0", lines: str = "") -> Files:
    """Return a switch with Junos and the switch at the other end of its bundle."""
    return {
        "p.conf": _junos(
            f"""{ports}    ae0 {{
{lines}        aggregated-ether-options {{
            lacp {{
                active;
            }}
        }}
    }}
"""
        ),
        "sw1.cfg": f"hostname sw1\ninterface TenGigabitEthernet1/0/1\n description to p {near}\n"
        " switchport mode trunk\n channel-group 1 mode active\n"
        "interface Port-channel1\n switchport mode trunk\n",
    }


PORT = """    xe-0/0/0 {{
        description "to sw1 Te1/0/1";
{0}    }}
"""
MEMBER = "        gigether-options {\n            802.3ad ae0;\n        }\n"
RANGE = f"    interface-range LAG {{\n        member xe-0/0/0;\n{MEMBER}    }}\n"

# The files of each network.
NETWORKS: dict[str, Files] = {
    "policer of a control plane": _routers(
        LIMIT.format("50000000 2000") + "control-plane\n service-policy input LIMIT\n"
    ),
    "policer of a port": _routers(LIMIT.format("50000000 200000"), port=" service-policy input LIMIT\n"),
    "burst in milliseconds": _routers(
        LIMIT.format("cir 50000000 bc 200 ms"), port=" service-policy input LIMIT\n"
    ),
    "policer of a loopback": _beside(_junos(LOOPBACK, after=FIREWALL)),
    "map without priority": _routers("mls qos\nmls qos map cos-dscp 0 8 16 24 32 46 0 0\n"),
    "map with background packets": _routers("mls qos\nmls qos map cos-dscp 10 8 16 24 32 46 48 56\n"),
    "template of tunnels": _routers(
        "interface Virtual-Template1 type tunnel\n ip unnumbered GigabitEthernet0/0\n"
        " tunnel source GigabitEthernet0/0\n"
    ),
    "tags of a logical tunnel": _beside(
        _junos(UNIT.format("lt-0/0/0", "", "encapsulation vlan;\n            "))
    ),
    "tags of a group": _beside(_junos(UNIT.format("ge-0/0/1", "", ""), GROUP)),
    "tags of an interface": _beside(_junos(UNIT.format("ge-0/0/1", TAGGED, ""))),
    "type of a process": _listed(" network point-to-point\n area 0\n  interface GigabitEthernet0/0/0/0\n"),
    "type of an area": _listed(" area 0\n  network point-to-point\n  interface GigabitEthernet0/0/0/0\n"),
    "routes of peers": _routers(
        "crypto map VPN 10 ipsec-isakmp\n set peer 192.0.2.9\n match address 101\n reverse-route\n"
        "access-list 101 permit ip 10.1.0.0 0.0.255.255 10.9.0.0 0.0.255.255\n"
        "router ospf 1\n redistribute static subnets\n network 10.0.0.0 0.0.0.3 area 0\n",
        "router ospf 1\n network 10.0.0.0 0.0.0.3 area 0\n",
        " crypto map VPN\n",
    ),
    "default route of IS-IS": _routers(
        "router isis\n net 49.0001.0000.0000.0001.00\n default-information originate\n",
        " ip router isis\nrouter isis\n net 49.0001.0000.0000.0002.00\n",
        " ip router isis\n",
    ),
    "default route of OSPF": _routers(
        "router ospf 1\n default-information originate always\n network 10.0.0.0 0.0.0.3 area 0\n",
        "router ospf 1\n network 10.0.0.0 0.0.0.3 area 0\n",
    ),
    "default route of a VRF": _routers(
        "vrf definition A\n rd 1:1\n address-family ipv4\n"
        "router eigrp NET\n address-family ipv4 unicast autonomous-system 1\n  network 10.0.0.0 0.0.0.3\n"
        " address-family ipv4 unicast vrf A autonomous-system 2\n  topology base\n"
        "   redistribute static\n  network 10.7.0.0 0.0.255.255\n"
        "ip route vrf A 10.8.0.0 255.255.0.0 Null0\n",
        "router eigrp NET\n address-family ipv4 unicast autonomous-system 1\n  network 10.0.0.0 0.0.0.3\n",
    ),
    "split horizon of all ports": _cloud(
        "   no split-horizon\n  af-interface Tunnel1\n   hello-interval 20\n"
    ),
    "hub with a default route": _cloud(
        "  af-interface Tunnel1\n   hello-interval 20\n  topology base\n   redistribute static\n",
        "interface GigabitEthernet0/2\n ip address 198.51.100.2 255.255.255.252\n"
        "ip route 0.0.0.0 0.0.0.0 198.51.100.1\n",
    ),
    "keys of all ports": _cloud(
        "   no split-horizon\n  af-interface Tunnel1\n   authentication key-chain CLOUD\n"
        "   hello-interval 20\n"
    ),
    "range of a bundle": _bundle(PORT.format("") + RANGE),
    "bundle without range": _bundle(PORT.format(MEMBER)),
    "description of a bundle": _bundle("", "ae0", '        description "to sw1 Te1/0/1";\n'),
}
