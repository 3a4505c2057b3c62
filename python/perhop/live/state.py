"""The state of a laboratory for other processes: its owner, namespaces, sockets and logs.

Each laboratory has a folder under `/run/perhop`, named after its owner. Without root privileges it is under
`XDG_RUNTIME_DIR`, and bind-mounted to `/run/perhop` inside the user namespace.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from perhop.live.owner import Owner
from perhop.saving import replace_file

#: The folder of all laboratories, as their owners see it.
ROOT = Path("/run/perhop")
_FILE = "laboratory.json"
_PRIVATE = 0o700


def outer_root() -> Path:
    """Return the folder of this user's laboratories, as seen outside any user namespace."""
    if os.geteuid() == 0:
        return ROOT
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "perhop" if runtime else Path(tempfile.gettempdir()) / f"perhop-{os.geteuid()}"


@dataclass
class State:
    """A laboratory as other processes see it."""

    owner: Owner
    #: Name of the scenario.
    scenario: str
    #: Node → the name of its network namespace.
    namespaces: dict[str, str] = field(default_factory=dict)
    #: Host → its address.
    addresses: dict[str, str] = field(default_factory=dict)
    #: Nodes with a forwarder → the file name of its control socket in `folder`.
    sockets: dict[str, str] = field(default_factory=dict)
    #: State of the offloads of existing interfaces before a bridge switched them off, by device and name.
    offloads: dict[str, dict[str, bool]] = field(default_factory=dict)
    #: The network namespace of these interfaces, as device and inode of its file.
    network: list[int] | None = None
    #: The folder of all laboratories.
    root: Path = ROOT

    @property
    def folder(self) -> Path:
        """The laboratory's own folder."""
        return self.root / self.owner.tag

    def make_folder(self) -> None:
        """Make the laboratory's folder; like that of all laboratories, it is this user's alone."""
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        self.root.chmod(_PRIVATE)
        self.folder.mkdir(mode=_PRIVATE)

    def save(self) -> None:
        """Write the state file."""
        data = asdict(self)
        del data["root"]
        replace_file(
            self.folder / _FILE, json.dumps(data, ensure_ascii=False, indent=2) + "\n", is_result=False
        )


def load(folder: Path) -> State | None:
    """Return the laboratory of `folder`; `None` if there is none, or its state file is incomplete."""
    owner = Owner.of_tag(folder.name)
    if owner is None:
        return None
    try:
        data = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        del data["owner"]
        return State(owner=owner, root=folder.parent, **data)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def folders() -> Iterator[tuple[Owner, Path]]:
    """Generate the folders of this user's laboratories, with their owners."""
    try:
        found = sorted(outer_root().iterdir())
    except (FileNotFoundError, PermissionError):
        return
    for folder in found:
        owner = Owner.of_tag(folder.name)
        if owner is not None:
            yield owner, folder


def running() -> list[State]:
    """Return this user's running laboratories."""
    states = (load(folder) for owner, folder in folders() if owner.alive)
    return [state for state in states if state is not None]
