"""The plan of a scenario's testbed: its network, and the configurations of its forwarders."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perhop import _core
from perhop.document import Document
from perhop.live.network import Network, network

# The times that `shortened` scales: of the scenario, of its measurements, and of each entry of traffic.
_OF_THE_RUN = ("duration",)
_OF_MEASUREMENTS = ("warmup", "throughput-every", "delay-every")
_OF_TRAFFIC = ("start", "start-within", "stop")


@dataclass(frozen=True)
class Plan:
    """The network of a scenario and the configurations of its forwarders."""

    network: Network
    #: The configuration of each forwarder for `live_forward`, without sockets and files.
    forwarders: Mapping[str, dict[str, Any]]


def plan(scenario: Document, seed: int, replication: int = 0, *, bridge: bool = False) -> Plan:
    """Return the plan of a scenario; raises `ScenarioError` for features that real packets cannot have.

    The frames of a `bridge` keep their headers, so its links may have any headers.
    """
    text = _core.live_plan(scenario.to_json(), scenario.base, seed, replication, bridge=bridge)
    planned = json.loads(text)
    hosts = {host["name"]: host for host in planned["hosts"]}
    built = network(
        {name: host["address"] for name, host in hosts.items()},
        [forwarder["node"] for forwarder in planned["forwarders"]],
        [(_end(cable["ends"][0]), _end(cable["ends"][1])) for cable in planned["cables"]],
        {name: _by_device(host["routes"]) for name, host in hosts.items()},
        planned["mtu"],
        envelope=planned["envelope"],
    )
    return Plan(
        built, {forwarder["node"]: _on_devices(forwarder, built) for forwarder in planned["forwarders"]}
    )


def shortened(scenario: Document, factor: float) -> Document:
    """Return the scenario with its times scaled by `factor`.

    This scales the duration, the warm-up, the intervals of measurements, and the start and stop times of
    traffic. Rates, delays, bursts, pauses and sizes are unchanged.
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
    return Document(data, scenario.base).check()


def _end(end: dict[str, str]) -> tuple[str, str]:
    return end["node"], end["device"]


def _by_device(routes: list[dict[str, str]]) -> dict[str, tuple[str, ...]]:
    targets: dict[str, tuple[str, ...]] = {}
    for route in routes:
        targets[route["device"]] = (*targets.get(route["device"], ()), route["to"])
    return targets


def _on_devices(forwarder: dict[str, Any], built: Network) -> dict[str, Any]:
    """Return a forwarder's configuration with device names and the destination MAC addresses of frames."""
    devices = {device.towards: device for device in built.devices(forwarder["node"])}

    def real(planned: str | None) -> str | None:
        return None if planned is None else devices[planned].name

    return forwarder | {
        "directions": [
            direction
            | {"receives-on": real(direction["receives-on"]), "sends-on": real(direction["sends-on"])}
            for direction in forwarder["directions"]
        ],
        "inputs": [entry | {"device": real(entry["device"])} for entry in forwarder["inputs"]],
        "neighbors": {device.name: built.next_mac(device) for device in devices.values()},
    }
