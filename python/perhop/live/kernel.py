"""Linux system calls that Python's standard library lacks.

Namespaces, mounts, the signal at a parent's death, the offloads of a device. Every function raises `OSError`
with the kernel's error.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# <linux/sched.h>
NEW_MOUNTS = 0x00020000
NEW_USER = 0x10000000
NEW_NETWORK = 0x40000000

# <linux/mount.h>
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18
_MNT_DETACH = 2

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1

# <linux/sockios.h> and <linux/ethtool.h>: the command that sets each offload.
_SIOCETHTOOL = 0x8946
_OFFLOADS = {
    "rx-checksum": 0x15,
    "tx-checksum": 0x17,
    "scatter-gather": 0x19,
    "tcp-segmentation": 0x1F,
    "generic-segmentation": 0x24,
    "generic-receive": 0x2C,
}
_GET_OFFLOAD = {
    "rx-checksum": 0x14,
    "tx-checksum": 0x16,
    "scatter-gather": 0x18,
    "tcp-segmentation": 0x1E,
    "generic-segmentation": 0x23,
    "generic-receive": 0x2B,
}


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def enter(namespace: Path, kind: int = 0) -> None:
    """Move this thread into the namespace of a file; fail if it has another kind than `kind` (0: any)."""
    descriptor = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter_open(descriptor, str(namespace), kind)
    finally:
        os.close(descriptor)


def enter_open(descriptor: int, name: str, kind: int = 0) -> None:
    """Move this thread into the namespace of an open file."""
    _checked(_libc().setns(descriptor, kind), name)


def unshare(kinds: int) -> None:
    """Move this process into new namespaces; `NEW_USER` requires a process with one thread."""
    _checked(_libc().unshare(kinds), "unshare")


def mount(source: str, target: Path, filesystem: str) -> None:
    """Mount a file system without a device."""
    _checked(
        _libc().mount(source.encode(), bytes(target), filesystem.encode(), 0, None), f"mount on {target}"
    )


def bind(source: Path, target: Path) -> None:
    """Bind-mount `source` over `target`."""
    _checked(_libc().mount(bytes(source), bytes(target), None, _MS_BIND, None), f"bind mount on {target}")


def make_mounts_private() -> None:
    """Stop the propagation of mounts of this mount namespace to others."""
    _checked(_libc().mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None), "private mounts")


def unmount(target: Path) -> None:
    """Unmount lazily: remove the mount from the tree at once, and release it when it is no longer in use."""
    _checked(_libc().umount2(bytes(target), _MNT_DETACH), f"unmount {target}")


def die_with_parent(signal_number: int, parent: int) -> None:
    """Request a signal for this process when its parent dies; send it if the parent has already died."""
    _checked(_libc().prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os.kill(os.getpid(), signal_number)


def _offload(device: str, command: int, value: int) -> int:
    """Send an ethtool command to the driver of `device` in this namespace; return the value in the answer."""
    request = ctypes.create_string_buffer(struct.pack("=II", command, value))
    ifreq = struct.pack("=16sQ16x", device.encode(), ctypes.addressof(request))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            fcntl.ioctl(probe, _SIOCETHTOOL, ifreq)
        except OSError as error:
            raise OSError(error.errno, error.strerror, device) from error
    _, answer = struct.unpack("=II", request.raw[:8])
    return int(answer)


def switch_offloads_off(device: str) -> None:
    """Switch off the offloads of a device in this namespace.

    Otherwise a veth pair carries segments of 64 KB without checksums, unlike any wire.
    """
    for command in _OFFLOADS.values():
        _offload(device, command, 0)


def switch_offloads_on(device: str, names: Iterable[str]) -> None:
    """Switch on the named offloads of a device in this namespace."""
    for name in names:
        _offload(device, _OFFLOADS[name], 1)


def offloads(device: str) -> dict[str, bool]:
    """Return the state of the offloads of a device in this namespace."""
    return {name: bool(_offload(device, command, 0)) for name, command in _GET_OFFLOAD.items()}
