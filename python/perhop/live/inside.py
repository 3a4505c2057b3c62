"""A process that starts in a node of a testbed.

The process moves into the node's namespaces, then runs perhop's forwarder, perhop's host or any program.
`children` and `perhop live exec` start it through `entry`. This module imports neither numpy nor polars.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from perhop import _core
from perhop.live import kernel

# The file that Python runs in a child.
_ENTRY = Path(__file__).with_name("entry.py").resolve()


@dataclass(frozen=True)
class Place:
    """The namespaces of a process, and the process with which it ends."""

    #: The file of the network namespace; `None` for the namespace of the starting process.
    namespace: str | None
    #: A file mounted over `/etc/hosts`, so that the scenario's host names resolve.
    hosts: str | None = None
    #: The process whose end ends the program; `None` for an interactive program.
    parent: int | None = None
    #: Files of a user and a mount namespace to enter first, for another testbed of this user.
    outer: tuple[str, ...] = ()

    def command(self, *what: str) -> list[str]:
        """Return the command line that starts `what` in these namespaces."""
        return [sys.executable, "-I", str(_ENTRY), json.dumps(asdict(self)), *what]


def enter(place: Place) -> None:
    """Move this process into these namespaces."""
    if place.parent is not None:
        kernel.die_with_parent(signal.SIGKILL, place.parent)
    here = Path.cwd()
    for namespace in place.outer:
        kernel.enter(Path(namespace))
    if place.outer:
        # Entering a mount namespace changes the working directory to its root.
        os.chdir(here)
    if place.namespace is not None:
        kernel.enter(Path(place.namespace), kernel.NEW_NETWORK)
    if place.hosts is not None:
        kernel.unshare(kernel.NEW_MOUNTS)
        kernel.make_mounts_private()
        kernel.bind(Path(place.hosts), Path("/etc/hosts"))


def _call(function: str, *arguments: object) -> int:
    """Run one of perhop's own programs."""
    program: Callable[..., object] = getattr(_core, function)
    program(*arguments)
    return 0


def _forward(function: str, configuration: str) -> NoReturn:
    """Run a forwarder, in a process that may then make only the system calls for forwarding and its end."""
    code = 0
    try:
        _call(function, Path(configuration).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - a program of its own
        code = 1
    sys.stderr.flush()
    os._exit(code)


def main(arguments: list[str]) -> int:
    """Enter the node's namespaces and run the program that the arguments name."""
    place, kind, *rest = arguments
    given = json.loads(place)
    given["outer"] = tuple(given["outer"])
    enter(Place(**given))
    match kind:
        case "forward":
            _forward("live_forward", rest[0])
        case "bridge":
            _forward("live_bridge", rest[0])
        case "host":
            scenario, base, host, seed, replication, start_at_ns, result, *control = rest
            text = Path(scenario).read_text(encoding="utf-8")
            when = int(start_at_ns)
            # One socket per flow can exceed the soft limit of open files.
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            return _call("live_host", text, base, host, int(seed), when, result, int(replication), *control)
        case "program":
            try:
                os.execvp(rest[0], rest)
            except OSError as error:
                print(f"{rest[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201 - a program of its own
                # The exit code of a shell for a command that cannot be started.
                return 127
        case _:
            raise ValueError(kind)
