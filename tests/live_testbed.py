"""A testbed of two hosts and a router for tests; as a program it runs until it is ended."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from perhop import interrupts
from perhop.live import namespaces, rights
from perhop.live.children import Child
from perhop.live.network import Network, network
from perhop.live.testbed import LiveTestbed

HERE = Path(__file__).parent
COPIER = HERE / "copier.py"

# Long enough for a busy machine; only a hanging command exceeds it.
WITHIN_S = 60.0

needs_rights = pytest.mark.skipif(
    bool(rights.missing_capabilities()),
    reason=f"needs {', '.join(rights.missing_capabilities())}: run as root",
)


#: A private /run for tests that leave testbeds, so that parallel tests do not remove these testbeds.
own_run = pytest.mark.usefixtures("run_folder_of_its_own")


def two_hosts(left: str = "10.0.0.1", other: str = "10.0.0.2") -> Network:
    return network(
        {"left": left, "right": other},
        ["router"],
        [(("left", "router"), ("router", "left")), (("router", "right"), ("right", "router"))],
    )


def start_copier(testbed: LiveTestbed, node: str = "router") -> tuple[Child, Path]:
    """Copy frames through `node`; returns the copying process and the file of frame lengths."""
    seen = testbed.folder / f"{node}.seen"
    net = testbed.network
    ways = [f"{device.name}={net.peer(device).mac}" for device in net.devices(node)]
    child = testbed.start(node, "copier", "program", sys.executable, str(COPIER), str(seen), *ways)
    until = time.monotonic() + WITHIN_S
    while not seen.exists():
        assert child.code is None, child.failure()
        assert time.monotonic() < until
        time.sleep(0.01)
    return child, seen


def left_behind(pid: int) -> list[str]:
    """Return the remains of the testbed of process `pid`."""
    from perhop.live.state import folders

    found = [name for owner, name in namespaces.existing() if owner.pid == pid]
    return found + [str(folder) for owner, folder in folders() if owner.pid == pid]


def main(action: str) -> None:
    """Build the testbed, start a program that starts another, report the start, and do `action`."""
    interrupts.handle()
    with LiveTestbed(two_hosts(), "Test") as testbed:
        copier, _ = start_copier(testbed)
        # The shell starts a sleep that is in no process group of the testbed and survives the death of its
        # parent.
        shell = testbed.start("left", "shell", "program", "sh", "-c", "setsid sleep 1000 & exec sleep 1001")
        while len(namespaces.processes(testbed.state.namespaces.values())) < 3:
            time.sleep(0.01)
        sys.stdout.write(f"{os.getpid()} {copier.pid} {shell.pid}\n")
        sys.stdout.flush()
        if action == "fail":
            raise RuntimeError("on purpose")
        while action == "wait":
            time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1])
