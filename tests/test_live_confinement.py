"""Confined processes of the live path have only the rights that they need."""

from __future__ import annotations

import os
import signal
import socket
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cables import Namespace, datagram, direction, forwarding, missing_right
from live_testbed import WITHIN_S, needs_rights, own_run
from perhop.live.children import Child
from perhop.live.running import Watching, play
from perhop.live.testbed import LiveTestbed
from perhop.scenario import Scenario

_MISSING = missing_right()
pytestmark = pytest.mark.skipif(_MISSING is not None, reason=str(_MISSING))

_NONE = "0" * 16
_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
# CAP_NET_BIND_SERVICE and CAP_NET_ADMIN (<linux/capability.h>).
_OF_HOSTS = f"{1 << 10 | 1 << 12:016x}"

SCENARIO = """
perhop: 1
name: confined
duration: 1s
hosts: { left: {}, right: {} }
routers: { router: {} }
links:
  - { between: [left, router], rate: 10Mb/s }
  - { between: [router, right], rate: 10Mb/s }
traffic:
  - { name: voice, from: left, to: right, source: { cbr: { rate: 80kb/s, packet: { ip: 200B } } } }
  - { name: bulk, from: left, to: right, source: { bulk: { tcp: { profile: linux-modern } } } }
"""


def rights_of(pid: int) -> list[dict[str, str]]:
    """Return the rights of every thread of a process; threads that end meanwhile are skipped."""
    wanted = (*_CAPABILITIES, "NoNewPrivs", "Seccomp")
    threads = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            status = (thread / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        lines = (line.partition(":") for line in status.splitlines())
        threads.append({name: value.strip() for name, _, value in lines if name in wanted})
    return threads


def is_confined(thread: dict[str, str]) -> bool:
    none = all(thread[name] == _NONE for name in _CAPABILITIES)
    return none and (thread["NoNewPrivs"], thread["Seccomp"]) == ("1", "2")


@pytest.mark.parametrize("kind", ["af-packet", "af-xdp"])
def test_a_forwarder_has_no_capability_and_few_system_calls(tmp_path: Path, kind: str) -> None:
    left, middle, right = Namespace(), Namespace(), Namespace()
    try:
        middle.cable("m0", left, "l0")
        middle.cable("m1", right, "r0")
        ways = [direction("m0", "m1"), direction("m1", "m0")]
        config = {"node": "router", "seed": 1, "directions": ways, "socket": kind}
        with forwarding(middle, tmp_path, config) as forwarder:
            left.send("l0", [datagram()] * 20)
            forwarder.await_status(lambda status: status["devices"][1]["sent-frames"] == 20)
            threads = rights_of(forwarder.process.pid)
            files = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("control", "result.json")]
            result = forwarder.end()
    except RuntimeError as error:
        if kind == "af-xdp" and "AF_XDP" in str(error):
            pytest.skip(f"this kernel offers no AF_XDP: {error}")
        raise
    finally:
        for namespace in (left, middle, right):
            namespace.end()
    assert len(threads) == 2  # the loop, and the thread of the control socket
    assert all(map(is_confined, threads)), threads
    assert files == [0o600, 0o600]
    assert result["frames"]["sent"] == 20
    assert result["resident-bytes"] > 0


def test_an_output_that_cannot_be_written_is_refused_before_the_first_frame(tmp_path: Path) -> None:
    middle = Namespace()
    try:
        middle.cable("m0", middle, "m1")
        (tmp_path / "result.json").mkdir()
        config: dict[str, Any] = {"node": "router", "seed": 1, "directions": [direction("m0", "m1")]}
        running = forwarding(middle, tmp_path, config)
        with pytest.raises(RuntimeError, match="cannot write the result"), running:
            pass
    finally:
        middle.end()
    assert not (tmp_path / "control").exists()


@own_run
@needs_rights
def test_the_processes_of_a_run_and_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "confined.perhop.yaml"
    file.write_text(SCENARIO)
    found: dict[str, list[dict[str, str]]] = {}
    modes: dict[str, int] = {}

    def settled(child: Child) -> list[dict[str, str]]:
        until = time.monotonic() + WITHIN_S
        while (threads := rights_of(child.pid)) and time.monotonic() < until:
            # A process drops its rights in several system calls.
            left = {(thread["NoNewPrivs"], thread["CapEff"], thread["CapPrm"]) for thread in threads}
            if left in ({("1", _OF_HOSTS, _OF_HOSTS)}, {("1", _NONE, _NONE)}):
                return threads
            assert child.code is None, child.failure()
            time.sleep(0.01)
        raise AssertionError(threads)

    def ready(testbed: LiveTestbed) -> None:
        for child in testbed.children:
            found[child.name] = settled(child)
        folder = testbed.folder
        control = folder / testbed.state.sockets["router"]
        for path in (folder.parent, folder, control):
            modes[path.name] = stat.S_IMODE(path.stat().st_mode)

    loaded = Scenario.load(file)
    account = play(loaded.embedded(), seed=1, files=tmp_path / "files", watching=Watching(ready=ready))
    assert all(map(is_confined, found.pop("the forwarder of router")))
    assert sorted(found) == ["the traffic of left", "the traffic of right"]
    for threads in found.values():
        assert all(thread["CapPrm"] in (_OF_HOSTS, _NONE) for thread in threads), threads
        assert all(thread["CapBnd"] in (_OF_HOSTS, _NONE) for thread in threads), threads
    assert list(modes.values()) == [0o700, 0o700, 0o600]
    assert account.forwarders["router"]["frames"]["sent"] > 0


def test_a_frame_that_preempts_is_described_in_words(tmp_path: Path) -> None:
    # A forwarder that violates its filter ends with SIGSYS. It waits until then, because its configuration is
    # a pipe.
    from perhop.live.inside import Place

    pipe = tmp_path / "configuration"
    os.mkfifo(pipe)
    child = Child("router", "the forwarder of router", Place(None), ["forward", str(pipe)], tmp_path / "log")
    try:
        os.kill(child.pid, signal.SIGSYS)
        child.process.wait()
        failure = child.failure()
        assert "killed by SIGSYS: it made a system call that forwarding does not need" in str(failure)
        assert "SECURITY.md" in str(failure.help)
    finally:
        child.end_now()
        child.close()


def test_a_client_may_come_and_go_at_the_end(tmp_path: Path) -> None:
    """A silent client does not prevent a confined forwarder from ending."""
    middle = Namespace()
    try:
        middle.cable("m0", middle, "m1")
        config = {"node": "router", "seed": 1, "directions": [direction("m0", "m1")]}
        with forwarding(middle, tmp_path, config) as forwarder, socket.socket(socket.AF_UNIX) as silent:
            for _ in range(100):
                # On a busy machine the socket exists before its owner listens.
                with suppress(ConnectionRefusedError):
                    silent.connect(str(tmp_path / "control"))
                    break
                time.sleep(0.1)
            assert forwarder.end()["ending"] == "asked"
    finally:
        middle.end()
