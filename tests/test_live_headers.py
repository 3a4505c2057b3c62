"""Tags and labels on real frames: read, matched and marked by one forwarder, exchanged by two."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cables import LISTEN, Row, datagram, direction, forwarding, heard, listening, missing_right
from conftest import Command, command_line
from live_testbed import WITHIN_S, needs_rights, own_run
from perhop.live import namespaces
from perhop.live.state import running

_MISSING = missing_right()
needs_cables = pytest.mark.skipif(_MISSING is not None, reason=str(_MISSING))

LABELS = bytes.fromhex("0001163f0001093f")  # label 17 with EXP 3, label 16 with EXP 4, the bottom


@pytest.fixture
def row() -> Iterator[Row]:
    made = Row()
    yield made
    made.end()


def labeled(frame: bytes, labels: bytes = LABELS) -> bytes:
    return frame[:12] + b"\x88\x47" + labels + frame[14:]


def tagged(frame: bytes, tag: int) -> bytes:
    return frame[:12] + b"\x81\x00" + tag.to_bytes(2, "big") + frame[12:]


# Voice by CoS 5, data by EXP 3; packets with CoS 1 leave with CoS 6, those with EXP 3 with EXP 2.
POLICY = {
    "output": [
        {"match": {"cos": 1}, "actions": [{"mark-cos": 6}]},
        {"match": {"mpls-exp": 3}, "actions": [{"mark-exp": 2}]},
    ],
    "queueing": {
        "scheduler": "priority",
        "classes": [
            {"name": "voice", "match": {"cos": 5}},
            {"name": "one", "match": {"cos": 6}},
            {"name": "data", "match": {"mpls-exp": 2}},
            {"name": "rest"},
        ],
    },
}


@needs_cables
@pytest.mark.parametrize("kind", ["af-packet", "af-xdp"])
def test_frames_are_classified_and_marked(row: Row, tmp_path: Path, kind: str) -> None:
    directions = [direction("m0", "m1", **POLICY), direction("m1", "m0")]
    config = {"node": "router", "seed": 1, "directions": directions, "socket": kind}
    plain = datagram(100, codepoint=46)
    sent = [
        plain,
        tagged(plain, 0xA005),
        tagged(plain, 0x3005),
        labeled(plain),
        tagged(labeled(plain), 0x2007),
    ]
    # A service tag around a customer tag: the kernel removes the outer one.
    sent.append(plain[:12] + bytes.fromhex("88a820098100a007") + plain[12:])
    try:
        with listening(row.right, "r0", 6) as listener, forwarding(row.middle, tmp_path, config) as forwarder:
            row.left.send("l0", sent)
            found = [(frame, tag) for _, frame, tag in heard(listener)]
            result = forwarder.end()
    except RuntimeError as error:
        if kind == "af-xdp" and "AF_XDP" in str(error):
            pytest.skip(f"this kernel offers no AF_XDP: {error}")
        raise
    remarked = LABELS[:2] + b"\x14" + LABELS[3:]  # EXP 2; the labels below are unchanged
    # In any order, because queues have priorities. The drop eligible indicator (0x1000) and the inner tag
    # remain.
    assert Counter(found) == Counter(
        [
            (plain, None),
            (plain, 0xA005),
            (plain, 0xD005),
            (labeled(plain, remarked), None),
            # The first condition that matches decides: the label is unchanged.
            (labeled(plain), 0xC007),
            (tagged(plain, 0xA007), 0xC009),
        ]
    )
    queues = {queue["queue"]: queue["sent"]["packets"] for queue in result["directions"][0]["queues"]}
    assert queues == {"voice": 1, "one": 3, "data": 1, "rest": 1}
    assert result["frames"]["refused"] == {}


@needs_cables
def test_labels_that_carry_no_ip_pass_a_bridge(row: Row, tmp_path: Path) -> None:
    config = {"devices": ["m0", "m1"], "forth": {"rate": "10Mb/s"}}
    # A pseudowire with a control word, and one without: the frame's address begins as IPv4 does.
    words = [bytes(4) + datagram(100), b"\x45" + datagram(100)[1:]]
    sent = [datagram(60)[:12] + b"\x88\x47" + LABELS + word for word in words]
    entry = {"entry": "live_bridge"}
    with (
        listening(row.right, "r0", 2) as listener,
        forwarding(row.middle, tmp_path, config, **entry) as bridge,
    ):
        row.left.send("l0", sent)
        found = [frame for _, frame, _ in heard(listener)]
        result = bridge.end()
    assert found == sent
    assert result["frames"]["passed"] == 2


# Voice has CoS 5 and EXP 6 between the routers; s sees the marks of r; the hosts do not.
SCENARIO = """\
perhop: 1
name: Live headers
duration: 3s
hosts: { a: {}, b: {} }
routers: { r: {}, s: {} }
links:
  - { between: [a, r], rate: 100Mb/s, framing: ethernet-wire }
  - between: [r, s]
    rate: 20Mb/s
    framing: ethernet-wire
    headers: [{ mpls: { labels: 2 } }, { vlan: { id: 20 } }, { vlan: { id: 100 } }]
    interfaces: { r: { output: marking }, s: { input: keeping } }
  - { between: [s, b], rate: 20Mb/s, framing: ethernet-wire, interfaces: { s: { output: classes } } }
policies:
  marking:
    conditioners:
      - match: { dscp: ef }
        actions: [{ mark-cos: 5 }, { mark-exp: 6 }, { mark: default }]
  keeping:
    conditioners:
      - match: { mpls-exp: 6, cos: 5 }
        actions: [{ label: 7 }]
  classes:
    queueing:
      scheduler: priority
      classes: [{ name: voice, match: { label: 7 } }, { name: rest }]
traffic:
  - { name: voice, from: a, to: b, dscp: ef, source: { cbr: { rate: 200kb/s, packet: { ip: 200B } } } }
  - { name: data, from: a, to: b, dscp: af31, source: { cbr: { rate: 1Mb/s, packet: { ip: 1500B } } } }
"""


def listened(state_of: int, node: str, device: str, frames: int) -> list[tuple[bytes, int | None]]:
    """Return frames that arrive at a node of the testbed of a process."""
    until = time.monotonic() + WITHIN_S
    while True:
        there = [state for state in running() if state.owner.pid == state_of]
        if there and node in there[0].namespaces:
            break
        assert time.monotonic() < until
        time.sleep(0.05)
    command = [sys.executable, "-c", LISTEN, device, str(frames)]
    while True:
        # Namespaces and devices appear later. An error (EINVAL) is possible while the file of a namespace is
        # not mounted.
        with suppress(OSError), namespaces.inside(there[0].namespaces[node]):
            ended = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
            if ended.returncode == 0:
                break
        assert time.monotonic() < until
        time.sleep(0.05)
    rows = [line.split(" ") for line in ended.stdout.splitlines()[1:]]
    return [(bytes.fromhex(frame), int(tag) if tag else None) for _, frame, tag in rows]


@needs_rights
@own_run
def test_routers_of_a_testbed_exchange_tagged_and_labeled_frames(tmp_path: Path) -> None:
    file = tmp_path / "headers.perhop.yaml"
    file.write_text(SCENARIO)
    with subprocess.Popen(
        command_line(["live", "run", file, "--json"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            between = listened(process.pid, "s", "eth0", 100)
            behind = listened(process.pid, "b", "eth0", 20)
            output, wrong = process.communicate(timeout=WITHIN_S)
        finally:
            process.kill()
    assert process.returncode == 0, wrong
    # The kernel has removed the service tag. Customer tag, two labels with EXP, the last one at the bottom.
    expected = {
        (5 << 13 | 100, bytes.fromhex("8100a014884700011c4000010d40"), 200),
        (0 << 13 | 100, bytes.fromhex("8100001488470001164000010740"), 1500),
    }
    assert {(tag, frame[12:26], int.from_bytes(frame[28:30], "big")) for frame, tag in between} == expected
    assert {(tag, frame[12:14]) for frame, tag in behind} == {(None, b"\x08\x00")}
    summary: dict[str, Any] = json.loads(output)
    counts = {row["class"]: row["delivered_packets"]["mean"] for row in summary["classes"]}
    assert counts["voice"] > 300
    assert counts["data"] > 200


@pytest.mark.parametrize(
    ("framing", "headers", "name"),
    [
        ("ethernet-wire", "[{ esp: { cipher: aes-gcm } }]", "esp"),
        ("ethernet-wire", "[pppoe]", "pppoe"),
        ("ppp", "[mlppp]", "mlppp"),
    ],
)
def test_headers_that_live_frames_cannot_have_are_refused(
    perhop: Command, tmp_path: Path, framing: str, headers: str, name: str
) -> None:
    file = tmp_path / "headers.perhop.yaml"
    lines = SCENARIO.replace(
        "[{ mpls: { labels: 2 } }, { vlan: { id: 20 } }, { vlan: { id: 100 } }]", headers
    )
    file.write_text(
        lines.replace("rate: 20Mb/s\n    framing: ethernet-wire", f"rate: 20Mb/s\n    framing: {framing}")
    )
    for command in ("run", "up"):
        ended = perhop("live", command, file)
        assert (ended.code, ended.out) == (2, "")
        assert f"the frames of a live run cannot have the header `{name}`" in ended.err
        assert "links.1.headers.0" in ended.err
        assert "perhop run" in ended.err
