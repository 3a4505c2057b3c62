"""Healthy networks of many kinds: warnings between their devices would be wrong."""

from __future__ import annotations

from network_warnings import Files


def _pair(first: str, second: str) -> Files:
    """Return two routers on a link, each with additional lines."""
    head = "hostname r{0}\ninterface GigabitEthernet0/0\n ip address 10.0.0.{0} 255.255.255.252\n"
    return {"r1.cfg": head.format(1) + first, "r2.cfg": head.format(2) + second}


def _routers(*bodies: str) -> Files:
    """Return routers on one subnet, each with a subnet of hosts and additional lines."""
    return {
        f"r{number}.cfg": f"""hostname r{number}
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
{body}"""
        for number, body in enumerate(bodies, 1)
    }


def _customers(count: int) -> Files:
    """Return routers of customers that announce one subnet each."""
    return {
        f"ce{number}.cfg": f"""hostname ce{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.1.{number}.1 255.255.255.0
router bgp {65000 + number}
 network 10.1.{number}.0 mask 255.255.255.0
 neighbor 192.0.2.{4 * number + 1} remote-as 64500
"""
        for number in range(1, count + 1)
    }


def _provider(lists: str, *filters: str) -> str:
    """Return a router with a link to each customer, a filter for each, and prefix lists."""
    text = "hostname hub\n"
    for number in range(1, len(filters) + 1):
        text += f"interface GigabitEthernet0/{number}\n ip address 192.0.2.{4 * number + 1} 255.255.255.252\n"
    text += "interface GigabitEthernet0/9\n ip address 10.100.0.1 255.255.255.0\n"
    text += "router bgp 64500\n network 10.100.0.0 mask 255.255.255.0\n"
    for number, line in enumerate(filters, 1):
        text += f" neighbor 192.0.2.{4 * number + 2} remote-as {65000 + number}\n"
        text += f" neighbor 192.0.2.{4 * number + 2} prefix-list {line}\n"
    return text + lists


def _edge(number: int) -> str:
    """Return one of two routers of a provider, each with its own customer and a list of the same name."""
    return f"""hostname pe{number}
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.252
interface GigabitEthernet0/1
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
router bgp 64500
 neighbor 10.0.0.{3 - number} remote-as 64500
 neighbor 192.0.2.{4 * number + 2} remote-as {65000 + number}
 neighbor 192.0.2.{4 * number + 2} prefix-list CUSTOMER-IN in
ip prefix-list CUSTOMER-IN seq 5 permit 10.1.{number}.0/24
"""


def _static(number: int) -> str:
    return f"ip route 10.9{number}.0.0 255.255.0.0 10.{number}.0.9\n"


OURS = "ip prefix-list OURS seq 5 permit 10.100.0.0/24\n"
OSPF = "router ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n"
STATIC_OSPF = f"{OSPF} redistribute static subnets\n"
NAMED_EIGRP = """router eigrp NET
 address-family ipv4 unicast autonomous-system 100
  topology base
   redistribute connected
  exit-af-topology
  network 10.0.0.0 0.0.0.255
 exit-address-family
"""
EIGRP = "router eigrp 100\n network 10.0.0.0 0.0.0.255\n redistribute connected\n"
FAMILY = """ address-family ipv4
  redistribute connected
  neighbor 10.0.0.1 activate
  neighbor 10.0.0.2 activate
 exit-address-family
"""
VRF_EIGRP = """router eigrp NET
 address-family ipv4 unicast autonomous-system 100
  network 10.9.0.0 0.0.255.255
 exit-address-family
 address-family ipv4 unicast vrf A autonomous-system 100
  network 10.0.0.0 0.0.0.255
 exit-address-family
"""
TUNNEL = """interface GigabitEthernet0/1
 ip address 203.0.113.1 255.255.255.252
interface Tunnel0
 ip address 172.16.0.1 255.255.255.252
 tunnel source GigabitEthernet0/1
 tunnel destination 198.51.100.9
ip route 0.0.0.0 0.0.0.0 10.0.0.2
ip local policy route-map BY-SOURCE
route-map BY-SOURCE permit 10
 match ip address WAN2
 set ip next-hop 203.0.113.2
ip access-list extended WAN2
 permit ip host 203.0.113.1 any
"""

NETWORKS: dict[str, Files] = {
    "neighbors with blocks (NX-OS)": {
        "n1.cfg": """hostname n1
feature bgp
interface loopback0
  ip address 10.255.0.1/32
interface Ethernet1/1
  no switchport
  ip address 10.0.0.1/30
  no shutdown
ip route 0.0.0.0/0 10.0.0.2
ip route 10.50.0.0/16 Null0
router bgp 65001
  router-id 10.255.0.1
  address-family ipv4 unicast
    network 10.50.0.0/16
  neighbor 10.255.9.9 remote-as 65009
    update-source loopback0
    ebgp-multihop 2
    address-family ipv4 unicast
  vrf RED
    address-family ipv4 unicast
      network 10.60.0.0/24
    neighbor 10.9.9.9 remote-as 65010
      ebgp-multihop 3
""",
        "n2.cfg": "hostname n2\ninterface GigabitEthernet0/0\n ip address 10.0.0.2 255.255.255.252\n",
    },
    "equal addresses in VRFs": {
        "pe.cfg": """hostname pe
ip vrf A
 rd 1:1
ip vrf B
 rd 1:2
interface GigabitEthernet0/0
 ip vrf forwarding A
 ip address 192.168.1.1 255.255.255.252
interface GigabitEthernet0/1
 ip vrf forwarding B
 ip address 192.168.1.1 255.255.255.252
router bgp 65000
 no bgp default ipv4-unicast
 address-family ipv4 vrf A
  neighbor 192.168.1.2 remote-as 65001
  neighbor 192.168.1.2 activate
 exit-address-family
 address-family ipv4 vrf B
  neighbor 192.168.1.2 remote-as 65002
  neighbor 192.168.1.2 activate
 exit-address-family
"""
    }
    | {
        f"ce{number}.cfg": f"""hostname ce{number}
interface GigabitEthernet0/0
 ip address 192.168.1.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
router bgp 6500{number}
 network 10.1.0.0 mask 255.255.255.0
 neighbor 192.168.1.1 remote-as 65000
"""
        for number in (1, 2)
    },
    "only the default route for a customer": {
        "hub.cfg": _provider(
            OURS + "ip prefix-list DEFAULT-ONLY seq 5 permit 0.0.0.0/0\n",
            "OURS out",
            "OURS out",
            "DEFAULT-ONLY out",
        )
    }
    | _customers(3),
    "default route to external neighbors": {
        "edge.cfg": "hostname edge\ninterface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.252\n"
        "router bgp 65001\n network 0.0.0.0\n neighbor 192.0.2.2 remote-as 65002\n"
        "ip route 0.0.0.0 0.0.0.0 192.0.2.2\n",
        "peer.cfg": "hostname peer\ninterface GigabitEthernet0/0\n ip address 192.0.2.2 255.255.255.252\n"
        "router bgp 65002\n neighbor 192.0.2.1 remote-as 65001\n",
    },
    "routes of a VPN for OSPF": {
        "pe1.cfg": "hostname pe1\nip vrf RED\n rd 65000:1\n route-target both 65000:1\n"
        "interface Loopback0\n ip address 10.255.0.1 255.255.255.255\n"
        "interface GigabitEthernet0/0\n ip address 10.254.0.1 255.255.255.252\n"
        "router ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n"
        "router ospf 2 vrf RED\n redistribute bgp 65000 subnets\n"
        "router bgp 65000\n neighbor 10.255.0.2 remote-as 65000\n"
        " neighbor 10.255.0.2 update-source Loopback0\n",
        "pe2.cfg": "hostname pe2\ninterface Loopback0\n ip address 10.255.0.2 255.255.255.255\n"
        "interface GigabitEthernet0/0\n ip address 10.254.0.2 255.255.255.252\n"
        "router ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n"
        "router bgp 65000\n neighbor 10.255.0.1 remote-as 65000\n"
        " neighbor 10.255.0.1 update-source Loopback0\n",
    },
    "no route for a customer": {
        "hub.cfg": _provider(
            OURS + "ip prefix-list NOTHING seq 5 deny 0.0.0.0/0 le 32\n",
            "OURS out",
            "OURS out",
            "NOTHING out",
        )
    }
    | _customers(3),
    "aggregate in a filter": {
        "hub.cfg": _provider("ip prefix-list OURS seq 5 permit 10.100.0.0/16\n", "OURS out").replace(
            " neighbor", " aggregate-address 10.100.0.0 255.255.0.0 summary-only\n neighbor", 1
        )
    }
    | _customers(1),
    "lists of two customers": {
        "hub.cfg": _provider(
            "ip prefix-list FROM-A seq 5 permit 10.1.1.0/24\n"
            "ip prefix-list FROM-A seq 10 permit 10.1.2.0/24\n"
            "ip prefix-list FROM-B seq 5 permit 10.1.3.0/24\n",
            "FROM-A in",
            "FROM-A in",
            "FROM-B in",
        )
    }
    | _customers(3),
    "one name for the lists of two customers": {"pe1.cfg": _edge(1), "pe2.cfg": _edge(2)} | _customers(2),
    "redistribution in an address family": _routers(
        "router bgp 65000\n redistribute connected\n neighbor 10.0.0.2 remote-as 65000\n"
        " neighbor 10.0.0.3 remote-as 65000\n",
        "router bgp 65000\n redistribute connected\n neighbor 10.0.0.1 remote-as 65000\n"
        " neighbor 10.0.0.3 remote-as 65000\n",
        "router bgp 65000\n neighbor 10.0.0.1 remote-as 65000\n neighbor 10.0.0.2 remote-as 65000\n" + FAMILY,
    ),
    "redistribution in the named form": _routers(EIGRP, EIGRP, NAMED_EIGRP),
    "redistribution at the border": _routers(
        f"{OSPF} redistribute bgp 65000 subnets\nrouter bgp 65000\n neighbor 10.0.0.2 remote-as 65000\n"
        " neighbor 10.1.0.9 remote-as 65009\n",
        f"{OSPF}router bgp 65000\n neighbor 10.0.0.1 remote-as 65000\n",
    ),
    "networks in place of redistribution": _routers(
        "router ospf 1\n network 10.0.0.0 0.0.0.255 area 0\n redistribute connected subnets\n",
        "router ospf 1\n network 10.0.0.0 0.0.0.255 area 0\n redistribute connected subnets\n",
        f"{OSPF} passive-interface GigabitEthernet0/1\n",
    ),
    "only a static default route": _routers(
        STATIC_OSPF + _static(1),
        STATIC_OSPF + _static(2),
        f"{OSPF} default-information originate\nip route 0.0.0.0 0.0.0.0 10.3.0.254\n",
    ),
    "process of a VRF without redistribution": _routers(
        STATIC_OSPF + _static(1),
        STATIC_OSPF + _static(2),
        "ip vrf X\n rd 1:1\ninterface GigabitEthernet0/5\n ip vrf forwarding X\n"
        f" ip address 10.77.0.1 255.255.255.0\n{STATIC_OSPF}"
        f"router ospf 2 vrf X\n network 10.77.0.0 0.0.0.255 area 0\n{_static(3)}",
    ),
    "authentication in one of two areas": {
        "r1.cfg": """hostname r1
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.252
 ip ospf message-digest-key 1 md5 0 abc
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.252
router ospf 1
 area 0 authentication message-digest
 network 10.0.0.0 0.0.0.3 area 0
 network 10.0.1.0 0.0.0.3 area 1
""",
        "r2.cfg": """hostname r2
interface GigabitEthernet0/0
 ip address 10.0.0.2 255.255.255.252
 ip ospf message-digest-key 1 md5 0 abc
router ospf 1
 area 0.0.0.0 authentication message-digest
 network 10.0.0.0 0.0.0.3 area 0
""",
        "r3.cfg": """hostname r3
interface GigabitEthernet0/1
 ip address 10.0.1.2 255.255.255.252
router ospf 1
 network 10.0.1.0 0.0.0.3 area 1
""",
    },
    "encrypted key at one end": _pair(
        " ip ospf authentication message-digest\n ip ospf message-digest-key 1 md5 mykey\n" + OSPF,
        " ip ospf authentication message-digest\n ip ospf message-digest-key 1 md5 3 a667d47acc18ea6b\n"
        + OSPF,
    ),
    "EIGRP in a VRF of one end": {
        "pe.cfg": "hostname pe\nip vrf A\n rd 1:1\ninterface GigabitEthernet0/0\n ip vrf forwarding A\n"
        f" ip address 10.0.0.1 255.255.255.252\n{VRF_EIGRP}",
        "ce.cfg": "hostname ce\ninterface GigabitEthernet0/0\n ip address 10.0.0.2 255.255.255.252\n"
        "router eigrp NET\n address-family ipv4 unicast autonomous-system 100\n"
        "  network 10.0.0.0 0.0.0.255\n",
    },
    "member of a dialer pool in a PVC": _pair(
        "interface ATM0.1 point-to-point\n pvc 8/35\n  pppoe-client dial-pool-number 1\n"
        "interface Dialer1\n ip address negotiated\n encapsulation ppp\n dialer pool 1\n dialer-group 1\n"
        "dialer-list 1 protocol ip permit\n",
        "",
    ),
    "session from any port": _pair(
        "router eigrp 1\n network 10.0.0.0\nrouter bgp 65001\n neighbor 10.255.0.2 remote-as 65001\n",
        "interface Loopback0\n ip address 10.255.0.2 255.255.255.255\nrouter eigrp 1\n network 10.0.0.0\n"
        "router bgp 65001\n neighbor 10.0.0.1 remote-as 65001\n neighbor 10.0.0.1 update-source Loopback0\n",
    ),
    "long numbers of systems": _pair(
        "router bgp 1.10\n bgp asnotation dot\n neighbor 10.0.0.2 remote-as 65002\n",
        "router bgp 65002\n neighbor 10.0.0.1 remote-as 65546\n",
    ),
    "source of a tunnel with a local policy": _pair(TUNNEL, ""),
    "route-map without longer paths": _pair(
        "router bgp 65001\n neighbor 10.0.0.2 remote-as 65002\n neighbor 10.0.0.2 route-map NO-PREPEND out\n"
        "route-map NO-PREPEND permit 10\n",
        "router bgp 65002\n neighbor 10.0.0.1 remote-as 65001\n",
    ),
    "neighbors of a listening hub": _routers(
        "router bgp 65000\n bgp listen range 10.0.0.0/24 peer-group SPOKES\n neighbor SPOKES peer-group\n"
        " neighbor SPOKES remote-as 65001\n neighbor SPOKES password 0 abc\n",
        *(
            f"router bgp 65001\n network 10.{number}.0.0 mask 255.255.255.0\n"
            " neighbor 10.0.0.1 remote-as 65000\n"
            " neighbor 10.0.0.1 password 0 abc\n neighbor 10.0.0.1 allowas-in\n"
            for number in (2, 3, 4)
        ),
    ),
    "one external neighbor": _routers(
        *(
            f"{OSPF}router bgp 65000\n neighbor INSIDE peer-group\n neighbor INSIDE remote-as 65000\n"
            + "".join(
                f" neighbor 10.0.0.{other} peer-group INSIDE\n" for other in (1, 2, 3) if other != number
            )
            + (" neighbor 172.16.0.1 remote-as 64999\n neighbor 172.16.0.1 ebgp-multihop 9\n" * (number == 1))
            for number in (1, 2, 3)
        )
    ),
    "password in a template": _pair(
        "router bgp 65001\n template peer-session S\n  remote-as 65002\n  password 0 abc\n"
        " exit-peer-session\n"
        " neighbor 10.0.0.2 inherit peer-session S\n",
        "router bgp 65002\n neighbor 10.0.0.1 remote-as 65001\n neighbor 10.0.0.1 password 0 abc\n",
    ),
    "address of a loopback in a VRF": {
        "pe.cfg": "hostname pe\nip vrf A\n rd 1:1\ninterface Loopback1\n ip vrf forwarding A\n"
        " ip address 10.0.0.2 255.255.255.255\n",
        "r2.cfg": "hostname r2\ninterface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.252\n",
    },
}
