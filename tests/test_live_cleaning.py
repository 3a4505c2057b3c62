"""A testbed is removed completely after any end, and nothing else is changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from live_testbed import WITHIN_S, left_behind, needs_rights, own_run, two_hosts
from perhop.live import namespaces
from perhop.live.cleaning import clean
from perhop.live.owner import Owner
from perhop.live.testbed import LiveTestbed

pytestmark = [needs_rights, own_run]

PROGRAM = Path(__file__).parent / "live_testbed.py"


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(*pids: int) -> bool:
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        if not any(map(lives, pids)):
            return True
        time.sleep(0.01)
    return False


@contextmanager
def running_testbed(action: str = "wait") -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A testbed in a separate process, and the processes in the testbed."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), action], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        pids = [int(pid) for pid in line.split()]
        assert pids[0] == process.pid
        yield process, pids[1:]
    finally:
        process.kill()
        process.communicate()
        clean()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_removes_the_testbed(number: signal.Signals) -> None:
    with running_testbed() as (process, pids):
        inside = namespaces.processes(
            name for owner, name in namespaces.existing() if owner.pid == process.pid
        )
        # The copier, the shell that became a sleep, and the sleep in a separate session.
        assert len(inside) == 3 and set(pids) < set(inside)
        process.send_signal(number)
        process.wait(timeout=WITHIN_S)
        assert left_behind(process.pid) == []
        assert gone(*inside)


@pytest.mark.parametrize("action", ["fail", "end"])
def test_end_and_failure_leave_no_testbed(action: str) -> None:
    with running_testbed(action) as (process, pids):
        assert process.wait(timeout=WITHIN_S) == (1 if action == "fail" else 0)
        assert left_behind(process.pid) == []
        assert gone(*pids)


def test_clean_removes_the_remains_of_a_killed_testbed() -> None:
    with running_testbed() as (process, pids):
        inside = namespaces.processes(
            name for owner, name in namespaces.existing() if owner.pid == process.pid
        )
        process.kill()
        process.wait()
        # The children of the killed process end with it.
        assert gone(*pids)
        assert len(left_behind(process.pid)) == 4
        cleaned = clean()
        assert len([name for name in cleaned.namespaces if f"-{process.pid}." in name]) == 3
        assert cleaned.processes >= 1
        assert left_behind(process.pid) == []
        assert gone(*inside)
        again = clean()
        assert not [name for name in again.namespaces if f"-{process.pid}." in name]


def test_the_next_testbed_cleans_up_after_the_last() -> None:
    with running_testbed() as (process, _):
        process.kill()
        process.wait()
        assert left_behind(process.pid)
        with LiveTestbed(two_hosts(), "Next"):
            assert left_behind(process.pid) == []


def test_clean_touches_nothing_else() -> None:
    other = f"other-{os.getpid()}"
    namespaces.make(other)
    try:
        with running_testbed() as (process, pids):
            clean()
            assert len(left_behind(process.pid)) == 4
            assert all(map(lives, pids))
        assert namespaces.path(other).exists()
    finally:
        namespaces.remove(other)


def test_a_reused_process_number_is_another_process() -> None:
    current = Owner.current()
    assert current.alive
    assert not Owner(current.pid, current.started - 1).alive
    assert Owner.of_name(f"perhop-{current.tag}-left") == current
    assert Owner.of_name("perhop-left") is None
    assert Owner.of_name("perhop-12-34") is None
