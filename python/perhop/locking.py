"""Exclusive access of a writer to a folder: `flock` on a hidden file next to it.

The system releases the lock when the process ends for any reason. The next writer reuses and removes the lock
file of a killed process.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from perhop.caller import give_file
from perhop.errors import InvalidInputError
from perhop.interrupts import deferred

# The error of `flock` when another process has the lock.
_TAKEN = (errno.EAGAIN, errno.EACCES)
# LOCK_EX and LOCK_NB of sys/file.h.
_EXCLUSIVE, _AT_ONCE = 2, 4
# Limit on the bytes of a name before a suffix is added: file systems allow 255 in total.
_LONGEST = 200

# Locks that a command took before its run: the open lock file by the folder.
_reserved: dict[Path, int] = {}
_guard = threading.Lock()


def reserve(folder: Path) -> None:
    """Lock a folder until its `locked` block or the process ends.

    Without a parent folder, no lock file can exist, and there is no other writer.

    Raises:
        InvalidInputError: another process is writing the folder.

    """
    with deferred(), _guard:
        if folder not in _reserved and folder.parent.is_dir():
            opened = _take(folder)
            if opened is not None:
                _reserved[folder] = opened


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder within the block; raises `InvalidInputError` if another process has the lock."""
    with _guard:
        opened = _reserved.pop(folder, None)
    if opened is None:
        opened = _take(folder)
    try:
        yield
    finally:
        _release(folder, opened)


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Create a hidden file and lock it while it is written, so that it does not look abandoned."""
    if _flock() is None:
        # Systems without locks also do not rename open files.
        yield
        return
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with suppress(OSError):
            _lock(opened)
        yield
        give_file(opened, file.parent)
    finally:
        os.close(opened)


def is_abandoned(file: Path) -> bool:
    """Whether a hidden file is unlocked because its writer was killed; false on systems without locks."""
    if _flock() is None:
        return False
    with suppress(OSError):
        opened = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _lock(opened)
            return stat.S_ISREG(os.fstat(opened).st_mode)
        finally:
            os.close(opened)
    return False


@cache
def _flock() -> Callable[[int, int], None] | None:
    """Return the system's function for locking an open file; Windows has none."""
    try:
        import fcntl  # lazy: Windows does not have it
    except ModuleNotFoundError:
        return None
    return fcntl.flock


def _lock(opened: int) -> None:
    """Lock an open file; raise `OSError` at once if another process has the lock."""
    flock = _flock()
    if flock is not None:
        flock(opened, _EXCLUSIVE | _AT_ONCE)


def release_all() -> None:
    """Release unused reservations at the end of a command."""
    with _guard:
        while _reserved:
            folder, opened = _reserved.popitem()
            _release(folder, opened)


def forget_all() -> None:
    """Forget the reservations of the parent process after a fork."""
    _reserved.clear()


def lock_file(folder: Path) -> Path:
    """Return the name of the lock file of a folder."""
    return folder.with_name(f".{stem(folder)}.lock")


def stem(path: Path) -> str:
    """Return the prefix of hidden names next to a path: its name, shortened so that any suffix fits."""
    if len(os.fsencode(path.name)) <= _LONGEST:
        return path.name
    import hashlib  # lazy: OpenSSL, only for results that are saved

    return f"{path.name[:20]}-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}"


def _take(folder: Path) -> int | None:
    """Return the open lock file; `None` if the system or the file system has no locks."""
    if _flock() is None:
        return None
    file = lock_file(folder)
    while True:
        try:
            opened = _open_lock(file)
        except OSError as error:
            error.filename = str(folder)
            raise
        try:
            _lock(opened)
            if _is_still(file, opened):
                return opened
        except OSError as error:
            os.close(opened)
            if error.errno in _TAKEN:
                raise InvalidInputError(
                    f"`{folder}` is being written by another perhop", "wait for it, or choose another folder"
                ) from error
            file.unlink(missing_ok=True)
            return None
        # The previous owner has removed the file, so no other process will open the locked file.
        os.close(opened)


def _open_lock(file: Path) -> int:
    """Open a lock file. Do not follow a link, because another user can create one."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        opened = os.open(file, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _no_lock(file) from error
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise _no_lock(file)
    return opened


def _no_lock(file: Path) -> InvalidInputError:
    return InvalidInputError(
        f"`{file}` is not a regular file, so perhop cannot use it as its lock",
        "find out who created it and remove it, or choose another folder",
    )


def _is_still(file: Path, opened: int) -> bool:
    """Whether the name still refers to the open file."""
    try:
        return os.path.samestat(file.lstat(), os.fstat(opened))
    except FileNotFoundError:
        return False


def _release(folder: Path, opened: int | None) -> None:
    if opened is None:
        return
    with suppress(OSError):
        lock_file(folder).unlink(missing_ok=True)
    os.close(opened)
