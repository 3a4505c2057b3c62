"""Flow records as CSV: NetFlow and IPFIX as collectors write them.

Columns are known by the names of nfdump (`-o csv`: `ts,te,td,sa,da,…` up to 1.7.4, `firstSeen,duration,…`
since), of flow-tools and flowd (softflowd's collector: `#:unix_secs,…,dpkts,doctets,first,last,…`), of
pmacct, and of the information elements of IPFIX (RFC 7012).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from math import isfinite

from perhop.errors import InvalidInputError
from perhop.inference.headers import PROTOCOLS, Header
from perhop.inference.network import Ends, Network
from perhop.inference.roles import role_of
from perhop.inference.sources import Sending, in_words, sending, transfers
from perhop.inference.table import Row
from perhop.inference.traffic import Flow, Traffic, entry, without_replies
from perhop.inference.trial import Place, places_of
from perhop.quantity import counted

_COLUMNS = {
    "src": "src sa srcaddr src_addr srcip src_ip ip_src source saddr sourceipv4address "
    "sourceipv6address ipv4_src_addr",
    "dst": "dst da dstaddr dst_addr dstip dst_ip ip_dst destination daddr destinationipv4address "
    "destinationipv6address ipv4_dst_addr",
    "proto": "proto pr prot protocol protocolidentifier ip_proto",
    "sport": "sport sp srcport src_port port_src sourcetransportport l4_src_port",
    "dport": "dport dp dstport dst_port port_dst destinationtransportport l4_dst_port",
    "dscp": "dscp ipdiffservcodepoint",
    "tos": "tos stos srctos src_tos ipclassofservice ip_tos",
    "bytes": "bytes ibyt byt doctets octets in_bytes octetdeltacount octettotalcount",
    "packets": "packets ipkt pkt pkts dpkts in_pkts packetdeltacount packettotalcount",
    "first": "first ts firstseen first_seen first_switched start starttime flowstartmilliseconds "
    "flowstartseconds",
    "last": "last te lastseen last_seen last_switched end endtime flowendmilliseconds flowendseconds",
    "duration": "duration td dur",
}
_NAMES = {alias: name for name, aliases in _COLUMNS.items() for alias in aliases.split()}
_NEEDED = ("src", "dst", "proto", "bytes", "first")
# IP protocols as nfdump names them, with their numbers.
_NUMBERS = {
    "igmp": "2",
    "ipip": "4",
    "gre": "47",
    "esp": "50",
    "ah": "51",
    "icmp6": "58",
    "ospf": "89",
    "pim": "103",
}
# Times: below the first they count from the exporter's start, in milliseconds where flow-tools wrote them;
# above the others they are milliseconds and microseconds since 1970.
_EPOCH_S, _EPOCH_MS, _EPOCH_US = 1e8, 1e11, 1e14
# The number of conversations whose classes are tried: the largest; and the packet where sizes are not given.
_MOST, _USUAL_PACKET = 1000, 1000
_LARGEST_PORT, _LARGEST_TOS, _LARGEST_DSCP, _LARGEST_PROTOCOL = 65_535, 255, 63, 255


@dataclass(frozen=True)
class Record:
    """A flow, or several with the same header."""

    header: Header
    #: Whether its protocol is not known, and taken for UDP.
    is_other: bool
    bytes: float
    packets: float
    first: float
    last: float
    flows: int = 1


def is_header(cells: Sequence[str]) -> bool:
    """Whether the first line of a table names the columns of flow records."""
    return {"src", "dst", "bytes"} <= {_NAMES.get(cell) for cell in cells}


def offered_by_records(network: Network, header: Row, rows: Iterator[Row]) -> Traffic:
    """Return traffic with the rates by class of flow records; raises `InvalidInputError`."""
    records = _read(header, rows)
    own = network.other_subnets
    known = _Subnets(own)
    leaving = [one for one in records if one.header.destination not in known]
    remarks = []
    if len(leaving) < len(records):
        remarks.append(
            f"left out: {counted(len(records) - len(leaving), 'flow')} to the router's other subnets"
        )
    if not leaving:
        raise header.wrong("no flow leaves by this interface", f"all go to {', '.join(own)}")
    leaving = [one for one in leaving if one.bytes]
    if not leaving:
        raise header.wrong("no flow that leaves has bytes", "the column `bytes` has what each flow carried")
    seconds = max(max(one.last for one in leaving) - min(one.first for one in leaving), 1.0)
    others = sum(one.is_other for one in leaving)
    if others:
        remarks.append(f"taken for UDP: {counted(others, 'flow')} of unknown protocols")
    if "dscp" not in (names := _names(header)) and "tos" not in names:
        remarks.append("no column of codepoints: all packets have the default one")
    conversations = _conversations(leaving)
    tried = conversations[:_MOST]
    if len(conversations) > _MOST:
        remarks.append(f"the {_MOST} largest of {len(conversations)} conversations stand for all")
    scale = sum(one.bytes for one in leaving) / sum(one.bytes for one in tried)
    groups = _by_place(network, tried)
    return Traffic(list(_flows(network, groups, seconds / scale)), remarks)


def _names(header: Row) -> list[str]:
    return [_NAMES.get(cell, "") for cell in header.cells]


def _read(header: Row, rows: Iterator[Row]) -> list[Record]:
    names = _names(header)
    missing = [name for name in _NEEDED if name not in names]
    missing += ["last"] if "last" not in names and "duration" not in names else []
    if missing:
        raise header.wrong(
            f"flow records without a column `{missing[0]}`",
            "needed: src,dst,proto,bytes,first and last or duration",
        )
    from_start = "doctets" in header.cells
    records = []
    for row in rows:
        # nfdump adds a table of sums below.
        if row.cells[0] in ("Summary", "No matched flows", "No matching flows"):
            break
        cells = row.by_name(header.cells)
        by_name = {name: cells[cell] for name, cell in zip(names, header.cells, strict=True) if name}
        records.append(_record(row, by_name, from_start=from_start))
    if not records:
        raise header.wrong("no flow follows the header", "one line for each flow")
    return records


def _record(row: Row, cells: dict[str, str], *, from_start: bool) -> Record:
    protocol = cells["proto"].lower()
    protocol = PROTOCOLS.get(protocol, _NUMBERS.get(protocol, protocol))
    has_ports = protocol in ("tcp", "udp")
    # Python reads no number of thousands of digits.
    is_number = re.fullmatch("[0-9]{1,3}", protocol) and int(protocol) <= _LARGEST_PROTOCOL
    is_known = protocol in PROTOCOLS.values() or is_number
    header = Header(
        dscp=_codepoint(row, cells),
        source=_address(row, cells["src"]),
        destination=_address(row, cells["dst"]),
        protocol=protocol if is_known else "udp",
        source_port=_port(row, cells.get("sport")) if has_ports else None,
        destination_port=_port(row, cells.get("dport")) if has_ports else None,
    )
    first = _time(row, cells["first"], from_start=from_start)
    if "last" in cells:
        last = _time(row, cells["last"], from_start=from_start)
    else:
        last = first + _number(row, "duration", cells["duration"])
    if last < first:
        raise row.wrong("the flow ends before it starts", "`last` is not before `first`")
    size = _number(row, "number of bytes", cells["bytes"])
    packets = _number(row, "number of packets", cells["packets"]) if cells.get("packets") else 0.0
    return Record(header, not is_known, size, packets or max(size / _USUAL_PACKET, 1.0), first, last)


def _address(row: Row, text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise row.wrong(f"`{text}` is not an address", "an IPv4 or IPv6 address, as 192.0.2.1") from None


def _number(row: Row, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise row.wrong(f"`{text}` is not a {what}", "a plain number, 0 or more")
    return value


def _port(row: Row, text: str | None) -> int | None:
    if not text:
        return None
    # nfdump writes the type and code of ICMP as `8.0`.
    port = _number(row, "port", text)
    if port > _LARGEST_PORT:
        raise row.wrong(f"`{text}` is not a port", "a number from 0 to 65535")
    return max(int(port), 1)


def _codepoint(row: Row, cells: dict[str, str]) -> str:
    if text := cells.get("dscp"):
        value = _number(row, "codepoint", text)
        if value > _LARGEST_DSCP:
            raise row.wrong(f"`{text}` is not a codepoint", "a number from 0 to 63")
        return str(int(value))
    text = cells.get("tos") or "0"
    hexadecimal = re.fullmatch("0[xX]([0-9a-fA-F]{1,8})", text)
    value = float(int(hexadecimal[1], 16)) if hexadecimal else _number(row, "TOS byte", text)
    if value > _LARGEST_TOS:
        raise row.wrong(f"`{text}` is not a TOS byte", "a number from 0 to 255")
    return str(int(value) >> 2)


def _time(row: Row, text: str, *, from_start: bool) -> float:
    """Return seconds, since 1970 or since the start of the exporter."""
    try:
        value = float(text)
    except ValueError:
        return _date(row, text)
    if not isfinite(value):
        return _date(row, text)
    if value >= _EPOCH_US:
        return value / 1e6
    if value >= _EPOCH_MS or (from_start and value < _EPOCH_S * 1e2):
        return value / 1e3
    return value


def _date(row: Row, text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise row.wrong(
            f"`{text}` is not a time", "as 2024-06-28 23:17:41.5, or seconds since 1970"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


class _Subnets:
    """Subnets in which an address is looked up, one look for each length of prefix."""

    def __init__(self, subnets: Sequence[str]) -> None:
        networks = [ip_network(one) for one in subnets]
        self._known = {(one.version, one.prefixlen, int(one.network_address)) for one in networks}
        self._lengths = sorted({(one.version, one.prefixlen) for one in networks})

    def __contains__(self, address: str | None) -> bool:
        """Whether a subnet has the address."""
        if address is None:
            return False
        own = ip_address(address)
        return any(
            (version, length, int(own) >> own.max_prefixlen - length << own.max_prefixlen - length)
            in self._known
            for version, length in self._lengths
            if version == own.version
        )


def _conversations(records: Sequence[Record]) -> list[Record]:
    """Return one record for each header, the largest first."""
    joined: dict[Header, Record] = {}
    for one in records:
        if other := joined.get(one.header):
            joined[one.header] = replace(
                other,
                bytes=other.bytes + one.bytes,
                packets=other.packets + one.packets,
                flows=other.flows + 1,
            )
        else:
            joined[one.header] = one
    return sorted(joined.values(), key=lambda one: -one.bytes)


def _by_place(network: Network, records: Sequence[Record]) -> dict[tuple[str, str, str], list[Record]]:
    """Return the records by the class that they reach (its queue and its name) and their protocol."""
    names = network.leaf_names
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record, places in zip(records, places_of(network, [one.header for one in records]), strict=True):
        queue = next((path for kind, path in sorted(places) if kind == "queue" and path in names), "")
        name = names.get(queue) or _stage(places)
        groups.setdefault((queue, name, record.header.protocol or "udp"), []).append(record)
    return groups


def _stage(places: set[Place]) -> str:
    """Return the name of the conditioner that drops all of a class."""
    return next((name.rpartition(".")[2] for kind, name in sorted(places) if kind != "queue"), "none")


def _flows(
    network: Network, groups: dict[tuple[str, str, str], list[Record]], seconds: float
) -> Iterator[Flow]:
    taken: list[Header] = []
    ends = Ends(network)
    chosen = []
    order = {leaf.path: number for number, leaf in enumerate(network.leaves)}
    in_order = sorted(groups.items(), key=lambda one: order.get(one[0][0], -1))
    for (queue, name, protocol), records in in_order:
        # An address is on one side of the router: the largest conversation that fits stands for all.
        fitting = (one.header for one in records if ends.fits(one.header))
        header = next(fitting, None)
        if header is None:
            raise InvalidInputError(
                f"class `{name}`: the flows' addresses are on both sides of the router",
                "keep the flows of one direction",
            )
        taken.append(header)
        ends.add(header)
        chosen.append((queue, name, protocol, records))
    silent = without_replies(network, taken)
    names = Counter(name for _, name, _, _ in chosen)
    for number, (header, (queue, name, protocol, records)) in enumerate(zip(taken, chosen, strict=True)):
        several = names[name] > 1
        sent = _sent(name, header, records, seconds, has_replies=number not in silent)
        made = entry(f"{name} ({protocol})" if several else name, header, sent)
        if several:
            made["class"] = name
        rate = 8 * sum(one.bytes for one in records) / seconds
        flows = sum(one.flows for one in records)
        yield Flow(
            header, made, queue or None, (in_words(rate), f"{counted(flows, 'flow')}: {sent.words}"), rate
        )


def _sent(
    name: str, header: Header, records: Sequence[Record], seconds: float, *, has_replies: bool
) -> Sending:
    size = sum(one.bytes for one in records)
    rate = 8 * size / seconds
    if header.protocol == "tcp" and has_replies:
        return transfers(rate, size / sum(one.flows for one in records))
    packet = min(max(round(size / sum(one.packets for one in records)), 28), 9000)
    role = role_of(name, header, priority=False)
    return sending(role.kind if role.kind in ("constant", "bursts") else "datagrams", rate, packet)
