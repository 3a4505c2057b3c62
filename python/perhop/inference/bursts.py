"""Bursts as traffic: `microburst(10Gb/s->1Gb/s, 200 kB)`."""

from __future__ import annotations

import re
from typing import Any

from perhop.errors import InvalidInputError
from perhop.quantity import quantity

_CALL = re.compile(r"\s*microburst\s*\((?P<inside>.*)\)\s*", re.DOTALL)
_SENDERS = re.compile(r"(?P<count>[0-9]+)\s*[x*]\s*(?P<rate>.+)", re.DOTALL)
_SHORT = re.compile(r"[0-9]+(?:\.[0-9]+)?[kMG]")
_ARROW = re.compile(r"->|→")
_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[A-Za-z]+)")
_UNITS = {"B": 1, "kB": 1000, "MB": 1_000_000, "KiB": 1024, "MiB": 1024 * 1024}
#: The smallest and the largest Ethernet frame with one tag (IEEE 802.3) and the jumbo frames of switches.
_FRAMES = range(64, 9217)
_FRAME = 1518
_MOST_SENDERS = 1000
#: Limit on the frames of all senders: a larger run takes minutes.
_MOST_FRAMES = 1_000_000
_EXAMPLE = (
    "for example 'microburst(10Gb/s->1Gb/s, 200 kB)', or 'microburst(4x10Gb/s->1Gb/s, 50 kB, class=VOICE, "
    "frame=1518B)'"
)


def is_microburst(text: str) -> bool:
    """Whether `text` describes a burst and is not a file name."""
    return text.lstrip().startswith("microburst(") or _CALL.fullmatch(text) is not None


def burst_of(text: str) -> dict[str, Any]:
    """Return the burst that `text` describes, as `perhop_inference::Microburst`.

    Raises:
        InvalidInputError: a part of the description is missing, unknown or out of range.

    """
    found = _CALL.fullmatch(text)
    if found is None:
        raise _wrong("the closing bracket is missing")
    parts = [part.strip() for part in found["inside"].split(",")]
    if len(parts) < 2 or not all(parts):
        raise _wrong("the rate of the senders or the size of the burst is missing")
    rates = _ARROW.split(parts[0])
    if len(rates) > 2:
        raise _wrong(f"`{parts[0]}` has more than two rates")
    senders = _SENDERS.fullmatch(rates[0].strip())
    count = int(senders["count"]) if senders else 1
    options = dict(_option(part) for part in parts[2:])
    if "senders" in options:
        if senders or not options["senders"].isdecimal():
            raise _wrong("`senders` must be a number that is given once: 4x10Gb/s or senders=4")
        count = int(options["senders"])
    if not 1 <= count <= _MOST_SENDERS:
        raise _wrong(f"{count} senders are out of range: 1 to {_MOST_SENDERS}")
    frame = _bytes(options["frame"]) if "frame" in options else _FRAME
    if frame not in _FRAMES:
        raise _wrong(f"frame={frame} is not the length of an Ethernet frame: 64 to 9216 bytes")
    size = _bytes(parts[1])
    if count * size > _MOST_FRAMES * frame:
        raise _wrong(f"the burst has more than {_MOST_FRAMES:,} frames")
    return {
        "arrival": _rate(senders["rate"] if senders else rates[0]),
        "line": _rate(rates[1]) if len(rates) == 2 else None,
        "bytes": size,
        "frame-bytes": frame,
        "senders": count,
        "class": options.get("class"),
        "also": [name.strip() for name in options["also"].split("+")] if "also" in options else [],
    }


def _option(part: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not value or key not in ("also", "class", "frame", "senders"):
        raise _wrong(f"`{part}` is none of class=NAME, frame=1518B, senders=4, also=INTERFACE")
    return key, value


def _rate(text: str) -> str:
    text = "".join(text.split())
    # Interfaces are named by their rate in this form: 10G, 100M.
    found = quantity(f"{text}b/s" if _SHORT.fullmatch(text) else text)
    if found is None or found[1] != "b/s" or found[0] < 1:
        raise _wrong(f"`{text.strip()}` is not a rate with its unit")
    return f"{int(found[0])}b/s"


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text)
    size = float(found["number"]) * _UNITS[found["unit"]] if found and found["unit"] in _UNITS else 0.0
    if size < 1:
        raise _wrong(f"`{text}` is not a size with its unit: {', '.join(_UNITS)}")
    return round(size)


def _wrong(what: str) -> InvalidInputError:
    return InvalidInputError(f"--traffic microburst: {what}", _EXAMPLE)
