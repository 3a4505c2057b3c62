"""The file system operations of saving, all in one place: tests make each of them fail.

Saved data survives a loss of power only after `sync`: a file's contents after `sync` of the file,
its name after `sync` of its folder (POSIX fsync).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop.caller import caller, give_file
from perhop.errors import PerhopWarning

if TYPE_CHECKING:
    from collections.abc import Callable

# The number of files that are synchronized at the same time. The file system then commits them together, and
# twenty small files take 8 ms instead of 50 to 100 ms.
_AT_ONCE = 8
# linux/fs.h and sys/stdio.h: exchange two names in one step.
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2
# fcntl.h of Linux and macOS: relative names start from the current folder.
_AT_FDCWD = -100
#: Whether the system opens folders. Windows does not: it writes their names to the disk itself.
OPENS_FOLDERS = hasattr(os, "O_DIRECTORY")
# Error codes of file systems that cannot exchange names or synchronize a folder.
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)


class LeftoverWarning(PerhopWarning):
    """A part of an earlier result could not be removed; the message has its path."""


class MovedWarning(LeftoverWarning):
    """Reports where `--force` moved the content of a folder."""


def write(file: Path, content: bytes | str) -> None:
    """Write a file under a name that no other process uses yet."""
    with open(file, "wb", opener=_opener) as new:
        new.write(content.encode() if isinstance(content, str) else content)
        give_file(new.fileno(), file.parent)


def _opener(name: str, flags: int) -> int:
    # If root writes into a folder of a user, links of that user are not followed.
    return os.open(name, flags | (getattr(os, "O_NOFOLLOW", 0) if caller() else 0), 0o666)


def make_folder(folder: Path) -> None:
    """Make a folder in an existing one."""
    folder.mkdir()


def rename(old: Path, new: Path) -> None:
    """Rename a file or folder; an existing file is replaced in one step."""
    old.replace(new)


def link(old: Path, new: Path) -> None:
    """Add a second name to a file. No file may have this name yet."""
    os.link(old, new)


def remove(file: Path) -> None:
    """Remove a file."""
    file.unlink()


def remove_folder(folder: Path) -> None:
    """Remove an empty folder."""
    folder.rmdir()


def sync(path: Path) -> None:
    """Wait until a file's contents, or a folder's names, are on the disk."""
    if not OPENS_FOLDERS and path.is_dir():
        return
    # Windows synchronizes only files that are open for writing.
    opened = os.open(path, os.O_RDONLY if OPENS_FOLDERS else os.O_RDWR)
    try:
        os.fsync(opened)
    except OSError as error:
        # Some network file systems have no fsync of folders.
        if error.errno not in _UNABLE or not path.is_dir():
            error.filename = str(path)
            raise
    finally:
        os.close(opened)


def sync_all(paths: Sequence[Path]) -> None:
    """Wait until several files or folders are on the disk."""
    from concurrent.futures import ThreadPoolExecutor  # lazy: a command that saves nothing does not need it

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        for _ in pool.map(sync, paths):
            pass


def remove_all(files: Sequence[Path]) -> None:
    """Remove several files. Freeing the space of a file on the disk takes some milliseconds."""
    from concurrent.futures import ThreadPoolExecutor  # lazy: few commands need it

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        for _ in pool.map(remove, files):
            pass


def exchange(folder: Path, other: Path) -> bool:
    """Exchange two folders in one step; return whether the system and the file system support it."""
    swap = _swap()
    if swap is None:
        return False
    failed = swap(os.fsencode(folder), os.fsencode(other))
    if failed in _UNABLE:
        return False
    if failed:
        raise OSError(failed, os.strerror(failed), str(other))
    return True


@cache
def _swap() -> Callable[[bytes, bytes], int] | None:
    """Return the system's function for exchanging two names. It returns 0 or an error number."""
    import ctypes  # lazy: only a folder that exists is exchanged

    library: Any = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        call, flags = library.renamex_np, (ctypes.c_uint(_RENAME_SWAP),)
        around: tuple[Any, ...] = ()
    elif hasattr(library, "renameat2"):
        call, flags = library.renameat2, (ctypes.c_uint(_RENAME_EXCHANGE),)
        around = (ctypes.c_int(_AT_FDCWD),)
    else:
        return None

    def swap(path: bytes, other: bytes) -> int:
        failed = call(*around, path, *around, other, *flags)
        return ctypes.get_errno() if failed else 0

    return swap
