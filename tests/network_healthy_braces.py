"""Healthy networks of Junos with optional features, next to which a line looks like a fault."""

from __future__ import annotations

from network_warnings import Files


def _node(name: str, ports: str, rest: str) -> str:
    return f"""system {{
    host-name {name};
}}
interfaces {{
{ports}}}
{rest}"""


def _port(name: str, address: str, families: str = "") -> str:
    return f"""    {name} {{
        unit 0 {{
            family inet {{
                address {address};
            }}
{families}        }}
    }}
"""


def firewall() -> Files:
    """Return a firewall with a policy for applications that it detects, and its neighbor."""
    policies = """security {
    policies {
        from-zone trust to-zone untrust {
            policy WEB {
                match {
                    source-address any;
                    destination-address any;
                    dynamic-application [ junos:HTTP junos:SSL ];
                }
                then {
                    permit;
                }
            }
            policy REST {
                match {
                    source-address any;
                    destination-address any;
                    application any;
                }
                then {
                    deny;
                }
            }
        }
    }
    zones {
        security-zone trust {
            host-inbound-traffic {
                system-services {
                    all;
                }
            }
            interfaces {
                ge-0/0/1.0;
            }
        }
        security-zone untrust {
            host-inbound-traffic {
                protocols {
                    bgp;
                }
            }
            interfaces {
                ge-0/0/0.0;
            }
        }
    }
}
"""
    bgp = """routing-options {{
    autonomous-system {0};
}}
protocols {{
    bgp {{
        group OUTSIDE {{
            type external;
            peer-as {1};
            neighbor 192.0.2.{2};
        }}
    }}
}}
"""
    ports = _port("ge-0/0/0", "192.0.2.1/30") + _port("ge-0/0/1", "10.1.0.1/24")
    return {
        "srx.conf": _node("srx", ports, bgp.format(65001, 65002, 2) + policies),
        "mx.conf": _node("mx", _port("ge-0/0/0", "192.0.2.2/30"), bgp.format(65002, 65001, 1)),
    }


def _classes(rule: str) -> str:
    names = ("VOICE", "VIDEO", "DATA", "BULK")
    queues = "".join(f"        queue {place} {name};\n" for place, name in enumerate(names))
    maps = "".join(f"            forwarding-class {name} scheduler S-{name};\n" for name in names)
    schedulers = "".join(
        f"        S-{name} {{\n            transmit-rate percent 25;\n        }}\n" for name in names
    )
    return f"""class-of-service {{
    forwarding-classes {{
{queues}    }}
    interfaces {{
        ge-0/0/0 {{
            scheduler-map MAP;
            unit 0 {{
                rewrite-rules {{
                    dscp OUT;
                }}
            }}
        }}
    }}
    rewrite-rules {{
        dscp OUT {{
{rule}        }}
    }}
    scheduler-maps {{
        MAP {{
{maps}        }}
    }}
    schedulers {{
{schedulers}    }}
}}
"""


def rewrites() -> Files:
    """Return two routers with the same marks. The rule of one router imports the default for a class."""
    codes = {"VOICE": "ef", "VIDEO": "af41", "DATA": "af31", "BULK": "be"}
    entry = """            forwarding-class {} {{
                loss-priority low code-point {};
            }}
"""
    all_codes = "".join(entry.format(name, code) for name, code in codes.items())
    imported = "            import default;\n" + "".join(
        entry.format(name, code) for name, code in codes.items() if name != "BULK"
    )
    return {
        f"r{number}.conf": _node(f"r{number}", _port("ge-0/0/0", f"192.0.2.{number}/30"), _classes(rule))
        for number, rule in ((1, all_codes), (2, imported))
    }


def labels() -> Files:
    """Return two routers whose LDP runs on all ports except the port for management."""
    protocols = """protocols {
    ldp {
        interface ge-0/0/0;
        interface fxp0.0 {
            disable;
        }
        interface lo0.0;
    }
    mpls {
        interface ge-0/0/0.0;
    }
    ospf {
        area 0.0.0.0 {
            interface ge-0/0/0.0 {
                interface-type p2p;
            }
            interface lo0.0 {
                passive;
            }
        }
    }
}
"""
    files = {}
    for number in (1, 2):
        ports = _port("fxp0", f"172.31.0.{number}/24")
        ports += _port("ge-0/0/0", f"192.0.2.{number}/30", "            family mpls;\n")
        ports += _port("lo0", f"10.255.0.{number}/32")
        files[f"p{number}.conf"] = _node(f"p{number}", ports, protocols)
    return files


def shared_routes() -> Files:
    """Return a router whose instance imports the subnets of another instance, and routes to one of them."""
    rest = """routing-options {
    interface-routes {
        rib-group inet SHARED;
    }
    rib-groups {
        SHARED {
            import-rib [ inet.0 GUESTS.inet.0 ];
        }
    }
}
routing-instances {
    GUESTS {
        instance-type virtual-router;
        interface ge-0/0/1.0;
        routing-options {
            static {
                route 0.0.0.0/0 next-hop 192.0.2.2;
            }
        }
    }
}
"""
    ports = _port("ge-0/0/0", "192.0.2.1/30") + _port("ge-0/0/1", "10.9.0.1/24")
    provider = _node("provider", _port("ge-0/0/0", "192.0.2.2/30"), "")
    return {"cpe.conf": _node("cpe", ports, rest), "provider.conf": provider}


def tunnels() -> Files:
    """Return a router whose tunnel ends at a router of Junos."""
    gre = """    gr-0/0/0 {
        unit 0 {
            tunnel {
                source 192.0.2.2;
                destination 192.0.2.1;
            }
            family inet {
                address 172.16.0.2/30;
            }
        }
    }
"""
    return {
        "far.conf": _node("far", _port("ge-0/0/0", "192.0.2.2/30") + gre, ""),
        "near.cfg": """hostname near
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
interface Tunnel1
 ip unnumbered GigabitEthernet0/0
 tunnel source GigabitEthernet0/0
 tunnel destination 192.0.2.2
""",
    }


NETWORKS: dict[str, Files] = {
    "policy for detected applications": firewall(),
    "imported rewrite rule": rewrites(),
    "LDP without the port for management": labels(),
    "routes that instances share": shared_routes(),
    "tunnel to Junos": tunnels(),
}
