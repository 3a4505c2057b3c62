"""For random networks, policies and packets, `perhop trace DIR` and `perhop run DIR` agree.

A run sends the packets of one flow between two sites. Ports, queues and conditioners that count them must
be among the hops of the walk; on a path that some packet surely takes, all hops must count packets.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from perhop.errors import InvalidInputError
from perhop.network import Network, packet_between
from perhop.network.running import NetworkRun
from perhop.quantity import quantity
from seeds import SEED
from test_trace_and_run import CRITERIA, LISTS, actions
from traced_runs import CODEPOINTS, is_slow

#: A hop: the device, the interface through which packets leave it, the queue.
Hop = tuple[str, str, str | None]
_SHORT = {"duration": "200ms", "measure.warmup": "0s"}
LEAST_DROPPING = 1
LEAST_LONG = 3


@dataclass
class Router:
    """A router of a random network."""

    name: str
    ports: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, draw: random.Random, address: str, mask: str, *, policies: bool) -> str:
        """Add a port, and return its name."""
        name = f"GigabitEthernet0/{len(self.ports)}"
        cost = [f" ip ospf cost {draw.randrange(1, 50)}"] if draw.random() < 0.6 else []
        output = draw.random() < 0.7 and policies
        sides = [side for side, has in (("input", draw.random() < 0.5), ("output", output)) if has]
        attached = [f" service-policy {side} {side.upper()}" for side in sides]
        self.lines += [f"interface {name}", f" ip address {address} {mask}", *cost, *attached]
        self.ports.append(name)
        return name

    def text(self, draw: random.Random, criteria: list[str]) -> str:
        """Return the configuration with random policies."""
        lines = [f"hostname {self.name}", *LISTS.splitlines()]
        names = [f"C{number}" for number in range(3)]
        for name in names:
            lines += [f"class-map match-any {name}", f" {draw.choice(criteria)}"]
        for side in ("input", "output"):
            lines.append(f"policy-map {side.upper()}")
            for name in [*draw.sample(names, draw.randrange(1, 4)), "class-default"]:
                calm = [action for action in actions(draw, side) if "qos-group" not in action]
                lines += [f" class {name}", *(f"  {action}" for action in calm or ["set dscp af11"])]
        return "\n".join([*lines, *self.lines]) + "\n"


def routers_of(draw: random.Random) -> tuple[list[Router], bool]:
    """Return the routers of a random network, and whether one of them has a tunnel."""
    routers = [Router(f"R{number}") for number in range(draw.randrange(3, 6))]
    subnet = 0

    def join(several: list[Router]) -> list[tuple[Router, str, str]]:
        nonlocal subnet
        subnet += 1
        ends = []
        for place, router in enumerate(several, 1):
            address = f"192.168.{subnet}.{place}"
            ends.append((router, router.add(draw, address, "255.255.255.0", policies=True), address))
        return ends

    joined = routers[:1]
    wires = []
    for router in routers[1:]:
        wires.append(join([draw.choice(joined), router]))
        joined.append(router)
    if draw.random() < 0.5:
        join(draw.sample(routers, 2))
    if draw.random() < 0.4:
        join(draw.sample(routers, 3))
    for number, router in enumerate(routers):
        router.add(draw, f"10.{number}.0.1", "255.255.255.0", policies=False)
        router.lines += [
            "router ospf 1",
            f" passive-interface {router.ports[-1]}",
            " network 0.0.0.0 255.255.255.255 area 0",
        ]
    has_tunnel = draw.random() < 0.3
    if has_tunnel:
        ends = draw.choice(wires)
        for place, ((router, source, _), (far, _, address)) in enumerate((ends, ends[::-1]), 1):
            router.lines += [
                "interface Tunnel0",
                f" ip address 172.16.0.{place} 255.255.255.252",
                f" tunnel source {source}",
                f" tunnel destination {address}",
                f"ip route 10.{routers.index(far)}.0.0 255.255.255.0 Tunnel0",
            ]
    return routers, has_tunnel


def written(folder: Path, draw: random.Random) -> Network:
    """Write a random network and read it."""
    folder.mkdir()
    routers, has_tunnel = routers_of(draw)
    # Below a tunnel, a run has the inner addresses and ports.
    criteria = [
        criterion
        for criterion in CRITERIA
        if not has_tunnel or "dscp" in criterion or "precedence" in criterion
    ]
    for router in routers:
        (folder / f"{router.name}.cfg").write_text(router.text(draw, criteria))
    return Network.read(folder)


def hops_of(path: dict[str, Any]) -> set[Hop]:
    """Return the hops of a walk at which a run counts packets: those with a queue."""
    return {
        (hop["device"], hop["leaves"], hop["queue"])
        for hop in path["hops"]
        if hop["leaves"] and any(stage["stage"] == "queue" for stage in hop["stages"])
    }


def stages_of(path: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for hop in path["hops"]:
        yield from ((hop["device"], stage) for stage in hop["stages"] if stage["stage"] == "conditioner")


def conditioners_of(path: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(device, stage["side"], stage["name"]) for device, stage in stages_of(path)}


def occurs(path: dict[str, Any]) -> bool:
    """Whether a run surely has packets on a path: all packets are green, or exceed the only slow meter."""
    colors = [(stage["color"], is_slow(stage)) for _, stage in stages_of(path) if stage.get("color")]
    if all(color == "green" for color, _ in colors):
        return True
    return sum(slow for _, slow in colors) == 1 and all(slow or color == "green" for color, slow in colors)


def counted(run: NetworkRun, names: set[str]) -> tuple[set[Hop], set[tuple[str, str, str]], bool]:
    """Return the hops and conditioners that count packets, and whether one drops."""
    interfaces = {}
    for link in run.scenario["links"]:
        for near, far in (link["between"], link["between"][::-1]):
            own = link["interfaces"].get(near, {})
            if "name" in own:
                interfaces[f"{near}->{far}"] = (near, own["name"])
    results = run.scenario.run(replications=1, threads=1)
    hops: set[Hop] = set()
    for row in results.ports.iter_rows(named=True):
        if row["arrived_packets"] and not row["queue"].startswith("(") and row["port"] in interfaces:
            device, interface = interfaces[row["port"]]
            hops.add((device, interface, row["queue"]))
    rows = [row for row in results.table("conditioners").iter_rows(named=True) if row["packets"]]
    conditioners = {(row["node"], row["side"], row["stage"]) for row in rows if row["node"] in names}
    return hops, conditioners, bool(sum(results.classes["dropped_policed"]))


def compare(folder: Path, trial: int) -> tuple[bool, int]:
    """Compare one flow; return whether conditioners drop some of its packets, and the length of its path.

    Packets in a tunnel whose outer header is marked are not run, because packets of a run have one header.
    """
    draw = random.Random(f"{SEED}/network/{trial}")
    network = written(folder / str(trial), draw)
    sites = network.summary()["sites"]
    start, end = draw.sample(sites, 2)
    dscp, port = draw.choice(CODEPOINTS), draw.choice([9000, 9001, 9002])
    file = folder / f"{trial}.csv"
    file.write_text(
        "from,to,dscp,rate,packet_bytes,kind,port\n"
        f"{start['name']},{end['name']},{dscp},400kb/s,500,constant,{port}\n"
    )
    try:
        run = NetworkRun.from_network(
            network, traffic=file, changes={"duration": "200ms", "measure.warmup": "0s"}
        )
    except InvalidInputError as error:
        assert "one header" in str(error), trial
        return False, 0
    assert quantity(run.scenario["duration"]) == (0.2, "s")
    (pair,) = run.pairs
    walk = network.walk(packet_between(start["address"], end["address"], pair["packet"]))
    paths = walk["paths"]
    hops, conditioners, drops = counted(run, {device["name"] for device in network.summary()["devices"]})
    shown = f"trial {trial}: {walk['packet']}"
    assert hops <= set().union(*map(hops_of, paths)), f"{shown}: the run counts elsewhere"
    assert conditioners <= set().union(*map(conditioners_of, paths)), f"{shown}: the run conditions elsewhere"
    for path in filter(occurs, paths):
        assert hops_of(path) <= hops, f"{shown}: the run counts nothing at {hops_of(path) - hops}"
        lacking = conditioners_of(path) - conditioners
        assert not lacking, f"{shown}: the run conditions nothing at {lacking}"
    # The paths in the answer of `run` are those of `trace`.
    stops = {(stop["device"], stop["interface"], stop["queue"]) for way in pair["ways"] for stop in way}
    delivered = [path for path in paths if path["end"] == "delivered"]
    assert stops == set().union(*map(hops_of, delivered))
    return drops, max(len(path["hops"]) for path in paths)


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.thorough) for first in range(20, 400, 20))]
)
def test_a_run_counts_packets_on_traced_paths(tmp_path: Path, first: int) -> None:
    found = [compare(tmp_path, trial) for trial in range(first, first + 20)]
    assert sum(drops for drops, _ in found) >= LEAST_DROPPING
    assert sum(length > 2 for _, length in found) >= LEAST_LONG
