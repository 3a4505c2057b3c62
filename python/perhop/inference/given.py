"""Traffic of the user's own in place of a guess: rates by class, flow records, or a capture."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.inference.flow_records import is_header, records_of
from perhop.inference.table import Row, rows_of
from perhop.inputs import CAPTURE, TRAFFIC, read_rest, regular_file, unreadable
from perhop.quantity import quantity

# What the kinds of traffic may be called in a file: as roles, or as kinds.
_KINDS = {
    **dict.fromkeys(("signalling", "routing", "management", "datagrams", "poisson", "udp"), "datagrams"),
    **dict.fromkeys(("scavenger", "bulk", "best effort", "greedy", "tcp"), "greedy"),
    **dict.fromkeys(("streaming", "video", "bursts", "vbr"), "bursts"),
    **dict.fromkeys(("voice", "constant", "cbr", "rtp"), "constant"),
    **dict.fromkeys(("transactional", "transfers", "short-tcp", "web"), "transfers"),
}
_HEADER = "class,rate,packet_bytes,kind"
_COLUMNS = (*_HEADER.split(","), "connections")
_MOST_CONNECTIONS = 1000
_LARGEST_PACKET = 65_535
# The first bytes of captures: pcap in both byte orders, with microseconds and nanoseconds, and pcapng.
_CAPTURES = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)


@dataclass(frozen=True)
class Given:
    """Traffic that a file describes, as `perhop_inference::Given`."""

    data: dict[str, Any]
    #: The content of a capture.
    capture: bytes | None = None
    #: The lines of the table, of which an error names the index.
    rows: list[Row] = field(default_factory=list)


def read_traffic(file: Path, base: Path) -> Given:
    """Return the traffic that a file describes; what kind of file it is, its content says.

    Raises:
        InvalidInputError: the file cannot be read, or a line of it is wrong.

    """
    try:
        with regular_file(file) as stream:
            first_bytes = stream.read(4)
            is_recorded = first_bytes in _CAPTURES
            content = read_rest(stream, CAPTURE if is_recorded else TRAFFIC, file, first_bytes)
    except OSError as error:
        raise unreadable(file, error) from error
    if is_recorded:
        # As a scenario has it: relative to its own folder.
        return Given({"capture": str(file) if file.is_absolute() else os.path.relpath(file, base)}, content)
    rows = rows_of(file, content)
    first = next(rows, None)
    if first is not None and "class" in first.cells and "rate" in first.cells:
        return _by_class(first, rows)
    if first is not None and is_header(first.cells):
        return Given({"records": records_of(first, rows)}, rows=[first])
    line = first.line if first else 1
    raise InvalidInputError(
        f"`{file}`, line {line}: neither rates by class nor flow records nor a capture",
        f"the first line is `{_HEADER}`, or the header of flow records with at least "
        "src,dst,proto,bytes,first,last; a capture is pcap or pcapng",
    )


def _by_class(header: Row, rows: Iterator[Row]) -> Given:
    unknown = [one for one in header.cells if one not in _COLUMNS]
    if unknown:
        raise header.wrong(f"there is no column `{unknown[0]}`", f"columns: {','.join(_COLUMNS)}")
    lines = list(rows)
    if not lines:
        raise header.wrong("no class follows the header", "for example `VOICE,512kb/s,200,voice`")
    return Given({"classes": [_load(row, row.by_name(header.cells)) for row in lines]}, rows=lines)


def _load(row: Row, cells: dict[str, str]) -> dict[str, Any]:
    """Return what a line says about a class."""
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
    connections = cells.get("connections", "")
    if connections and (rate or not greedy):
        raise row.wrong("connections are those of greedy TCP", "leave `rate` empty, with kind `greedy`")
    if connections and not (
        re.fullmatch("[0-9]{1,4}", connections) and 1 <= int(connections) <= _MOST_CONNECTIONS
    ):
        raise row.wrong(
            f"`{connections}` is no number of connections", f"a whole number from 1 to {_MOST_CONNECTIONS}"
        )
    return {
        "name": cells["class"],
        "rate": bits[0] if bits else None,
        "packet_bytes": int(size) if size else None,
        "kind": _KINDS.get(kind),
        "connections": int(connections) if connections else None,
    }
