"""A scenario around a router's configuration: what nobody wrote down is guessed, and said to be guessed.

The configuration says which interfaces there are and what becomes of packets at them. Hosts, links and
traffic it does not say. They are put around one interface and the fastest way through the router to it: one
entry of traffic for each class, with headers that the class takes. Which class takes a packet is not worked
out here: the simulator is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.around.network import Network, Port, chosen
from perhop.around.traffic import Flow, flows

# Simulated seconds, by the greatest rate in Mb/s that is simulated so long: a run shall take seconds.
_DURATIONS = ((20.0, 20), (200.0, 5), (float("inf"), 1))


@dataclass(frozen=True)
class Surroundings:
    """What was put around a router's configuration."""

    #: The keys of a scenario file.
    data: dict[str, Any]
    #: The router's interface by which packets leave, and by which they came; `None` where it has no other.
    leaving: str | None
    entering: str | None
    #: What could not be guessed.
    missing: list[str]

    @property
    def summary(self) -> str:
        """What was guessed, and what could not be."""
        classes = ", ".join(one["name"] for one in self.data["traffic"])
        way = f"{self.entering or 'a further interface'} to {self.leaving or 'a further interface'}"
        said = f"guessed: traffic from {way}, one kind for each class: {classes}"
        return "\n".join([said, *self.missing])


def around(
    text: str, configuration: Mapping[str, Any], base: Path, *, interface: str | None = None
) -> Surroundings:
    """Return a scenario around the router's configuration `text`, which `configuration` names or holds.

    Packets pass `interface`; by default the one with the most to say about them.
    """
    router: dict[str, Any] = json.loads(_core.check_router(text))["router"]
    network = chosen(router, configuration, base, interface)
    found, missing = flows(network)
    return Surroundings(
        _scenario(network, found),
        _name(network.leaving),
        _name(network.entering),
        missing,
    )


def _scenario(network: Network, found: list[Flow]) -> dict[str, Any]:
    megabits = network.bottleneck / 1e6
    seconds = next(seconds for most, seconds in _DURATIONS if megabits <= most)
    milliseconds = seconds * 1000
    return network.around([one.entry for one in found], [one.header for one in found]) | {
        "duration": f"{seconds}s",
        "measure": {
            "warmup": _time(milliseconds // 10),
            "queues": [
                {"from": network.router, "to": network.after_router, "every": _time(milliseconds // 200)}
            ],
            "throughput-every": _time(milliseconds // 40),
            "delay-every": _time(milliseconds // 40),
        },
    }


def _name(port: Port | None) -> str | None:
    return None if port is None else str(port["name"])


def _time(milliseconds: int) -> str:
    return f"{milliseconds}ms" if milliseconds % 1000 else f"{milliseconds // 1000}s"
