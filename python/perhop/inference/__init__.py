"""Inferring a scenario from a router configuration.

The configuration defines the interfaces and the policies at them, but no hosts, links or traffic. These are
inferred for one interface and a path through the router to it: one entry of traffic for each class, with
headers that match the class. A trial simulation decides which class a packet matches. Everything inferred is
reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from perhop.configuration import examined_as, platform_words, refuse_unsupported
from perhop.core_types import RouterReport
from perhop.document import Document
from perhop.errors import InvalidInputError, ScenarioError
from perhop.inference.faults import explained
from perhop.inference.fragment import MADE, made_for, require_rate, unattached
from perhop.inference.given import read_traffic
from perhop.inference.headers import Header
from perhop.inference.network import FAR, Network
from perhop.inference.selection import (
    depends_on_entrance,
    has_assumed_line,
    other_entrances,
    select_network,
)
from perhop.inference.sources import in_words, sending
from perhop.inference.targets import Hit, Miss, found, unmatched
from perhop.inference.traffic import Traffic, entry, guessed
from perhop.schema_types import RouterConfiguration, ScenarioConfig

# Simulated milliseconds by the highest load in Mb/s that they apply to, so that a run takes seconds.
_DURATIONS = (
    (2.5, 100_000),
    (25.0, 20_000),
    (250.0, 5_000),
    (2_500.0, 1_000),
    (25_000.0, 400),
    (float("inf"), 100),
)
# The part of a run that is not counted, 2 s at most; more of a short one, in which TCP is still starting.
_WARMUP, _LONGEST_WARMUP, _SHORT, _SHORT_WARMUP = 0.1, 2_000, 1_000, 0.4
# Interfaces that are tried as entrance: each takes a simulation for each class.
_MOST_ENTRANCES = 64
# Samples of queues in a run, and of throughput and delays.
_QUEUE_SAMPLES, _SAMPLES = 200, 40


@dataclass(frozen=True)
class InferredScenario:
    """A scenario inferred from a router configuration."""

    #: The keys of a scenario file.
    data: ScenarioConfig
    #: The interfaces by which packets leave and enter the router; `None` for one that is added to it.
    leaving: str | None
    entering: str | None
    #: The rate at which packets can leave, in words.
    rate: str
    #: What is offered: the class, the rate, the kind of traffic.
    offered: list[tuple[str, str, str]]
    #: What could not be inferred, and what else is to be known, one line each.
    missing: list[str]
    #: The router's platform and why it was taken, if known.
    platform: str | None
    #: The port and the queue of the router that each class of traffic waits in, as in results.
    queues: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What was inferred, and what could not be."""
        path = f"{self.entering or 'an added interface'} to {self.leaving or 'an added interface'}"
        lines = [f"inferred: traffic from {path}, {self.rate}:", *self.offers, *self.missing]
        return "\n".join([self.platform, *lines] if self.platform else lines)

    @property
    def offers(self) -> list[str]:
        """What is offered to each class, one line each."""
        wide = [max((len(row[place]) for row in self.offered), default=0) for place in (0, 1)]
        return [f"  {name:<{wide[0]}}  {rate:>{wide[1]}}  {kind}" for name, rate, kind in self.offered]


def infer(
    text: str,
    configuration: RouterConfiguration,
    base: Path,
    *,
    interface: str | None = None,
    rate: str | None = None,
    policy: str | None = None,
    traffic: Path | None = None,
) -> InferredScenario:
    """Infer a scenario from the router configuration `text`.

    Args:
        text: the configuration.
        configuration: the scenario's `configuration` of the router, which names the file or holds the text.
        base: the folder that relative paths in the scenario start from.
        interface: the interface that packets leave by; by default the one whose policy has most classes.
        rate: the rate of the line where the configuration cannot set it, as in `tc`; else of an interface to
            make for a policy that is attached nowhere.
        policy: that policy, where several are attached nowhere.
        traffic: rates by class, flow records or a capture, in place of a guess.

    Raises:
        ScenarioError: the router itself would refuse what the interface uses.
        InvalidInputError: there is no such interface, none that is up, or the traffic cannot be read.

    """
    report = examined_as(text, configuration)
    refuse_unsupported(report)
    made: list[str] = []
    line_rate = None
    if rate is not None and policy is None and has_assumed_line(report["router"]):
        require_rate(rate)
        line_rate = rate
    elif rate is not None:
        made = made_for(report, rate, policy)
        commands = [*configuration.get("add", []), *made]
        configuration = {**configuration, "add": commands}
        report = examined_as("\n".join([text, *commands, ""]), configuration)
        interface = interface or MADE
    elif policy is not None:
        raise InvalidInputError(
            "--policy needs --rate", "give the rate of an interface for it: --rate 50Mb/s"
        )
    recognized = report.get("platform")
    profile = recognized["profile"] if recognized else None
    network = select_network(
        report["router"], configuration, base, interface, platform=profile, rate=line_rate
    )
    _check(network, report)
    if traffic is None:
        network, offered = _guessed(network, report)
    else:
        offered = read_traffic(network, traffic)
        network = replace(network, carried=offered.carried)
    remarks = [*network.remarks, *offered.remarks]
    if made:
        remarks.insert(0, f"{MADE} is made for {made[-1].rpartition(' ')[2]}")
    if interface is None and not network.leaves[1:]:
        remarks += _unattached(report)
    return _inferred(network, offered, remarks, platform_words(report.get("platform")))


def require_way(report: RouterReport, configuration: RouterConfiguration) -> None:
    """Refuse a configuration whose classes no packet reaches, as `infer` does.

    A queue without conditions takes the packets that no other class takes: without a trial, it is reached.

    Raises:
        InvalidInputError: there is no interface that is up, or no packet reaches a class.

    """
    recognized = report.get("platform")
    profile = recognized["profile"] if recognized else None
    network = select_network(report["router"], configuration, Path(), None, platform=profile)
    if network.leaves and all(leaf.matches for leaf in network.leaves):
        _guessed(network, report)


def _guessed(network: Network, report: RouterReport) -> tuple[Network, Traffic]:
    """Return traffic for each class that headers reach, and the network that it enters."""
    network, hits, misses, are_all_tried = _reachable(network, report)
    offered = guessed(network, hits)
    offered.remarks.extend(dict.fromkeys(str(miss) for miss in misses))
    if not are_all_tried:
        offered.remarks.append(f"only {_MOST_ENTRANCES} of the other interfaces were tried as entrance")
    never = "no header reaches it: its conditions exclude each other"
    offered.remarks.extend(f"class `{name}`: {never}" for name in unmatched(network))
    if not offered.flows:
        why = "; ".join(offered.remarks)
        raise InvalidInputError(
            f"no packet reaches a class on the way out by {network.leaving.name}: {why}",
            "give the traffic: --traffic FILE with rates by class, flow records or a capture",
        )
    return network, offered


def _inferred(
    network: Network, traffic: Traffic, remarks: list[str], platform: str | None
) -> InferredScenario:
    classes = [flow.entry.get("class") or flow.entry["name"] for flow in traffic.flows]
    queues = [flow.queue for flow in traffic.flows]
    return InferredScenario(
        data=_scenario(network, traffic),
        leaving=network.leaving.name if network.leaving.port else None,
        entering=network.entering.name if network.entering.port else None,
        rate=in_words(network.bottleneck),
        offered=[(name, *flow.offered) for name, flow in zip(classes, traffic.flows, strict=True)],
        missing=remarks,
        platform=platform,
        queues={name: (network.port, queue) for name, queue in zip(classes, queues, strict=True) if queue},
    )


def _check(network: Network, report: RouterReport) -> None:
    """Raise what refuses a run on this path: an error must not look like a class without packets."""
    trial = entry("trial", Header(), sending("constant", 8000, 100))
    try:
        Document(network.scenario([trial], [Header()], "1s"), network.base).check()
    except ScenarioError as error:
        path = {one.port["name"] for one in (network.entering, network.leaving) if one.port is not None}
        raise explained(error, report, path) from error


def _reachable(network: Network, report: RouterReport) -> tuple[Network, list[Hit], list[Miss], bool]:
    """Return headers for each class, entering where most classes can be reached, and if all were tried."""
    hits, misses = found(network)
    others: Iterator[Network] = iter(())
    if misses and depends_on_entrance(network):
        others = other_entrances(network, report["router"])
        for other in islice(others, _MOST_ENTRANCES):
            other_hits, other_misses = found(other)
            if _queues(other_misses) < _queues(misses):
                network, hits, misses = other, other_hits, other_misses
    return network, hits, misses, not misses or next(others, None) is None


def _queues(misses: list[Miss]) -> tuple[int, int]:
    """Return how many queues lack packets: first those of configured classes."""
    names = [miss.target.own_name for miss in misses if miss.target.place[0] == "queue"]
    return sum(name != "class-default" for name in names), len(names)


def _unattached(report: RouterReport) -> list[str]:
    names = unattached(report)
    if not names:
        return []
    shown = ", ".join(f"`{name}`" for name in names)
    return [
        f"attached nowhere: {shown}; --rate 50Mb/s --policy {names[0]} runs it at an interface made for it"
    ]


def _scenario(network: Network, traffic: Traffic) -> ScenarioConfig:
    megabits = sum(flow.rate for flow in traffic.flows) / 1e6
    usual = next(milliseconds for most, milliseconds in _DURATIONS if megabits <= most)
    milliseconds = traffic.milliseconds or usual
    warmup = min((_SHORT_WARMUP if milliseconds <= _SHORT else _WARMUP) * milliseconds, _LONGEST_WARMUP)
    entries = [flow.entry for flow in traffic.flows]
    scenario = network.scenario(entries, [flow.header for flow in traffic.flows], _time(milliseconds))
    return {
        **scenario,
        "measure": {
            "warmup": _time(0 if traffic.milliseconds else warmup),
            "queues": [{"from": network.router, "to": FAR, "every": _time(milliseconds / _QUEUE_SAMPLES)}],
            "throughput-every": _time(milliseconds / _SAMPLES),
            "delay-every": _time(milliseconds / _SAMPLES),
        },
    }


def _time(milliseconds: float) -> str:
    if milliseconds < 1 or milliseconds % 1:
        return f"{round(milliseconds * 1000)}us"
    return f"{round(milliseconds)}ms" if milliseconds % 1000 else f"{round(milliseconds // 1000)}s"
