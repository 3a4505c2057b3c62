"""Required privileges of a live testbed, and how to obtain them.

Root has them. Other users have them inside their own user namespace, if the system allows such namespaces.
They are then root only for the networks that they create there.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from perhop.errors import MissingCapabilityError
from perhop.live import kernel, private
from perhop.live.state import ROOT, outer_root

# <linux/capability.h>: bits of CapEff.
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21}
# Kernel settings that forbid user namespaces: the forbidding value, and the command that changes it.
_SWITCHES = {
    "/proc/sys/user/max_user_namespaces": ("0", "sudo sysctl user.max_user_namespaces=15000"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}


def missing_capabilities() -> list[str]:
    """Return the capabilities that a testbed needs and this process lacks."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    return [name for name, bit in _CAPABILITIES.items() if not effective >> bit & 1]


def obtain() -> None:
    """Obtain the privileges to create networks; raises `MissingCapabilityError` if that is impossible.

    Without root privileges, the process moves into a user namespace permanently. It must have one thread.
    """
    if sys.platform != "linux":
        raise MissingCapabilityError("a live testbed needs Linux network namespaces", "run it on Linux")
    missing = missing_capabilities()
    if not missing:
        return
    try:
        _enter_user_namespace()
    except OSError as error:
        raise MissingCapabilityError(
            f"this user may not create networks: {', '.join(missing)} missing, no user namespace available"
            f" ({error.filename or 'user namespace'}: {error.strerror})",
            advice(),
        ) from error


def require(what: str) -> None:
    """Require root privileges for `what`, not only a user namespace; raises `MissingCapabilityError`."""
    missing = missing_capabilities()
    if missing:
        raise MissingCapabilityError(
            f"{', '.join(missing)} missing for {what}", f"run it as root: {as_root()}"
        )


def as_root(arguments: str | None = None) -> str:
    """Return the command line that runs perhop as root, with `arguments` or the arguments of this process.

    The command line contains the path of the program, because sudo's own PATH has no virtual environment.
    `python -m` needs `-I`, or a file of the current folder, such as `json.py`, would run as root.
    """
    given = shlex.join(sys.argv[1:]) if arguments is None else arguments
    program = Path(sys.argv[0])
    if program.name == "perhop" and program.is_file():
        return f"sudo {shlex.quote(str(program.absolute()))} {given}".rstrip()
    return f"sudo {shlex.quote(sys.executable)} -I -m perhop {given}".rstrip()


def advice() -> str:
    """Return how this user can obtain the privileges."""
    for file, (forbidding, remedy) in _SWITCHES.items():
        try:
            if Path(file).read_text(encoding="ascii").strip() == forbidding:
                return f"run it as root, or allow user namespaces: {remedy}"
        except OSError:
            continue
    return f"run it as root: {as_root('live ...')}"


def _enter_user_namespace() -> None:
    """Move this process into new user, mount and network namespaces, which end with the process."""
    user, group = os.geteuid(), os.getegid()
    outer = outer_root()
    private.make(outer)
    kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_NETWORK)
    # user_namespaces(7): an unprivileged user may map groups only after denying setgroups.
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    kernel.make_mounts_private()
    # Named namespaces are files under /run; a private /run ends with the process. The state stays visible to
    # other processes of this user.
    with private.opened(outer) as descriptor:
        kernel.mount("tmpfs", Path("/run"), "tmpfs")
        ROOT.mkdir()
        # The descriptor stays valid after a mount over its path.
        kernel.bind(Path(f"/proc/self/fd/{descriptor}"), ROOT)
