"""What a live laboratory needs the right to do, and where it gets it from.

Root has it. Anyone else gets it inside a user namespace of his own, where the system allows those: there he
is root of nothing but the networks that he makes himself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perhop.errors import MissingCapabilityError
from perhop.live import kernel
from perhop.live.state import ROOT, outer_root

# <linux/capability.h>: bits of CapEff.
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21}
# What to tell somebody who may not, by the file that says so: what it must not hold, and what to do.
_SWITCHES = {
    "/proc/sys/user/max_user_namespaces": ("0", "sudo sysctl user.max_user_namespaces=15000"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}


def missing_capabilities() -> list[str]:
    """Return which of the capabilities that a laboratory needs this process has not."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    return [name for name, bit in _CAPABILITIES.items() if not effective >> bit & 1]


def obtain() -> None:
    """See to it that this process may make networks; raises `MissingCapabilityError` where it cannot be.

    Without the rights of root the process moves into a user namespace, for good. It must have one thread.
    """
    if sys.platform != "linux":
        raise MissingCapabilityError(
            "a live laboratory is made of Linux network namespaces", "run it on Linux"
        )
    missing = missing_capabilities()
    if not missing:
        return
    try:
        _enter_user_namespace()
    except OSError as error:
        raise MissingCapabilityError(
            f"this user may make no networks: {', '.join(missing)} missing, and no user namespace to be had"
            f" ({error.filename or 'user namespace'}: {error.strerror})",
            advice(),
        ) from error


def require(what: str) -> None:
    """Refuse to go on without the rights over `what`, which no user namespace gives."""
    missing = missing_capabilities()
    if missing:
        raise MissingCapabilityError(f"{', '.join(missing)} missing for {what}", "run it as root (sudo)")


def advice() -> str:
    """Return what would give this user the rights."""
    for file, (forbidding, remedy) in _SWITCHES.items():
        try:
            if Path(file).read_text(encoding="ascii").strip() == forbidding:
                return f"run it as root, or allow user namespaces: {remedy}"
        except OSError:
            continue
    return "run it as root (sudo perhop live ...)"


def _enter_user_namespace() -> None:
    """Become root of namespaces of users, mounts and networks that vanish with this process."""
    user, group = os.geteuid(), os.getegid()
    outer = outer_root()
    outer.mkdir(mode=0o700, parents=True, exist_ok=True)
    if outer.stat().st_uid != user:
        raise PermissionError(1, "it belongs to somebody else", str(outer))
    kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_NETWORK)
    # user_namespaces(7): groups may be mapped by an ordinary user once setgroups is given up.
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    kernel.make_mounts_private()
    # Named namespaces live under /run; a /run of its own holds nobody else's and vanishes with the process.
    # The state stays where others of this user's processes find it.
    with _held(outer) as held:
        kernel.mount("tmpfs", Path("/run"), "tmpfs")
        ROOT.mkdir()
        kernel.bind(held, ROOT)


@contextmanager
def _held(folder: Path) -> Iterator[Path]:
    """Give a name of `folder` that outlives a mount over it."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
