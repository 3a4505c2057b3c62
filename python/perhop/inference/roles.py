"""What kind of traffic a class is for: recognized by its name, its codepoint or its ports.

Roles, codepoints and the nature of each role's traffic are those of RFC 4594 (figures 2 and 3), with one
exchange: Cisco's designs mark call signalling CS3 and broadcast video CS5 (Enterprise Medianet QoS Design
4.0, overview; the RFC has it the other way), and this reads Cisco's configurations. Names are those of
classes in Cisco's design guides and their usual abbreviations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from perhop.inference.headers import Header

#: How a source behaves: packets at regular intervals, single datagrams at random times, bursts of datagrams,
#: short TCP transfers, TCP that takes what it gets.
Kind = Literal["constant", "datagrams", "bursts", "transfers", "greedy"]


@dataclass(frozen=True)
class Role:
    """A kind of traffic."""

    name: str
    kind: Kind
    #: IP bytes of a packet where it sends datagrams: G.711 every 20 ms for voice, one SIP or SNMP message,
    #: one routing update, a slice of a video frame.
    packet_bytes: int
    #: The codepoint that it usually has, and others that stand for it.
    dscps: tuple[str, ...]
    #: Words in names of classes. A word with a space stands for words that follow each other.
    words: tuple[str, ...]
    #: Ports of UDP or TCP by which it is recognized, first to last.
    ports: tuple[tuple[int, int], ...] = ()


VOICE = Role(
    "voice",
    "constant",
    200,
    ("ef", "voice-admit"),
    (
        *("voice", "voip", "vo ip", "rtp", "phone", "phones", "telephony", "audio", "ef", "llq"),
        *("realtime", "real time", "rt"),
    ),
    ((16384, 32767),),
)
BEST_EFFORT = Role(
    "best effort",
    "greedy",
    1000,
    ("default", "cs0"),
    (
        "default",
        "best effort",
        "besteffort",
        "be",
        "internet",
        "web",
        "http",
        "https",
        "guest",
        "other",
        "others",
    ),
    ((80, 80), (443, 443), (8080, 8080)),
)

#: In the order in which names are tried: VOICE-SIGNALING is signalling, VIDEO-STREAMING streaming.
ROLES = (
    Role(
        "signalling",
        "datagrams",
        200,
        ("cs3",),
        (
            *("sig", "sign", "signal", "signaling", "signalling", "sip", "sccp", "skinny", "mgcp", "h323"),
            *("voice control", "call control", "vo ip control", "voip control", "video control"),
        ),
        ((5060, 5061), (1720, 1720), (2000, 2002), (2427, 2428)),
    ),
    Role(
        "routing",
        "datagrams",
        100,
        ("cs6", "cs7"),
        (
            *("routing", "route", "bgp", "ospf", "eigrp", "isis", "rip", "igp", "bfd", "hsrp", "ldp", "nc"),
            *("network control", "net ctrl", "netctrl", "internetwork control", "control", "ctrl"),
        ),
        ((179, 179), (520, 521), (646, 646), (3784, 3785)),
    ),
    Role(
        "management",
        "datagrams",
        300,
        ("cs2",),
        ("mgmt", "management", "oam", "snmp", "ssh", "telnet", "syslog", "ntp", "ops", "netmgmt", "admin"),
        ((22, 23), (123, 123), (161, 162), (514, 514)),
    ),
    Role(
        "scavenger",
        "greedy",
        1000,
        ("cs1", "le"),
        ("scavenger", "scav", "torrent", "bittorrent", "less than", "p2 p", "junk", "games"),
    ),
    Role(
        "streaming",
        "bursts",
        1200,
        ("af31", "af32", "af33", "cs5"),
        ("streaming", "stream", "broadcast", "iptv", "vod", "cctv", "multicast"),
    ),
    Role(
        "video",
        "bursts",
        1200,
        ("af41", "af42", "af43", "cs4"),
        (
            *("video", "vid", "conferencing", "conference", "conf", "telepresence", "webex", "zoom", "teams"),
            *("real time interactive", "realtime interactive", "multimedia"),
        ),
    ),
    VOICE,
    Role(
        "bulk",
        "greedy",
        1000,
        ("af11", "af12", "af13"),
        (
            *("bulk", "backup", "ftp", "mail", "email", "smtp", "replication", "storage", "batch", "sync"),
            *("bronze", "high throughput"),
        ),
        ((20, 21), (25, 25)),
    ),
    Role(
        "transactional",
        "transfers",
        600,
        ("af21", "af22", "af23"),
        (
            *("transactional", "transaction", "trans", "business", "critical", "mission", "database", "data"),
            *("interactive", "sap", "oracle", "citrix", "erp", "crm", "sql", "app", "apps", "application"),
            *("applications", "low latency", "gold", "silver", "platinum", "premium"),
        ),
        ((1433, 1433), (1521, 1521), (3200, 3299), (1494, 1494)),
    ),
    BEST_EFFORT,
)
_BY_DSCP = {dscp: role for role in ROLES for dscp in role.dscps}
# The words of a name are between other characters than letters and digits, and in `callControl`.
_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


def role_of(name: str, header: Header, *, priority: bool) -> Role:
    """Return the role of a class whose packets have `header`: by its name, its codepoint, ports, priority."""
    found = _by_name(name) or _by_codepoint(header.dscp) or _by_ports(header)
    # IP precedence 5, the codepoint CS5, was voice before there were codepoints.
    if priority and (found is None or (header.dscp == "cs5" and not _by_name(name))):
        return VOICE
    return found or BEST_EFFORT


def role_named(name: str) -> Role | None:
    """Return the role that a name says, if it says one."""
    return _by_name(name)


def _by_name(name: str) -> Role | None:
    words = [word.lower() for word in _WORD.findall(name)]
    spaced = f" {' '.join(words)} "
    for role in ROLES:
        if any(f" {word} " in spaced for word in role.words):
            return role
    return next((_BY_DSCP[word] for word in words if word in _BY_DSCP), None)


def _by_codepoint(dscp: str | None) -> Role | None:
    # The default codepoint says nothing about a class.
    return None if dscp in (None, "default") else _BY_DSCP.get(str(dscp))


def _by_ports(header: Header) -> Role | None:
    given = [port for port in (header.destination_port, header.source_port) if port is not None]
    ranges = [(role, first, last) for role in ROLES for first, last in role.ports]
    return next((role for role, first, last in ranges if any(first <= port <= last for port in given)), None)
