"""Three healthy networks of IOS routers: hub and spoke, campus, and the edge of a provider."""

from __future__ import annotations

from network_faults.campus import campus
from network_faults.hub import hub_and_spoke
from network_faults.provider import provider_edge

__all__ = ["campus", "hub_and_spoke", "networks", "provider_edge"]


def networks() -> dict[str, dict[str, str]]:
    """Return the files of each network: `hub`, `campus` and `provider`."""
    return {"hub": hub_and_spoke(), "campus": campus(), "provider": provider_edge()}
