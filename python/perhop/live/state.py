"""The state of a testbed for other processes: its owner, namespaces, sockets and logs.

Each testbed has a folder under `/run/perhop`, named after its owner. Without root privileges the folder is
under `XDG_RUNTIME_DIR`, and bind-mounted to `/run/perhop` inside the user namespace.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from perhop.live import private
from perhop.live.owner import Owner
from perhop.saving import replace_file

#: The folder of all testbeds, as their owners see it.
ROOT = Path("/run/perhop")
# The file name of release 0.1, so that `clean` also finds testbeds of that release.
_FILE = "laboratory.json"
# The remains of a process that was killed while it wrote the first state file.
_UNFINISHED = re.compile(rf"\.{re.escape(_FILE)}-[0-9a-f]{{12}}\.new")


def outer_root() -> Path:
    """Return the folder of this user's testbeds, as seen outside any user namespace."""
    if os.geteuid() == 0:
        return ROOT
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "perhop" if runtime else Path(tempfile.gettempdir()) / f"perhop-{os.geteuid()}"


@dataclass
class State:
    """A testbed as other processes see it."""

    owner: Owner
    #: Name of the scenario.
    scenario: str
    #: The name of the network namespace of each node.
    namespaces: dict[str, str] = field(default_factory=dict)
    #: The address of each host.
    addresses: dict[str, str] = field(default_factory=dict)
    #: The file name of the control socket in `folder`, for each node with a forwarder.
    sockets: dict[str, str] = field(default_factory=dict)
    #: State of the offloads of existing interfaces before a bridge switched them off, by device and name.
    offloads: dict[str, dict[str, bool]] = field(default_factory=dict)
    #: The network namespace of the interfaces in `offloads`, as device and inode of its file.
    network: list[int] | None = None
    #: The folder of all testbeds.
    root: Path = ROOT

    @property
    def folder(self) -> Path:
        """The testbed's own folder."""
        return self.root / self.owner.tag

    def make_folder(self) -> None:
        """Create the testbed's folder with its state. Like the folder of all testbeds, it is private.

        Raises:
            StrangeFolderError: other users can change the folder of all testbeds.

        """
        private.make(self.root)
        private.make_new(self.folder)
        self.save()

    def save(self) -> None:
        """Write the state file."""
        data = asdict(self)
        del data["root"]
        replace_file(
            self.folder / _FILE, json.dumps(data, ensure_ascii=False, indent=2) + "\n", is_result=False
        )


def load(folder: Path) -> State | None:
    """Return the testbed of `folder`; `None` if there is none, or its state file is incomplete."""
    owner = Owner.of_tag(folder.name)
    data = None if owner is None else _saved(owner, folder)
    if owner is None or data is None:
        return None
    with suppress(TypeError):
        return State(owner=owner, root=folder.parent, **data)
    return None


def _saved(owner: Owner, folder: Path) -> dict[str, Any] | None:
    """Return the contents of an owner's state file; `None` if a folder has no state file of this owner."""
    with (
        suppress(OSError, ValueError, TypeError, private.StrangeFolderError),
        private.opened(folder) as inner,
    ):
        text = private.text_in(inner, _FILE)
        data: dict[str, Any] = {} if text is None else json.loads(text)
        if data.pop("owner", None) == asdict(owner):
            return data
    return None


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder is empty, or contains only the beginning of a state file."""
    with suppress(OSError, private.StrangeFolderError), private.opened(folder) as inner:
        return all(_UNFINISHED.fullmatch(name) for name in private.names_in(inner))
    return False


def folders() -> Iterator[tuple[Owner, Path]]:
    """Generate the folders of this user's testbeds, with their owners.

    The state file, not the name, identifies the folder of a testbed.

    Raises:
        StrangeFolderError: other users can change the folder of all testbeds.

    """
    root = outer_root()
    try:
        with private.opened(root) as opened:
            names = private.names_in(opened)
    except (FileNotFoundError, PermissionError):
        return
    for name in names:
        owner = Owner.of_tag(name)
        if owner is not None and (_saved(owner, root / name) is not None or _is_unfinished(root / name)):
            yield owner, root / name


def running() -> list[State]:
    """Return this user's running testbeds."""
    states = (load(folder) for owner, folder in folders() if owner.alive)
    return [state for state in states if state is not None]
