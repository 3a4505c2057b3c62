"""The classes of ITU-T Y.1541, and the class whose bounds a class of traffic meets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# ITU-T Y.1541, Table 1: class, mean delay (IPTD) and delay variation (IPDV) in seconds. Class 5 has no
# bounds.
_Y1541 = ((0, 0.1, 0.05), (1, 0.4, 0.05), (2, 0.1, None), (3, 0.4, None), (4, 1.0, None))
_Y1541_LOSS_PERCENT = 0.1
_Y1541_WITHOUT_BOUNDS = 5


def y1541(group: Mapping[str, Any], loss_percent: float | None) -> int | None:
    """Return the first class of ITU-T Y.1541 whose bounds a class meets; `None` without delays.

    IPDV is the 99.9th percentile of the delay minus the minimum delay. The simulator has no errored packets
    (IPER).
    """
    mean, late, least = (group[f"delay_{statistic}_s"]["mean"] for statistic in ("mean", "p999", "min"))
    if loss_percent is None or mean is None:
        return None
    if loss_percent > _Y1541_LOSS_PERCENT:
        return _Y1541_WITHOUT_BOUNDS
    kept = (
        number
        for number, delay, variation in _Y1541
        if mean <= delay and (variation is None or late - least <= variation)
    )
    return next(kept, _Y1541_WITHOUT_BOUNDS)
