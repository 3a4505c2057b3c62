"""Exclusive use of interfaces by a bridge: two bridges on one interface would forward each frame twice.

A claim is `flock` on a file of the interface under `/run/perhop`. The kernel releases the claim when the
process ends for any reason.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from perhop.errors import InvalidInputError
from perhop.live import namespaces, private
from perhop.live.state import ROOT

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_NUMBER = 20


@contextmanager
def claimed(devices: Iterable[str]) -> Iterator[None]:
    """Prevent other bridges from using interfaces of this network namespace during the block.

    Raises:
        InvalidInputError: another bridge uses one of the interfaces; the message names its process.
        StrangeFolderError: other users can change `/run/perhop`.

    """
    private.make(ROOT)
    with ExitStack() as stack:
        folder = stack.enter_context(private.opened(ROOT))
        for device in devices:
            stack.enter_context(_claim(folder, device))
        yield


@contextmanager
def _claim(folder: int, device: str) -> Iterator[None]:
    # The index of an interface does not change when it is renamed. Other namespaces have separate indexes.
    name = f"bridge-{namespaces.current()[1]}-{socket.if_nametoindex(device)}.lock"
    file = _locked(folder, name, device)
    try:
        os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.unlink(name, dir_fd=folder)
        os.close(file)


def _locked(folder: int, name: str, device: str) -> int:
    """Return the open and locked file of an interface."""
    while True:
        file = os.open(name, _FLAGS, 0o600, dir_fd=folder)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(file)):
                os.ftruncate(file, 0)
                return file
        except BlockingIOError as error:
            holder = os.pread(file, _LONGEST_NUMBER, 0).decode()
            os.close(file)
            raise InvalidInputError(
                f"`{device}` is in use by another bridge"
                + (f", process {holder}" if holder else ", which is starting"),
                f"end that bridge first (Ctrl-C, or kill -INT {holder or 'PROCESS'}), "
                "or choose another interface",
            ) from error
        except FileNotFoundError:
            # The previous holder of the lock has removed the file, so the name now means another file.
            pass
        os.close(file)
