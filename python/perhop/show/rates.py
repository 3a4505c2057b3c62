"""Rates as a router averages them: exponentially weighted over the load interval."""

from __future__ import annotations

import math

#: The default of `load-interval`.
LOAD_INTERVAL_S = 300
# The router takes a sample every five seconds.
_SAMPLE_S = 5


def averaged(rate: float, load_interval_s: int, after_s: float | None) -> float:
    """Return what the router's average of a constant rate has come to `after_s` seconds after its start.

    Every five seconds, `average = (average - sample) * exp(-5 / interval) + sample` (Cisco, "Understand the
    Bits per Second (bits/sec) Definition from Show Interfaces Command Output", document 12816). `None` is
    long after the start, where the average is the rate.
    """
    if after_s is None:
        return rate
    samples = math.floor(after_s / _SAMPLE_S)
    return rate * (1.0 - math.exp(-samples * _SAMPLE_S / load_interval_s))


def interval_words(seconds: int) -> str:
    """Return a load interval as the router writes it."""
    return f"{seconds} second" if seconds % 60 else f"{seconds // 60} minute"
