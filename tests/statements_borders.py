"""Configurations of borders, dialers and customers, for rules about single statements."""

from __future__ import annotations


def customers() -> str:
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


def border(number: int, protocols: str) -> str:
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


def dialer(number: int) -> str:
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


def serial(number: int) -> str:
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
