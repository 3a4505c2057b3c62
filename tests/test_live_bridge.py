"""`perhop live bridge`: a policy between two existing interfaces."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from live_testbed import WITHIN_S, needs_rights, own_run, two_hosts
from perhop.errors import InvalidInputError
from perhop.live import kernel, namespaces
from perhop.live.bridging import Side, configuration
from perhop.live.claiming import claimed
from perhop.live.cleaning import clean
from perhop.live.owner import Owner
from perhop.live.state import State, load, running
from perhop.live.testbed import LiveTestbed

POLICIES = """\
policies:
  wan:
    queueing:
      scheduler: priority
      classes:
        - name: voice
          match: { dscp: ef }
          buffer: { tail-drop: { limit: 100 packets } }
        - name: rest
          buffer: { tail-drop: { limit: 10 packets } }
  other: {}
"""
ROUTER = ROOT / "examples" / "router.cfg"

# Sends 300 datagrams of 1000 bytes of IP at once, every third of them EF, and prints the numbers received.
SEND = """
import socket, time
udp = socket.socket(type=socket.SOCK_DGRAM)
for number in range(300):
    udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2 if number % 3 == 0 else 0)
    udp.sendto(bytes(1000 - 28), ("10.0.0.2", 9))
    if number == 0:
        # Before the neighbor's address is resolved, the kernel stores about 90 packets and drops all others.
        time.sleep(0.5)
"""


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    file = tmp_path / "wan.perhop.yaml"
    file.write_text(POLICIES)
    return file


def test_a_file_of_policies(policies: Path) -> None:
    sides = Side("eth1"), Side("eth2")
    found = configuration(policies, *sides, name="wan", rate="1Mb/s", both=False)
    assert found["devices"] == ["eth1", "eth2"]
    names = [entry["name"] for entry in found["forth"]["queueing"]["classes"]]
    assert (names, found["forth"]["rate"]) == (["voice", "rest"], "1Mb/s")
    assert "queueing" not in found["back"] and "rate" not in found["back"]
    both = configuration(policies, *sides, name="wan", rate="1Mb/s", both=True)
    assert both["back"] == both["forth"]
    with pytest.raises(InvalidInputError) as unclear:
        configuration(policies, *sides, name=None, rate=None, both=False)
    assert "wan" in str(unclear.value.help) and "other" in str(unclear.value.help)


def test_a_router_configuration_sets_rate_and_ring() -> None:
    found = configuration(ROUTER, Side("eth1"), Side("eth2"), name=None, rate=None, both=False)
    # The only interface with a policy is the output; `clock rate 2000000`, `tx-ring-limit 2`.
    assert found["forth"]["queueing"]["scheduler"] == "priority"
    assert found["forth"]["rate"] == "2Mb/s"
    assert found["forth"]["ring"] == {"packets": 2}
    assert found["back"]["rate"] == "100Mb/s"
    turned = configuration(
        ROUTER,
        Side.parse("eth1=Serial0/0"),
        Side.parse("eth2=FastEthernet0/0"),
        name=None,
        rate="10Mb/s",
        both=False,
    )
    assert turned["back"]["queueing"]["scheduler"] == "priority"
    assert (turned["forth"]["rate"], turned["back"]["rate"]) == ("10Mb/s", "2Mb/s")
    with pytest.raises(InvalidInputError, match="Serial9/9") as unknown:
        configuration(ROUTER, Side("eth1"), Side.parse("eth2=Serial9/9"), name=None, rate=None, both=False)
    assert "Serial0/0" in str(unknown.value.help)


@pytest.mark.parametrize(
    ("text", "queues"),
    [
        ("tc qdisc add dev wan root cake bandwidth 18mbit\n", ("cake", "pfifo")),
        ("interface Serial0/0\n bandwidth 2000\n tx-ring-limit 2\n", ("fair-queue", "fifo")),
    ],
    ids=["tc", "ios"],
)
def test_a_configuration_of_one_interface_tells_the_way_out_only(
    tmp_path: Path, text: str, queues: tuple[str, str]
) -> None:
    file = tmp_path / "one-interface"
    file.write_text(text)
    way_out = Side("eth2", "wan" if "tc qdisc" in text else "Serial0/0")
    found = configuration(file, Side("eth1"), way_out, name=None, rate=None, both=False)
    forth, back = (found[way]["queueing"]["classes"][0]["name"] for way in ("forth", "back"))
    assert (forth, back) == queues
    with pytest.raises(InvalidInputError, match="no interface `lan`"):
        configuration(file, Side("eth1", "lan"), way_out, name=None, rate=None, both=False)


@contextmanager
def bridged(*options: str | Path) -> Iterator[tuple[LiveTestbed, subprocess.Popen[bytes]]]:
    """Two boxes that find each other by ARP, and a bridge between them at work."""
    with LiveTestbed(two_hosts(), "Boxes") as testbed:
        for host, other in (("left", "10.0.0.2"), ("right", "10.0.0.1")):
            route = ["ip", "route", "replace", other, "dev", "eth0"]
            child = testbed.start(host, "route", "program", *route)
            assert child.process.wait(timeout=WITHIN_S) == 0, child.failure()
        with namespaces.inside(testbed.state.namespaces["router"]):
            kernel.switch_offloads_on("eth0", ["generic-receive"])
        command = [sys.executable, "-m", "perhop", "live", "bridge", *map(str, options)]
        ends = ["--in", "eth0", "--out", "eth1", "--json"]
        bridge = testbed.start("router", "bridge", "program", *command, *ends)
        until = time.monotonic() + WITHIN_S
        while not any(state.owner.pid == bridge.pid for state in running()):
            assert bridge.code is None, bridge.failure()
            assert time.monotonic() < until
            time.sleep(0.05)
        # The bridge listens on its control socket once it forwards.
        while not (Path("/run/perhop") / tag(bridge.pid) / "bridge.sock").exists():
            assert bridge.code is None, bridge.failure()
            time.sleep(0.05)
        yield testbed, bridge.process
        bridge.request_end()
        bridge.process.wait(timeout=WITHIN_S)


def tag(pid: int) -> str:
    return next(state.owner.tag for state in running() if state.owner.pid == pid)


def ended(process: subprocess.Popen[bytes], testbed: LiveTestbed) -> dict[str, Any]:
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=WITHIN_S) == 0
    words = next(child.log for child in testbed.children if child.name == "bridge").read_text()
    found: dict[str, Any] = json.loads(words[words.index("{") :])
    return found["bridge"]


@needs_rights
def test_packets_between_two_boxes(policies: Path, perhop: Command) -> None:
    with bridged("--policy", policies, "--name", "wan", "--rate", "8Mb/s") as (testbed, process):
        with namespaces.inside(testbed.state.namespaces["router"]):
            assert not kernel.offloads("eth0")["generic-receive"]
        sender = testbed.start("left", "sender", "program", sys.executable, "-c", SEND)
        assert sender.process.wait(timeout=WITHIN_S) == 0, sender.failure()
        # 300 times 1000 bytes last 0.3 s at 8 Mb/s.
        time.sleep(0.8)
        watched = perhop("live", "top", "--pid", str(process.pid), "--json").json()
        assert watched["scenario"] == "bridge eth0 - eth1"
        report = ended(process, testbed)
        forth = next(direction for direction in report["directions"] if direction["name"] == "eth0->eth1")
        queues = {queue["queue"]: queue for queue in forth["queues"]}
        assert queues["voice"]["arrived"]["packets"] == 100
        assert queues["voice"]["dropped"] == {}
        # ARP packets passed; the queue of ten packets dropped most of 200 simultaneous packets.
        assert queues["rest"]["arrived"]["packets"] == 200
        assert queues["rest"]["sent"]["packets"] + queues["rest"]["dropped"]["queue-full"]["packets"] == 200
        assert queues["rest"]["dropped"]["queue-full"]["packets"] > 50
        with namespaces.inside(testbed.state.namespaces["router"]):
            assert kernel.offloads("eth0")["generic-receive"]
    assert not [state for state in running() if state.owner.pid == process.pid]


@own_run
@needs_rights
def test_a_second_bridge_on_an_interface_is_refused(policies: Path) -> None:
    """Two bridges on one interface would forward each frame twice."""
    with bridged("--policy", policies, "--name", "wan") as (testbed, process):
        again = ("--policy", str(policies), "--name", "wan", "--in", "eth1", "--out", "eth0")
        command = [sys.executable, "-m", "perhop", "live", "bridge", *again]
        second = testbed.start("router", "second", "program", *command)
        assert second.process.wait(timeout=WITHIN_S) == 2
        words = second.new_output()
        assert f"error: `eth1` is in use by another bridge, process {process.pid}" in words
        assert [state.owner.pid for state in running() if state.scenario.startswith("bridge")] == [
            process.pid
        ]
        with namespaces.inside(testbed.state.namespaces["router"]):
            assert not kernel.offloads("eth0")["generic-receive"], "the first one is as it was"
        # When the process ends, even by SIGKILL, the interfaces are free again.
        process.kill()
        process.wait()
        with namespaces.inside(testbed.state.namespaces["router"]), claimed(["eth0", "eth1"]):
            pass
        # Without the namespace, no process can restore the interface, so the folder remains.
        assert any(str(process.pid) in Path(folder).name for folder in clean().folders)


# Claims an interface, reports it, and ends with standard input.
CLAIM = """
import sys
from perhop.live.claiming import claimed
with claimed(sys.argv[1:]):
    print("claimed", flush=True)
    sys.stdin.read()
"""


@own_run
@needs_rights
def test_an_interface_is_free_when_its_bridge_has_ended() -> None:
    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", CLAIM, "lo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    with start() as first:
        assert first.stdout is not None and first.stdout.readline() == "claimed\n"
        with pytest.raises(
            InvalidInputError, match=f"`lo` is in use by another bridge, process {first.pid}$"
        ):
            claimed(["lo"]).__enter__()
        # The same name in another network namespace is another interface.
        with (
            LiveTestbed(two_hosts(), "Boxes") as testbed,
            namespaces.inside(testbed.state.namespaces["router"]),
            claimed(["lo", "eth0"]),
        ):
            pass
        first.kill()
        first.wait()
    with claimed(["lo"]), pytest.raises(InvalidInputError, match=f"process {os.getpid()}$"):
        claimed(["lo"]).__enter__()
    assert not list(Path("/run/perhop").glob("bridge-*"))


@needs_rights
def test_one_interface_is_not_both_sides(policies: Path, perhop: Command) -> None:
    ended = perhop("live", "bridge", "--policy", policies, "--name", "wan", "--in", "lo", "--out", "lo")
    assert (ended.code, ended.out) == (2, "")
    assert "--in and --out are both `lo`" in ended.err


@own_run
@needs_rights
def test_a_killed_bridge_is_cleaned_up(policies: Path, perhop: Command) -> None:
    with bridged("--policy", policies, "--name", "wan") as (testbed, process):
        process.kill()
        process.wait()
        with namespaces.inside(testbed.state.namespaces["router"]):
            assert not kernel.offloads("eth0")["generic-receive"]
            assert f"{process.pid}." in perhop("live", "clean", "--json").out
            assert kernel.offloads("eth0")["generic-receive"]


@own_run
@needs_rights
def test_from_another_namespace_its_interfaces_are_restored_too(policies: Path, perhop: Command) -> None:
    with bridged("--policy", policies, "--name", "wan") as (testbed, process):
        process.kill()
        process.wait()
        assert f"{process.pid}." in perhop("live", "clean", "--json").out
        with namespaces.inside(testbed.state.namespaces["router"]):
            assert kernel.offloads("eth0")["generic-receive"]


@own_run
@needs_rights
@pytest.mark.parametrize("network", [[1, 1], None])
def test_an_unrestorable_interface_stays_on_record(network: list[int] | None, perhop: Command) -> None:
    """The namespace of a killed bridge no longer exists, or an earlier version did not record it."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    offloads = {"perhop-gone0": {"generic-receive": True}}
    state = State(Owner(dead.pid, 1), "bridge", offloads=offloads, network=network)
    state.make_folder()
    state.save()
    try:
        ended = perhop("live", "clean")
        assert (ended.code, ended.out) == (75, "")
        assert f"{state.folder}: offloads" in ended.err and "perhop-gone0" in ended.err
        assert "ethtool -K" in ended.err
        assert load(state.folder) == state
        kept = json.loads(perhop("live", "clean", "--json").out)["kept"]
        assert list(kept) == [str(state.folder)]
    finally:
        shutil.rmtree(state.folder)


@own_run
@needs_rights
def test_a_removed_interface_needs_no_restoring(perhop: Command) -> None:
    offloads = {"perhop-gone0": {"generic-receive": True}}
    dead = subprocess.Popen(["true"])
    dead.wait()
    state = State(Owner(dead.pid, 1), "bridge", offloads=offloads, network=list(namespaces.current()))
    state.make_folder()
    state.save()
    assert perhop("live", "clean").code == 0
    assert not state.folder.exists()


# For a second, PPPoE frames as fast as possible, through a rate of 1 Mb/s.
FLOOD = """
import socket, time
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sending:
    sending.bind(("eth0", 0))
    frame = bytes.fromhex("020000000002020000000001" "8864") + bytes(1000)
    until = time.monotonic() + 1
    while time.monotonic() < until:
        sending.send(frame)
"""


@needs_rights
def test_packets_that_bypass_the_policy_raise_a_doubt(policies: Path) -> None:
    with bridged("--policy", policies, "--name", "wan", "--rate", "1Mb/s") as (testbed, process):
        sender = testbed.start("left", "sender", "program", sys.executable, "-c", FLOOD)
        assert sender.process.wait(timeout=WITHIN_S) == 0, sender.failure()
        report = ended(process, testbed)
    forth = next(direction for direction in report["directions"] if direction["name"] == "eth0->eth1")
    passed = forth["passed"]["PPPoE session (0x8864)"]
    assert passed["packets"] > 1000 and passed["bytes"] == 1014 * passed["packets"]
    doubts = [doubt for doubt in report["doubts"] if "bypassed the policy" in doubt]
    assert len(doubts) == 1
    assert "of eth0->eth1" in doubts[0] and "at a rate of 1.0 Mb/s" in doubts[0]
    assert "PPPoE session (0x8864)" in doubts[0]


def test_an_unknown_interface_is_refused(policies: Path, perhop: Command) -> None:
    ended = perhop(
        "live", "bridge", "--policy", policies, "--name", "wan", "--in", "nonesuch0", "--out", "nonesuch1"
    )
    assert (ended.code, ended.out) == (2, "")
    assert "this machine has no interface `nonesuch0`\nhelp: interfaces: lo" in ended.err
