"""Removing the remains of crashed testbeds."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from perhop.live import namespaces, private, rights
from perhop.live.bridging import restore_in
from perhop.live.owner import Owner
from perhop.live.scratch import scratch_folders
from perhop.live.state import folders, load


@dataclass
class Cleaned:
    """The removed remains, and those that could not be removed."""

    namespaces: list[str] = field(default_factory=list)
    #: The number of killed processes in the namespaces.
    processes: int = 0
    folders: list[str] = field(default_factory=list)
    #: Remains that could not be removed without further privileges.
    left: list[str] = field(default_factory=list)
    #: Folders that remain as the only record of changes that could not be restored, with these changes.
    kept: dict[str, str] = field(default_factory=dict)
    #: Process ids of running testbeds, which were not touched.
    running: list[int] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether anything was removed."""
        return bool(self.namespaces or self.folders)


def clean() -> Cleaned:
    """Remove every testbed whose owner has ended: processes, namespaces with their devices, state.

    Calls can be repeated and concurrent. Testbeds with a living owner are not touched.

    Raises:
        StrangeFolderError: other users can change the folder of all testbeds.

    """
    cleaned = Cleaned()
    alive: dict[Owner, bool] = {}

    def dead(owner: Owner) -> bool:
        return not alive.setdefault(owner, owner.alive)

    remains = [folder for owner, folder in (*folders(), *scratch_folders()) if dead(owner)]
    # The changes are restored before the namespaces are removed, because a bridge may have been in one of
    # them.
    for folder in remains:
        _restore(folder, cleaned)
    abandoned = [name for owner, name in namespaces.existing() if dead(owner)]
    if abandoned and rights.missing_capabilities():
        cleaned.left, abandoned = abandoned, []
    if abandoned:
        cleaned.processes = namespaces.empty(abandoned)
        for name in abandoned:
            namespaces.remove(name)
        cleaned.namespaces = abandoned
    for folder in remains:
        if str(folder) not in cleaned.kept:
            with suppress(OSError, private.StrangeFolderError):
                private.remove(folder)
            (cleaned.left if folder.exists() else cleaned.folders).append(str(folder))
    own = os.getpid()
    cleaned.running = sorted(owner.pid for owner, lives in alive.items() if lives and owner.pid != own)
    return cleaned


def _restore(folder: Path, cleaned: Cleaned) -> None:
    """Restore the changes of a testbed outside of its folder; keep its record if this is impossible."""
    state = load(folder)
    if state is not None and (kept := restore_in(state.network, state.offloads)):
        cleaned.kept[str(folder)] = kept
