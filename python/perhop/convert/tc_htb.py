"""Classes of HTB as they are written, in the words of tc-htb(8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop.convert.ios_class import size
from perhop.quantity import bits_per_second

# q_htb.c: what a bucket holds beside a nanosecond of its rate, and r2q. sch_htb.c: the quanta of rates.
_LONGEST_PACKET = 1600
RATE_TO_QUANTUM = 10
_SMALL_QUANTUM, _MOST_QUANTUM = 1000, 200_000


def rates(share: Mapping[str, Any], rate_bps: int) -> tuple[int, int]:
    """Return rate and ceiling of a class, in bits per second; those of a direct class are its port's."""
    if not share.get("rate"):
        return rate_bps, rate_bps
    rate = round(bits_per_second(share["rate"]))
    return rate, round(bits_per_second(share["ceil"])) if share.get("ceil") else rate


def words(share: Mapping[str, Any], rate: int, ceil: int) -> str:
    """Return rate, ceiling, buckets and link layer of a class."""
    buckets = " ".join(
        f"{word} {_bucket(share.get(key), of)}b"
        for word, key, of in (("burst", "burst", rate), ("cburst", "ceil-burst", ceil))
    )
    return f"rate {rate}bit ceil {ceil}bit {buckets}{_link_layer(share.get('link-layer') or {})}"


def turns(share: Mapping[str, Any], rate: int, divisor: int) -> str:
    """Return priority and quantum of a class with a queue."""
    written = share.get("quantum")
    quantum = size(written)[0] if written else rate // 8 // divisor
    if not written:
        quantum = min(max(quantum, _SMALL_QUANTUM), _MOST_QUANTUM)
    return f"prio {share.get('level') or 0} quantum {quantum}"


def written_turns(share: Mapping[str, Any]) -> str:
    """Return priority and quantum of a class with a queue, as far as they are written."""
    words = f" prio {share['level']}" if share.get("level") else ""
    return words + (f" quantum {size(share['quantum'])[0]}" if share.get("quantum") else "")


def _bucket(written: str | None, rate: int) -> int:
    return size(written)[0] if written else _LONGEST_PACKET + rate // 8_000_000_000


def _link_layer(link: Mapping[str, Any]) -> str:
    said = "".join(f" {key} {link[key]}" for key in ("mpu", "overhead") if link.get(key))
    return said + (" linklayer atm" if link.get("cells") == "atm" else "")
