"""Headers that a condition of a policy takes: candidates, which the simulator then judges."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice, product
from typing import Any

# The names of IP precedences, from 0 on.
_PRECEDENCES = (
    "routine",
    "priority",
    "immediate",
    "flash",
    "flash-override",
    "critical",
    "internet",
    "network",
)
_PROTOCOLS = {"6": "tcp", "17": "udp"}
# Of a class with more alternatives, only the first so many are tried.
_MOST = 64
# What is tried in place of a codepoint that the condition leaves open.
_CODEPOINTS = ("ef", "af41", "af31", "af21", "af11", "cs6", "cs5", "cs4", "cs3", "cs2", "cs1")


@dataclass(frozen=True)
class Header:
    """What of a packet classifiers look at; `None` where anything will do."""

    dscp: str | None = None
    source: str | None = None
    destination: str | None = None
    #: `tcp` or `udp`; others no source sends.
    protocol: str | None = None
    source_port: int | None = None
    destination_port: int | None = None

    def joined(self, other: Header) -> Header:
        """Return one that has what either asks for; where both ask, the other's."""
        said = {one.name: getattr(other, one.name) for one in fields(other)}
        return replace(self, **{name: value for name, value in said.items() if value is not None})


def candidates(matches: Sequence[Mapping[str, Any]], taken: Sequence[str]) -> Iterator[Header]:
    """Return headers of which some may meet all conditions; addresses that are `taken` are left out.

    What must not hold is left to chance: after the plain candidates come the same with other codepoints.
    """
    plain = _alternatives({"all": list(matches)}, taken)
    yield from plain
    for header in plain:
        if header.dscp is None:
            yield from (replace(header, dscp=dscp) for dscp in _CODEPOINTS)


def _alternatives(match: Mapping[str, Any], taken: Sequence[str]) -> list[Header]:
    """Return what a condition takes as a list of headers, each of which is enough."""
    parts: list[list[Header]] = []
    for key, value in match.items():
        values = value if isinstance(value, list) else [value]
        if key == "all":
            parts += [_alternatives(one, taken) for one in values]
        elif key == "any":
            parts.append([header for one in values for header in _alternatives(one, taken)])
        else:
            parts.append([header for one in values for header in _field(key, one, taken)])
    found = islice(product(*parts), _MOST)
    return [_all_of(headers) for headers in found]


def _all_of(headers: Sequence[Header]) -> Header:
    joined = Header()
    for header in headers:
        joined = joined.joined(header)
    return joined


def _field(key: str, value: Any, taken: Sequence[str]) -> list[Header]:  # noqa: ANN401 - text or number
    match key:
        case "dscp":
            return [Header(dscp=str(value))]
        case "precedence":
            number = _PRECEDENCES.index(value) if value in _PRECEDENCES else int(value)
            return [Header(dscp=f"cs{number}")]
        case "source":
            return [Header(source=address(str(value), taken))]
        case "destination":
            return [Header(destination=address(str(value), taken))]
        case "protocol":
            name = _PROTOCOLS.get(str(value), str(value))
            return [Header(protocol=name)] if name in ("tcp", "udp") else []
        case "source-port":
            return [Header(source_port=_first_port(value))]
        case "destination-port":
            return [Header(destination_port=_first_port(value))]
        case _:
            # Colors and labels are given on the way, interfaces are where they are, `not` asks for nothing.
            return [Header()]


def _first_port(value: Any) -> int:  # noqa: ANN401 - text or number
    return max(int(str(value).partition("-")[0]), 1)


def address(prefix: str, taken: Sequence[str]) -> str | None:
    """Return an address of a prefix that nobody has; `None` of all addresses, of which any will do."""
    network = ipaddress.ip_network(prefix, strict=False)
    if network.prefixlen == 0:
        return None
    if network.num_addresses == 1:
        return str(network.network_address)
    free = (str(one) for one in islice(network.hosts(), len(taken) + 1))
    return next((one for one in free if one not in taken), None)
