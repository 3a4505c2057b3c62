"""The forwarder on real interfaces: its packets, reports, errors and cleanup."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cables import (
    Namespace,
    Row,
    datagram,
    direction,
    forward_command,
    forwarding,
    heard,
    listening,
    missing_right,
    started,
    wait_until,
)
from programs import needs
from seeds import drawing

_MISSING = missing_right()
pytestmark = pytest.mark.skipif(_MISSING is not None, reason=str(_MISSING))

_PAIR = [direction("m0", "m1"), direction("m1", "m0")]
# Constant memory still varies by the allocator's cache and by pages touched for the first time.
_FLAT_BYTES = 4 << 20


@pytest.fixture
def row() -> Iterator[Row]:
    made = Row()
    yield made
    made.end()


def _config(**more: Any) -> dict[str, Any]:
    return {"node": "router", "seed": 1, "directions": _PAIR} | more


def _received(frames: int, device: int = 0) -> Any:
    return lambda status: status["devices"][device]["received-frames"] >= frames


@pytest.mark.parametrize("kind", ["af-packet", "af-xdp"])
def test_frames_pass_and_every_counter_counts_them(row: Row, tmp_path: Path, kind: str) -> None:
    try:
        with forwarding(row.middle, tmp_path, _config(socket=kind)) as forwarder:
            row.left.send("l0", [datagram(100, codepoint=46)] * 50)
            status = forwarder.await_status(_received(50))
            metrics = forwarder.ask("metrics\n")
            page = forwarder.ask("GET /metrics HTTP/1.0\r\n\r\n")
            result = forwarder.end()
    except RuntimeError as error:
        if kind == "af-xdp" and "AF_XDP" in str(error):
            pytest.skip(f"this kernel offers no AF_XDP: {error}")
        raise
    assert row.arrived("r0") == 50
    assert status["ending"] is None
    assert result["ending"] == "asked"
    assert result["frames"]["sent"] == 50
    sent = result["devices"][1]
    assert (sent["device"], sent["sent-frames"], sent["sent-bytes"]) == ("m1", 50, 5000)
    (queue,) = result["directions"][0]["queues"]
    assert queue["sent"] == {"packets": 50, "bytes": 50 * 86}
    assert 'perhop_device_frames_total{node="router",device="m1",fate="sent"} 50\n' in metrics
    labels = 'node="router",direction="m0->m1",queue="fifo",precedence="0",fate="sent"'
    assert f"perhop_queue_packets_total{{{labels}}} 50\n" in metrics
    assert page.startswith("HTTP/1.0 200 OK\r\n")
    # A confined process cannot remove its socket file, but does not listen any more.
    with pytest.raises(ConnectionRefusedError):
        forwarder.ask()


def test_a_port_lets_packets_out_at_its_rate(row: Row, tmp_path: Path) -> None:
    # 60 packets of 1000 bytes at 1 Mb/s, 8 ms each: the last leaves 480 ms after the first arrived.
    paced = [direction("m0", "m1", rate="1Mb/s"), direction("m1", "m0")]
    config = _config(directions=paced)
    with listening(row.right, "r0", 60) as listener, forwarding(row.middle, tmp_path, config) as forwarder:
        started = time.monotonic()
        row.left.send("l0", [datagram(1014)] * 60)
        stamps = [stamp for stamp, _, _ in heard(listener)]
        forwarder.end()
    # Nothing leaves early on any machine; the benchmark measures how punctual packets are.
    assert stamps[-1] - started >= 60 * 0.008


def test_a_vlan_tag_that_the_kernel_takes_out_is_put_back(row: Row, tmp_path: Path) -> None:
    config = _config()
    with listening(row.right, "r0", 1) as listener, forwarding(row.middle, tmp_path, config) as forwarder:
        row.left.send("l0", [datagram(100, tag=0x2005)])
        ((_, frame, tag),) = heard(listener)
        result = forwarder.end()
    assert tag == 0x2005
    assert frame == datagram(100)  # without the tag, which this kernel removes again
    assert result["devices"][0]["received-bytes"] == 104
    assert result["devices"][1]["sent-bytes"] == 104


@pytest.mark.parametrize("how", ["removed", "namespace gone"])
@pytest.mark.parametrize("kind", ["af-packet", "af-xdp"])
def test_a_lost_interface_is_reported_and_the_others_go_on(
    row: Row, tmp_path: Path, how: str, kind: str
) -> None:
    other = Namespace()
    row.middle.cable("m2", row.left, "l1")
    row.middle.cable("m3", other, "o0")
    directions = [*_PAIR, direction("m2", "m3"), direction("m3", "m2")]
    try:
        with forwarding(row.middle, tmp_path, _config(directions=directions, socket=kind)) as forwarder:
            row.left.send("l0", [datagram()] * 10)
            forwarder.await_status(_received(10))
            if how == "removed":
                row.middle.run("ip", "link", "delete", "m1")
            else:
                row.right.end()
            forwarder.await_status(lambda status: status["devices"][1]["state"] == "lost")
            row.left.send("l0", [datagram()] * 10)
            row.left.send("l1", [datagram()] * 10)
            forwarder.await_status(
                lambda status: status["devices"][3]["sent-frames"] == 10 and _received(20)(status)
            )
            result = forwarder.end()
    except RuntimeError as error:
        if kind == "af-xdp" and "AF_XDP" in str(error):
            pytest.skip(f"this kernel offers no AF_XDP: {error}")
        raise
    finally:
        other.end()
    lost = result["devices"][1]
    assert lost["lost-at-s"] > 0
    assert lost["sent-frames"] == 10
    assert lost["refused-frames"] == 10
    assert "interface m1 was removed" in result["doubts"]
    assert [device["state"] for device in result["devices"]] == ["up", "lost", "up", "up"]


@pytest.mark.parametrize("before", ["up", "down"])
def test_the_forwarder_ends_with_a_result_without_interfaces(row: Row, tmp_path: Path, before: str) -> None:
    with forwarding(row.middle, tmp_path, _config()) as forwarder:
        # The kernel switches an interface off before it removes it, and reports only the first event.
        row.middle.run("ip", "link", "set", "m0", before)
        forwarder.await_status(lambda status: status["devices"][0]["state"] == before)
        row.middle.run("ip", "link", "delete", "m0")
        row.middle.run("ip", "link", "delete", "m1")
        result = forwarder.result()
    assert "failed" in result["ending"]
    assert any(doubt.startswith("the forwarder ended early") for doubt in result["doubts"])


def test_an_interface_may_go_down_and_come_back(row: Row, tmp_path: Path) -> None:
    with forwarding(row.middle, tmp_path, _config()) as forwarder:
        row.middle.run("ip", "link", "set", "m0", "down")
        forwarder.await_status(lambda status: status["devices"][0]["state"] == "down")
        row.middle.run("ip", "link", "set", "m0", "up")
        row.left.send("l0", [datagram()] * 10)
        forwarder.await_status(_received(10))
        # The forwarder reports the interface as up again after it has sent a packet there.
        row.right.send("r0", [datagram()] * 10)
        forwarder.await_status(lambda status: status["devices"][0]["sent-frames"] == 10)
        result = forwarder.end()
    assert [device["state"] for device in result["devices"]] == ["up", "up"]


def test_a_hundred_thousand_malformed_frames_do_no_harm(row: Row, tmp_path: Path) -> None:
    draw = drawing("malformed frames")
    frames = [_malformed(draw) for _ in range(20_000)]
    with forwarding(row.middle, tmp_path, _config()) as forwarder:
        row.left.send("l0", frames)
        before = forwarder.await_status(lambda status: _taken(status) >= 20_000)["resident-bytes"]
        row.left.send("l0", frames, times=4)
        forwarder.await_status(lambda status: _taken(status) >= 100_000)
        row.left.send("l0", [datagram(codepoint=46)] * 10)
        after = forwarder.await_status(lambda status: _taken(status) >= 100_010)["resident-bytes"]
        result = forwarder.end()
    assert after - before < _FLAT_BYTES
    frames_of = result["frames"]
    assert frames_of["received"] == _ended(frames_of)
    assert sum(frames_of["refused"].values()) > 10_000


def test_a_burst_at_full_speed_leaves_memory_flat(row: Row, tmp_path: Path) -> None:
    # Faster than the rate of the port: its queue is full all the time.
    narrow = [direction("m0", "m1", rate="10Mb/s"), direction("m1", "m0")]
    frames = [datagram(1500)] * 1000
    with forwarding(row.middle, tmp_path, _config(directions=narrow)) as forwarder:
        row.left.send("l0", frames, times=20)
        before = forwarder.await_status(lambda status: _taken(status) >= 20_000)["resident-bytes"]
        row.left.send("l0", frames, times=100)
        after = forwarder.await_status(lambda status: _taken(status) >= 120_000)
        result = forwarder.end()
    assert after["resident-bytes"] - before < _FLAT_BYTES
    # The load of the machine decides how many packets reach the port and leave; each packet has one outcome.
    frames_of = result["frames"]
    assert frames_of["received"] == _ended(frames_of)
    assert frames_of["dropped"]["queue-full"] > 1_000


@pytest.mark.parametrize("how", ["end of input", "death"])
def test_it_does_not_outlive_its_parent_process(row: Row, tmp_path: Path, how: str) -> None:
    if how == "end of input":
        with forwarding(row.middle, tmp_path, _config(), stdin=subprocess.PIPE) as forwarder:
            assert forwarder.process.stdin is not None
            forwarder.process.stdin.close()
            assert forwarder.result()["ending"] == "orphaned"
        return
    starting = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)\n"
        "time.sleep(600)\n"
    )
    control, result, path = tmp_path / "control", tmp_path / "result.json", tmp_path / "config.json"
    path.write_text(json.dumps(_config(control=str(control), result=str(result))))
    command = [sys.executable, "-c", starting, *forward_command(path)]
    with subprocess.Popen(row.middle.within(*command)) as parent:
        wait_until(control.exists)
        parent.kill()
    # The file exists from the start; the document is written at the end, in one piece.
    wait_until(lambda: result.read_bytes().startswith(b"{"))
    assert json.loads(result.read_text())["ending"] == "asked"


def test_counters_begin_at_the_start_of_measurement(row: Row, tmp_path: Path) -> None:
    with forwarding(row.middle, tmp_path, _config()) as forwarder:
        begin_ns = time.monotonic_ns() + 3_600_000_000_000
        assert forwarder.ask(f"count-from {begin_ns}\n") == "ok\n"
        status = forwarder.await_status(lambda status: status["counted-from-s"] > 0)
        assert status["counted-from-s"] == pytest.approx((begin_ns - status["started-at-ns"]) / 1e9)
        row.left.send("l0", [datagram()] * 10)
        forwarder.await_status(_received(10))
        assert forwarder.ask(f"count-from {time.monotonic_ns()}\n") == "ok\n"
        forwarder.await_status(lambda status: status["counted-from-s"] < 3600)
        row.left.send("l0", [datagram()] * 7)
        forwarder.await_status(_received(17))
        assert forwarder.ask("count-from yesterday\n").startswith("error")
        result = forwarder.end()
    assert result["frames"]["sent"] == 17
    (queue,) = result["directions"][0]["queues"]
    assert queue["sent"]["packets"] == 7


def test_a_bridge_lets_hosts_find_each_other_and_polices_what_they_say(row: Row, tmp_path: Path) -> None:
    row.left.run("ip", "address", "add", "10.1.0.1/24", "dev", "l0")
    row.right.run("ip", "address", "add", "10.1.0.2/24", "dev", "r0")
    # Each policy is independent: the second may override a decision of the first.
    coming = {"actions": [{"mark": "af11"}]}
    leaving = {"match": {"dscp": "af11"}, "actions": [{"mark": "ef"}]}
    forth = {"rate": "10Mb/s", "input": [coming], "output": [leaving]}
    config = {"devices": ["m0", "m1"], "forth": forth}
    with started(row.right, _RECEIVE) as receiving:
        assert receiving.stdout is not None
        with forwarding(row.middle, tmp_path, config, entry="live_bridge") as forwarder:
            row.left.run(sys.executable, "-c", _SAY)
            assert receiving.stdout.readline() == f"hello {46 << 2}\n"
            result = forwarder.end()
    assert result["node"] == "bridge"
    assert result["frames"]["passed"] >= 2  # who has 10.1.0.2, and its answer
    # The sender leaves its checksum to a network card, but no network card exists.
    (inner,) = [device for device in result["devices"] if device["device"] == "m0"]
    assert (inner["unfinished-checksums"], inner["finished-checksums"] >= 1) == (0, True)
    assert not any("checksum" in doubt for doubt in result["doubts"])


# A megabyte over TCP, without offloads that merge segments, and the number of bytes that arrive.
_TCP_RECEIVE = """
import socket
server = socket.create_server(("10.1.0.2", 9))
print("ready", flush=True)
connection, _ = server.accept()
total = 0
while part := connection.recv(65536):
    total += len(part)
print(total, flush=True)
"""
_TCP_SEND = """
import socket
with socket.create_connection(("10.1.0.2", 9), timeout=20) as connection:
    connection.sendall(bytes(1_000_000))
"""


@needs("ethtool")
def test_tcp_gets_through_a_bridge_whose_sender_leaves_checksums_open(row: Row, tmp_path: Path) -> None:
    for namespace, device, address in ((row.left, "l0", "10.1.0.1"), (row.right, "r0", "10.1.0.2")):
        namespace.run("ip", "address", "add", f"{address}/24", "dev", device)
        namespace.run("ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off", "tx", "on")
    config = {"devices": ["m0", "m1"]}
    with forwarding(row.middle, tmp_path, config, entry="live_bridge") as forwarder:
        with started(row.right, _TCP_RECEIVE) as receiving:
            assert receiving.stdout is not None
            row.left.run(sys.executable, "-c", _TCP_SEND)
            assert receiving.stdout.readline() == "1000000\n"
        result = forwarder.end()
    finished = sum(device["finished-checksums"] for device in result["devices"])
    assert finished > 600, "segments of at most 1460 bytes, and what acknowledges them"
    assert not any("checksum" in doubt for doubt in result["doubts"])


def test_frames_longer_than_a_slot_are_dropped_and_a_doubt(row: Row, tmp_path: Path) -> None:
    for namespace, device in ((row.left, "l0"), (row.middle, "m0"), (row.middle, "m1"), (row.right, "r0")):
        namespace.run("ip", "link", "set", device, "mtu", "9000")
    with forwarding(row.middle, tmp_path, _config()) as forwarder:
        row.left.send("l0", [datagram(3000)] * 7 + [datagram(1500)])
        forwarder.await_status(_received(8))
        result = forwarder.end()
    assert (result["frames"]["oversized"], result["frames"]["sent"]) == (7, 1)
    doubts = [doubt for doubt in result["doubts"] if "longer than the slots of the forwarder" in doubt]
    assert len(doubts) == 1 and doubts[0].startswith("7 frames")


def test_a_tunnel_carries_bare_packets(row: Row, tmp_path: Path) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("there is no /dev/net/tun")
    row.middle.run("ip", "tuntap", "add", "t0", "mode", "tun")
    row.middle.run("ip", "link", "set", "t0", "up")
    config = _config(directions=[direction("t0", "t0")], socket="tun")
    packet = datagram(100, codepoint=10)[14:]
    with listening(row.middle, "t0", 1) as listener, forwarding(row.middle, tmp_path, config) as forwarder:
        # The kernel detects the carrier of the interface after some time, and drops earlier packets.
        wait_until(lambda: "state DOWN" not in row.middle.run("ip", "link", "show", "t0"))
        row.middle.send("t0", [packet])
        ((_, found, _),) = heard(listener)
        result = forwarder.end()
    assert found == packet
    assert result["devices"][0]["received-frames"] == result["devices"][0]["sent-frames"] == 1


def test_errors_are_reported_in_words(row: Row, tmp_path: Path) -> None:
    for config, words in (
        (_config(directions=[direction("m0", "nowhere")]), "interface `nowhere` was not found"),
        (_config(directions=[direction("m0", "m1", rate="quick")]), "directions[0].rate"),
        (_config(color="red"), "unknown field `color`"),
    ):
        with pytest.raises(RuntimeError, match="Error") as raised, forwarding(row.middle, tmp_path, config):
            pass
        assert words in str(raised.value)


_RECEIVE = """
import socket
receiving = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiving.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
receiving.setsockopt(socket.SOL_SOCKET, 11, 1) # SO_NO_CHECK: what it answers needs no checksum either
receiving.bind(("10.1.0.2", 5000))
receiving.settimeout(60)
print("ready", flush=True)
data, control, _, _ = receiving.recvmsg(100, 100)
print(data.decode(), control[0][2][0], flush=True)
"""

_SAY = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
    sending.sendto(b"hello", ("10.1.0.2", 5000))
"""


def _taken(status: dict[str, Any]) -> int:
    """Frames that the forwarder has processed, and those that the kernel dropped for lack of memory."""
    device = status["devices"][0]
    return int(device["received-frames"] + device["lost-frames"])


def _ended(frames: dict[str, Any]) -> int:
    """The numbers of frames by outcome."""
    ends = ("sent", "unsent", "no-slot", "oversized", "unexpected", "local", "held")
    refused, dropped = frames["refused"].values(), frames["dropped"].values()
    return int(sum(frames[end] for end in ends) + sum(refused) + sum(dropped))


def _malformed(draw: random.Random) -> bytes:
    """A malformed datagram, or random bytes."""
    frame = bytearray(datagram(draw.randint(60, 1500), codepoint=draw.randint(0, 63)))
    match draw.randrange(4):
        case 0:  # cut off
            del frame[draw.randint(14, len(frame)) :]
        case 1:  # a header with random bytes
            for _ in range(draw.randint(1, 8)):
                frame[draw.randint(12, 41)] = draw.randrange(256)
        case 2:  # random tags in front of the header
            frame[12:12] = b"".join(b"\x81\x00" + draw.randbytes(2) for _ in range(draw.randint(1, 5)))
            del frame[1500:]
        case _:
            frame = bytearray(draw.randbytes(draw.randint(14, 1500)))
    return bytes(frame)
