"""Healthy networks with settings by default or by inheritance: MTUs, clients, aliases, shares."""

from __future__ import annotations

from network_warnings import Files


def routed(number: int, body: str = "", *, head: str = "") -> str:
    """Return a device at one end of a link, with lines before and in the block of its port."""
    return f"""hostname r{number}
{head}interface TenGigabitEthernet1/0/1
 no switchport
 ip address 10.0.0.{number} 255.255.255.252
{body}"""


def unit(number: int, families: str, body: str = "") -> str:
    """Return a router of Junos at one end of a link, with families of its port."""
    return f"""system {{
    host-name r{number};
}}
interfaces {{
    ge-0/0/0 {{
        mtu 9192;
        unit 0 {{
            family inet {{
{families}                address 10.0.0.{number}/30;
            }}
        }}
    }}
}}
{body}"""


def edge(uplink: str = "", policy: str = "  set qos-group 4\n") -> str:
    """Return a router with three ports of customers that have an input policy, and a port without one."""
    ports = "".join(
        f"interface GigabitEthernet0/{number}\n ip address 192.0.2.{4 * number + 1} 255.255.255.252\n"
        " service-policy input ARRIVING\n"
        for number in (1, 2, 3)
    )
    return f"""hostname edge
class-map match-any VOICE
 match dscp ef
policy-map ARRIVING
 class VOICE
{policy}{ports}interface GigabitEthernet0/9
 ip address 10.0.0.1 255.255.255.252
{uplink}"""


def _customer(number: int) -> str:
    return f"""hostname ce{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
"""


def edges(uplink: str = "", policy: str = "  set qos-group 4\n") -> Files:
    """Return an edge router with three customers and a core router."""
    core = f"hostname core\ninterface GigabitEthernet0/0\n ip address 10.0.0.2 255.255.255.252\n{uplink}"
    return {
        "edge.cfg": edge(uplink, policy),
        "core.cfg": core,
        **{f"ce{number}.cfg": _customer(number) for number in (1, 2, 3)},
    }


def member(number: int, body: str) -> str:
    """Return a router on a subnet with the other routers, with a loopback interface."""
    return f"""hostname r{number}
interface Loopback0
 ip address 10.255.0.{number} 255.255.255.255
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
router bgp 65000
{body}"""


_SESSION = " neighbor 10.255.0.{0} remote-as 65000\n neighbor 10.255.0.{0} update-source Loopback0\n"
_CLIENT = " neighbor 10.255.0.{0} route-reflector-client\n"


def _sessions(*others: int, extra: str = "") -> str:
    return "".join((_SESSION + extra).format(other) for other in others)


def reflectors(second: str) -> Files:
    """Return a reflector with two clients, and a second device with sessions to the same routers."""
    other = _sessions(2) if "cluster-id" in second else ""
    return {
        "r1.cfg": member(1, _sessions(3, 4, extra=_CLIENT) + other),
        "r2.cfg": member(2, second),
        "r3.cfg": member(3, _sessions(1, 2)),
        "r4.cfg": member(4, _sessions(1, 2)),
    }


_BY_TEMPLATES = (
    " bgp cluster-id 9\n template peer-policy CLIENT\n  route-reflector-client\n exit-peer-policy\n"
    + _sessions(3, 4, extra=" neighbor 10.255.0.{0} inherit peer-policy CLIENT\n")
    + _sessions(1)
)


def rewriting(number: int, kind: str, codepoint: str) -> str:
    """Return a router of Junos that writes a codepoint into packets of a class."""
    return unit(
        number,
        "",
        f"""class-of-service {{
    rewrite-rules {{
        {kind} OUT {{
            forwarding-class CONTROL {{
                loss-priority low code-point {codepoint};
            }}
        }}
    }}
}}
""",
    )


CONTROL_FIRST = """class-of-service {
    classifiers {
        dscp IN {
            forwarding-class VOICE {
                loss-priority low code-points ef;
            }
        }
    }
    scheduler-maps {
        CORE {
            forwarding-class VOICE scheduler S-VOICE;
            forwarding-class network-control scheduler S-NC;
        }
    }
    schedulers {
        S-VOICE {
            priority high;
        }
        S-NC {
            priority strict-high;
        }
    }
}
"""


def shares(number: int, percent: int, rate: int, default: str = "") -> str:
    """Return a site with a percentage of priority for EF, and the rate of its line in kbit/s."""
    return f"""hostname r{number}
class-map match-any VOICE
 match dscp ef
class-map match-any DATA
 match dscp af21
class-map match-any BULK
 match dscp af11
class-map match-any VIDEO
 match dscp af41
policy-map PLAN-{number}
 class VOICE
  priority percent {percent}
 class VIDEO
  bandwidth remaining percent 30
 class DATA
  bandwidth remaining percent 20
 class BULK
  bandwidth remaining percent 10
 class class-default
{default or "  bandwidth remaining percent 40"}
interface GigabitEthernet0/0
 bandwidth {rate}
 ip address 10.0.0.{number} 255.255.255.0
 service-policy output PLAN-{number}
"""


def labels(number: int, families: str, isis: str) -> str:
    """Return a router of Junos with IS-IS on its port."""
    return f"""system {{
    host-name r{number};
}}
interfaces {{
    ge-0/0/0 {{
        unit 0 {{
            family inet {{
                address 10.0.0.{number}/30;
            }}
{families}        }}
    }}
    lo0 {{
        unit 0 {{
            family iso {{
                address 49.0001.0000.0000.000{number}.00;
            }}
        }}
    }}
}}
protocols {{
    isis {{
        interface ge-0/0/0.0 {{
            level 1 disable;
{isis}        }}
        interface lo0.0;
    }}
}}
"""


_ISO = "            family iso;\n"


def path(hop: str) -> Files:
    """Return a chain of three routers, the first with an explicit path to the third."""
    return {
        "r1.cfg": f"""hostname r1
interface GigabitEthernet0/0
 ip address 10.0.12.1 255.255.255.252
ip explicit-path name VIA enable
 next-address {hop}
 next-address 10.0.23.2
""",
        "r2.cfg": """hostname r2
interface GigabitEthernet0/0
 ip address 10.0.12.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.0.23.1 255.255.255.252
""",
        "r3.cfg": """hostname r3
interface GigabitEthernet0/1
 ip address 10.0.23.2 255.255.255.252
interface GigabitEthernet0/2
 ip address 10.0.34.1 255.255.255.252
""",
        "r4.cfg": """hostname r4
interface GigabitEthernet0/2
 ip address 10.0.34.2 255.255.255.252
""",
    }


def meeting(number: int, point: str, loopbacks: str = "") -> str:
    """Return a router on a subnet with the others, with a rendezvous point."""
    return f"""hostname r{number}
{loopbacks}interface GigabitEthernet0/0
 ip address 10.0.{number}.1 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.0.{number - 1}.2 255.255.255.252
ip pim rp-address {point}
"""


def _loopback(number: int, address: str, vrf: str = "") -> str:
    return f"interface Loopback{number}\n{vrf} ip address {address} 255.255.255.255\n"


def meetings(point: str, loopbacks: str = "") -> Files:
    """Return a chain of routers with a rendezvous point; the one in the middle has another one."""
    return {
        "r1.cfg": meeting(1, "10.255.0.9", _loopback(9, "10.255.0.9") + loopbacks),
        "r2.cfg": meeting(2, point),
        "r3.cfg": meeting(3, "10.255.0.9", loopbacks),
    }


def terms(policy: str, extra: str = "", statements: str = "") -> str:
    """Return a router of Junos whose policy accepts networks of an interface."""
    return f"""system {{
    host-name r1;
}}
interfaces {{
    ge-0/0/0 {{
        unit 0 {{
            family inet {{
                address 10.0.0.1/30;
            }}
        }}
    }}
    irb {{
        unit 7 {{
            family inet {{
                address 10.7.0.1/24;
            }}
        }}
    }}
}}
{extra}policy-options {{
    prefix-list OURS {{
        10.7.0.0/24;
    }}
    policy-statement OUT {{
{statements}        term ours {{
            from {{
                protocol {policy};
                prefix-list OURS;
            }}
            then accept;
        }}
    }}
}}
"""


_INSTANCE = """routing-instances {
    RED {
        instance-type virtual-router;
        interface irb.7;
    }
}
"""
_GENERATED = """routing-options {
    static {
        route 10.7.0.0/24 discard;
    }
    generate {
        route 10.7.0.0/24;
    }
}
"""
SECOND_TERM = """        term direct {
            from {
                protocol direct;
                prefix-list OURS;
            }
            then accept;
        }
"""


def listed(entry: str) -> str:
    """Return a router with a class for an entry of an access list."""
    return f"""hostname r1
class-map match-any BULK
 match access-group name BULK
policy-map MARK
 class BULK
  set dscp af11
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
 service-policy input MARK
ip access-list extended BULK
 permit {entry}
"""


FAR = "hostname r2\ninterface GigabitEthernet0/0\n ip address 10.0.0.2 255.255.255.252\n"
FAR_JUMBO = "hostname r2\ninterface TenGigabitEthernet0/0\n mtu 9198\n ip address 10.0.0.2 255.255.255.252\n"
_SWITCH = "version 17.9\nsystem mtu 9198\n"
_OLD_SWITCH = "version 15.2\nsystem mtu 9198\n"
_ROUTING = "version 12.2\nsystem mtu routing 9198\n"

NETWORKS: dict[str, Files] = {
    "MTU of a switch": {"r1.cfg": routed(1, head=_SWITCH), "r2.cfg": FAR_JUMBO},
    "MTU of an old switch": {"r1.cfg": routed(1, head=_OLD_SWITCH), "r2.cfg": FAR_JUMBO},
    "MTU of routed packets": {"r1.cfg": routed(1, head=_ROUTING), "r2.cfg": FAR_JUMBO},
    "MTU of a family": {"r1.conf": unit(1, "                mtu 1500;\n"), "r2.cfg": FAR},
    "policers of customers": edges(policy="  police cir 1000000\n"),
    "marks of customers": edges(policy="  set dscp af11\n"),
    "classes of customers": edges(uplink=" ip ospf 1 area 0\nrouter ospf 1\n passive-interface Loopback0\n"),
    "clients by templates": reflectors(_BY_TEMPLATES),
    "trigger of blackhole routes": reflectors(_sessions(3, 4)),
    "aliases of DSCPs": {
        f"r{number}.conf": rewriting(number, "dscp", codepoint)
        for number, codepoint in ((1, "cs6"), (2, "nc1"), (3, "110000"))
    },
    "aliases of labels": {
        f"r{number}.conf": rewriting(number, "exp", codepoint)
        for number, codepoint in ((1, "ef"), (2, "010"), (3, "010"))
    },
    "network control first": {"r1.conf": unit(1, "", CONTROL_FIRST), "r2.conf": unit(2, "")},
    "priority of a slow line": {
        f"r{number}.cfg": shares(number, 50 if number == 3 else 10, 20000 if number == 3 else 100000)
        for number in range(1, 7)
    },
    "default class without a share": {
        f"r{number}.cfg": shares(number, 10, 100000, "  fair-queue" if number == 3 else "")
        for number in range(1, 7)
    },
    "family of a level that is off": {
        "r1.conf": labels(1, "", "            level 2 {\n                passive;\n            }\n"),
        "r2.cfg": FAR,
    },
    "path by outgoing interfaces": path("10.0.23.1"),
    "rendezvous point of several routers": meetings("10.255.0.8", _loopback(8, "10.255.0.8")),
    "rendezvous point of a VRF": meetings("10.255.0.8", _loopback(8, "10.255.0.8", " vrf forwarding RED\n")),
    "network of an instance": {"r1.conf": terms("static", _INSTANCE), "r2.cfg": FAR},
    "generated route": {"r1.conf": terms("aggregate", _GENERATED), "r2.cfg": FAR},
    "policy for all protocols": {"r1.conf": terms("static", statements=SECOND_TERM), "r2.cfg": FAR},
    "range of passive ports": {"r1.cfg": listed("tcp any any range 20000 30000"), "r2.cfg": FAR},
    "keys over TCP": {"r1.cfg": listed("tcp any any eq 4500"), "r2.cfg": FAR},
}
