"""Traffic for every class of a router: headers by trial, amounts by what the class is promised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from perhop import ScenarioError, _core
from perhop.around.headers import Header, candidates
from perhop.around.network import Leaf, Network

if TYPE_CHECKING:
    from perhop.scenario import Scenario

# Of a class so many headers are tried before it is given up.
_TRIALS = 48
# A trial ends when its first packet has long been classified.
_TRIAL = {"duration": "30ms", "seed": 1, "replications": 1}
_TCP = {"profile": "linux-modern", "window": "64KiB"}
_TRANSFERS = 4
# Four windows of the usual size fill no faster line over its round trip.
_FAST = 100e6
_WIDE = _TCP | {"window": "1MiB"}
# Voice: what of its class's rate it fills, and its packets (G.711 every 20 ms).
_FILLED = 0.5
_VOICE_PACKET = "200B"


@dataclass(frozen=True)
class Flow:
    """An entry of traffic, and the headers it was given for the sake of a class."""

    header: Header
    entry: dict[str, Any]


@dataclass(frozen=True)
class _Target:
    """A class of the router: a stage of conditioning, or a queue."""

    #: Where results name it: `(side, stage)` or `("queue", path)`.
    place: tuple[str, str]
    name: str
    matches: list[Mapping[str, Any]]


def flows(network: Network) -> tuple[list[Flow], list[str]]:
    """Return traffic for each class on the way through the router, and a line for each that has none."""
    # What is wrong with the configuration itself must not be taken for a class without packets.
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
            missing.append(f"class {target.name}: no packets were found that would get there")
            continue
        header, places = hit
        reached |= places
        leaf = next(
            (leaves[path] for kind, path in sorted(places) if kind == "queue" and path in leaves), None
        )
        name = _unlike(target.name, [one.entry["name"] for one in found])
        found.append(Flow(header, {"name": name} | _sent(header) | _offered(network, leaf, header)))
    return found, missing


def _targets(network: Network) -> Iterable[_Target]:
    for port, side in ((network.entering, "input"), (network.leaving, "output")):
        for stage in (port[side].get("conditioners") or []) if port else []:
            match = [stage["match"]] if stage.get("match") else []
            name = stage["name"]
            yield _Target((side, name), name.rpartition(".")[2] if "." in name else name, match)
    for leaf in network.leaves:
        yield _Target(("queue", leaf.path), leaf.name, leaf.matches)


def _try(
    network: Network, target: _Target, others: list[Header]
) -> tuple[Header, set[tuple[str, str]]] | None:
    """Return headers that reach a class beside the `others`, and what else of the router they pass."""
    for header in islice(candidates(target.matches, network.own), _TRIALS):
        if not network.has_hosts_for([*others, header]):
            continue
        places = _passed(network, header)
        if target.place in places:
            return header, places
    return None


def _passed(network: Network, header: Header) -> set[tuple[str, str]]:
    """Return the stages and queues of the router that such packets pass: the simulator is asked."""
    try:
        summary = _scenario(network, header).run(threads=1).summary
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


def _scenario(network: Network, header: Header) -> Scenario:
    """Return the network with a little traffic that has these headers."""
    from perhop.scenario import Scenario

    trial = {"name": "trial", "source": _trial_source(header)} | _sent(header)
    return Scenario(network.around([trial], [header]) | _TRIAL, network.base)


def _trial_source(header: Header) -> dict[str, Any]:
    if header.protocol == "tcp":
        return {"bulk": {"tcp": _TCP}}
    return {"cbr": {"rate": "8kb/s", "packet": {"ip": "100B"}}}


def _sent(header: Header) -> dict[str, Any]:
    """Return the keys of traffic that its headers ask for."""
    said = {
        "dscp": header.dscp,
        "source-port": header.source_port,
        "destination-port": header.destination_port,
    }
    return {key: value for key, value in said.items() if value is not None}


def _offered(network: Network, leaf: Leaf | None, header: Header) -> dict[str, Any]:
    """Return how much is sent: voice half of what its class may send, data whatever TCP takes."""
    config = leaf.config if leaf else {}
    policed = network.policed(leaf) if leaf else None
    if policed and header.protocol != "tcp":
        return {"source": {"cbr": {"rate": _rate(_FILLED * policed), "packet": {"ip": _VOICE_PACKET}}}}
    if header.protocol == "udp":
        promised = _bits(config.get("share", {}).get("bandwidth", "0b/s")) or network.bottleneck / 4
        return {"source": {"poisson": {"rate": _rate(promised), "packet": {"ip": "1000B"}}}}
    tcp = _WIDE if network.bottleneck > _FAST else _TCP
    return {"count": _TRANSFERS, "start-within": "100ms", "source": {"bulk": {"tcp": tcp}}}


def _bits(rate: str) -> float:
    found = _core.quantity(rate)
    return found[0] if found else 0.0


def _rate(bits_per_second: float) -> str:
    """Return a rate in whole kilobits, or bits where it is less."""
    kilobits = round(bits_per_second / 1000)
    return f"{kilobits}kb/s" if kilobits else f"{max(round(bits_per_second), 1)}b/s"


def _unlike(name: str, others: Sequence[str]) -> str:
    number = 2
    wanted = name
    while wanted in others:
        wanted, number = f"{name}-{number}", number + 1
    return wanted
