"""tshark, the other opinion about captures: a program, never an import."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from programs import needs

needs_tshark = needs("tshark")

# Everything is validated that Wireshark leaves alone by default.
_VALIDATE = [f"-o{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
# What tshark could complain of: frames it cannot make sense of, and bad checksums (status 0).
_COMPLAINTS = (
    "_ws.malformed || _ws.unreassembled || ip.checksum.status == 0 || tcp.checksum.status == 0 "
    "|| udp.checksum.status == 0 || _ws.expert.severity == 0x00800000"
)


def fields(file: Path, *names: str, where: str = "", decode_as: str = "") -> list[tuple[str, ...]]:
    """Return these fields of every packet that a display filter lets through.

    `decode_as` says what tshark would otherwise guess: `mpls.label==16,pwethcw`.
    """
    wanted = [argument for name in names for argument in ("-e", name)]
    chosen = ["-Y", where] if where else []
    chosen += ["-d", decode_as] if decode_as else []
    lines = _tshark(file, ["-T", "fields", "-E", "separator=|", "-E", "occurrence=f", *chosen, *wanted])
    return [tuple(line.split("|")) for line in lines]


def count(file: Path, where: str) -> int:
    """Return how many packets a display filter lets through."""
    return len(fields(file, "frame.number", where=where))


def assert_no_complaint(file: Path, decode_as: str = "") -> None:
    """Fail with what tshark says of frames that it finds malformed, of bad checksums and other errors."""
    said = ("frame.number", "_ws.col.Info", "_ws.expert.message")
    complaints = fields(file, *said, where=_COMPLAINTS, decode_as=decode_as)
    assert complaints == []


def _tshark(file: Path, arguments: Sequence[str]) -> list[str]:
    command = ["tshark", "-n", "-r", str(file), *_VALIDATE, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    # That it runs as root is all that it may have to say.
    complaints = [line for line in ended.stderr.splitlines() if line and "could be dangerous" not in line]
    assert complaints == [], ended.stderr
    return ended.stdout.splitlines()
