"""Flow records as CSV: NetFlow and IPFIX as collectors write them.

Columns have the names of nfdump (`-o csv`: `ts,te,td,sa,da,…` up to 1.7.4, `firstSeen,duration,…` since), of
flow-tools and flowd (softflowd's collector: `#:unix_secs,…,dpkts,doctets,first,last,…`), of pmacct, and of
the information elements of IPFIX (RFC 7012).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from math import isfinite
from typing import Any

from perhop.inference.table import Row

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
# Limits of times. Values below the first limit count from the exporter's start (in milliseconds for
# flow-tools); values above the other limits are milliseconds and microseconds since 1970.
_EPOCH_S, _EPOCH_MS, _EPOCH_US = 1e8, 1e11, 1e14
# IP bytes of a packet if sizes are not given.
_USUAL_PACKET = 1000
# The common fields of the flows of one conversation.
_HEADER = ("dscp", "source", "destination", "protocol", "source_port", "destination_port")
# Names of protocols by number.
_PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp"}
_LARGEST_PORT, _LARGEST_TOS, _LARGEST_DSCP, _LARGEST_PROTOCOL = 65_535, 255, 63, 255


def is_header(cells: Sequence[str]) -> bool:
    """Whether the first line of a table names the columns of flow records."""
    return {"src", "dst", "bytes"} <= {_NAMES.get(cell) for cell in cells}


def records_of(header: Row, rows: Iterator[Row]) -> dict[str, Any]:
    """Return flow records as `perhop_inference::Records`; raises `InvalidInputError`."""
    names = _names(header)
    conversations: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in _read(header, rows):
        key = tuple(record[name] for name in _HEADER)
        if known := conversations.get(key):
            _join(known, record)
        else:
            conversations[key] = record
    return {
        "conversations": list(conversations.values()),
        "has_codepoints": "dscp" in names or "tos" in names,
    }


def _join(known: dict[str, Any], record: dict[str, Any]) -> None:
    """Add a flow to the flows with the same header. A flow without bytes only increases the count."""
    known["flows"][0] += record["flows"][0]
    if not record["flows"][1]:
        return
    first, last = record["span"]
    known["span"] = (
        [min(first, known["span"][0]), max(last, known["span"][1])] if known["flows"][1] else [first, last]
    )
    known["flows"][1] += 1
    for name in ("bytes", "packets", "others"):
        known[name] += record[name]


def _names(header: Row) -> list[str]:
    return [_NAMES.get(cell, "") for cell in header.cells]


def _read(header: Row, rows: Iterator[Row]) -> Iterator[dict[str, Any]]:
    """Generate the records, each as a `perhop_inference::Conversation` of one flow."""
    names = _names(header)
    missing = [name for name in _NEEDED if name not in names]
    missing += ["last"] if "last" not in names and "duration" not in names else []
    if missing:
        raise header.wrong(
            f"the flow records have no column `{missing[0]}`",
            "needed: src,dst,proto,bytes,first, and either last or duration",
        )
    from_start = "doctets" in header.cells
    is_empty = True
    for row in rows:
        # nfdump appends a table of sums.
        if row.cells[0] in ("Summary", "No matched flows", "No matching flows"):
            break
        cells = row.by_name(header.cells)
        by_name = {name: cells[cell] for name, cell in zip(names, header.cells, strict=True) if name}
        yield _record(row, by_name, from_start=from_start)
        is_empty = False
    if is_empty:
        raise header.wrong("no flow follows the header", "one line for each flow")


def _record(row: Row, cells: dict[str, str], *, from_start: bool) -> dict[str, Any]:
    protocol = cells["proto"].lower()
    protocol = _PROTOCOLS.get(protocol, _NUMBERS.get(protocol, protocol))
    has_ports = protocol in ("tcp", "udp")
    # Python refuses numbers with thousands of digits.
    is_number = re.fullmatch("[0-9]{1,3}", protocol) and int(protocol) <= _LARGEST_PROTOCOL
    is_known = protocol in _PROTOCOLS.values() or is_number
    first = _time(row, cells["first"], from_start=from_start)
    if "last" in cells:
        last = _time(row, cells["last"], from_start=from_start)
    else:
        last = first + _number(row, "duration", cells["duration"])
    if last < first:
        raise row.wrong("the flow ends before it starts", "`last` is not before `first`")
    size = _number(row, "number of bytes", cells["bytes"])
    packets = _number(row, "number of packets", cells["packets"]) if cells.get("packets") else 0.0
    packets = packets or max(size / _USUAL_PACKET, 1.0)
    return {
        "dscp": _codepoint(row, cells),
        "source": _address(row, cells["src"]),
        "destination": _address(row, cells["dst"]),
        "protocol": protocol if is_known else "udp",
        "source_port": _port(row, cells.get("sport")) if has_ports else None,
        "destination_port": _port(row, cells.get("dport")) if has_ports else None,
        "bytes": size,
        "packets": packets if size else 0.0,
        "flows": [1, 1 if size else 0],
        "others": int(size > 0 and not is_known),
        "span": [first, last],
    }


def _address(row: Row, text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise row.wrong(f"`{text}` is not an address", "an IPv4 or IPv6 address such as 192.0.2.1") from None


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
