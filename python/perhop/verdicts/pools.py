"""The ports that held a shared packet memory when it had no room for a packet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PoolHolder:
    """The port that held most of a packet memory at the first drop of another port, or of its own."""

    port: str
    #: The units of the memory that the port held, and all units that the ports share; means.
    units: float
    pool_units: float

    @property
    def percent(self) -> float:
        """The part of the memory that the port held."""
        return 100.0 * self.units / self.pool_units


def pool_holder_of(port: str, summary: Mapping[str, Any]) -> PoolHolder | None:
    """Return the port that held most of the memory when it first had no room for a packet of `port`.

    `None` if the port shares its memory with no other port.
    """
    rows = [row for row in summary.get("pools", []) if row["port"] == port]
    most = max(rows, key=lambda row: float(row["first_units"]["mean"]), default=None)
    if most is None:
        return None
    return PoolHolder(most["holder"], float(most["first_units"]["mean"]), float(most["pool_units"]["mean"]))
