"""Quantities with their units, written as in scenarios: `2Mb/s`, `100ms`, `1500B`."""

from __future__ import annotations

import math
import re

from perhop.errors import InvalidInputError

_RATES = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
_SIZES = {"B": 1.0, "kB": 1e3, "KiB": 1024.0}


def rate(name: str, quantity: str | float) -> float:
    """Return a rate in bits per second, given as text with a unit or as a number."""
    return _read(name, quantity, _RATES, "2Mb/s")


def time(name: str, quantity: str | float) -> float:
    """Return a time in seconds, given as text with a unit or as a number."""
    return _read(name, quantity, _TIMES, "100ms")


def size(name: str, quantity: str | float) -> int:
    """Return a number of bytes, given as text with a unit or as a number."""
    value = _read(name, quantity, _SIZES, "1500B")
    if value != round(value):
        raise InvalidInputError(f"{name}: `{quantity}` is not a whole number of bytes", "for example 1500B")
    return round(value)


def _read(name: str, quantity: str | float, units: dict[str, float], example: str) -> float:
    if isinstance(quantity, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(\S+)\s*", quantity)
        if match is None or match[2] not in units:
            raise InvalidInputError(
                f"{name}: `{quantity}` is not a quantity with a known unit", f"for example {example}"
            )
        value = float(match[1]) * units[match[2]]
    else:
        value = float(quantity)
    if not (value > 0 and math.isfinite(value)):
        raise InvalidInputError(f"{name}: `{quantity}` is not above 0", f"for example {example}")
    return value
