"""The directions of the traffic of a scenario, and its maximum rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from perhop.draw.layout import path_between
from perhop.ports import ports
from perhop.quantity import bits_per_second

#: The suffix of the class of the replies to TCP traffic.
BACK = " (back)"


def against_the_first(scenario: Mapping[str, Any]) -> set[str]:
    """Return the classes that cross a link of the first traffic in the other direction, with all replies.

    The two directions of a link do not share its rate, so they are not stacked.
    """
    traffic = scenario["traffic"]
    back = ends_against(scenario, ((entry["from"], entry["to"]) for entry in traffic))
    against = {_class_of(entry) for entry in traffic if (entry["from"], entry["to"]) in back}
    return against | {f"{_class_of(entry)}{BACK}" for entry in traffic if "tcp" in str(entry["source"])}


def ends_against(scenario: Mapping[str, Any], ends: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the pairs of sender and receiver that cross a link of an earlier pair in the other direction."""
    forward: set[tuple[str, str]] = set()
    against = set()
    for pair in dict.fromkeys(ends):
        steps = set(pairwise(path_between(scenario, *pair)))
        back = {(there, here) for here, there in steps}
        if back & forward and not steps & forward:
            against.add(pair)
        else:
            forward |= steps
    return against


def line_rates(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Return for each class the rate of the slowest link on its path, b/s; with several paths, the sum."""
    rates = {(port.sender, port.receiver): bits_per_second(port.rate) for port in ports(scenario)}
    found: dict[str, dict[tuple[str, str], float]] = {}
    for traffic in scenario["traffic"]:
        ends = (traffic["from"], traffic["to"])
        way = pairwise(path_between(scenario, *ends))
        slowest = min((rates.get(step, math.inf) for step in way), default=math.inf)
        found.setdefault(_class_of(traffic), {})[ends] = slowest
    return {name: sum(ways.values()) for name, ways in found.items()}


def _class_of(traffic: Mapping[str, Any]) -> str:
    return str(traffic.get("class") or traffic["name"])
