"""tshark, the second opinion about captures: run as a program, never imported."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from programs import needs

needs_tshark = needs("tshark")

# Between the fields of a packet, and between the values of a field.
_FIELD, _VALUE = "|", ";"

# Wireshark does not validate these checksums by default.
_VALIDATE = [f"-o{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
# Possible complaints of tshark: frames that it cannot parse, bad checksums (status 0) and errors.
_NONSENSE = ("_ws.malformed", "_ws.unreassembled")
_CHECKSUMS = ("ip.checksum.status", "tcp.checksum.status", "udp.checksum.status")
_SEVERITY, _ERROR = "_ws.expert.severity", str(0x0080_0000)


def fields(file: Path, *names: str, where: str = "", decode_as: str = "") -> list[tuple[str, ...]]:
    """Return these fields of every packet that matches a display filter, each at its first occurrence.

    `decode_as` replaces a guess of tshark: `mpls.label==16,pwethcw`.
    """
    return [tuple(found[0] for found in row) for row in _occurrences(file, names, where, decode_as)]


def count(file: Path, where: str) -> int:
    """Return how many packets match a display filter."""
    return len(fields(file, "frame.number", where=where))


def fields_without_complaint(file: Path, *names: str, decode_as: str = "") -> list[tuple[str, ...]]:
    """Return these fields of every packet, each at its first occurrence.

    Fail with the messages of tshark about malformed frames, bad checksums and other errors. One start
    of tshark suffices for both: the start lasts longer than the packets.
    """
    signs = (*_NONSENSE, *_CHECKSUMS, _SEVERITY)
    shown = ("frame.number", "_ws.col.Info", "_ws.expert.message")
    rows, complaints = [], []
    for row in _occurrences(file, (*names, *signs, *shown), "", decode_as):
        of_name = dict(zip(signs, row[len(names) :], strict=False))
        is_bad = any(any(of_name[name]) for name in _NONSENSE)
        is_bad |= any("0" in of_name[name] for name in _CHECKSUMS) or _ERROR in of_name[_SEVERITY]
        if is_bad:
            complaints.append(row[len(names) + len(signs) :])
        rows.append(tuple(found[0] for found in row[: len(names)]))
    assert complaints == []
    return rows


def assert_no_complaint(file: Path, decode_as: str = "") -> None:
    """Fail with the messages of tshark about malformed frames, bad checksums and other errors."""
    fields_without_complaint(file, decode_as=decode_as)


def _occurrences(file: Path, names: Sequence[str], where: str, decode_as: str) -> list[list[list[str]]]:
    """Return the values of each field for every packet: one empty value if the packet lacks the field."""
    wanted = [argument for name in names for argument in ("-e", name)]
    chosen = ["-Y", where] if where else []
    chosen += ["-d", decode_as] if decode_as else []
    marks = ["-E", f"separator={_FIELD}", "-E", f"aggregator={_VALUE}", "-E", "occurrence=a"]
    lines = _tshark(file, ["-T", "fields", *marks, *chosen, *wanted])
    return [[field.split(_VALUE) for field in line.split(_FIELD)] for line in lines]


def _tshark(file: Path, arguments: Sequence[str]) -> list[str]:
    command = ["tshark", "-n", "-r", str(file), *_VALIDATE, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    # The only allowed message of tshark is that it runs as root.
    complaints = [line for line in ended.stderr.splitlines() if line and "could be dangerous" not in line]
    assert complaints == [], ended.stderr
    return ended.stdout.splitlines()
