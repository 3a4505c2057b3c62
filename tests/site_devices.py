"""Devices of one site or customer for the healthy networks of classes, as texts."""

from __future__ import annotations

FIREWALL = """system {
    host-name fw;
}
interfaces {
    ge-0/0/0 {
        unit 0 {
            family inet {
                address 192.0.2.38/30;
            }
        }
    }
    ge-0/0/1 {
        unit 0 {
            family inet {
                filter {
                    input MARK;
                }
                address 10.9.1.1/24;
            }
        }
    }
}
class-of-service {
    forwarding-classes {
        queue 0 BE;
        queue 5 RT;
    }
    interfaces {
        ge-0/0/0 {
            unit 0 {
                scheduler-map LINE;
            }
        }
    }
    scheduler-maps {
        LINE {
            forwarding-class RT scheduler RT;
            forwarding-class BE scheduler BE;
        }
    }
    schedulers {
        RT {
            transmit-rate percent 25;
            priority strict-high;
        }
        BE {
            transmit-rate percent 75;
        }
    }
}
firewall {
    family inet {
        filter MARK {
            term ALL {
                then {
                    forwarding-class RT;
                    accept;
                }
            }
        }
    }
}
"""


def core_of_classes(number: int) -> str:
    """Return a router of Junos with one class more than a site needs."""
    return f"""system {{
    host-name p{number};
}}
interfaces {{
    xe-0/0/0 {{
        unit 0 {{
            family inet {{
                address 10.0.0.{number}/24;
            }}
        }}
    }}
}}
class-of-service {{
    forwarding-classes {{
        class BE queue-num 0;
        class VID queue-num 4;
        class RT queue-num 5;
    }}
}}
"""


def of_customer(number: int, lan: str, server: str) -> str:
    """Return a router of a customer whose hosts have a server of the customer."""
    return f"""hostname ce{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
interface {lan}.11
 description data
 encapsulation dot1Q 11
 ip address 10.{number}.11.1 255.255.255.0
 ip helper-address {server}
 no ip proxy-arp
"""


def clinic(number: int) -> str:
    """Return the router of a site with a server for addresses."""
    return f"""hostname clinic{number}
interface GigabitEthernet0/1
 ip address 10.{number}.1.1 255.255.255.0
 ip helper-address 10.99.0.5
interface GigabitEthernet0/2
 ip address 192.0.2.{4 * number + 1} 255.255.255.252
"""


def second(number: int) -> str:
    """Return a second router in the subnet of a clinic's hosts."""
    return f"""hostname second{number}
interface GigabitEthernet0/1
 ip address 10.{number}.1.2 255.255.255.0
 ip helper-address 10.99.0.5
interface GigabitEthernet0/2
 ip address 192.0.2.{4 * number + 65} 255.255.255.252
"""


MANAGED_SWITCH = """hostname access
interface GigabitEthernet0/1
 switchport access vlan 10
interface Vlan10
 ip address 10.5.1.2 255.255.255.0
ip default-gateway 10.5.1.1
"""
