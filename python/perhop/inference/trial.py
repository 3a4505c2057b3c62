"""Which classes of a router packets reach: a trial simulation decides, as nothing else knows all its rules.

One simulation tries several headers: header number n sends 2ⁿ packets, so that the number of packets that
arrived in a class says which headers they had.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ipaddress import ip_address
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from perhop.codepoints import dscp_number
from perhop.document import Document
from perhop.inference.headers import PROTOCOLS, Header
from perhop.inference.network import FAR, NEAR, Network
from perhop.running import simulate
from perhop.schema_types import TrafficConfig

#: A class of the router: `("queue", path)`, or `("input", stage)` and `("output", stage)` of a conditioner.
Place = tuple[str, str]
#: Where packets are that no conditioner of the router takes.
REST: Place = ("rest", "class-default")

# Headers in one simulation, which then has a thousand packets.
_AT_ONCE = 10
# Seconds between two packets of a header: no policer drops 40 bytes in ten seconds.
_GAP_S = 10
_PACKET = 40
_NUMBERS = {name: int(number) for number, name in PROTOCOLS.items()}
# A pcap file of raw IP packets: https://www.tcpdump.org/manpages/pcap-savefile.5.html
_MAGIC, _RAW_IP = 0xA1B2C3D4, 101


def places_of(network: Network, headers: Sequence[Header]) -> list[set[Place]]:
    """Return the classes that packets with each of the headers reach."""
    found: list[set[Place]] = []
    for first in range(0, len(headers), _AT_ONCE):
        found += _tried(network, headers[first : first + _AT_ONCE])
    return found


def _tried(network: Network, headers: Sequence[Header]) -> list[set[Place]]:
    counts = _arrivals(network, headers)
    reached = (
        {place for place, count in counts.items() if count >> number & 1} for number in range(len(headers))
    )
    return [places if any(kind != "queue" for kind, _ in places) else {*places, REST} for places in reached]


def _arrivals(network: Network, headers: Sequence[Header]) -> dict[Place, int]:
    """Return how many packets reach each class where header number n sends 2ⁿ of them."""
    packets = [
        (ordinal * _GAP_S, data)
        for number, data in enumerate(_packet(network, header) for header in headers)
        for ordinal in range(1 << number)
    ]
    packets.sort(key=itemgetter(0))
    with TemporaryDirectory(prefix="perhop-") as folder:
        file = Path(folder).resolve() / "trial.pcap"
        file.write_bytes(_pcap(packets))
        entry: TrafficConfig = {
            "name": "trial",
            "from": "",
            "to": "",
            "source": {"pcap": {"file": str(file)}},
        }
        duration = f"{(1 << len(headers)) * _GAP_S}s"
        scenario = network.scenario([entry], [Header()], duration)
        summary = simulate(Document({**scenario, "seed": 1}, network.base), threads=1).summary
    counts: dict[Place, int] = {}
    for row in summary["ports"]:
        if row["port"] == network.port:
            _count(counts, ("queue", row["queue"]), row["arrived_packets"])
    sides = {"input": NEAR, "output": FAR}
    for row in summary["conditioners"]:
        if row["node"] == network.router and row["neighbor"] == sides[row["side"]]:
            _count(counts, (row["side"], row["stage"]), row["packets"])
    return counts


def _count(counts: dict[Place, int], place: Place, value: dict[str, float]) -> None:
    counts[place] = counts.get(place, 0) + int(value["mean"])


def _pcap(packets: Sequence[tuple[int, bytes]]) -> bytes:
    parts = [struct.pack(">IHHiIII", _MAGIC, 2, 4, 0, 0, 65535, _RAW_IP)]
    for seconds, data in packets:
        parts += [struct.pack(">IIII", seconds, 0, len(data), len(data)), data]
    return b"".join(parts)


def _packet(network: Network, header: Header) -> bytes:
    """Return the bytes of a packet: an IP header, and ports in the place where TCP and UDP have them."""
    source, destination = (ip_address(one).packed for one in network.ends(header))
    name = header.protocol or "udp"
    protocol = _NUMBERS.get(name) or int(name)
    size = header.packet_bytes or _PACKET
    marking = dscp_number(header.dscp or "default") << 2
    rest = struct.pack(">HH", header.source_port or 49152, header.destination_port or 9)
    if header.is_six:
        rest = rest.ljust(max(size - 40, 20), b"\0")
        return (
            struct.pack(">IHBB", 6 << 28 | marking << 20, len(rest), protocol, 64)
            + source
            + destination
            + rest
        )
    rest = rest.ljust(size - 20, b"\0")
    fields = struct.pack(">BBHHHBBH", 0x45, marking, size, 0, 0, 64, protocol, 0)
    return fields + source + destination + rest
