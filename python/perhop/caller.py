"""The user who called `sudo`, and ownership of files.

Files that a command running as root writes into a folder of this user belong to the user. Only open files
change their owner, and only files or folders that root created in a folder of the caller. A link that the
caller puts in place of a name is not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def caller() -> tuple[int, int] | None:
    """Return user and group that called sudo; `None` if this process does not run as root by sudo."""
    names = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not all(name.isdecimal() for name in names):
        return None
    user, group = map(int, names)
    return (user, group) if user else None


def give_file(opened: int, folder: Path) -> None:
    """Change the owner of an open new file to the caller, if the caller owns the folder of the file."""
    found = caller()
    if found is not None and _is_theirs(folder, found):
        with suppress(OSError):
            _give(opened, found)


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Change the owner of a new folder and of all files in it to the caller, at the end of the block.

    This happens only if the caller owns the folder above. Until then root owns the folder, so no other
    user changes it.
    """
    found = caller()
    if found is None or not _is_theirs(folder.parent, found):
        yield
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # A folder with content is not new: another process of root moved it to this name. Its owner does not
        # change.
        is_new = os.fstat(opened).st_uid == 0 and not os.listdir(opened)  # noqa: PTH208 - an open folder
        yield
        if is_new:
            with suppress(OSError):
                _give_tree(opened, found)
    finally:
        os.close(opened)


def _is_theirs(folder: Path, found: tuple[int, int]) -> bool:
    with suppress(OSError):
        status = folder.stat()
        return status.st_uid == found[0]
    return False


def _give_tree(opened: int, found: tuple[int, int]) -> None:
    """Change the owner of all files in an open folder to the caller, and then of the folder itself."""
    for name in os.listdir(opened):
        with suppress(OSError):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            inside = os.open(name, flags, dir_fd=opened)
            try:
                if stat.S_ISDIR(os.fstat(inside).st_mode):
                    _give_tree(inside, found)
                else:
                    _give(inside, found)
            finally:
                os.close(inside)
    _give(opened, found)


def _give(opened: int, found: tuple[int, int]) -> None:
    """Change the owner of an open folder, or of an open file of root that has no second name."""
    status = os.fstat(opened)
    is_alone = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    if status.st_uid == 0 and (is_alone or stat.S_ISDIR(status.st_mode)):
        os.fchown(opened, *found)
