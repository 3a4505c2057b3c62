"""Inferring a scenario from a router configuration.

The configuration defines the interfaces and the policies at them, but no hosts, links or traffic. These are
inferred for one interface and the fastest path through the router to it: one entry of traffic for each class,
with headers that match the class. A trial simulation decides which class a packet matches. Everything
inferred is reported.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from perhop import _core
from perhop.core_types import RouterPort, RouterReport
from perhop.inference.network import Network, select_network
from perhop.inference.traffic import Flow, flows
from perhop.schema_types import RouterConfiguration, ScenarioConfig

# Simulated seconds by the highest rate in Mb/s that they apply to, so that a run takes seconds.
_DURATIONS = ((20.0, 20), (200.0, 5), (float("inf"), 1))


@dataclass(frozen=True)
class InferredScenario:
    """A scenario inferred from a router configuration."""

    #: The keys of a scenario file.
    data: ScenarioConfig
    #: The interfaces by which packets leave and enter the router; `None` where the router lacks one.
    leaving: str | None
    entering: str | None
    #: What could not be inferred, one line each.
    missing: list[str]

    @property
    def summary(self) -> str:
        """What was inferred, and what could not be."""
        classes = ", ".join(one["name"] for one in self.data["traffic"])
        path = f"{self.entering or 'an added interface'} to {self.leaving or 'an added interface'}"
        line = f"inferred: traffic from {path}, one entry for each class: {classes}"
        return "\n".join([line, *self.missing])


def infer(
    text: str, configuration: RouterConfiguration, base: Path, *, interface: str | None = None
) -> InferredScenario:
    """Infer a scenario from the router configuration `text`.

    Args:
        text: the configuration.
        configuration: the scenario's `configuration` of the router, which names the file or holds the text.
        base: the folder that relative paths in the scenario start from.
        interface: the interface that packets leave by; by default the one whose policy has most classes.

    Raises:
        ScenarioError: the router itself would refuse the configuration.
        InvalidInputError: there is no such interface, or none that is up.

    """
    report: RouterReport = json.loads(_core.check_router(text))
    network = select_network(report["router"], configuration, base, interface)
    found, missing = flows(network)
    return InferredScenario(
        _scenario(network, found),
        _name(network.leaving),
        _name(network.entering),
        missing,
    )


def _scenario(network: Network, found: list[Flow]) -> ScenarioConfig:
    megabits = network.bottleneck / 1e6
    seconds = next(seconds for most, seconds in _DURATIONS if megabits <= most)
    milliseconds = seconds * 1000
    scenario = network.scenario([one.entry for one in found], [one.header for one in found], f"{seconds}s")
    return {
        **scenario,
        "measure": {
            "warmup": _time(milliseconds // 10),
            "queues": [
                {"from": network.router, "to": network.after_router, "every": _time(milliseconds // 200)}
            ],
            "throughput-every": _time(milliseconds // 40),
            "delay-every": _time(milliseconds // 40),
        },
    }


def _name(port: RouterPort | None) -> str | None:
    return None if port is None else str(port["name"])


def _time(milliseconds: int) -> str:
    return f"{milliseconds}ms" if milliseconds % 1000 else f"{milliseconds // 1000}s"
