"""Traffic of the user's own in place of a guess: rates by class, flow records, or a capture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.inference.flow_records import is_header, offered_by_records
from perhop.inference.network import Network
from perhop.inference.recording import is_capture, replayed
from perhop.inference.roles import ROLES, Kind
from perhop.inference.sources import in_words, sending
from perhop.inference.table import Row, rows_of
from perhop.inference.targets import Hit, Miss, found, targets
from perhop.inference.traffic import Flow, Traffic, entry, suited
from perhop.inputs import CAPTURE, TRAFFIC, read_rest, regular_file, unreadable
from perhop.quantity import quantity

# What the kinds of traffic may be called in a file, besides the names of roles.
_KINDS: dict[str, Kind] = {
    **{role.name: role.kind for role in ROLES},
    **{"constant": "constant", "cbr": "constant", "rtp": "constant"},
    **{"datagrams": "datagrams", "poisson": "datagrams", "udp": "datagrams"},
    **{"bursts": "bursts", "vbr": "bursts"},
    **{"transfers": "transfers", "short-tcp": "transfers", "web": "transfers"},
    **{"greedy": "greedy", "tcp": "greedy"},
}
_HEADER = "class,rate,packet_bytes,kind"
_LARGEST_PACKET = 65_535


def read_traffic(network: Network, file: Path) -> Traffic:
    """Return the traffic that a file describes; what kind of file it is, its content says.

    Raises:
        InvalidInputError: the file cannot be read, or a line of it is wrong.

    """
    try:
        with regular_file(file) as stream:
            first_bytes = stream.read(4)
            is_recorded = is_capture(first_bytes)
            content = read_rest(stream, CAPTURE if is_recorded else TRAFFIC, file, first_bytes)
    except OSError as error:
        raise unreadable(file, error) from error
    if is_recorded:
        return replayed(network, file, content)
    rows = rows_of(file, content)
    first = next(rows, None)
    if first is not None and "class" in first.cells and "rate" in first.cells:
        return _by_class(network, _lines(first, rows))
    if first is not None and is_header(first.cells):
        return offered_by_records(network, first, rows)
    line = first.line if first else 1
    raise InvalidInputError(
        f"`{file}`, line {line}: neither rates by class nor flow records nor a capture",
        f"the first line is `{_HEADER}`, or the header of flow records with at least "
        "src,dst,proto,bytes,first,last; a capture is pcap or pcapng",
    )


@dataclass(frozen=True)
class _Line:
    """What a line says about a class."""

    row: Row
    name: str
    rate: float | None
    packet_bytes: int | None
    kind: Kind | None


def _lines(header: Row, rows: Iterator[Row]) -> list[_Line]:
    unknown = [one for one in header.cells if one not in _HEADER.split(",")]
    if unknown:
        raise header.wrong(f"there is no column `{unknown[0]}`", f"columns: {_HEADER}")
    lines = [_line(row, row.by_name(header.cells)) for row in rows]
    if not lines:
        raise header.wrong("no class follows the header", "for example `VOICE,512kb/s,200,voice`")
    return lines


def _line(row: Row, cells: dict[str, str]) -> _Line:
    kind = cells.get("kind", "").lower()
    if kind and kind not in _KINDS:
        raise row.wrong(f"there is no kind of traffic `{kind}`", f"kinds: {', '.join(_KINDS)}")
    rate, size = cells["rate"], cells.get("packet_bytes", "")
    bits = quantity(rate) if rate else None
    greedy = _KINDS.get(kind) == "greedy"
    if (bits is None and not greedy) or (
        rate and (bits is None or bits[1] not in ("b/s", "") or bits[0] <= 0)
    ):
        raise row.wrong(f"`{rate}` is not a rate", "for example 512kb/s or 2.5Mb/s")
    if size and not (re.fullmatch("[0-9]{1,5}", size) and 28 <= int(size) <= _LARGEST_PACKET):
        raise row.wrong(f"`{size}` is not a packet size", "a whole number of IP bytes from 28 to 65535")
    return _Line(
        row, cells["class"], bits[0] if bits else None, int(size) if size else None, _KINDS.get(kind)
    )


def _by_class(network: Network, lines: Sequence[_Line]) -> Traffic:
    names = list(dict.fromkeys(target.name for target in targets(network)))
    known = set(names)
    for line in lines:
        if line.name not in known:
            near = get_close_matches(line.name, names, n=1)
            help = f"did you mean `{near[0]}`?" if near else f"classes: {', '.join(names)}"
            raise line.row.wrong(f"{network.leaving.name} has no class `{line.name}`", help)
    wanted = {line.name: line.kind for line in lines if line.kind}
    reached, misses = found(network, wanted)
    # Of several with one name, the first.
    hits = {hit.target.name: hit for hit in reversed(reached)}
    flows: list[Flow] = []
    taken: set[str] = set()
    for line in lines:
        flows.append(_flow(network, line, _hit(line, hits, misses), taken))
    given = {line.name for line in lines}
    silent = [name for name in names if name not in given]
    return Traffic(flows, [f"class `{name}`: not in the file, no traffic" for name in silent])


def _hit(line: _Line, hits: Mapping[str, Hit], misses: Sequence[Miss]) -> Hit:
    if (hit := hits.get(line.name)) is not None:
        return hit
    said = next((str(miss) for miss in misses if miss.target.name == line.name), f"class `{line.name}`")
    raise line.row.wrong(said, "leave the class out, or enter where its packets do")


def _flow(network: Network, line: _Line, hit: Hit, taken: set[str]) -> Flow:
    """Return the traffic of a line; its name is none of `taken`, which it is added to."""
    kind = suited(line.kind or hit.kind, hit.header)
    if line.rate is not None and kind == "greedy":
        kind = "transfers"
    rate = line.rate if line.rate is not None else 0.0
    usual = hit.role.packet_bytes if kind == hit.role.kind else 1000
    sent = sending(kind, rate, line.packet_bytes or usual)
    name = line.name
    number = 2
    while name in taken:
        name, number = f"{line.name}-{number}", number + 1
    taken.add(name)
    made = entry(name, hit.header, sent)
    if name != line.name:
        made["class"] = line.name
    leaf = hit.leaf(network)
    offered = (in_words(rate) if line.rate is not None else "all it gets", sent.words)
    return Flow(hit.header, made, leaf.path if leaf else None, offered, rate)
