"""The measurements that a plot needs, added to the scenario if missing."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from typing import Any

from perhop.errors import InvalidInputError
from perhop.ports import ports
from perhop.quantity import quantity
from perhop.schema_types import ScenarioConfig

# The key of `measure` that requests the samples of a table.
_KEYS = {
    "throughput": "throughput-every",
    "delays": "delay-every",
    "queues": "queues",
    "connections": "connections",
}
# The number of samples of a line; a queue changes faster and has more samples.
_SAMPLES, _QUEUE_SAMPLES = 100, 400
_Scenario = ScenarioConfig | Mapping[str, Any]


def is_sampled(scenario: _Scenario, table: str) -> bool:
    """Return whether a run of the scenario has samples for a table."""
    return bool((scenario.get("measure") or {}).get(_KEYS[table]))


def sampling_settings(scenario: _Scenario, table: str) -> dict[str, str]:
    """Return the settings, by path, that make a run of the scenario sample a table.

    Raises:
        InvalidInputError: there is nothing to sample.

    """
    key = f"measure.{_KEYS[table]}"
    if table in ("throughput", "delays"):
        return {key: _interval(scenario, _SAMPLES)}
    every = _interval(scenario, _QUEUE_SAMPLES)
    if table == "connections":
        names = [traffic["name"] for traffic in scenario["traffic"] if "tcp" in json.dumps(traffic["source"])]
        probes = [{"traffic": name, "every": every} for name in names]
        if not probes:
            raise InvalidInputError("no samples for this plot: the scenario has no TCP traffic")
    else:
        chosen = [port for port in ports(scenario) if port.policy] or list(ports(scenario))
        probes = [{"from": port.sender, "to": port.receiver, "every": every} for port in chosen]
    return {key: json.dumps(probes)}


def remedy(scenario: _Scenario, table: str) -> str:
    """Return advice about the settings that make a run of the scenario sample a table."""
    try:
        ((path, value),) = sampling_settings(scenario, table).items()
    except InvalidInputError as error:
        return str(error)
    return f"run it again with --set {shlex.quote(f'{path}={value}')}"


def _interval(scenario: _Scenario, samples: int) -> str:
    """Return an interval of 1, 2 or 5 in its decade that gives about this number of samples."""
    measured = _seconds(scenario["duration"]) - _seconds((scenario.get("measure") or {}).get("warmup", "0s"))
    wished = max(measured / samples, 1e-6)
    decade = 10.0 ** math.floor(math.log10(wished))
    step = max(factor for factor in (1, 2, 5) if factor * decade <= wished * (1 + 1e-9)) * decade
    return f"{step * 1e6:.0f}us" if step < 1e-3 else f"{step * 1e3:.0f}ms"


def _seconds(text: object) -> float:
    """Return a time of a scenario in seconds."""
    found = quantity(str(text))
    return found[0] if found else 0.0
