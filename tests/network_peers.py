"""Networks of devices with one task, as files."""

from __future__ import annotations

from network_warnings import Files

SPOKES = range(1, 4)
SITES = range(1, 5)
CLOSETS = range(1, 5)

CLASSES = """class-map match-any VOICE
 match dscp ef
class-map match-any SIGNALING
 match dscp cs3
class-map match-any ORDERS
 match dscp af21
 match dscp af22
"""
ORDERS_QUEUE = """ class ORDERS
  bandwidth percent 30
  queue-limit 128 packets
  random-detect dscp-based
  random-detect dscp 18 40 80 10
"""
QUEUES = f""" class VOICE
  priority percent 20
 class SIGNALING
  bandwidth percent 5
{ORDERS_QUEUE} class class-default
  fair-queue
"""


def tunnels() -> Files:
    """Return a hub with a policy for the group of each spoke."""
    groups = "".join(
        f"policy-map SPOKE{number}-{number}0M\n class class-default\n  shape average {number}0000000\n"
        "  service-policy QUEUES\n"
        for number in SPOKES
    )
    maps = "".join(
        f" ip nhrp map group SPOKE{number} service-policy output SPOKE{number}-{number}0M\n"
        for number in SPOKES
    )
    hub = f"""hostname HUB
{CLASSES}policy-map QUEUES
{QUEUES}{groups}interface GigabitEthernet0/0
 ip address 198.51.100.1 255.255.255.248
interface Tunnel1
 ip address 172.16.0.1 255.255.255.0
 ip mtu 1400
{maps} tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
ip route 0.0.0.0 0.0.0.0 198.51.100.2
"""
    return {"hub.cfg": hub, **{f"spoke{number}.cfg": spoke(number) for number in SPOKES}}


def spoke(number: int) -> str:
    """Return a spoke with its own circuit."""
    return f"""hostname SPOKE{number}
{CLASSES}policy-map QUEUES
{QUEUES}policy-map LINE-{number}0M
 class class-default
  shape average {number}0000000
  service-policy QUEUES
interface GigabitEthernet0/0
 bandwidth {number}0000
 ip address 198.51.100.{8 * number + 1} 255.255.255.248
 service-policy output LINE-{number}0M
interface Tunnel1
 ip address 172.16.0.{number + 1} 255.255.255.0
 ip mtu 1400
 ip nhrp group SPOKE{number}
 ip nhrp nhs 172.16.0.1
 tunnel source GigabitEthernet0/0
 tunnel mode gre multipoint
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
ip route 0.0.0.0 0.0.0.0 198.51.100.{8 * number + 2}
"""


def sites() -> Files:
    """Return a provider with static routes to the two subnets of each site."""
    ports = "".join(
        f"""interface GigabitEthernet0/{number}
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
 duplex full
 speed 100
 service-policy output LINE
"""
        for number in SITES
    )
    routes = "".join(
        f"ip route 10.{number}.{part}.0 255.255.255.0 192.0.2.{4 * number + 2}\n"
        for number in SITES
        for part in (1, 2)
    )
    provider = f"hostname PROVIDER\n{CLASSES}policy-map LINE\n{QUEUES}{ports}{routes}"
    return {"provider.cfg": provider, **{f"site{number}.cfg": site(number) for number in SITES}}


def site(number: int) -> str:
    """Return a site with hosts, phones and a default route."""
    return f"""hostname SITE{number}
{CLASSES}class-map match-any PHONES
 match access-group name PHONES
class-map match-any CALLS
 match access-group name CALLS
class-map match-any SERVERS
 match access-group name SERVERS
policy-map LAN{number}
 class PHONES
  set dscp ef
 class CALLS
  set dscp cs3
 class SERVERS
  set dscp af21
 class class-default
  set dscp default
policy-map LINE
{QUEUES}interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
 duplex full
 speed 100
 service-policy output LINE
interface GigabitEthernet0/1.10
 encapsulation dot1Q 10
 ip address 10.{number}.1.1 255.255.255.0
 service-policy input LAN{number}
interface GigabitEthernet0/1.20
 encapsulation dot1Q 20
 ip address 10.{number}.2.1 255.255.255.0
 service-policy input LAN{number}
ip route 0.0.0.0 0.0.0.0 192.0.2.{4 * number + 1}
ip access-list extended PHONES
 permit udp 10.{number}.2.0 0.0.0.255 any range 16384 32767
ip access-list extended CALLS
 permit tcp 10.{number}.2.0 0.0.0.255 host 10.99.0.10 eq 5060
ip access-list extended SERVERS
 permit tcp 10.{number}.1.0 0.0.0.255 host 10.99.0.21 eq 1521
 permit tcp 10.{number}.1.0 0.0.0.255 host 10.99.0.21 eq 443
"""


def closets() -> Files:
    """Return a core with a trunk to each closet, where phones have a separate VLAN."""
    trunks = "".join(
        f"""interface TenGigabitEthernet1/0/{number}
 description CLOSET{number} Te1/1/1
 switchport mode trunk
 switchport trunk allowed vlan {10 + number},{110 + number},99
"""
        for number in CLOSETS
    )
    own = "".join(
        f"interface Vlan{vlan}\n ip address 10.20.{vlan}.1 255.255.255.0\n"
        for vlan in (99, *(base + number for base in (10, 110) for number in CLOSETS))
    )
    core = f"version 16.12\nswitch 1 provision c9300-24t\nhostname CORE\n{trunks}{own}"
    return {"core.cfg": core, **{f"closet{number}.cfg": closet(number) for number in CLOSETS}}


def closet(number: int) -> str:
    """Return a closet with four desks and a trunk."""
    desks = "".join(
        f"""interface GigabitEthernet1/0/{desk}
 description desk {desk}
 switchport access vlan {10 + number}
 switchport mode access
 switchport voice vlan {110 + number}
 spanning-tree portfast
 service-policy input DESK
"""
        for desk in range(1, 5)
    )
    return f"""version 16.12
switch 1 provision c9300-24t
hostname CLOSET{number}
class-map match-any PHONES
 match access-group name PHONES
policy-map DESK
 class PHONES
  set dscp ef
 class class-default
  set dscp default
{desks}interface TenGigabitEthernet1/1/1
 description CORE Te1/0/{number}
 switchport mode trunk
 switchport trunk allowed vlan {10 + number},{110 + number},99
interface Vlan99
 ip address 10.20.99.{number + 1} 255.255.255.0
ip access-list extended PHONES
 permit udp 10.20.{110 + number}.0 0.0.0.255 any range 16384 32767
"""


def costs(odd: int) -> Files:
    """Return a ring of four routers whose links have costs; one end of one link has the cost `odd`."""
    files = {}
    for router, others in {1: (2, 4), 2: (1, 3), 3: (2, 4), 4: (1, 3)}.items():
        text = f"hostname R{router}\n"
        for other in others:
            subnet = 4 * (10 * min(router, other) + max(router, other))
            host = subnet + (1 if router < other else 2)
            text += f"interface GigabitEthernet0/{other}\n ip address 192.0.2.{host} 255.255.255.252\n"
            text += f" ip ospf cost {odd if (router, other) == (2, 3) else 100}\n"
        text += f"interface GigabitEthernet0/9\n ip address 10.{router}.0.1 255.255.255.0\n"
        files[f"r{router}.cfg"] = text + "router ospf 1\n network 0.0.0.0 255.255.255.255 area 0\n"
    return files


def trusting(classes: str) -> Files:
    """Return two routers, of which the second trusts the codepoints of `classes` and resets all others."""
    queues = "".join(f" class {name}\n  bandwidth percent 10\n" for name in ("EF", "CS3", "AF41", "AF21"))
    maps = "".join(
        f"class-map match-any {name}\n match dscp {name.lower()}\n" for name in ("EF", "CS3", "AF41", "AF21")
    )
    kept = "".join(f" class {name}\n  set dscp {name.lower()}\n" for name in classes.split())
    trust = f"policy-map TRUST\n{kept} class class-default\n  set dscp default\n"
    return {
        f"r{number}.cfg": f"""hostname R{number}
{maps}policy-map WAN
{queues}{trust if number == 2 else ""}interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
{" service-policy input TRUST" if number == 2 else " no shutdown"}
 service-policy output WAN
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
"""
        for number in (1, 2)
    }
