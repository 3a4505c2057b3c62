"""`Lab`: the namespaces, cables, routes and queues of a folder of configurations."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cables import Namespace, forwarding
from network_lab.programs import COUNT, SEND
from perhop import convert
from perhop.configuration import checked
from perhop.live import kernel, namespaces
from perhop.live.bridging import Side, configuration
from perhop.network import Network, packet_between

#: The length of a slot of time in which packets are counted together, seconds.
SLOT_S = 0.1
_DRAINED_WITHIN_S = 20.0
_ENDED_WITHIN_S = 60.0
_NAMED_CLASS = re.compile(r'# (.+)\ntc class add dev "\$DEV" parent \S+ classid (1:\w+) ')
_COUNTERS = re.compile(r"^class htb (1:\w+) .*?Sent \d+ bytes (\d+) pkt", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class End:
    """One end of a cable: a port of a router, or the only device of a host."""

    node: Namespace
    #: The name of the device in Linux.
    device: str
    #: The address with the length of its prefix.
    address: str
    #: The port in the answer of `perhop check`, and the file of its router.
    port: Mapping[str, Any] | None = None
    file: Path = Path()
    #: The names of the classes of `tc` by their numbers.
    classes: dict[str, str] = field(default_factory=dict)

    def policy(self, side: str) -> str | None:
        """Return the name of the policy of a side."""
        own = self.port["policies"][side] if self.port else None
        return own["name"] if own else None

    def converted(self, side: str, to: str) -> str:
        """Return the policy of a side in another language."""
        assert self.port is not None
        name = self.policy(side)
        return convert.convert(self.file, to=to, interface=self.port["name"], policy=name).text

    def counters(self) -> dict[str, int]:
        """Return the packets that each class of `tc` has sent."""
        found = dict(_COUNTERS.findall(self.node.run("tc", "-s", "class", "show", "dev", self.device)))
        return {name: int(found[number]) for number, name in self.classes.items()}


@dataclass(frozen=True)
class Passed:
    """Datagrams of one kind that passed a device in one slot of time."""

    node: str
    slot: int
    device: str
    leaves: bool
    #: Source and destination address, source and destination port.
    flow: tuple[str, str, int, int]
    dscp: int
    ttl: int
    packets: int
    bytes: int


class Lab:
    """Routers, and one host for each site, for the duration of a `with` block."""

    def __init__(self, network: Network, work: Path) -> None:
        """Prepare the lab. `work` is the folder for the files of the lab."""
        self.network = network
        self._work = work
        self._stack = ExitStack()
        self.sites: dict[str, dict[str, Any]] = {}
        #: Namespaces by the names of devices and sites.
        self.nodes: dict[str, Namespace] = {}
        #: The ports of routers by device and interface.
        self.ports: dict[tuple[str, str], End] = {}
        self._bridges: list[tuple[Namespace, Path, dict[str, Any]]] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._stack = stack
            self._build()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def send(self, site: str, flows: Sequence[Mapping[str, Any]]) -> float:
        """Send flows from the host of a site, and wait until all queues are empty.

        Return the greatest delay of the sender, seconds (see `SEND`).
        """
        late = self.nodes[site].run("nice", "-n", "-20", sys.executable, "-c", SEND, json.dumps(flows))
        until = time.monotonic() + _DRAINED_WITHIN_S
        while any(self._backlogs()):
            assert time.monotonic() < until, "packets wait in vain"
            time.sleep(SLOT_S)
        time.sleep(2 * SLOT_S)
        return float(late)

    @contextmanager
    def counting(self, ports: Sequence[int]) -> Iterator[list[Passed]]:
        """Count datagrams at all devices during the block. The list is filled at the end of the block."""
        found: list[Passed] = []
        words = [sys.executable, "-c", COUNT, str(SLOT_S), *map(str, ports)]
        with ExitStack() as stack:
            counters = {}
            for name, node in self.nodes.items():
                pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
                counter = stack.enter_context(subprocess.Popen(node.within(*words), text=True, **pipes))
                stack.callback(counter.kill)
                counters[name] = counter
            for counter in counters.values():
                assert counter.stdout is not None and counter.stdout.readline() == "ready\n"
            yield found
            for name, counter in counters.items():
                answer = json.loads(counter.communicate("\n", timeout=_ENDED_WITHIN_S)[0])
                assert answer["lost"] == 0, f"{name} has counted too slowly"
                for slot, device, leaves, *flow, dscp, ttl, packets, size in answer["rows"]:
                    found.append(Passed(name, slot, device, leaves, tuple(flow), dscp, ttl, packets, size))

    def _build(self) -> None:
        summary = self.network.summary()
        self.sites = {site["name"]: site for site in summary["sites"]}
        for device in summary["devices"]:
            node = self.nodes[device["name"]] = self._namespace()
            node.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
            file = self.network.folder / device["file"]
            for port in checked(file.read_text())["router"]["ports"]:
                ((address, length),) = port["addresses"]
                end = End(node, f"p{len(self.ports)}", f"{address}/{length}", port, file)
                self.ports[device["name"], port["name"]] = end
        for link in summary["links"]:
            near, far = (self.ports[end["device"], end["interface"]] for end in link["ends"])
            self._cable(near, far)
        for name, site in self.sites.items():
            gateway = self.ports[site["device"], site["interface"]]
            node = self.nodes[name] = self._namespace()
            length = gateway.address.partition("/")[2]
            self._cable(gateway, End(node, "eth0", f"{site['address']}/{length}"))
            node.run("ip", "route", "add", "default", "via", gateway.address.partition("/")[0])
        self._add_routes()
        for bridge, folder, given in self._bridges:
            started = self._stack.enter_context(forwarding(bridge, folder, given, entry="live_bridge"))
            # Real-time priority, so that a queue does not become empty on a busy machine.
            with suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, started.process.pid, -20)
        for number, end in enumerate(self.ports.values()):
            if end.policy("output"):
                script, text = self._work / f"{number}.sh", end.converted("output", "tc")
                script.write_text(text)
                end.node.run("sh", str(script), end.device)
                end.classes.update((number, name) for name, number in _NAMED_CLASS.findall(text))

    def _namespace(self) -> Namespace:
        made = Namespace()
        self._stack.callback(made.end)
        return made

    def _cable(self, near: End, far: End) -> None:
        """Connect two ends, with a bridge in front of each that has an input policy."""
        (one_node, one_device), (other, other_device) = (self._conditioned(end) for end in (near, far))
        one_node.cable(one_device, other, other_device)
        for node, device in ((one_node, one_device), (other, other_device)):
            _without_offloads(node, device)
        for end in (near, far):
            end.node.run("ip", "address", "add", end.address, "dev", end.device)
        # Without ARP, `tc` counts only datagrams.
        for end, peer in ((near, far), (far, near)):
            (shown,) = json.loads(peer.node.run("ip", "-json", "link", "show", "dev", peer.device))
            words = ["lladdr", shown["address"], "dev", end.device, "nud", "permanent"]
            end.node.run("ip", "neigh", "add", peer.address.partition("/")[0], *words)

    def _conditioned(self, end: End) -> tuple[Namespace, str]:
        """Return the namespace and the device for a cable: those of the end, or those of its bridge."""
        if (name := end.policy("input")) is None:
            return end.node, end.device
        bridge, folder = self._namespace(), self._work / f"bridge-{end.device}"
        folder.mkdir()
        bridge.cable("near0", end.node, end.device)
        for node, device in ((bridge, "near0"), (end.node, end.device)):
            _without_offloads(node, device)
        policy = folder / "policy.yaml"
        policy.write_text(end.converted("input", "yaml"))
        sides = Side("far0"), Side("near0")
        self._bridges.append(
            (bridge, folder, configuration(policy, *sides, name=name, rate=None, both=False))
        )
        return bridge, "far0"

    def _add_routes(self) -> None:
        """Add to each router the routes that packets between sites use in a walk."""
        for site, other in permutations(self.sites.values(), 2):
            walk = self.network.walk(packet_between(site["address"], other["address"], "udp"))
            for path in walk["paths"]:
                for hop in path["hops"]:
                    for stage in hop["stages"]:
                        if stage["stage"] == "forwarding" and stage["next_hop"]:
                            end = self.ports[hop["device"], stage["interface"]]
                            route = [stage["prefix"], "via", stage["next_hop"], "dev", end.device]
                            end.node.run("ip", "route", "replace", *route)

    def _backlogs(self) -> Iterator[int]:
        for end in self.ports.values():
            shown = end.node.run("tc", "-s", "qdisc", "show", "dev", end.device)
            yield from map(int, re.findall(r"backlog \w+ (\d+)p", shown))


def _without_offloads(node: Namespace, device: str) -> None:
    with namespaces.inside_of(Path(f"/proc/{node.pid}/ns/net")):
        kernel.switch_offloads_off(device)
