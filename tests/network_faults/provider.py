"""The edge of a provider: two core routers, six provider edges, and 26 customer edges of five customers."""

from __future__ import annotations

from dataclasses import dataclass

from network_faults.lines import LAN_MASK, LINK_MASK, block, class_map, ends, policy_map, text

#: The sites of each customer, with their rates in Mb/s.
RATES = {
    "alpha": (50, 10, 10, 4, 4, 2),
    "bravo": (20, 10, 10, 4, 4, 4),
    "carol": (4, 4, 4, 4, 4),
    "delta": (10, 10, 4, 4, 2),
    "echo": (20, 20, 10, 10),
}
#: The tunnels between the sites of a customer.
TUNNELS = (
    *(("alpha", 1, site) for site in range(2, 7)),
    ("bravo", 1, 2),
    ("bravo", 1, 3),
    ("bravo", 2, 3),
    ("delta", 1, 2),
)
_EDGES = range(1, 7)
_CORE_CLASSES = {
    "REALTIME": ("5", "ef"),
    "BUSINESS": ("3", "af31", "af32", "cs3"),
    "BULK": ("1", "af11", "cs1"),
}


@dataclass(frozen=True)
class Access:
    """The link of a site to a provider edge."""

    customer: str
    site: int
    edge: int
    backup: bool
    #: The number of the link among all links.
    index: int
    rate: int

    @property
    def name(self) -> str:
        """Return the name of the site's router."""
        return f"{self.customer}{self.site}"

    @property
    def addresses(self) -> tuple[str, str]:
        """Return the addresses of the provider's end and of the customer's."""
        return ends(f"172.20.{self.edge}.{4 * self.index}/30")

    @property
    def tag(self) -> int:
        """Return the tag of a link over a shared port."""
        return 500 + self.index

    @property
    def shared(self) -> bool:
        """Return whether the link is a sub-interface of a shared port."""
        return self.customer in {"alpha", "bravo", "echo"}

    def at_edge(self) -> str:
        """Return the port of the provider edge."""
        if self.customer == "carol":
            return f"Multilink{self.index}"
        return f"GigabitEthernet1/0.{self.tag}" if self.shared else f"FastEthernet2/{self.site}"

    def at_site(self) -> str:
        """Return the port of the customer edge."""
        if self.customer == "carol":
            return "Multilink1"
        port = "GigabitEthernet0/2" if self.backup else "GigabitEthernet0/0"
        return f"{port}.{self.tag}" if self.shared else "FastEthernet0/0"


def _accesses() -> list[Access]:
    found: list[Access] = []
    for customer, rates in RATES.items():
        for site, rate in enumerate(rates, 1):
            edge = (len(found) + site) % 6 + 1
            found.append(Access(customer, site, edge, False, len(found) + 1, rate))
            if customer == "echo":
                found.append(Access(customer, site, (edge + 2) % 6 + 1, True, len(found) + 1, rate))
    return found


def provider_edge() -> dict[str, str]:
    """Return the files of the 34 routers of the provider and its customers."""
    files = {f"p{number}.cfg": text(_core(number)) for number in (1, 2)}
    files |= {f"pe{number}.cfg": text(_edge(number)) for number in _EDGES}
    for customer, rates in RATES.items():
        for site in range(1, len(rates) + 1):
            files[f"{customer}{site}.cfg"] = text(_site(customer, site))
    return files


def _head(name: str, version: str) -> list[str]:
    return [f"version {version}", "service password-encryption", "!", f"hostname {name}", "!", "ip cef", "!"]


def _core_classes() -> list[str]:
    lines: list[str] = []
    for name, (experimental, *marks) in _CORE_CLASSES.items():
        lines += block(
            f"class-map match-any {name}",
            f"match mpls experimental topmost {experimental}",
            *(f"match ip dscp {mark}" for mark in marks),
        )
    lines += block("class-map match-any CONTROL", "match mpls experimental topmost 6", "match ip dscp cs6")
    queues = {
        "REALTIME": ["priority percent 25"],
        "BUSINESS": ["bandwidth percent 35"],
        "BULK": ["bandwidth percent 10"],
        "CONTROL": ["bandwidth percent 3"],
        "class-default": ["fair-queue"],
    }
    copp = {
        "COPP-LDP": ["police 1000000 conform-action transmit exceed-action transmit"],
        "class-default": ["police 2000000 conform-action transmit exceed-action drop"],
    }
    return [
        *lines,
        *class_map("COPP-LDP", ["LDP"], "match access-group name", "match-all"),
        *policy_map("CORE-OUT", queues),
        *policy_map("COPP-IN", copp),
    ]


def _core_port(port: str, far: str, address: str) -> list[str]:
    return block(
        f"interface {port}",
        f"description core link to {far}",
        "mtu 1600",
        f"ip address {address} {LINK_MASK}",
        "ip router isis CORE",
        "mpls ip",
        "isis network point-to-point",
        "isis metric 10",
        "service-policy output CORE-OUT",
    )


def _core_tail(number: int, redistribute: bool) -> list[str]:
    inside = ["redistribute connected", "redistribute static ip"] if redistribute else []
    return [
        *block(
            "router isis CORE",
            f"net 49.0001.0000.0000.00{number:02}.00",
            "is-type level-2-only",
            "metric-style wide",
            *inside,
            "passive-interface Loopback0",
        ),
        "mpls ldp router-id Loopback0 force",
        "!",
        *block(
            "ip access-list extended LDP",
            "permit udp any any eq 646",
            "permit tcp any any eq 646",
            "permit tcp any eq 646 any",
        ),
        *block("control-plane", "service-policy input COPP-IN"),
        "snmp-server location provider",
        "ntp server 10.0.255.1",
        "!",
    ]


def _core(number: int) -> list[str]:
    lines = [*_head(f"p{number}", "15.2"), *_core_classes()]
    lines += block("interface Loopback0", f"ip address 10.0.255.{number} 255.255.255.255")
    for place in range(2):
        address = ends(f"10.0.0.{4 * place}/30")[number - 1]
        lines += _core_port(f"TenGigabitEthernet0/{place}", f"p{3 - number}", address)
    for edge in _EDGES:
        address = ends(f"10.0.{number}.{4 * edge}/30")[0]
        lines += _core_port(f"GigabitEthernet1/{edge}", f"pe{edge}", address)
    return lines + _core_tail(number, redistribute=False)


def _site_marks(prefix: str = "") -> list[str]:
    """Return the classes of the customers' service, which provider edges and sites share."""
    return [
        *class_map(f"{prefix}VOICE", ["ef"], "match ip dscp", "match-all"),
        *class_map(f"{prefix}BUSINESS", ["af31", "af32", "cs3"], "match ip dscp"),
        *class_map(f"{prefix}BULK", ["af11", "cs1"], "match ip dscp"),
    ]


def _edge_policies(rates: list[int]) -> list[str]:
    """Return the policers and the queues of a provider edge, per rate of its sites."""
    lines: list[str] = []
    for rate in rates:
        bits = rate * 1_000_000
        limits = {
            "CE-VOICE": [
                f"police cir {bits // 5} conform-action transmit exceed-action drop",
                "set mpls experimental imposition 5",
            ],
            "CE-BUSINESS": [
                f"police cir {bits * 3 // 10} conform-action transmit exceed-action set-dscp-transmit af32",
                "set mpls experimental imposition 3",
            ],
            "CE-BULK": ["set mpls experimental imposition 1"],
            "class-default": ["set dscp default", "set mpls experimental imposition 0"],
        }
        lines += policy_map(f"IN-{rate}M-CLASSES", limits)
        whole = f"police cir {bits} conform-action transmit exceed-action drop"
        lines += policy_map(f"IN-{rate}M", {"class-default": [whole, f"service-policy IN-{rate}M-CLASSES"]})
        lines += policy_map(
            f"OUT-{rate}M", {"class-default": [f"shape average {bits}", "service-policy OUT-CLASSES"]}
        )
    return lines


def _edge(number: int) -> list[str]:
    links = [link for link in _accesses() if link.edge == number]
    lines = [*_head(f"pe{number}", "15.2"), *_core_classes(), *_site_marks("CE-")]
    queues = {
        "CE-VOICE": ["priority percent 20"],
        "CE-BUSINESS": ["bandwidth percent 30"],
        "CE-BULK": ["bandwidth percent 10"],
        "class-default": ["fair-queue"],
    }
    lines += policy_map("OUT-CLASSES", queues)
    if any(link.customer == "carol" for link in links):
        marks = {
            "CE-VOICE": ["set mpls experimental imposition 5"],
            "CE-BUSINESS": ["set mpls experimental imposition 3"],
            "CE-BULK": ["set mpls experimental imposition 1"],
            "class-default": ["set dscp default", "set mpls experimental imposition 0"],
        }
        lines += policy_map("MULTILINK-IN", marks)
    lines += _edge_policies(sorted({link.rate for link in links if link.customer != "carol"}))
    lines += block("interface Loopback0", f"ip address 10.0.255.{10 + number} 255.255.255.255")
    for core in (1, 2):
        address = ends(f"10.0.{core}.{4 * number}/30")[1]
        lines += _core_port(f"GigabitEthernet0/{core - 1}", f"p{core}", address)
    lines += block("interface GigabitEthernet1/0", "description customers on tags", "no ip address")
    for link in links:
        lines += _edge_port(link)
    for link in links:
        distance = " 250" if link.backup else ""
        lines.append(f"ip route {_lan(link.customer, link.site)} {LAN_MASK} {link.addresses[1]}{distance}")
    return [*lines, "!", *_core_tail(10 + number, redistribute=True)]


def _edge_port(link: Access) -> list[str]:
    """Return the blocks of the provider's end of a link to a site."""
    address = f"ip address {link.addresses[0]} {LINK_MASK}"
    if link.customer == "carol":
        return _multilink(
            link.index,
            link.name,
            address,
            (f"Serial3/{2 * link.site}", f"Serial3/{2 * link.site + 1}"),
            ["service-policy input MULTILINK-IN", "service-policy output OUT-CLASSES"],
        )
    tag = [f"encapsulation dot1Q {link.tag}"] if link.shared else ["duplex full"]
    return block(
        f"interface {link.at_edge()}",
        f"description {link.name}, {link.rate} Mb/s",
        f"bandwidth {link.rate * 1000}",
        *tag,
        address,
        f"service-policy input IN-{link.rate}M",
        f"service-policy output OUT-{link.rate}M",
    )


def _multilink(
    number: int, far: str, address: str, serials: tuple[str, str], policies: list[str]
) -> list[str]:
    """Return a bundle of two E1 lines."""
    lines = block(
        f"interface Multilink{number}",
        f"description two E1 to {far}",
        "bandwidth 3968",
        address,
        "ppp multilink",
        f"ppp multilink group {number}",
        "ppp multilink fragment delay 10",
        "ppp multilink interleave",
        *policies,
    )
    for serial in serials:
        lines += block(
            f"interface {serial}",
            f"description E1 to {far}",
            "bandwidth 1984",
            "no ip address",
            "encapsulation ppp",
            "ppp multilink",
            f"ppp multilink group {number}",
        )
    return lines


def _lan(customer: str, site: int) -> str:
    return f"198.18.{16 * list(RATES).index(customer) + site}.0"


def _private(customer: str, site: int) -> str:
    return f"192.168.{16 * list(RATES).index(customer) + site}.0"


def _site_policies(rate: int, multilink: bool) -> list[str]:
    # Policers count bytes that shapers do not count, so the shapers of fast sites are a little slower.
    bits = rate * 1_000_000 if rate < 10 else rate * 960_000
    queues = {
        "VOICE": ["priority percent 20"] if multilink else [f"priority {rate * 180}"],
        "BUSINESS": ["bandwidth percent 30"] if multilink else [f"bandwidth {rate * 280}"],
        "BULK": ["bandwidth percent 10"] if multilink else [f"bandwidth {rate * 100}"],
        "class-default": ["fair-queue"],
    }
    marks = {
        "LAN-VOICE": ["set ip dscp ef"],
        "LAN-BUSINESS": ["set ip dscp af31"],
        "LAN-BULK": ["set ip dscp af11"],
        "class-default": ["set ip dscp default"],
    }
    lines = [
        *class_map("LAN-VOICE", ["VOICE-MEDIA"], "match access-group name", "match-all"),
        *class_map("LAN-BUSINESS", ["ORDERS"], "match access-group name", "match-all"),
        *class_map("LAN-BULK", ["COPIES"], "match access-group name", "match-all"),
        *policy_map("FROM-LAN", marks),
        *policy_map("SITE-QUEUES", queues),
    ]
    if not multilink:
        lines += policy_map(
            "SITE-OUT", {"class-default": [f"shape average {bits}", "service-policy SITE-QUEUES"]}
        )
    return lines


def _tunnels(customer: str, site: int, primary: dict[int, str]) -> tuple[list[str], list[str]]:
    """Return the blocks of a site's tunnels, and the routes through them."""
    lines: list[str] = []
    routes: list[str] = []
    for number, (owner, a, b) in enumerate(TUNNELS, 1):
        if owner != customer or site not in {a, b}:
            continue
        far = b if site == a else a
        address = ends(f"172.31.0.{4 * number}/30")[0 if site == a else 1]
        lines += block(
            f"interface Tunnel{number}",
            f"description private to {customer}{far}",
            f"ip address {address} {LINK_MASK}",
            "ip mtu 1476",
            "ip tcp adjust-mss 1436",
            "qos pre-classify",
            f"tunnel source {primary[site]}",
            f"tunnel destination {primary[far]}",
        )
        others = range(2, 7) if customer == "alpha" and site != 1 else ()
        for place in [far, *(other for other in others if other != site)]:
            routes.append(f"ip route {_private(customer, place)} {LAN_MASK} Tunnel{number}")
    return lines, routes


def _site(customer: str, site: int) -> list[str]:
    links = [link for link in _accesses() if (link.customer, link.site) == (customer, site)]
    primary = {
        link.site: link.addresses[1] for link in _accesses() if link.customer == customer and not link.backup
    }
    multilink = customer == "carol"
    version = {"alpha": "15.7", "bravo": "15.4", "carol": "12.4", "delta": "12.4", "echo": "15.4"}[customer]
    lines = [*_head(f"{customer}{site}", version), *_site_marks(), *_site_policies(links[0].rate, multilink)]
    tunnels, routes = _tunnels(customer, site, primary)
    lines += block(
        "interface GigabitEthernet0/1" if links[0].shared else "interface FastEthernet0/1",
        "description LAN",
        f"ip address {_lan(customer, site)[:-1]}1 {LAN_MASK}",
        "service-policy input FROM-LAN",
    )
    if tunnels:
        lines += block(
            f"interface {'GigabitEthernet0/3' if links[0].shared else 'FastEthernet1/0'}",
            "description private LAN",
            f"ip address {_private(customer, site)[:-1]}1 {LAN_MASK}",
            "service-policy input FROM-LAN",
        )
    for link in links:
        lines += _site_port(link)
    lines += tunnels
    for link in links:
        lines.append(f"ip route 0.0.0.0 0.0.0.0 {link.addresses[0]}{' 250' if link.backup else ''}")
    return [
        *lines,
        *routes,
        "!",
        *block("ip access-list extended VOICE-MEDIA", "permit udp any any range 16384 32767"),
        *block("ip access-list extended ORDERS", "permit tcp any any eq 1433", "permit tcp any any eq 5060"),
        *block("ip access-list extended COPIES", "permit tcp any any eq 445"),
        "ntp server 10.0.255.1",
        "!",
    ]


def _site_port(link: Access) -> list[str]:
    """Return the blocks of a site's end of its link."""
    far = f"pe{link.edge}"
    address = f"ip address {link.addresses[1]} {LINK_MASK}"
    if link.customer == "carol":
        return _multilink(
            1, far, address, ("Serial0/0/0", "Serial0/0/1"), ["service-policy output SITE-QUEUES"]
        )
    whole: list[str] = []
    if link.shared:
        whole = block(f"interface {link.at_site().split('.')[0]}", f"description to {far}", "no ip address")
    tag = [f"encapsulation dot1Q {link.tag}"] if link.shared else ["duplex full"]
    return whole + block(
        f"interface {link.at_site()}",
        f"description provider {far}",
        *([f"bandwidth {link.rate * 1000}"] if link.customer == "bravo" else []),
        *tag,
        address,
        "service-policy output SITE-OUT",
    )
