"""A testbed: a temporary network, the processes in it, and their removal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from perhop.interrupts import deferred
from perhop.live import building, children, namespaces, rights
from perhop.live.children import Child
from perhop.live.cleaning import clean
from perhop.live.inside import Place
from perhop.live.network import Network
from perhop.live.owner import Owner
from perhop.live.state import ROOT, State

_HOSTS = "hosts"


class LiveTestbed:
    """A network of namespaces for the duration of a `with` block.

    The network is removed at the end of the block, also after an error. After a kill -9, `clean` removes it;
    every new testbed calls `clean` first.
    """

    def __init__(
        self, network: Network, scenario: str, *, congestion_controls: Mapping[str, str] | None = None
    ) -> None:
        """Describe a testbed; nothing is built yet.

        Args:
            network: the nodes and cables to build.
            scenario: name of the scenario.
            congestion_controls: TCP congestion control by host; by default the system's.

        """
        self.network = network
        owner = Owner.current()
        self.state = State(
            owner=owner,
            scenario=scenario,
            namespaces=namespaces.names(owner, network.nodes),
            addresses={node: str(address) for node, address in network.addresses.items()},
        )
        #: Optional settings that the system refused.
        self.refused: list[str] = []
        self.children: list[Child] = []
        #: TCP congestion control by host, where it is set.
        self.congestion_controls = congestion_controls or {}

    @property
    def folder(self) -> Path:
        """The folder of the testbed's files while the testbed exists."""
        return self.state.folder

    def __enter__(self) -> LiveTestbed:
        rights.obtain()
        clean()
        try:
            self.state.make_folder()
            self.state.save()
            (self.folder / _HOSTS).write_text(_hosts(self.state.addresses), encoding="utf-8")
            self.refused = building.build(self.network, self.state.namespaces, self.congestion_controls)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self, node: str, name: str, *what: str) -> Child:
        """Start a process in a node: `forward`, `host` or `program`, with the arguments of `inside`."""
        child = Child(node, name, self.place(node), list(what), self.folder / f"{len(self.children)}.log")
        self.children.append(child)
        return child

    def place(self, node: str) -> Place:
        """Return the place of a node's processes."""
        return place(self.state, node, parent=os.getpid())

    def close(self) -> None:
        """End all processes and remove the network; defer signals until the removal is complete."""
        with deferred():
            children.end(self.children)
            names = list(self.state.namespaces.values())
            namespaces.empty(names)
            for name in names:
                namespaces.remove(name)
            shutil.rmtree(self.folder, ignore_errors=True)


def place(state: State, node: str, parent: int | None = None) -> Place:
    """Return the place of the processes of a testbed's node."""
    return Place(
        namespace=str(namespaces.path(state.namespaces[node])),
        hosts=str(ROOT / state.owner.tag / _HOSTS) if node in state.addresses else None,
        parent=parent,
    )


def place_from_outside(state: State, node: str) -> Place:
    """Return the place of a node's processes for a process outside the testbed.

    A testbed without root privileges is in a user namespace, which must be entered first.
    """
    inside = place(state, node)
    owner = Path(f"/proc/{state.owner.pid}/ns")
    own = Path("/proc/self/ns")
    if (owner / "user").readlink() == (own / "user").readlink():
        return inside
    return replace(inside, outer=(str(owner / "user"), str(owner / "mnt")))


def _hosts(addresses: dict[str, str]) -> str:
    """Return the content of `/etc/hosts` for all hosts."""
    lines = [
        "127.0.0.1 localhost",
        "::1 localhost",
        *(f"{address} {node}" for node, address in addresses.items()),
    ]
    return "\n".join(lines) + "\n"
