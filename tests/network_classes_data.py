"""Small healthy networks for rules about rates, priorities, maps and names of classes, as files."""

from __future__ import annotations

from network_warnings import Files

_HEAD = "hostname {name}\ninterface GigabitEthernet0/0\n ip address 192.0.2.{host} 255.255.255.252\n"


def _pair(body: str) -> Files:
    """Return a device with `body`, and a second device on a link between them."""
    return {
        "r1.cfg": _HEAD.format(name="r1", host=1) + body,
        "r2.cfg": _HEAD.format(name="r2", host=2) + "interface GigabitEthernet0/1\n"
        " ip address 10.2.0.1 255.255.255.0\n",
    }


def _line(number: int) -> str:
    """Return a site whose shaper has 95 % of the rate of its line."""
    return f"""hostname site{number}
policy-map WAN-{number}0M
 class class-default
  shape average {number * 9_500_000}
interface GigabitEthernet0/0
 description line {number}0M
 bandwidth {number}0000
 ip address 203.0.113.{4 * number + 1} 255.255.255.252
 service-policy output WAN-{number}0M
ip route 0.0.0.0 0.0.0.0 203.0.113.{4 * number + 2}
"""


QUEUES = """class-map match-any VOICE
 match dscp ef
class-map match-any VIDEO
 match dscp af41
policy-map WAN
 class VOICE
  priority percent 20
 class VIDEO
  bandwidth percent 30
 class class-default
  fair-queue
interface GigabitEthernet0/0
 service-policy output WAN
"""
MARKS = """class-map match-any IN-VOICE
 match access-group name LAN-VOICE
class-map match-any IN-TIME
 match access-group name LAN-TIME
class-map match-any IN-DATA
 match access-group name LAN-DATA
class-map match-any IN-BULK
 match access-group name LAN-BULK
policy-map MARK
 class IN-VOICE
  set dscp ef
 class IN-TIME
  set dscp cs6
 class IN-DATA
  set dscp af21
 class IN-BULK
  set dscp af11
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
 service-policy input MARK
ip access-list extended LAN-VOICE
 permit udp any any range 16384 32767
ip access-list extended LAN-TIME
 permit udp any any eq ntp
ip access-list extended LAN-DATA
 permit tcp any any eq 1521
ip access-list extended LAN-BULK
 permit tcp any any eq 20000
"""
SWITCH = "mls qos map cos-dscp 0 8 16 24 32 46 48 56\nmls qos\n"


def _plan(number: int) -> str:
    """Return one of several routers on one subnet, with shares and a policy for the control plane."""
    return f"""hostname r{number}
class-map match-any VOICE
 match dscp ef
class-map match-any DATA
 match dscp af21
class-map match-any BULK
 match dscp af11
class-map match-any BGP
 match access-group name BGP
policy-map PLAN-{number}
 class VOICE
  priority percent {18 + number}
 class DATA
  bandwidth remaining percent 50
 class BULK
  bandwidth remaining percent 10
 class class-default
  bandwidth remaining percent 40
policy-map CONTROL
 class BGP
  police cir 500000 bc 15625 conform-action transmit exceed-action drop
 class class-default
  police cir 100000 bc 3125 conform-action transmit exceed-action drop
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
 service-policy output PLAN-{number}
ip access-list extended BGP
 permit tcp any any eq bgp
control-plane
 service-policy input CONTROL
"""


def _core(number: int) -> str:
    """Return a core router of Junos with classes for labels."""
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
    classifiers {{
        exp IN {{
            forwarding-class RT {{
                loss-priority low code-points 101;
            }}
            forwarding-class CRIT {{
                loss-priority low code-points 011;
            }}
        }}
    }}
    forwarding-classes {{
        class BE queue-num 0;
        class CRIT queue-num 2;
        class NC queue-num 3;
        class RT queue-num 5;
    }}
    interfaces {{
        xe-0/0/0 {{
            scheduler-map CORE;
            unit 0 {{
                classifiers {{
                    exp IN;
                }}
                rewrite-rules {{
                    dscp OUT;
                }}
            }}
        }}
    }}
    rewrite-rules {{
        dscp OUT {{
            forwarding-class RT {{
                loss-priority low code-point ef;
            }}
            forwarding-class CRIT {{
                loss-priority low code-point af31;
            }}
            forwarding-class NC {{
                loss-priority low code-point cs6;
            }}
            forwarding-class BE {{
                loss-priority low code-point be;
            }}
        }}
    }}
    scheduler-maps {{
        CORE {{
            forwarding-class RT scheduler S-RT;
            forwarding-class NC scheduler S-NC;
            forwarding-class CRIT scheduler S-CRIT;
            forwarding-class BE scheduler S-BE;
        }}
    }}
    schedulers {{
        S-RT {{
            transmit-rate percent 25;
            priority high;
        }}
        S-NC {{
            transmit-rate percent 5;
            priority strict-high;
        }}
        S-CRIT {{
            transmit-rate percent 35;
            priority medium-high;
        }}
        S-BE {{
            transmit-rate percent 35;
        }}
    }}
}}
"""


NETWORKS: dict[str, Files] = {
    "lines": {f"site{number}.cfg": _line(number) for number in (2, 3, 4, 5, 6, 8)},
    "queues": _pair(QUEUES),
    "marks": _pair(MARKS),
    "maps": _pair(SWITCH),
    "plans": {f"r{number}.cfg": _plan(number) for number in range(1, 7)},
    "core": {f"p{number}.conf": _core(number) for number in (1, 2, 3)},
    "single core": {"p1.conf": _core(1), **{"p2.cfg": _HEAD.format(name="p2", host=9)}},
}
