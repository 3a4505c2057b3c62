"""Bursts of policers and shapers: for TCP from the sawtooth, for voice from simultaneous packets."""

from __future__ import annotations

import math

from perhop import _core
from perhop.design import quantity
from perhop.design.advice import Advice, Step
from perhop.design.calls import per_call
from perhop.errors import InvalidInputError

_CAR = "Cisco, IOS Quality of Service Solutions, committed access rate; a rule of thumb"
_SAWTOOTH = "RFC 5681 (one segment more each round trip, halved after a loss); derived here"
_TIMES_RTT = "product of bandwidth and delay"
_STAIRCASE = "Le Boudec and Thiran, Network Calculus: a periodic flow with jitter and its token bucket"
# The length of the IP and TCP headers, bytes.
_HEADERS = 40
# Cisco's rule for CAR: the normal burst lasts 1.5 s, the extended one twice as long.
_CAR_SECONDS = 1.5
# The longest burst that IOS accepts, bytes.
_MOST_BURST = 512_000_000
# Cisco's designs: a shaper's interval for voice, and the default of routers before HQF.
_VOICE_INTERVAL_S, _DATA_INTERVAL_S = 0.010, 0.125


def policer(
    rate: str | float,
    *,
    rtt: str | float = 0.1,
    mtu: str | float = 1500,
) -> Advice:
    """Return the burst of a policer with which a TCP connection reaches nearly the whole policed rate.

    Parameters
    ----------
    rate
        Committed rate, `2Mb/s` or bits per second.
    rtt
        Round-trip time of the connection, `100ms` or seconds.
    mtu
        Maximum packet length, `1500B` or IP bytes.

    Raises
    ------
    InvalidInputError
        A value is out of range, or the burst is longer than a router accepts.

    """
    rate_bps, rtt_s = quantity.rate("rate", rate), quantity.time("rtt", rtt)
    mtu_bytes = quantity.size("mtu", mtu)
    if mtu_bytes <= _HEADERS:
        raise InvalidInputError(f"mtu: {mtu_bytes} B leave no room for data", f"give more than {_HEADERS}B")
    product, sawtooth, initial, committed = _core.tcp_burst(rate_bps, rtt_s, mtu_bytes)
    burst = round(committed)
    if burst > _MOST_BURST:
        raise InvalidInputError(
            f"a burst of {burst} bytes",
            f"routers accept at most {_MOST_BURST}: use a shaper, which delays instead of dropping",
        )
    car = rate_bps / 8 * _CAR_SECONDS
    steps = (
        Step("BDP", "bytes that the rate delivers in a round trip", "rate · RTT / 8", product, "B",
             _TIMES_RTT),
        Step("saw", "bytes above the rate in the upper third of the sawtooth, whose mean is the rate",
             "BDP^2 / (18 · MSS)", sawtooth, "B", _SAWTOOTH),
        Step("IW", "initial window of a sender", "10 · MTU", initial, "B", "RFC 6928"),
        Step("Bc", "committed burst", "max(saw, BDP, IW)", burst, "B", _SAWTOOTH),
        Step("Be", "excess burst: a second bucket (RFC 2697) would only lengthen the first", "0", 0, "B",
             "RFC 2697: both buckets fill at the one rate"),
        Step("Bc_CAR", "the usual advice, for comparison", "1.5 s · rate / 8", car, "B", _CAR),
        Step("Be_CAR", "the usual extended burst", "2 · Bc_CAR", 2 * car, "B", _CAR),
    )  # fmt: skip
    notes = (
        "a policer has no queue: TCP fills the bucket while it sends less than the rate and empties it above",
        "senders without SACK lose several segments of a window at once and wait for timeouts, at any "
        "burst: RFC 5681 alone got 17 to 90 % in simulations where CUBIC with SACK got 93 % and more",
        "several connections share the bucket: each needs the burst for its part of the rate",
    )
    return Advice(
        f"policer of {rate_bps / 1e3:g} kb/s for TCP with a round-trip time of {rtt_s * 1e3:g} ms",
        steps,
        f"policy-map police-tcp\n class data\n  police cir {rate_bps:.0f} bc {burst}\n"
        "   conform-action transmit\n   exceed-action drop",
        notes,
    )


def voice_policer(
    calls: int, *, codec: str = "g711", interval: str | float | None = None, jitter: str | float | None = None
) -> Advice:
    """Return the rate and the burst of a policer that drops no packet of a number of calls.

    Parameters
    ----------
    calls
        Calls at the same time.
    codec
        The codec, such as `g711` or `g729`.
    interval
        Time between packets of a call, `20ms` or seconds; by default the codec's usual one.
    jitter
        Largest variation of delay before the policer, `30ms` or seconds; none by default.

    Raises
    ------
    InvalidInputError
        A value is out of range, or the codec is not known.

    """
    if calls < 1:
        raise InvalidInputError(f"calls: {calls}", "at least 1")
    call = per_call(codec, interval)
    jitter_s = 0.0 if jitter is None else quantity.time("jitter", jitter)
    late = jitter_s / call.interval_s
    rate_bps = 1e3 * math.ceil(calls * call.ip_bps / 1e3 - 1e-9)
    burst = round(_core.calls_burst(calls, call.ip_bytes, late))
    steps = (
        Step("L", "IP bytes of a packet", "codec · T / 8 + 40", call.ip_bytes, "B", call.source),
        Step("R", "rate of all calls, in whole kb/s", "calls · 8 · L / T", rate_bps, "b/s", call.source),
        Step("late", "reduction of the gap between packets of a call", "jitter / T", late, "packets",
             _STAIRCASE),
        Step("Bc", "all calls' packets at the same instant", "calls · L · (1 + late)", burst, "B",
             _STAIRCASE),
    )  # fmt: skip
    kilobits = round(rate_bps / 1e3)
    return Advice(
        f"policer for {calls} calls of {call.name}",
        steps,
        f"policy-map police-voice\n class voice\n  priority {kilobits} {burst}",
        (
            "the burst counts IP bytes; HQF also counts the link's header, 14 bytes of Ethernet or 4 of PPP",
            "the default of IOS is 200 ms of the rate, which is longer",
        ),
    )


def shaper(
    rate: str | float, *, line: str | float, traffic: str = "voice", interval: str | float | None = None
) -> Advice:
    """Return the committed burst of a shaper and the longest wait that it adds.

    Parameters
    ----------
    rate
        Rate to shape to, `2Mb/s` or bits per second.
    line
        Rate of the line behind the shaper, `10Mb/s` or bits per second.
    traffic
        `voice` (intervals of 10 ms) or `data` (125 ms).
    interval
        An interval other than these two, `20ms` or seconds.

    Raises
    ------
    InvalidInputError
        A value is out of range, or the rate is above the line's.

    """
    rate_bps, line_bps = quantity.rate("rate", rate), quantity.rate("line", line)
    if rate_bps > line_bps:
        raise InvalidInputError(
            f"rate: {rate_bps / 1e3:g} kb/s is above the line's {line_bps / 1e3:g} kb/s", "give a lower rate"
        )
    usual = {"voice": _VOICE_INTERVAL_S, "data": _DATA_INTERVAL_S}
    if traffic not in usual:
        raise InvalidInputError(f"traffic: `{traffic}` is not a kind of traffic", "write voice or data")
    interval_s = usual[traffic] if interval is None else quantity.time("interval", interval)
    burst_bits = max(8 * math.floor(rate_bps * interval_s / 8), 8)
    wait = interval_s - burst_bits / line_bps
    rule = "Cisco's designs for voice: 10 ms; a rule of thumb"
    if interval is not None:
        rule = "as given"
    elif traffic == "data":
        rule = "default of IOS before HQF: an eighth of a second"
    steps = (
        Step("Tc", "interval in which the burst is sent", "10 ms for voice, 125 ms for data", interval_s,
             "s", rule),
        Step("Bc", "committed burst", "rate · Tc", burst_bits, "bit",
             "Cisco, IOS traffic shaping: Tc = Bc / CIR"),
        Step("wait", "longest wait for the next interval once the burst is spent", "Tc - Bc / line",
             wait, "s", "follows from Tc = Bc / CIR: the burst leaves at the line's rate"),
    )  # fmt: skip
    notes = [
        "Be is 0: an excess burst would leave at once and wait in the next queue of the network",
        "shapers of HQF and IOS-XE have intervals of 4 ms by default: omit the burst there",
    ]
    if burst_bits < 8 * 1500:
        notes.append(
            "the burst is shorter than a packet of 1500 bytes: such a packet waits several intervals"
        )
    return Advice(
        f"shaper of {rate_bps / 1e3:g} kb/s for {traffic} on a line of {line_bps / 1e3:g} kb/s",
        steps,
        f"policy-map shape\n class class-default\n  shape average {rate_bps:.0f} {burst_bits} 0",
        tuple(notes),
    )
