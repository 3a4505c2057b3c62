"""A campus: two cores, two distribution routers, two data centers, four access routers, four static edges."""

from __future__ import annotations

from dataclasses import dataclass

from network_faults.lines import LAN_MASK, LINK_MASK, block, class_map, ends, policy_map, text

#: The lowest number of the loopbacks and LANs of each router.
ROUTERS = {
    "core1": 1,
    "core2": 2,
    "dist1": 3,
    "dist2": 4,
    "dc1": 5,
    "dc2": 6,
    "acc1": 11,
    "acc2": 12,
    "acc3": 13,
    "acc4": 14,
    "edge1": 21,
    "edge2": 22,
    "edge3": 23,
    "edge4": 24,
}
_TEN = "TenGigabitEthernet1/1/"
_ONE = "GigabitEthernet1/0/"
_METRO = 500
_EDGE = 100


@dataclass(frozen=True)
class Link:
    """A link between two routers, with a port at each end."""

    a: str
    a_port: str
    b: str
    b_port: str
    network: str
    #: The OSPF area; `None` for a link with static routes.
    area: int | None
    tag: int | None = None
    mtu: int | None = None
    cost: int | None = None


def _links() -> list[Link]:
    found = [
        Link("core1", f"{_TEN}1", "core2", f"{_TEN}1", "10.30.0.0/30", 0, mtu=9100),
        Link("core1", f"{_TEN}2", "core2", f"{_TEN}2", "10.30.0.4/30", 0, mtu=9100),
    ]
    for place, name in enumerate(("dist1", "dist2", "dc1", "dc2")):
        for core in (1, 2):
            network = f"10.30.{core}.{4 * place}/30"
            found.append(
                Link(f"core{core}", f"{_TEN}{3 + place}", name, f"{_TEN}{core}", network, 0, mtu=9100)
            )
    for dist in (1, 2):
        for acc in range(1, 5):
            network, cost = f"10.30.{10 + dist}.{4 * acc}/30", 10 if (acc + dist) % 2 else 20
            found.append(
                Link(
                    *(f"dist{dist}", f"{_ONE}{acc}", f"acc{acc}", f"{_ONE}{dist}", network, 1),
                    tag=100 * dist + acc,
                    cost=cost,
                )
            )
    homes = {
        1: (("core1", f"{_ONE}1"), ("core2", f"{_ONE}1")),
        2: (("core2", f"{_ONE}2"), ("core1", f"{_ONE}2")),
        3: (("dist1", f"{_ONE}5"), ("dist2", f"{_ONE}5")),
        4: (("dist2", f"{_ONE}6"), ("dist1", f"{_ONE}6")),
    }
    for edge, pair in homes.items():
        for place, (name, port) in enumerate(pair):
            network, tag = f"10.30.{20 + edge}.{4 * place}/30", 300 + 10 * edge + place
            found.append(Link(name, port, f"edge{edge}", f"{_ONE}{place + 1}", network, None, tag=tag))
    return found


def campus() -> dict[str, str]:
    """Return the files of the fourteen routers of the campus."""
    return {f"{name}.cfg": text(_router(name)) for name in ROUTERS}


def _head(name: str) -> list[str]:
    return [
        "version 17.3",
        "service timestamps log datetime msec show-timezone",
        "platform qfp utilization monitor load 80",
        "!",
        f"hostname {name}",
        "!",
        "no ip domain lookup",
        "ip domain name campus.example.org",
        "!",
    ]


def _classes(name: str) -> list[str]:
    lines = [
        *class_map("VOICE", ["ef"], "match ip dscp", "match-all"),
        *class_map("VIDEO", ["af41"], "match ip dscp", "match-all"),
        *class_map("SIGNALING", ["cs3"], "match ip dscp", "match-all"),
        *class_map("CRITICAL", ["af31"], "match ip dscp", "match-all"),
        *class_map("BULK", ["af11"], "match ip dscp", "match-all"),
        *class_map("SCAVENGER", ["cs1"], "match ip dscp", "match-all"),
        *class_map("NETWORK", ["cs6"], "match ip dscp", "match-all"),
        *class_map("COPP-OSPF", ["COPP-OSPF"], "match access-group name", "match-all"),
        *class_map("COPP-OPERATORS", ["COPP-OPERATORS"], "match access-group name", "match-all"),
    ]
    if _has_lan(name):
        lines += [
            *class_map("IN-VOICE", ["VOICE-BEARER"], "match access-group name", "match-all"),
            *class_map("IN-VIDEO", ["VIDEO-ROOMS"], "match access-group name", "match-all"),
            *class_map("IN-SIGNALING", ["CALL-CONTROL"], "match access-group name", "match-all"),
            *class_map("IN-CRITICAL", ["BUSINESS"], "match access-group name", "match-all"),
            *class_map("IN-BULK", ["BACKUP"], "match access-group name", "match-all"),
            *class_map("IN-SCAVENGER", ["UPDATES"], "match access-group name", "match-all"),
        ]
    if not _has_lan(name):
        lines += [
            *class_map("FRAMES-VOICE", ["5"], "match cos", "match-all"),
            *class_map("FRAMES-VIDEO", ["4"], "match cos", "match-all"),
            *class_map("UNTRUSTED-REALTIME", ["ef", "af41"], "match ip dscp"),
        ]
    return lines


def _has_lan(name: str) -> bool:
    return not name.startswith(("core", "dist"))


def _queues(name: str) -> dict[str, list[str]]:
    """Return the classes of the queues; edges mark the frames too."""
    cos = name.startswith("edge")
    return {
        "VOICE": ["priority percent 15", *(["set cos 5"] if cos else [])],
        "VIDEO": ["bandwidth remaining percent 30", *(["set cos 4"] if cos else [])],
        "SIGNALING": ["bandwidth remaining percent 5"],
        "CRITICAL": ["bandwidth remaining percent 25", "random-detect dscp-based"],
        "BULK": ["bandwidth remaining percent 10"],
        "SCAVENGER": ["bandwidth remaining percent 1"],
        "NETWORK": ["bandwidth remaining percent 4"],
        "class-default": ["bandwidth remaining percent 25", "random-detect"],
    }


def _policies(name: str) -> list[str]:
    lines = policy_map("QUEUES", _queues(name))
    if name.startswith(("dist", "acc")):
        shaping = [f"shape average {_METRO * 1_000_000}", "service-policy QUEUES"]
        lines += policy_map("METRO-OUT", {"class-default": shaping})
    if name.startswith(("dist", "core", "edge")):
        shaping = [f"shape average {_EDGE * 1_000_000}", "service-policy QUEUES"]
        lines += policy_map("EDGE-OUT", {"class-default": shaping})
    if name.startswith(("dist", "core")):
        trusted = {
            "FRAMES-VOICE": ["set dscp ef"],
            "FRAMES-VIDEO": ["set dscp af41"],
            "UNTRUSTED-REALTIME": ["set dscp default"],
        }
        lines += policy_map("FROM-EDGE", trusted)
    if _has_lan(name):
        marks = {
            "IN-VOICE": ["set dscp ef"],
            "IN-VIDEO": ["set dscp af41"],
            "IN-SIGNALING": ["set dscp cs3"],
            "IN-CRITICAL": ["set dscp af31"],
            "IN-BULK": ["set dscp af11"],
            "IN-SCAVENGER": ["set dscp cs1"],
            "class-default": ["set dscp default"],
        }
        lines += policy_map("MARK-LAN", marks)
    copp = {
        "COPP-OSPF": ["police cir 1000000 conform-action transmit exceed-action transmit"],
        "COPP-OPERATORS": ["police cir 512000 conform-action transmit exceed-action drop"],
        "class-default": ["police cir 128000 conform-action transmit exceed-action drop"],
    }
    return lines + policy_map("COPP", copp)


def _port(name: str, link: Link) -> list[str]:
    """Return the blocks of a router's end of a link."""
    here = link.a == name
    port, far = (link.a_port, link.b) if here else (link.b_port, link.a)
    address = ends(link.network)[0 if here else 1]
    static = link.area is None
    if link.tag is None:
        layer = [*([f"mtu {link.mtu}"] if link.mtu else [])]
        whole, head = [], f"interface {port}"
    else:
        layer = [f"encapsulation dot1Q {link.tag}"]
        rate = _EDGE if static else _METRO
        whole = block(f"interface {port}", f"description trunk to {far}", "no ip address")
        head = f"interface {port}.{link.tag}"
        layer.insert(0, f"bandwidth {rate * 1000}")
    lines = [f"description to {far}", *layer, f"ip address {address} {LINK_MASK}"]
    if not static:
        lines += ["ip ospf network point-to-point", f"ip ospf 10 area {link.area}"]
    if link.cost:
        lines.append(f"ip ospf cost {link.cost}")
    if static and here:
        lines += ["ip access-group FROM-EDGE in", "service-policy input FROM-EDGE"]
    output = "QUEUES" if link.tag is None else "EDGE-OUT" if static else "METRO-OUT"
    return whole + block(head, *lines, f"service-policy output {output}")


def _lans(name: str) -> list[str]:
    """Return the blocks of the two LANs of a router."""
    lines = block("interface GigabitEthernet1/0/10", "description switch stack", "no ip address")
    area = None if name.startswith("edge") else 0 if name.startswith("dc") else 1
    for tag, remark in ((50, "workplaces"), (60, "telephones")):
        lines += block(
            f"interface GigabitEthernet1/0/10.{tag}",
            f"description {remark}",
            f"encapsulation dot1Q {tag}",
            f"ip address 10.{100 + ROUTERS[name]}.{tag}.1 {LAN_MASK}",
            *([f"ip ospf 10 area {area}"] if area is not None else []),
            "service-policy input MARK-LAN",
        )
    return lines


def _routing(name: str) -> list[str]:
    """Return the routing process of a router, and its static routes."""
    lines: list[str] = []
    links = [link for link in _links() if name in {link.a, link.b}]
    if not name.startswith("edge"):
        active = []
        for link in links:
            if link.area is not None:
                port = link.a_port if link.a == name else link.b_port
                active.append(f"no passive-interface {port}" + (f".{link.tag}" if link.tag else ""))
        statics = name.startswith(("core", "dist"))
        lines += block(
            "router ospf 10",
            f"router-id 10.31.0.{ROUTERS[name]}",
            *(["redistribute static subnets"] if statics else []),
            "passive-interface default",
            *active,
        )
    for link in links:
        if link.area is not None:
            continue
        first = link.b_port.endswith("1")
        near, far = ends(link.network)
        distance = "" if first else " 250"
        if name == link.b:
            lines.append(f"ip route 0.0.0.0 0.0.0.0 {near}{distance}")
        else:
            for tag in (50, 60):
                lan = f"10.{100 + ROUTERS[link.b]}.{tag}.0"
                lines.append(f"ip route {lan} {LAN_MASK} {far}{distance}")
    return [*lines, "!"]


def _lists(name: str) -> list[str]:
    lines = [
        *block("ip access-list extended COPP-OSPF", "permit ospf any any"),
        *block(
            "ip access-list extended COPP-OPERATORS",
            "permit tcp 10.105.50.0 0.0.0.255 any eq 22",
            "permit udp 10.105.50.0 0.0.0.255 any eq snmp",
            "permit icmp 10.0.0.0 0.255.255.255 any",
        ),
    ]
    if _has_lan(name):
        lines += [
            *block("ip access-list extended VOICE-BEARER", "permit udp any any range 16384 32767"),
            *block("ip access-list extended VIDEO-ROOMS", "permit udp any any range 3230 3250"),
            *block("ip access-list extended CALL-CONTROL", "permit tcp any any eq 5060"),
            *block("ip access-list extended BUSINESS", "permit tcp any any eq 1521"),
            *block("ip access-list extended BACKUP", "permit tcp any any eq 873"),
            *block("ip access-list extended UPDATES", "permit tcp any any eq 8530"),
        ]
        return lines
    return lines + block(
        "ip access-list extended FROM-EDGE",
        "deny   ip 192.168.0.0 0.0.255.255 any",
        "permit ip 10.0.0.0 0.255.255.255 any",
        "deny   ip any any",
    )


def _router(name: str) -> list[str]:
    lines = [*_head(name), *_classes(name), *_policies(name)]
    area = 1 if name.startswith("acc") else 0
    ospf = [] if name.startswith("edge") else [f"ip ospf 10 area {area}"]
    lines += block("interface Loopback0", f"ip address 10.31.0.{ROUTERS[name]} 255.255.255.255", *ospf)
    for link in _links():
        if name in {link.a, link.b}:
            lines += _port(name, link)
    if _has_lan(name):
        lines += _lans(name)
    lines += [*_routing(name), *_lists(name)]
    lines += block("control-plane", "service-policy input COPP")
    lines += ["logging host 10.105.50.20", "snmp-server contact operators", "ntp server 10.105.50.21", "!"]
    return lines
