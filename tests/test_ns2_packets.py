"""`ns2-reno-1999` compared with ns-2.35: the same packets leave the bottleneck at the same times.

perhop and ns-2 count time in ticks of 100 ms from a random phase, and nothing else is random. If timeouts
occur, the phases of many seeds are tried.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import perhop
from programs import needs

SCRIPT = Path(__file__).parent / "ns2" / "packets.tcl"
PAYLOAD, SECONDS = 1000, 60
#: The number of clock phases that are tried for perhop and for ns-2.
OWN_SEEDS, SEEDS = 5, 40
NEAR_S = 2e-6
#: Rate and delay of the bottleneck, size of its queue in packets, rate of UDP in b/s.
ALONE = [
    ("1Mb", "20ms", 7, 0),
    ("1Mb", "20ms", 3, 0),
    ("1Mb", "20ms", 2, 0),
    ("2Mb", "20ms", 4, 0),
    ("2Mb", "40ms", 11, 0),
    ("5Mb", "20ms", 19, 0),
]
BESIDE_UDP = [("1Mb", "20ms", 7, 613_000), ("1Mb", "20ms", 7, 913_000), ("1Mb", "20ms", 7, 983_000)]
#: The departure time of a packet, and the number of its segment.
Sent = list[tuple[float, int]]

pytestmark = [
    pytest.mark.thorough,
    needs("ns"),
]


def by_ns2(case: tuple[str, str, int, int], seed: int, timerfix: str = "false") -> Sent:
    """Return the packets that ns-2 sends with the phase that a seed draws."""
    rate, delay, limit, udp = case
    command = ["ns", str(SCRIPT), str(seed), rate, delay, str(limit), str(SECONDS), str(udp), timerfix]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    events = [line.split() for line in text.splitlines()]
    return [(float(row[1]), int(row[10])) for row in events if row[0] == "-" and row[4] == "tcp"]


def scenario(case: tuple[str, str, int, int]) -> dict[str, Any]:
    """Return the same experiment for perhop."""
    rate, delay, limit, udp = case
    tcp = {"profile": "ns2-reno-1999", "window": "64 packets"}
    ends = {"from": "source", "to": "sink"}
    traffic: list[dict[str, Any]] = [{"name": "tcp", **ends, "source": {"bulk": {"tcp": tcp}}}]
    if udp:
        cbr = {"rate": f"{udp}b/s", "packet": {"ip": f"{PAYLOAD}B"}}
        traffic.append({"name": "udp", **ends, "start": "12.3ms", "source": {"cbr": cbr}})
    slow = {
        "between": ["r1", "r2"],
        "rate": f"{rate}/s",
        "delay": delay,
        "interfaces": {"r1": {"output": "queue"}},
    }
    access = {"rate": "100Mb/s", "delay": "1ms"}
    drop = {"tail-drop": {"limit": f"{limit} packets"}}
    return {
        "perhop": 1,
        "name": "packets",
        "duration": f"{SECONDS}s",
        "hosts": {"source": {}, "sink": {}},
        "routers": {"r1": {}, "r2": {}},
        "links": [{"between": ["source", "r1"], **access}, slow, {"between": ["r2", "sink"], **access}],
        "policies": {"queue": {"queueing": {"classes": [{"name": "all", "buffer": drop}]}}},
        "traffic": traffic,
    }


def by_perhop(case: tuple[str, str, int, int], folder: Path, seed: int = 1) -> Sent:
    """Return the packets that perhop sends, from a capture of the bottleneck."""
    perhop.Scenario(scenario(case)).run(seed=seed, pcap=folder)
    first: int | None = None
    sent: Sent = []
    for time, packet, options in captured(folder / "r1--r2.pcapng"):
        length, protocol = struct.unpack_from(">2xH5xB", packet)
        # Acknowledgments are shorter; the capture has a comment on each dropped packet.
        if protocol != 6 or length < PAYLOAD or b"drop" in options:
            continue
        (sequence,) = struct.unpack_from(">I", packet, 24)
        first = sequence if first is None else first
        sent.append((time, sequence - first))
    step = min(offset for _, offset in sent if offset)
    return [(time, offset // step) for time, offset in sent]


def captured(file: Path) -> Iterator[tuple[float, bytes, bytes]]:
    """Generate time, bytes and options of the packets in a pcapng file with nanoseconds."""
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            _, high, low, size, _ = struct.unpack_from("<IIIII", data, at + 8)
            start = at + 28
            yield (
                ((high << 32) | low) * 1e-9,
                data[start : start + size],
                data[start + size : at + length - 4],
            )
        at += length


def equal(mine: Sent, theirs: Sent) -> bool:
    """Whether the same packets left at the same times."""
    return len(mine) == len(theirs) and all(
        packet[1] == other[1] and abs(packet[0] - other[0]) < NEAR_S
        for packet, other in zip(mine, theirs, strict=True)
    )


def any_is_equal(case: tuple[str, str, int, int], folder: Path, timerfix: str) -> bool:
    """Whether perhop with some phase and ns-2 with some phase send the same packets."""
    own = [by_perhop(case, folder / f"pcap-{seed}", seed) for seed in range(1, OWN_SEEDS + 1)]
    with ThreadPoolExecutor() as workers:
        theirs = list(workers.map(lambda seed: by_ns2(case, seed, timerfix), range(1, SEEDS + 1)))
    return any(equal(mine, other) for mine in own for other in theirs)


@pytest.mark.parametrize("case", ALONE, ids=lambda case: f"{case[0]} {case[1]} {case[2]}")
def test_a_single_flow_sends_as_in_ns2(case: tuple[str, str, int, int], tmp_path: Path) -> None:
    """No timeouts, so that the phase of the clock does not matter; thousands of packets, dozens lost."""
    mine = by_perhop(case, tmp_path / "pcap")
    assert len(mine) > 5_000
    assert equal(mine, by_ns2(case, 1))


@pytest.mark.parametrize("case", BESIDE_UDP, ids=lambda case: f"{case[3] / 1000:g} kb/s of UDP")
def test_timeouts_agree_with_ns2(case: tuple[str, str, int, int], tmp_path: Path) -> None:
    """Between 1 and 50 % of the packets are lost; with the right phase everything is equal."""
    assert any_is_equal(case, tmp_path, "false")


def test_the_timer_of_1999_makes_a_difference(tmp_path: Path) -> None:
    """ns-2 since 2003 sets its timer after the sample: no phase leads to the same packets."""
    assert not any_is_equal(BESIDE_UDP[2], tmp_path, "true")
