"""Removing what crashed laboratories left behind, and nothing else."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from perhop.live import namespaces, rights
from perhop.live.bridging import restore
from perhop.live.owner import PREFIX, Owner
from perhop.live.state import folders, load


@dataclass
class Cleaned:
    """What was removed, and what could not be."""

    namespaces: list[str] = field(default_factory=list)
    #: How many processes in them were ended.
    processes: int = 0
    folders: list[str] = field(default_factory=list)
    #: What is left for want of rights.
    left: list[str] = field(default_factory=list)
    #: Laboratories that run and were left alone.
    running: list[int] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether there was something to remove."""
        return bool(self.namespaces or self.folders)


def clean() -> Cleaned:
    """Remove every laboratory whose owner is dead: processes, namespaces with their devices, state.

    It may be repeated, and run beside others of its kind. A laboratory whose owner lives is not touched.
    """
    cleaned = Cleaned()
    alive: dict[Owner, bool] = {}

    def dead(owner: Owner) -> bool:
        return not alive.setdefault(owner, owner.alive)

    abandoned = [name for owner, name in namespaces.existing() if dead(owner)]
    if abandoned and rights.missing_capabilities():
        cleaned.left, abandoned = abandoned, []
    if abandoned:
        cleaned.processes = namespaces.empty(abandoned)
        for name in abandoned:
            namespaces.remove(name)
        cleaned.namespaces = abandoned
    for owner, folder in (*folders(), *_temporary()):
        if dead(owner):
            _remove(folder, cleaned)
    own = os.getpid()
    cleaned.running = sorted(owner.pid for owner, lives in alive.items() if lives and owner.pid != own)
    return cleaned


def _temporary() -> Iterator[tuple[Owner, Path]]:
    """Give this user's folders of what hosts and forwarders wrote down, with their owners."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = Owner.of_name(folder.name)
        if owner is not None and folder.is_dir() and folder.lstat().st_uid == os.geteuid():
            yield owner, folder


def _remove(folder: Path, cleaned: Cleaned) -> None:
    state = load(folder)
    if state is not None:
        restore(state.offloads)
    shutil.rmtree(folder, ignore_errors=True)
    (cleaned.left if folder.exists() else cleaned.folders).append(str(folder))
