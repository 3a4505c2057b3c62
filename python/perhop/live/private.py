"""Folders that belong to this user alone, used through open descriptors and without following links.

In a temporary folder every local user can create a name first: a link, or a folder whose content changes
after the check. So each folder is opened before it is checked, and its content is accessed through the open
folder.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perhop.errors import PerhopError

#: The mode of a private folder.
MODE = 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe or a device must not block its reader.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Bytes of a state file; a testbed of a thousand nodes has 200 kB.
_LARGEST = 16 << 20
# The user that represents all users without a number in a user namespace, and the map of the initial
# namespace.
_UNMAPPED = 65534
_EVERY_USER = ["0", "0", "4294967295"]


class StrangeFolderError(PerhopError):
    """A folder is a link, belongs to another user, or can be changed by others."""


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Yield a descriptor of a folder that only this user can change.

    Raises:
        StrangeFolderError: the folder is a link, or others can change it.
        FileNotFoundError: the folder does not exist.

    """
    with _above(folder) as above:
        inner = _inner(above, folder)
    try:
        yield inner
    finally:
        os.close(inner)


def make(folder: Path) -> None:
    """Create a folder that only this user can change, or check an existing one; raises like `opened`."""
    folder.parent.mkdir(mode=MODE, parents=True, exist_ok=True)
    with _above(folder) as above, suppress(FileExistsError):
        os.mkdir(folder.name, MODE, dir_fd=above)
    with opened(folder) as inner:
        os.fchmod(inner, MODE)


def make_new(folder: Path) -> None:
    """Make a folder in a folder that only this user can change; raises `FileExistsError` if it exists."""
    with opened(folder.parent) as above:
        os.mkdir(folder.name, MODE, dir_fd=above)


def remove(folder: Path) -> None:
    """Remove a folder that only this user can change, with its content; links in it are not followed.

    Raises:
        StrangeFolderError: the folder is a link, or others can change it.
        OSError: some content cannot be removed.

    """
    with _above(folder) as above:
        inner = _inner(above, folder)
        try:
            for name in names_in(inner):
                if stat.S_ISDIR(os.stat(name, dir_fd=inner, follow_symlinks=False).st_mode):
                    shutil.rmtree(name, dir_fd=inner)
                else:
                    os.unlink(name, dir_fd=inner)
        finally:
            os.close(inner)
        # This removes only an empty folder, even if the name now means another file.
        os.rmdir(folder.name, dir_fd=above)


def names_in(folder: int) -> list[str]:
    """Return the names in an open folder, sorted."""
    return sorted(os.listdir(folder))


def text_in(folder: int, name: str) -> str | None:
    """Return the text of a file of this user in an open folder; `None` for links and all other types."""
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(file, "rb") as reading:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size > _LARGEST:
            return None
        return reading.read(_LARGEST).decode("utf-8", errors="replace")


@contextmanager
def _above(folder: Path) -> Iterator[int]:
    """Yield a descriptor of the folder above. Others must not be able to rename files in that folder."""
    above = os.open(folder.parent, _FOLDER)
    try:
        found = os.fstat(above)
        if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
            raise StrangeFolderError(
                f"other users can replace `{folder}`: they can write to `{folder.parent}`",
                f"remove their write permission: chmod go-w {folder.parent}",
            )
        if found.st_uid not in _trusted():
            raise StrangeFolderError(
                f"user {found.st_uid} can replace `{folder}`: `{folder.parent}` belongs to them",
                "choose a folder of your own with XDG_RUNTIME_DIR and TMPDIR",
            )
        yield above
    finally:
        os.close(above)


def _trusted() -> tuple[int, ...]:
    """Return the user ids of this user and of root; in a user namespace, root may have no id."""
    users = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    return (0, os.geteuid(), *(() if users == _EVERY_USER else (_UNMAPPED,)))


def _inner(above: int, folder: Path) -> int:
    """Open a folder of this user within another."""
    try:
        inner = os.open(folder.name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
    except (FileNotFoundError, PermissionError):
        raise
    except OSError as error:
        raise StrangeFolderError(
            f"`{folder}` is a link or a file, but perhop needs a folder there",
            "find out who created it, then remove it",
        ) from error
    found = os.fstat(inner)
    why = None
    if found.st_uid != os.geteuid():
        why = f"belongs to user {found.st_uid}"
    elif found.st_mode & _OTHERS_WRITE:
        why = f"can be written by others (mode {stat.S_IMODE(found.st_mode):o})"
    if why is None:
        return inner
    os.close(inner)
    raise StrangeFolderError(
        f"`{folder}` {why}, so perhop does not use it", "check its content, then remove it"
    )
