"""CAKE as the queueing discipline of a whole interface of Linux."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop.convert.ios_class import size
from perhop.convert.tc_queue import Say
from perhop.quantity import bits_per_second, quantity


def whole_port(queueing: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the options of CAKE where that is all of a port, else `None`."""
    classes = list(queueing["classes"])
    buffer = classes[0].get("buffer") or {} if len(classes) == 1 else {}
    return buffer.get("cake") if isinstance(buffer, Mapping) else None


def discipline_of_port(cake: Mapping[str, Any], say: Say) -> str:
    """Return cake with its options, which tc-cake(8) knows by nearly the same names."""
    bandwidth = cake.get("bandwidth")
    words = ["cake", f"bandwidth {round(bits_per_second(bandwidth))}bit" if bandwidth else "unlimited"]
    words += [cake.get("tins") or "diffserv3", cake.get("isolation") or "triple-isolate"]
    rtt = quantity(cake.get("rtt") or "100ms")
    words.append(f"rtt {round(rtt[0] * 1e6) if rtt else 100_000}us")
    if cake.get("overhead") is not None:
        words.append(f"overhead {cake['overhead']}")
    if cake.get("mpu"):
        words.append(f"mpu {cake['mpu']}")
    words.append({"atm": "atm", "ptm": "ptm"}.get(str(cake.get("cells") or "none"), "noatm"))
    if cake.get("memory-limit"):
        words.append(f"memlimit {size(cake['memory-limit'])[0]}")
        say("memory-limit", "the kernel counts what its drivers take for a packet")
    words.append("wash" if cake.get("wash") else "nowash")
    words.append("ingress" if cake.get("ingress") else "egress")
    filters = {"filter": "ack-filter", "aggressive": "ack-filter-aggressive"}
    words.append(filters.get(str(cake.get("ack-filter") or "none"), "no-ack-filter"))
    return " ".join(words)
