"""Two networks with the same traffic: the traffic of the old network, or of a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from perhop.configuration import LoadLevel
from perhop.errors import InvalidInputError
from perhop.network import Network
from perhop.network.running import NetworkRun


@dataclass(frozen=True)
class SameTraffic:
    """Two networks as scenarios with the same hosts, traffic and duration."""

    old: NetworkRun
    new: NetworkRun
    #: Traffic that runs in the old network only, and sites that only the old network has.
    lost: list[str]

    @classmethod
    def of_networks(
        cls, old: Network, new: Network, *, traffic: Path | None = None, load: LoadLevel | None = None
    ) -> SameTraffic:
        """Make both scenarios; the load is relative to the guarantees of the old network.

        Raises:
            InvalidInputError: the file of traffic is wrong, or no traffic can run in one of the networks.

        """
        first = NetworkRun.from_network(old, traffic=traffic, load=load)
        known = {site["name"] for site in new.summary()["sites"]}
        both = [demand for demand in first.demands if {demand["from"], demand["to"]} <= known]
        if not both:
            raise InvalidInputError(
                "no two sites with traffic between them exist in both networks",
                "give sites the same names: hosts in network.yaml",
            )
        if len(both) < len(first.demands):
            first = NetworkRun.from_demands(old, both)
        duration = {"duration": first.scenario["duration"]}
        second = NetworkRun.from_demands(new, both, duration)
        missing = sorted(
            {site for demand in first.demands for site in (demand["from"], demand["to"])} - known
        )
        runs = {pair["name"] for pair in second.pairs}
        only = [pair["name"] for pair in first.pairs if pair["name"] not in runs]
        lost = [f"the new network has no site {site}" for site in missing]
        lost += [f"{name}: not run in the new network" for name in only]
        return cls(first, second, lost)
