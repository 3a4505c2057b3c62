"""The user's traffic in place of a guess: rates, flow records, counters, a capture, or a burst."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.configuration import refused_option
from perhop.errors import InvalidInputError
from perhop.inference.bursts import burst_of, is_microburst
from perhop.inference.flow_records import is_header, records_of
from perhop.inference.table import Row, rows_of
from perhop.inputs import CAPTURE, TRAFFIC, read_rest, regular_file, unreadable
from perhop.quantity import quantity

#: The names of kinds of traffic in a file, which are roles or kinds of sources.
KINDS = {
    **dict.fromkeys(("signalling", "routing", "management", "datagrams", "poisson", "udp"), "datagrams"),
    **dict.fromkeys(("scavenger", "bulk", "best effort", "greedy", "tcp"), "greedy"),
    **dict.fromkeys(("streaming", "video", "bursts", "vbr"), "bursts"),
    **dict.fromkeys(("voice", "constant", "cbr", "rtp"), "constant"),
    **dict.fromkeys(("transactional", "transfers", "short-tcp", "web"), "transfers"),
}
_HEADER = "class,rate,packet_bytes,kind"
_COLUMNS = (*_HEADER.split(","), "connections")
_MOST_CONNECTIONS = 1000
#: IP bytes of the longest packet.
LARGEST_PACKET = 65_535
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
    #: The lines of the table. Errors contain an index into them.
    rows: list[Row] = field(default_factory=list)


def read_traffic(file: Path, base: Path, over: str | None = None) -> Given:
    """Return the traffic of a file. The kind is recognized by the content.

    Two outputs of a device are separated by a comma, the earlier one first. `over` is the time between two
    outputs, or the counting time of a single output.

    Raises:
        InvalidInputError: the file cannot be read, or one of its lines is wrong.

    """
    if is_microburst(str(file)):
        if over is not None:
            raise InvalidInputError("--over: a burst has no counters", "leave --over out")
        return Given({"microburst": burst_of(str(file))})
    seconds = None if over is None else _seconds(over)
    earlier, comma, later = str(file).partition(",")
    if comma and not file.exists():
        texts = [_output(Path(earlier)), _output(Path(later))]
        return Given({"outputs": {"earlier": texts[0], "text": texts[1], "seconds": seconds}})
    found = _of_file(file, base, seconds)
    if over is not None and "outputs" not in found.data:
        raise InvalidInputError(
            f"--over: `{file}` is not an output of a device with counters", "leave --over out"
        )
    return found


def _seconds(over: str) -> float:
    found = quantity(over)
    if found is None or found[1] != "s" or found[0] <= 0:
        raise InvalidInputError(f"--over: `{over}` is not a time", "for example --over 300s or --over 5min")
    return found[0]


def _output(file: Path) -> str:
    """Return the output of a device in a file; raises `InvalidInputError`."""
    try:
        with regular_file(file) as stream:
            text = read_rest(stream, TRAFFIC, file, b"").decode("utf-8-sig", "replace")
    except OSError as error:
        raise unreadable(file, error) from error
    if not _is_output(text):
        raise InvalidInputError(
            f"`{file}` is not an output of a device with counters",
            "give two outputs, the earlier one first: before.txt,after.txt",
        )
    return text


def _is_output(text: str) -> bool:
    """Whether a text is an output with counters; raises `InvalidInputError` if the indentation is lost."""
    try:
        return _core.is_counter_output(text)
    except ValueError as error:
        raise refused_option(error) from error


def _of_file(file: Path, base: Path, seconds: float | None) -> Given:
    try:
        with regular_file(file) as stream:
            first_bytes = stream.read(4)
            is_recorded = first_bytes in _CAPTURES
            content = read_rest(stream, CAPTURE if is_recorded else TRAFFIC, file, first_bytes)
    except OSError as error:
        raise unreadable(file, error) from error
    if is_recorded:
        # In a scenario a path is relative to the scenario's folder.
        return Given({"capture": str(file) if file.is_absolute() else os.path.relpath(file, base)}, content)
    rows = rows_of(file, content)
    first = next(rows, None)
    if first is not None and "class" in first.cells and "rate" in first.cells:
        return _by_class(first, rows)
    if first is not None and is_header(first.cells):
        return Given({"records": records_of(first, rows)}, rows=[first])
    text = content.decode("utf-8-sig", "replace")
    if _is_output(text):
        return Given({"outputs": {"text": text, "seconds": seconds}})
    line = first.line if first else 1
    raise InvalidInputError(
        f"`{file}`, line {line}: not recognized as rates by class, flow records, counters or a capture",
        f"the first line must be `{_HEADER}`, or the header of flow records with at least "
        "src,dst,proto,bytes,first,last; a capture must be pcap or pcapng",
    )


def _by_class(header: Row, rows: Iterator[Row]) -> Given:
    unknown = [cell for cell in header.cells if cell not in _COLUMNS]
    if unknown:
        raise header.wrong(f"there is no column `{unknown[0]}`", f"columns: {','.join(_COLUMNS)}")
    lines = list(rows)
    if not lines:
        raise header.wrong("no class follows the header", "for example `VOICE,512kb/s,200,voice`")
    return Given({"classes": [_load(row, row.by_name(header.cells)) for row in lines]}, rows=lines)


def _load(row: Row, cells: dict[str, str]) -> dict[str, Any]:
    """Parse the line of a class."""
    kind = cells.get("kind", "").lower()
    if kind and kind not in KINDS:
        raise row.wrong(f"there is no kind of traffic `{kind}`", f"kinds: {', '.join(KINDS)}")
    rate, size = cells["rate"], cells.get("packet_bytes", "")
    bits = quantity(rate) if rate else None
    greedy = KINDS.get(kind) == "greedy"
    if (bits is None and not greedy) or (
        rate and (bits is None or bits[1] not in ("b/s", "") or bits[0] <= 0)
    ):
        raise row.wrong(f"`{rate}` is not a rate", "for example 512kb/s or 2.5Mb/s")
    if size and not (re.fullmatch("[0-9]{1,5}", size) and 28 <= int(size) <= LARGEST_PACKET):
        raise row.wrong(f"`{size}` is not a packet size", "a whole number of IP bytes from 28 to 65535")
    connections = cells.get("connections", "")
    if connections and (rate or not greedy):
        raise row.wrong("`connections` applies only to greedy TCP", "leave `rate` empty, with kind `greedy`")
    if connections and not (
        re.fullmatch("[0-9]{1,4}", connections) and 1 <= int(connections) <= _MOST_CONNECTIONS
    ):
        raise row.wrong(
            f"`{connections}` is not a number of connections", f"a whole number from 1 to {_MOST_CONNECTIONS}"
        )
    return {
        "name": cells["class"],
        "rate": bits[0] if bits else None,
        "packet_bytes": int(size) if size else None,
        "kind": KINDS.get(kind),
        "connections": int(connections) if connections else None,
    }
