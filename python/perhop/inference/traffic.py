"""Traffic for every class of a router: headers found by trial, rates from what the class is guaranteed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NotRequired, TypedDict

from perhop import _core
from perhop.document import Document
from perhop.errors import ScenarioError
from perhop.inference.headers import Header, candidates
from perhop.inference.network import Leaf, Network
from perhop.running import simulate
from perhop.schema_types import MatchConfig, SourceConfig, TcpConfig, TrafficConfig

# Number of headers tried for one class.
_TRIALS = 48
# A trial is long enough for its first packet to be classified.
_TRIAL_DURATION = "30ms"
_TCP: TcpConfig = {"profile": "linux-modern", "window": "64KiB"}
_TRANSFERS = 4
# Above this rate, four windows of the default size no longer fill the line over its round trip.
_FAST = 100e6
_WIDE: TcpConfig = {**_TCP, "window": "1MiB"}
# Voice: the share of the class's rate that is offered, and the packet (G.711 every 20 ms).
_FILLED = 0.5
_VOICE_PACKET = "200B"


@dataclass(frozen=True)
class Flow:
    """An entry of traffic, and the headers that match it to its class."""

    header: Header
    entry: TrafficConfig


@dataclass(frozen=True)
class _Target:
    """A class of the router: a conditioning stage or a queue."""

    #: Its name in results: `(side, stage)` or `("queue", path)`.
    place: tuple[str, str]
    name: str
    matches: list[MatchConfig]


def flows(network: Network) -> tuple[list[Flow], list[str]]:
    """Return traffic for each class on the path through the router, and a line for each class without any.

    Raises:
        ScenarioError: the router itself would refuse the configuration.

    """
    # An error in the configuration must not look like a class without packets.
    _scenario(network, Header()).check()
    found: list[Flow] = []
    missing: list[str] = []
    reached: set[tuple[str, str]] = set()
    leaves = {leaf.path: leaf for leaf in network.leaves}
    for target in _targets(network):
        if target.place in reached:
            continue
        hit = _try(network, target, [one.header for one in found])
        if hit is None:
            missing.append(f"class `{target.name}`: found no packets that match it")
            continue
        header, places = hit
        reached |= places
        leaf = next(
            (leaves[path] for kind, path in sorted(places) if kind == "queue" and path in leaves), None
        )
        name = _unlike(target.name, [one.entry["name"] for one in found])
        found.append(Flow(header, _entry(name, header, _offered(network, leaf, header))))
    return found, missing


def _targets(network: Network) -> Iterable[_Target]:
    for policy, side in (
        (network.entering["input"] if network.entering else None, "input"),
        (network.leaving["output"] if network.leaving else None, "output"),
    ):
        for stage in (policy or {}).get("conditioners") or []:
            match, name = stage.get("match"), stage.get("name") or ""
            yield _Target(
                (side, name), name.rpartition(".")[2] if "." in name else name, [match] if match else []
            )
    for leaf in network.leaves:
        yield _Target(("queue", leaf.path), leaf.name, leaf.matches)


def _try(
    network: Network, target: _Target, others: list[Header]
) -> tuple[Header, set[tuple[str, str]]] | None:
    """Return headers that reach a class along with `others`, and all the classes that they reach."""
    for header in islice(candidates(target.matches, network.own), _TRIALS):
        if not network.has_hosts_for([*others, header]):
            continue
        places = _reached(network, header)
        if target.place in places:
            return header, places
    return None


def _reached(network: Network, header: Header) -> set[tuple[str, str]]:
    """Return the stages and queues of the router that packets with this header reach, by a simulation."""
    try:
        summary = simulate(_scenario(network, header), threads=1).summary
    except ScenarioError:
        return set()
    port = f"{network.router}->{network.after_router}"
    queues = {
        ("queue", row["queue"])
        for row in summary["ports"]
        if row["port"] == port and row["arrived_packets"]["mean"]
    }
    sides = {"input": "near-side", "output": network.after_router}
    stages = {
        (row["side"], row["stage"])
        for row in summary["conditioners"]
        if row["node"] == network.router and row["neighbor"] == sides[row["side"]] and row["packets"]["mean"]
    }
    return queues | stages


def _scenario(network: Network, header: Header) -> Document:
    """Return the network with a trial flow that has these headers."""
    trial = _entry("trial", header, {"source": _trial_source(header)})
    scenario = network.scenario([trial], [header], _TRIAL_DURATION)
    return Document({**scenario, "seed": 1, "replications": 1}, network.base)


def _trial_source(header: Header) -> SourceConfig:
    if header.protocol == "tcp":
        return {"bulk": {"tcp": _TCP}}
    return {"cbr": {"rate": "8kb/s", "packet": {"ip": "100B"}}}


class _Offered(TypedDict):
    """The keys of an entry of traffic that determine how much is sent."""

    source: SourceConfig
    count: NotRequired[int]


def _entry(name: str, header: Header, offered: _Offered) -> TrafficConfig:
    """Return an entry of traffic with the headers; the network adds its ends."""
    entry: TrafficConfig = {"name": name, "from": "", "to": "", "source": offered["source"]}
    if header.dscp is not None:
        entry["dscp"] = header.dscp
    if header.source_port is not None:
        entry["source-port"] = header.source_port
    if header.destination_port is not None:
        entry["destination-port"] = header.destination_port
    if "count" in offered:
        entry["count"] = offered["count"]
        entry["start-within"] = "100ms"
    return entry


def _offered(network: Network, leaf: Leaf | None, header: Header) -> _Offered:
    """Return the source: policed UDP at half its rate, other UDP at its guaranteed rate, else TCP."""
    policed = network.policed(leaf) if leaf else None
    if policed and header.protocol != "tcp":
        return {"source": {"cbr": {"rate": _rate(_FILLED * policed), "packet": {"ip": _VOICE_PACKET}}}}
    if header.protocol == "udp":
        bandwidth = leaf.config.get("share", {}).get("bandwidth") if leaf else None
        guaranteed = _bits(bandwidth or "0b/s") or network.bottleneck / 4
        return {"source": {"poisson": {"rate": _rate(guaranteed), "packet": {"ip": "1000B"}}}}
    tcp = _WIDE if network.bottleneck > _FAST else _TCP
    return {"source": {"bulk": {"tcp": tcp}}, "count": _TRANSFERS}


def _bits(rate: str) -> float:
    found = _core.quantity(rate)
    return found[0] if found else 0.0


def _rate(bits_per_second: float) -> str:
    """Return a rate in whole kb/s, or b/s where it is less than one."""
    kilobits = round(bits_per_second / 1000)
    return f"{kilobits}kb/s" if kilobits else f"{max(round(bits_per_second), 1)}b/s"


def _unlike(name: str, others: Sequence[str]) -> str:
    number = 2
    wanted = name
    while wanted in others:
        wanted, number = f"{name}-{number}", number + 1
    return wanted
