"""The ports that used a shared packet memory when it had no room for a packet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PoolHolder:
    """The port that used most of a packet memory at the first drop of a port."""

    port: str
    #: The units of the memory that the port used, and all units that the ports share; means.
    units: float
    pool_units: float

    @property
    def percent(self) -> float:
        """The share of the memory that the port used, percent."""
        return 100.0 * self.units / self.pool_units


def pool_holder_of(port: str | None, summary: Mapping[str, Any]) -> PoolHolder | None:
    """Return the port that used most of the memory when it first had no room for a packet of `port`.

    If `port` is `None`, the result is the port that used most at the first drop of every port. `None` if
    there is no such port, or if no port shares the memory.
    """
    rows = [row for row in summary.get("pools", []) if port in (None, row["port"])]
    holders = [
        max((row for row in rows if row["port"] == victim), key=_first_units)
        for victim in dict.fromkeys(row["port"] for row in rows)
    ]
    if not holders or len({row["holder"] for row in holders}) > 1:
        return None
    least = min(holders, key=_first_units)
    return PoolHolder(least["holder"], _first_units(least), float(least["pool_units"]["mean"]))


def _first_units(row: Mapping[str, Any]) -> float:
    return float(row["first_units"]["mean"])
