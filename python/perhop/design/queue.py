"""Limits of queues, thresholds of WRED and transmit rings for a delay."""

from __future__ import annotations

import math

from perhop.design import quantity
from perhop.design.advice import Advice, Step
from perhop.errors import InvalidInputError

_SERVED = "a full queue is served at its rate"
_FLOYD = "Floyd 1997, RED: discussions of setting parameters"
_ORDER = "RFC 2597: a higher drop precedence is dropped earlier; the steps are a rule of thumb"
_APPENZELLER = "Appenzeller, Keslassy and McKeown 2004, Sizing router buffers"
_MOST_LIMIT = 64_000_000
# Cisco's designs: 10 ms for one fragment on slow links.
_FRAGMENT_RULE = "Cisco, link fragmentation and interleaving: 10 ms; a rule of thumb"


def queue(
    bandwidth: str | float,
    delay: str | float,
    *,
    packet: str | float = 1500,
    rtt: str | float | None = None,
    flows: int = 1,
) -> Advice:
    """Return the limit of a queue for a maximum delay, and thresholds of WRED below the limit.

    Parameters
    ----------
    bandwidth
        Bandwidth of the class while all others are busy, `2Mb/s` or bits per second.
    delay
        Maximum delay in the queue, `50ms` or seconds.
    packet
        Largest packet of the class, `1500B` or IP bytes.
    rtt
        Round-trip time of TCP connections, `100ms` or seconds: determines whether the queue keeps the link
        busy.
    flows
        TCP connections at the same time.

    Raises
    ------
    InvalidInputError
        A value is out of range, or sending a single packet takes longer than the delay.

    """
    bandwidth_bps, delay_s = quantity.rate("bandwidth", bandwidth), quantity.time("delay", delay)
    packet_bytes = quantity.size("packet", packet)
    if flows < 1:
        raise InvalidInputError(f"flows: {flows}", "at least 1")
    limit = math.floor(delay_s * bandwidth_bps / (8 * packet_bytes) + 1e-9)
    bytes_ = math.floor(delay_s * bandwidth_bps / 8 + 1e-9)
    if limit < 1:
        raise InvalidInputError(
            f"delay: a packet of {packet_bytes} B takes "
            f"{8e3 * packet_bytes / bandwidth_bps:.4g} ms by itself",
            "allow a longer delay, shorter packets or more bandwidth",
        )
    if bytes_ > _MOST_LIMIT:
        raise InvalidInputError(f"a limit of {bytes_} bytes", f"routers accept at most {_MOST_LIMIT}")
    steps = _limits(limit, bytes_, packet_bytes, bandwidth_bps)
    rows = _thresholds(limit, steps)
    if rtt is not None:
        rtt_s = quantity.time("rtt", rtt)
        busy = bandwidth_bps * rtt_s / (8 * math.sqrt(flows))
        steps.append(
            Step("busy", "queue with which TCP keeps the link busy", "bandwidth · RTT / (8 · sqrt(flows))",
                 busy, "B", _APPENZELLER))  # fmt: skip
    lines = [
        "policy-map queue-out",
        " class data",
        f"  bandwidth {math.floor(bandwidth_bps / 1e3)}",
        f"  queue-limit {limit} packets",
        *rows,
    ]
    return Advice(
        f"queue of {bandwidth_bps / 1e3:g} kb/s with at most {delay_s * 1e3:g} ms",
        tuple(steps),
        "\n".join(lines),
        _queue_notes(steps, limit),
    )


def _limits(limit: int, bytes_: int, packet_bytes: int, bandwidth_bps: float) -> list[Step]:
    return [
        Step("limit", "packets that the bandwidth sends within the delay", "delay · bandwidth / (8 · packet)",
             limit, "packets", _SERVED),
        Step("bytes", "the same in bytes, for packets of any size", "delay · bandwidth / 8", bytes_, "B",
             _SERVED),
        Step("worst", "delay of a packet that takes the last place of the queue",
             "8 · limit · packet / bandwidth", 8 * limit * packet_bytes / bandwidth_bps, "s", _SERVED),
    ]  # fmt: skip


def _thresholds(limit: int, steps: list[Step]) -> list[str]:
    """Return WRED's lines for AF1x and add their steps; no lines if thresholds are too close."""
    least = round(limit / 3)
    if least < 3:
        return []
    minima = {1: round(2 * limit / 3), 2: round(limit / 2), 3: least}
    steps += [
        Step("max_th", "maximum threshold of all: at the limit every packet is lost", "limit", limit,
             "packets", _FLOYD),
        Step("min_th", "minimum threshold of the highest drop precedence: the maximum is three times it",
             "limit / 3", least, "packets", _FLOYD),
        Step("min_1", "minimum threshold of the lowest drop precedence", "2 · limit / 3", minima[1],
             "packets", _ORDER),
        Step("min_2", "minimum threshold of the middle one", "limit / 2", minima[2], "packets", _ORDER),
    ]  # fmt: skip
    lines = [f"  random-detect dscp af1{number} {low} {limit} 10" for number, low in minima.items()]
    return ["  random-detect dscp-based", *lines]


def _queue_notes(steps: list[Step], limit: int) -> tuple[str, ...]:
    notes = ["the bound covers the queue alone: the transmit ring adds to it, see `ring`"]
    values = {step.name: step.value for step in steps}
    if values.get("busy", 0) > values["bytes"]:
        notes.append(
            "the queue is shorter than `busy`: TCP leaves the link idle after losses; a busy link "
            "needs a longer delay"
        )
    if "max_th" not in values:
        notes.append(f"{limit} packets leave no room for thresholds of WRED: tail drop")
    else:
        notes.append(
            "WRED uses the average queue: its thresholds bound the mean delay, the limit bounds any delay"
        )
    return tuple(notes)


def ring(line: str | float, delay: str | float, *, packet: str | float = 1500) -> Advice:
    """Return the length of the transmit ring with at most a given delay of priority packets.

    Parameters
    ----------
    line
        Rate of the line, `512kb/s` or bits per second.
    delay
        The delay that the ring may add to a priority packet, `10ms` or seconds.
    packet
        Largest packet on the line, `1500B` or IP bytes.

    Raises
    ------
    InvalidInputError
        A value is out of range.

    """
    line_bps, delay_s = quantity.rate("line", line), quantity.time("delay", delay)
    packet_bytes = quantity.size("packet", packet)
    packet_s = 8 * packet_bytes / line_bps
    fitting = math.floor(delay_s / packet_s + 1e-9)
    held = max(fitting, 1)
    source = "Cisco document 6142, the tx-ring-limit value: the ring is first come, first served"
    steps = [
        Step("one", "time of the largest packet on the line", "8 · packet / line", packet_s, "s", source),
        Step("ring", "packets in the ring, one at least", "delay / one", held, "packets", source),
        Step("worst", "delay of a priority packet behind a full ring", "ring · one", held * packet_s, "s",
             source),
    ]  # fmt: skip
    lines = ["interface Serial0/0", f" tx-ring-limit {held}"]
    notes = ["framing makes packets longer: include it in the length of the largest packet"]
    if fitting < 1:
        fragment = math.floor(delay_s * line_bps / 8)
        steps.append(
            Step("fragment", "bytes that the line sends within the delay", "delay · line / 8", fragment, "B",
                 _FRAGMENT_RULE))  # fmt: skip
        lines = [
            "interface Multilink1",
            " ppp multilink",
            f" ppp multilink fragment delay {max(round(delay_s * 1e3), 1)}",
            " ppp multilink interleave",
            *lines,
        ]
        notes.append("one packet takes longer than the delay: use fragments or a faster line")
    return Advice(
        f"transmit ring of a line of {line_bps / 1e3:g} kb/s with at most {delay_s * 1e3:g} ms",
        tuple(steps),
        "\n".join(lines),
        tuple(notes),
    )
