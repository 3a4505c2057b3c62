"""A testbed of namespaces: only its own packets pass through it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from live_testbed import WITHIN_S, left_behind, needs_rights, start_copier, two_hosts
from perhop.errors import MissingCapabilityError
from perhop.live import kernel, namespaces
from perhop.live.building import offered_congestion_controls
from perhop.live.children import Child
from perhop.live.network import GATEWAY_MAC, network
from perhop.live.testbed import LiveTestbed

pytestmark = needs_rights

SERVER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.create_server(("", 5001), family=family) as server:
    print("listening", flush=True)
    connection, _ = server.accept()
    total = 0
    while data := connection.recv(65536):
        total += len(data)
    print(total, flush=True)
"""
CLIENT = """
import socket, sys
with socket.create_connection((sys.argv[1], 5001), timeout=10) as connection:
    connection.sendall(bytes(int(sys.argv[2])))
"""


def until_it_said(child: Child, words: str) -> None:
    until = time.monotonic() + WITHIN_S
    while words not in child.log.read_text():
        assert child.code is None, child.failure()
        assert time.monotonic() < until, f"{child.name} never said {words}: {child.log.read_text()}"
        time.sleep(0.02)


def transfer(testbed: LiveTestbed, target: str, size: int) -> None:
    """Send `size` bytes by TCP from left to right."""
    server = testbed.start("right", "server", "program", sys.executable, "-c", SERVER, target)
    until_it_said(server, "listening")
    client = testbed.start("left", "client", "program", sys.executable, "-c", CLIENT, target, str(size))
    assert client.process.wait(timeout=WITHIN_S) == 0, client.failure()
    assert server.process.wait(timeout=WITHIN_S) == 0, server.failure()
    assert server.new_output().split() == ["listening", str(size)]


def test_tcp_sends_whole_packets_with_their_checksums() -> None:
    with LiveTestbed(two_hosts(), "Test") as testbed:
        _, seen = start_copier(testbed)
        # By name: hosts resolve each other by their names in the scenario.
        transfer(testbed, "right", 1_000_000)
        frames = seen.read_text().splitlines()
        assert len(frames) > 1_000_000 // 1460
        assert max(int(frame.split()[0]) for frame in frames) == 1514
        assert [frame for frame in frames if "wrong" in frame] == []


def test_ipv6_needs_no_discovery() -> None:
    with LiveTestbed(two_hosts("2001:db8::1", "2001:db8::2"), "Test") as testbed:
        _, seen = start_copier(testbed)
        transfer(testbed, "2001:db8::2", 10_000)
        assert max(int(frame.split()[0]) for frame in seen.read_text().splitlines()) == 1514


def test_a_host_with_two_devices_takes_the_one_that_leads_there() -> None:
    net = network(
        {"left": "10.0.0.1", "right": "10.0.0.2", "far": "10.0.0.3"},
        ["router", "other"],
        [
            (("left", "other"), ("other", "left")),
            (("other", "far"), ("far", "other")),
            (("left", "router"), ("router", "left")),
            (("router", "right"), ("right", "router")),
        ],
        {"left": {"router": ("10.0.0.2/32",)}},
    )
    with LiveTestbed(net, "Test") as testbed:
        _, seen = start_copier(testbed)
        _, elsewhere = start_copier(testbed, "other")
        transfer(testbed, "right", 10_000)
        assert seen.read_text()
        assert elsewhere.read_text() == ""


def test_hosts_send_only_the_configured_traffic() -> None:
    with LiveTestbed(two_hosts(), "Test") as testbed:
        _, seen = start_copier(testbed)
        time.sleep(1.5)
        assert seen.read_text() == ""


def test_the_routers_kernel_answers_nothing() -> None:
    with LiveTestbed(two_hosts(), "Test") as testbed:
        _, seen = start_copier(testbed)
        # An address without a host: the packet ends at the right-hand host, which does not forward it or
        # report an error.
        datagram = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('10.9.9.9', 9))"
        sender = testbed.start("left", "sender", "program", sys.executable, "-c", datagram)
        assert sender.process.wait(timeout=WITHIN_S) == 0, sender.failure()
        until = time.monotonic() + WITHIN_S
        while not seen.read_text():
            assert time.monotonic() < until
            time.sleep(0.01)
        # An answer would arrive soon.
        time.sleep(0.3)
        assert seen.read_text().split() == [str(14 + 20 + 8 + 1)]


def test_devices_are_bare_wires() -> None:
    with LiveTestbed(two_hosts(), "Test") as testbed:
        for node in testbed.network.nodes:
            with namespaces.inside(testbed.state.namespaces[node]):
                for device in testbed.network.devices(node):
                    assert not any(kernel.offloads(device.name).values())
        macs = [device.mac for cable in testbed.network.cables for device in cable]
        assert len({*macs, GATEWAY_MAC}) == 5


CHOSEN = """
import socket, sys
with socket.create_connection(("right", 5001), timeout=10) as connection:
    print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\\0").decode())
"""


@pytest.mark.parametrize("name", ["reno", "cubic"])
def test_congestion_control_is_set_per_host(name: str) -> None:
    before = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text()
    with LiveTestbed(two_hosts(), "Test", congestion_controls={"left": name}) as testbed:
        start_copier(testbed)
        server = testbed.start("right", "server", "program", sys.executable, "-c", SERVER, "")
        until_it_said(server, "listening")
        client = testbed.start("left", "client", "program", sys.executable, "-c", CHOSEN)
        assert client.process.wait(timeout=WITHIN_S) == 0, client.failure()
        assert client.new_output().strip() == name
    assert Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text() == before


def test_an_unknown_congestion_control_is_refused_and_leaves_nothing() -> None:
    with (
        pytest.raises(MissingCapabilityError, match="nonesuch") as refused,
        LiveTestbed(two_hosts(), "Test", congestion_controls={"left": "nonesuch"}),
    ):
        pytest.fail("it was built")
    assert all(name in str(refused.value.help) for name in offered_congestion_controls())
    assert left_behind(os.getpid()) == []


def test_nodes_may_be_called_anything() -> None:
    strange = "a/b ü" + "x" * 300
    net = network({strange: "10.0.0.1"}, ["a_b__"], [((strange, "a_b__"), ("a_b__", strange))])
    with LiveTestbed(net, "Test") as testbed:
        assert len(set(testbed.state.namespaces.values())) == 2
        child = testbed.start(strange, "true", "program", "true")
        assert child.process.wait(timeout=WITHIN_S) == 0, child.failure()
    assert left_behind(os.getpid()) == []


def test_a_missing_program_is_reported() -> None:
    with LiveTestbed(two_hosts(), "Test") as testbed:
        child = testbed.start("left", "nonesuch", "program", "nonesuch")
        assert child.process.wait(timeout=WITHIN_S) == 127
        assert "nonesuch: No such file" in str(child.failure())
