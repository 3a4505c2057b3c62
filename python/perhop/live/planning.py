"""From a scenario to what its laboratory is built of and what runs in it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perhop import _core
from perhop.live.network import Network, network
from perhop.scenario import Scenario

# Times at the top of a scenario, of its measurements and of each entry of its traffic that `shortened`
# scales.
_OF_THE_RUN = ("duration",)
_OF_MEASUREMENTS = ("warmup", "throughput-every", "delay-every")
_OF_TRAFFIC = ("start", "start-within", "stop")


@dataclass(frozen=True)
class Plan:
    """The network of a scenario, and what its forwarders do."""

    network: Network
    #: The configuration of each forwarder as `live_forward` takes it, sockets and files left aside.
    forwarders: Mapping[str, dict[str, Any]]


def plan(scenario: Scenario, seed: int, replication: int = 0) -> Plan:
    """Return what the laboratory of a scenario is; raises `ScenarioError` for what real packets cannot do."""
    planned = json.loads(_core.live_plan(scenario.to_json(), scenario.base, seed, replication))
    hosts = {host["name"]: host for host in planned["hosts"]}
    built = network(
        {name: host["address"] for name, host in hosts.items()},
        [forwarder["node"] for forwarder in planned["forwarders"]],
        [(_end(cable["ends"][0]), _end(cable["ends"][1])) for cable in planned["cables"]],
        {name: _by_device(host["routes"]) for name, host in hosts.items()},
        planned["mtu"],
    )
    return Plan(built, {one["node"]: _on_devices(one, built) for one in planned["forwarders"]})


def shortened(scenario: Scenario, factor: float) -> Scenario:
    """Return the scenario with its course in time shortened (or lengthened) by `factor`.

    Scaled are the duration, the warm-up, the intervals of measurements, and when traffic starts and stops.
    Everything that happens in between keeps its own pace: rates, delays, bursts and pauses, sizes.
    """
    data = copy.deepcopy(dict(scenario))

    def scale(where: dict[str, Any], key: str) -> None:
        if where.get(key) is not None:
            seconds = _core.quantity(str(where[key]))
            if seconds is not None:
                where[key] = f"{seconds[0] * factor:.9f}s"

    for key in _OF_THE_RUN:
        scale(data, key)
    for key in _OF_MEASUREMENTS:
        scale(data.get("measure", {}), key)
    for traffic in data.get("traffic", []):
        for key in _OF_TRAFFIC:
            scale(traffic, key)
    return Scenario(data, scenario.base).check()


def _end(end: dict[str, str]) -> tuple[str, str]:
    return end["node"], end["device"]


def _by_device(routes: list[dict[str, str]]) -> dict[str, tuple[str, ...]]:
    targets: dict[str, tuple[str, ...]] = {}
    for route in routes:
        targets[route["device"]] = (*targets.get(route["device"], ()), route["to"])
    return targets


def _on_devices(forwarder: dict[str, Any], built: Network) -> dict[str, Any]:
    """Return a forwarder's configuration with the names of real devices, and whom their frames are for."""
    devices = {device.towards: device for device in built.devices(forwarder["node"])}

    def real(planned: str | None) -> str | None:
        return None if planned is None else devices[planned].name

    return forwarder | {
        "directions": [
            direction
            | {"receives-on": real(direction["receives-on"]), "sends-on": real(direction["sends-on"])}
            for direction in forwarder["directions"]
        ],
        "inputs": [one | {"device": real(one["device"])} for one in forwarder["inputs"]],
        "neighbors": {device.name: built.next_mac(device) for device in devices.values()},
    }
