"""A laboratory: a network that exists for a while, processes in it, and nothing of it afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType

from perhop.live import building, children, namespaces, rights
from perhop.live.children import Child
from perhop.live.cleaning import clean
from perhop.live.inside import Place
from perhop.live.network import Network
from perhop.live.owner import Owner
from perhop.live.state import ROOT, State

_HOSTS = "hosts"
_DISTURBING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Laboratory:
    """A network of namespaces while a `with` block lasts.

    Whatever ends the block, the network is gone afterwards; where even that is impossible (kill -9), `clean`
    removes it, which each new laboratory calls first.
    """

    def __init__(
        self, network: Network, scenario: str, *, congestion_controls: Mapping[str, str] | None = None
    ) -> None:
        """Describe a laboratory; nothing is built yet.

        Args:
            network: what to build.
            scenario: the name of what it is for.
            congestion_controls: TCP's by host; by default the system's.

        """
        self.network = network
        owner = Owner.current()
        self.state = State(
            owner=owner,
            scenario=scenario,
            namespaces=namespaces.names(owner, network.nodes),
            addresses={node: str(address) for node, address in network.addresses.items()},
        )
        #: What the system did not grant, and one can live without.
        self.refused: list[str] = []
        self.children: list[Child] = []
        #: TCP's by host, where a host has one of its own.
        self.congestion_controls = congestion_controls or {}

    @property
    def folder(self) -> Path:
        """Where its files are while it exists."""
        return self.state.folder

    def __enter__(self) -> Laboratory:
        rights.obtain()
        clean()
        try:
            self.folder.mkdir(parents=True)
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
        """Start a process in a node: `forward`, `host` or `program`, as `inside` takes them."""
        child = Child(node, name, self.place(node), list(what), self.folder / f"{len(self.children)}.log")
        self.children.append(child)
        return child

    def place(self, node: str) -> Place:
        """Return where processes of a node live."""
        return place(self.state, node, parent=os.getpid())

    def close(self) -> None:
        """End all processes and remove the network; signals have to wait until that is done."""
        with _undisturbed():
            children.end(self.children)
            names = list(self.state.namespaces.values())
            namespaces.empty(names)
            for name in names:
                namespaces.remove(name)
            shutil.rmtree(self.folder, ignore_errors=True)


def place(state: State, node: str, parent: int | None = None) -> Place:
    """Return where processes of a node of a laboratory live."""
    return Place(
        namespace=str(namespaces.path(state.namespaces[node])),
        hosts=str(ROOT / state.owner.tag / _HOSTS) if node in state.addresses else None,
        parent=parent,
    )


def place_from_outside(state: State, node: str) -> Place:
    """Return where processes of a node live, for one that is not of the laboratory.

    A laboratory without the rights of root is in a user namespace; its owner's others enter that first.
    """
    inside = place(state, node)
    owner = Path(f"/proc/{state.owner.pid}/ns")
    own = Path("/proc/self/ns")
    if (owner / "user").readlink() == (own / "user").readlink():
        return inside
    return replace(inside, outer=(str(owner / "user"), str(owner / "mnt")))


def _hosts(addresses: dict[str, str]) -> str:
    """Return `/etc/hosts` of every host: the scenario's names."""
    lines = [
        "127.0.0.1 localhost",
        "::1 localhost",
        *(f"{address} {node}" for node, address in addresses.items()),
    ]
    return "\n".join(lines) + "\n"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C and the like for a while; they come into effect afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def later(number: int, frame: FrameType | None) -> None:
        came.append(number)

    held = {number: signal.signal(number, later) for number in _DISTURBING}
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for sent in came:
            signal.raise_signal(sent)
