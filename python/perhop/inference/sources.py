"""Sources of traffic that offer a rate, by the kind of traffic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from perhop.inference.roles import Kind
from perhop.quantity import counted, number, scale
from perhop.schema_types import SourceConfig, TcpConfig

# A window of 64 KiB is what hosts without window scaling have; above the second rate, connections need more.
_TCP: TcpConfig = {"profile": "linux-modern", "window": "64KiB"}
_WIDE: TcpConfig = {**_TCP, "window": "1MiB"}
_FAST = 100e6
# Greedy connections: at least this many, and one for each so many bits per second, so that the longest
# round trip times their rate is within what their windows and the queues hold.
_CONNECTIONS, _PER_CONNECTION, _MOST_CONNECTIONS = 4, 5e6, 64
# A transfer takes a quarter of a second at the offered rate, within these sizes in bytes.
_TRANSFER_S, _LEAST_TRANSFER, _LARGEST_TRANSFER = 0.25, 500, 30_000
# The size of a transfer is Pareto-distributed: this shape keeps its variance finite, so that the offered load
# of a run is near its mean.
_TRANSFER_SHAPE = 3.0
# IPv4 and TCP headers with timestamps, and the segments of a connection that carry no data from the client.
_TCP_HEADER, _CONTROL_SEGMENTS, _SEGMENT = 52, 3, 1448
# A burst is a frame of a video with 25 of them a second, sent at twice the mean rate, but some packets.
_FRAME_S, _LEAST_BURST = 0.04, 8


@dataclass(frozen=True)
class Sending:
    """The keys of an entry of traffic that say how much it sends."""

    source: SourceConfig
    count: int
    #: What is sent, in a few words.
    words: str


def sending(kind: Kind, rate: float, packet_bytes: int) -> Sending:
    """Return a source of the given kind that offers `rate` bits per second; `greedy` takes more."""
    match kind:
        case "constant":
            cbr: SourceConfig = {"cbr": {"rate": as_rate(rate), "packet": {"ip": f"{packet_bytes}B"}}}
            return Sending(cbr, 1, f"{packet_bytes}-byte packets")
        case "datagrams":
            poisson: SourceConfig = {"poisson": {"rate": as_rate(rate), "packet": {"ip": f"{packet_bytes}B"}}}
            return Sending(poisson, 1, f"{packet_bytes}-byte datagrams")
        case "bursts":
            return _bursts(rate, packet_bytes)
        case "transfers":
            return transfers(rate, min(max(rate * _TRANSFER_S / 8, _LEAST_TRANSFER), _LARGEST_TRANSFER))
        case "greedy":
            connections = min(max(_CONNECTIONS, round(rate / _PER_CONNECTION)), _MOST_CONNECTIONS)
            words = counted(connections, "greedy TCP connection")
            return Sending({"bulk": {"tcp": _WIDE if rate > _FAST else _TCP}}, connections, words)


def _bursts(rate: float, packet_bytes: int) -> Sending:
    """Return frames of a variable size: on for half of the time on average, at twice the rate."""
    gap = 8 * packet_bytes / (2 * rate)
    on = max(_FRAME_S / 2, _LEAST_BURST * gap)
    # A burst of exponential length has one packet at its start and one for each gap that ends within it.
    packets = 1 / -math.expm1(-gap / on)
    off = packets * packet_bytes * 8 / rate - on
    source: SourceConfig = {
        "on-off": {
            "rate": as_rate(2 * rate),
            "packet": {"ip": f"{packet_bytes}B"},
            "on-time": _microseconds(on),
            "off-time": _microseconds(off),
            "law": "exponential",
        }
    }
    return Sending(source, 1, f"bursts of {packet_bytes}-byte packets")


def transfers(rate: float, mean_bytes: float) -> Sending:
    """Return TCP transfers of a mean size that start at random times and offer `rate` bits per second."""
    size = max(round(mean_bytes), 1)
    segments = math.ceil(size / _SEGMENT) + _CONTROL_SEGMENTS
    gap = (size + segments * _TCP_HEADER) * 8 / rate
    source: SourceConfig = {
        "web": {
            "tcp": _WIDE if rate > _FAST else _TCP,
            "mean-gap": _microseconds(gap),
            "mean-size": f"{size}B",
            "shape": _TRANSFER_SHAPE,
        }
    }
    return Sending(source, 1, f"TCP transfers of {number(size / 1000, 2)} kB")


def as_rate(bits: float) -> str:
    """Return a rate as a scenario has it: in whole kb/s, or b/s where that would be coarse."""
    return f"{round(bits / 1000)}kb/s" if bits >= 1e5 else f"{max(round(bits), 1)}b/s"


def in_words(bits: float) -> str:
    """Return a rate to read, in kb/s, from 100 Mb/s on in Mb/s and so on."""
    divisor, unit = (1e3, "kb/s") if bits < 1e8 else scale("b/s", bits)
    return f"{number(round(bits / divisor) if bits / divisor >= 100 else bits / divisor, 3)} {unit}"


def _microseconds(seconds: float) -> str:
    return f"{max(round(seconds * 1e6), 1)}us"
