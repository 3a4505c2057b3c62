"""The weights by which classes share, for conversions between languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perhop.quantity import quantity

if TYPE_CHECKING:
    from perhop.schema_types import ClassConfig


def weight_of(config: ClassConfig) -> float:
    """Return the weight of a class among its siblings: its bandwidth, quantum, fraction, slope or weight."""
    share: Mapping[str, Any] = config.get("share") or {}
    if share.get("minimum"):
        return float(share.get("weight") or 1.0)
    if share.get("fraction"):
        return float(share["fraction"])
    slope = (share.get("link-share") or {}).get("m2")
    written = (
        share.get("rate") or share.get("bandwidth") or share.get("quantum") or share.get("weight") or slope
    )
    found = quantity(str(written)) if written else None
    return found[0] if found else 1.0
