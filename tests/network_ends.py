"""Small networks whose link ends have matching settings, as files."""

from __future__ import annotations

Files = dict[str, str]


def _router(number: int, key: str) -> str:
    other = 3 - number
    return f"""hostname r{number}
interface Loopback0
 ip address 10.0.0.{number} 255.255.255.255
 ip ospf 1 area 0
interface GigabitEthernet0/0
 ip address 10.9.0.{number} 255.255.255.252
 ip ospf authentication message-digest
 ip ospf message-digest-key 1 md5 7 {key}
 ip ospf 1 area 0
interface GigabitEthernet0/1
 ip address 10.8.0.{number + 1} 255.255.255.0
 standby 5 ip 10.8.0.1
 standby 5 priority {100 + 10 * number}
 standby 5 authentication md5 key-string lan
 ip ospf 1 area 0
interface GigabitEthernet0/2
 ip address 192.0.2.{4 * number - 3} 255.255.255.252
router ospf 1
 router-id 10.0.0.{number}
router bgp 65001
 no bgp default ipv4-unicast
 neighbor 10.0.0.{other} remote-as 65001
 neighbor 10.0.0.{other} update-source Loopback0
 neighbor 192.0.2.{4 * number - 2} remote-as 65002
 address-family ipv4
  neighbor 10.0.0.{other} activate
  neighbor 10.0.0.{other} next-hop-self
  neighbor 192.0.2.{4 * number - 2} activate
"""


def _provider(number: int) -> str:
    return f"""system {{
    host-name p{number};
}}
interfaces {{
    ge-0/0/0 {{
        unit 0 {{
            family inet {{
                filter {{
                    input CUSTOMER-IN;
                }}
                address 192.0.2.{4 * number - 2}/30;
            }}
        }}
    }}
    ge-0/0/1 {{
        unit 0 {{
            family inet {{
                filter {{
                    output CORE-OUT;
                }}
                address 203.0.113.{4 * number - 3}/30;
            }}
        }}
    }}
}}
routing-options {{
    autonomous-system 65002;
}}
protocols {{
    bgp {{
        group CUSTOMER {{
            type external;
            peer-as 65001;
            neighbor 192.0.2.{4 * number - 3};
        }}
    }}
}}
firewall {{
    family inet {{
        filter CUSTOMER-IN {{
            term voice {{
                from {{
                    dscp ef;
                }}
                then {{
                    forwarding-class voice;
                    accept;
                }}
            }}
            term rest {{
                then accept;
            }}
        }}
        filter CORE-OUT {{
            term voice {{
                from {{
                    dscp ef;
                }}
                then {{
                    forwarding-class voice;
                    accept;
                }}
            }}
            term rest {{
                then accept;
            }}
        }}
    }}
}}
class-of-service {{
    forwarding-classes {{
        class best-effort queue-num 0;
        class voice queue-num 5;
    }}
}}
"""


def _branch_router() -> str:
    return """hostname s1
crypto ikev2 keyring KEYS
 peer hub
  address 198.51.100.2
  pre-shared-key one
interface Tunnel1
 ip address 10.99.0.2 255.255.255.252
 ip mtu 1400
 tunnel source Cellular0/2/0
 tunnel destination 198.51.100.2
interface GigabitEthernet0/0
 pppoe enable group global
 pppoe-client dial-pool-number 1
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
interface Cellular0/2/0
 ip address negotiated
interface Dialer1
 ip address 203.0.113.101 255.255.255.255
 encapsulation ppp
 dialer pool 1
router eigrp BRANCHES
 address-family ipv4 unicast autonomous-system 9
  af-interface default
   passive-interface
  af-interface Tunnel1
   no passive-interface
  network 10.0.0.0
ip route 0.0.0.0 0.0.0.0 Dialer1
ip route 198.51.100.2 255.255.255.255 Cellular0/2/0
"""


def _branch_hub() -> str:
    return """hostname hub
crypto ikev2 keyring KEYS
 peer s1
  address 100.64.0.9
  pre-shared-key one
interface Tunnel1
 ip address 10.99.0.1 255.255.255.252
 ip mtu 1400
 tunnel source GigabitEthernet0/0
 tunnel destination 100.64.0.9
interface GigabitEthernet0/0
 ip address 198.51.100.2 255.255.255.248
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.0
router eigrp BRANCHES
 address-family ipv4 unicast autonomous-system 9
  af-interface default
   passive-interface
  af-interface Tunnel1
   no passive-interface
  network 10.0.0.0
ip route 0.0.0.0 0.0.0.0 198.51.100.1
"""


def _site(number: int) -> str:
    return f"""hostname site{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number - 2} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
 service-policy input MARK
interface GigabitEthernet0/2
 ip address 203.0.113.{4 * number - 2} 255.255.255.252
router bgp 6510{number}
 neighbor 192.0.2.{4 * number - 3} remote-as 65100
 neighbor 203.0.113.{4 * number - 3} remote-as 64999
 address-family ipv4
  network 10.{number}.0.0 mask 255.255.0.0
  neighbor 192.0.2.{4 * number - 3} activate
  neighbor 192.0.2.{4 * number - 3} prefix-list OWN out
  neighbor 192.0.2.{4 * number - 3} route-map FIRST in
  neighbor 203.0.113.{4 * number - 3} activate
  neighbor 203.0.113.{4 * number - 3} prefix-list OWN out
  neighbor 203.0.113.{4 * number - 3} route-map SECOND out
ip route 10.{number}.0.0 255.255.0.0 Null0
ip prefix-list OWN seq 10 permit 10.{number}.0.0/16
route-map FIRST permit 10
 set local-preference 200
route-map SECOND permit 10
 set as-path prepend 6510{number} 6510{number}
ip access-list extended TILLS
 permit tcp 10.{number}.0.0 0.0.0.255 any eq 8443
 permit tcp 10.{number}.0.0 0.0.0.255 any eq 1883
class-map match-any TILLS
 match access-group name TILLS
policy-map MARK
 class TILLS
  set dscp af31
"""


def _site_hub() -> str:
    ports = "".join(
        f"interface GigabitEthernet0/{number}\n ip address 192.0.2.{4 * number - 3} 255.255.255.252\n"
        for number in range(1, 4)
    )
    neighbors = "".join(
        f" neighbor 192.0.2.{4 * number - 2} remote-as 6510{number}\n"
        f" neighbor 192.0.2.{4 * number - 2} prefix-list SITES in\n"
        for number in range(1, 4)
    )
    entries = "".join(
        f"ip prefix-list SITES seq {number}0 permit 10.{number}.0.0/16\n" for number in range(1, 4)
    )
    return f"hostname hub\n{ports}router bgp 65100\n{neighbors}{entries}"


def _switch() -> str:
    phones = "".join(
        f"interface GigabitEthernet0/{number}\n description desk\n switchport access vlan 10\n"
        " switchport mode access\n spanning-tree portfast\n priority-queue out\n mls qos trust cos\n"
        for number in range(1, 4)
    )
    tills = "".join(
        f"interface GigabitEthernet0/{number}\n description till\n switchport access vlan 30\n"
        " switchport mode access\n spanning-tree portfast\n priority-queue out\n"
        for number in range(4, 8)
    )
    guests = "".join(
        f"interface GigabitEthernet0/{number}\n description guest access point\n switchport access vlan 40\n"
        " switchport mode access\n spanning-tree portfast\n priority-queue out\n"
        for number in range(11, 13)
    )
    uplinks = "".join(
        f"interface GigabitEthernet0/{22 + number}\n description core {number} port\n"
        " switchport trunk native vlan 99\n switchport trunk allowed vlan 10,30,40\n"
        " switchport mode trunk\n priority-queue out\n mls qos trust dscp\n"
        for number in range(1, 3)
    )
    return f"""hostname sw1
mls qos srr-queue output cos-map queue 1 threshold 3 5
mls qos srr-queue output dscp-map queue 1 threshold 3 46
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos
{phones}{tills}{guests}{uplinks}"""


def _edge_router() -> str:
    parts = "".join(
        f"interface GigabitEthernet0/1.{number}\n encapsulation dot1Q {number}\n"
        f" ip address 10.4.{number}.1 255.255.255.0\n"
        for number in (10, 20, 30, 40)
    )
    return f"""hostname rt1
class-map match-any VOICE
 match dscp ef
policy-map FRAMES
 class VOICE
  priority percent 20
  set cos 5
 class class-default
  set cos 0
interface GigabitEthernet0/0
 description agg Gi0/1
 mtu 1530
interface GigabitEthernet0/0.101
 encapsulation dot1Q 101
 ip address 192.0.2.1 255.255.255.252
 service-policy output FRAMES
interface GigabitEthernet0/1
{parts}interface GigabitEthernet0/2
 description agg Gi0/3
 ip address 198.51.100.1 255.255.255.252
"""


def _aggregation() -> str:
    return """hostname agg
class-map match-any COS-VOICE
 match cos 5
policy-map UPLINK
 class COS-VOICE
  priority percent 20
 class class-default
  bandwidth percent 50
interface GigabitEthernet0/1
 description rt1 Gi0/0
 mtu 1530
interface GigabitEthernet0/3
 description rt1 Gi0/2
 ip address 198.51.100.2 255.255.255.252
interface GigabitEthernet0/2
 description provider
 service-policy output UPLINK
"""


NETWORKS: dict[str, Files] = {
    "core": {
        "r1.cfg": _router(1, "02050D480809"),
        "r2.cfg": _router(2, "070C285F4D06"),
        "p1.conf": _provider(1),
        "p2.conf": _provider(2),
    },
    "branches": {"hub.cfg": _branch_hub(), "s1.cfg": _branch_router()},
    "sites": {"hub.cfg": _site_hub()} | {f"site{number}.cfg": _site(number) for number in range(1, 4)},
    "switches": {"sw1.cfg": _switch(), "rt1.cfg": _edge_router(), "agg.cfg": _aggregation()},
}
