"""Candidate headers for the match conditions of a class; trial simulations decide which match."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice, product
from typing import Any

from perhop.codepoints import precedence_number
from perhop.schema_types import MatchConfig

#: Names of protocols by number.
PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp"}
# The shortest and the longest IP packets that are sent, bytes.
_SHORTEST, _LONGEST = 40, 1500
# An address of IPv6, of the prefix for documentation (RFC 3849), where any will do.
_ANY_SIX = "2001:db8:ffff::1"
# Addresses that configurations hardly mention, of the networks for documentation (RFC 5737).
_SOURCE, _DESTINATION = "192.0.2.1", "198.51.100.1"
# Number of alternatives tried for one class.
_MOST = 64
# Codepoints tried where the condition leaves the codepoint open.
_CODEPOINTS = ("ef", "af41", "af31", "af21", "af11", "cs6", "cs5", "cs4", "cs3", "cs2", "cs1", "cs7", "le")


@dataclass(frozen=True)
class Header:
    """The header fields that classifiers use; `None` for any value."""

    dscp: str | None = None
    source: str | None = None
    destination: str | None = None
    #: Its name, or its number.
    protocol: str | None = None
    source_port: int | None = None
    destination_port: int | None = None
    #: IP bytes.
    packet_bytes: int | None = None

    @property
    def is_six(self) -> bool:
        """Whether an address of it is one of IPv6."""
        return any(one is not None and ":" in one for one in (self.source, self.destination))

    @property
    def has_hosts(self) -> bool:
        """Whether hosts can have its addresses: not those of groups, of nobody, of everybody."""
        given = [ipaddress.ip_address(one) for one in (self.source, self.destination) if one is not None]
        return not any(
            one.is_multicast or one.is_unspecified or one.is_loopback or one.is_reserved for one in given
        )

    def joined(self, other: Header) -> Header:
        """Return the union of both headers; fields of `other` take precedence."""
        given = {one.name: getattr(other, one.name) for one in fields(other)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def candidates(matches: Sequence[MatchConfig], taken: Collection[str]) -> Iterator[Header]:
    """Generate headers that may meet all conditions, without the addresses in `taken`.

    What other classes take is not analyzed, nor are negated conditions: the plain candidates are followed by
    variants with other addresses and other codepoints.
    """
    plain = _alternatives({"all": list(matches)}, taken)
    yield from plain
    for header in plain:
        if header.source is None or header.destination is None:
            ends = (header.source or _SOURCE, header.destination or _DESTINATION)
            yield replace(header, source=ends[0], destination=ends[1])
    for header in plain:
        if header.dscp is None:
            yield from (replace(header, dscp=dscp) for dscp in _CODEPOINTS)


def _alternatives(match: Mapping[str, Any], taken: Collection[str]) -> list[Header]:
    """Return alternative headers that meet a condition."""
    parts: list[list[Header]] = []
    for key, value in match.items():
        values = value if isinstance(value, list) else [value]
        if key == "all":
            parts += [_alternatives(one, taken) for one in values]
        elif key == "any":
            parts.append(_first(header for one in values for header in _alternatives(one, taken)))
        else:
            parts.append(_first(header for one in values for header in _field(key, one, taken)))
    # Of a part, no more than the first ones are in the first combinations.
    found = islice(product(*parts), _MOST)
    return [_all_of(headers) for headers in found]


def _first(headers: Iterable[Header]) -> list[Header]:
    """Return the alternatives that are tried."""
    return list(islice(headers, _MOST))


def _all_of(headers: Sequence[Header]) -> Header:
    joined = Header()
    for header in headers:
        joined = joined.joined(header)
    return joined


def _field(key: str, value: Any, taken: Collection[str]) -> list[Header]:  # noqa: ANN401 - text or number
    match key:
        case "dscp":
            return [Header(dscp=str(value))]
        case "precedence":
            return [Header(dscp=f"cs{precedence_number(value)}")]
        case "source":
            return [Header(source=address(str(value), taken))]
        case "destination":
            return [Header(destination=address(str(value), taken))]
        case "protocol":
            return [Header(protocol=PROTOCOLS.get(str(value), str(value)))]
        case "length":
            return [Header(packet_bytes=_length(str(value)))]
        case "source-port":
            return [Header(source_port=_first_port(value))]
        case "destination-port":
            return [Header(destination_port=_first_port(value))]
        case _:
            # Colors and labels are assigned in the network, interfaces are given, `not` is not analyzed.
            return [Header()]


def _length(value: str) -> int:
    first, _, last = value.partition("-")
    return min(max(int(first), min(int(last or first), _SHORTEST)), max(int(first), _LONGEST))


def _first_port(value: Any) -> int:  # noqa: ANN401 - text or number
    return max(int(str(value).partition("-")[0]), 1)


def address(prefix: str, taken: Collection[str]) -> str | None:
    """Return a free address of a prefix; `None` for the prefix of all addresses, where any will do."""
    network = ipaddress.ip_network(prefix, strict=False)
    if network.prefixlen == 0:
        # Any address of IPv4 is any address; of IPv6, it says which protocol.
        return None if network.version == 4 else _ANY_SIX
    if network.num_addresses == 1:
        return str(network.network_address)
    free = (str(one) for one in islice(network.hosts(), len(taken) + 1))
    return next((one for one in free if one not in taken), None)
