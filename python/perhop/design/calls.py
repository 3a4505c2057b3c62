"""Telephone calls by codec and framing: bytes, rates, and how many a link carries."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from perhop.design import quantity
from perhop.design.advice import Advice, Step
from perhop.errors import InvalidInputError

# IPv4 20, UDP 8, RTP 12 bytes: RFC 791, RFC 768, RFC 3550.
_HEADERS = 40
_PROFILE = "RFC 3551"
_CELL, _CELL_PAYLOAD, _AAL5_TRAILER, _LLC_SNAP = 53, 48, 8, 8
# Cisco's Enterprise QoS designs: priority classes use at most a third of a link.
_SHARE = 0.33


@dataclass(frozen=True)
class Codec:
    """A codec: the bytes and the duration of a frame, and the usual number of frames in a packet."""

    frame_bytes: int
    frame_s: float
    frames: int
    source: str = _PROFILE


#: Codecs by name.
CODECS = {
    "g711": Codec(80, 0.010, 2),
    "g722": Codec(80, 0.010, 2),
    "g726-32": Codec(40, 0.010, 2),
    "g728": Codec(20, 0.010, 2),
    "g729": Codec(10, 0.010, 2),
    "g723-63": Codec(24, 0.030, 1),
    "g723-53": Codec(20, 0.030, 1),
    "gsm": Codec(33, 0.020, 1),
    "ilbc-20": Codec(38, 0.020, 1, "RFC 3951"),
    "ilbc-30": Codec(50, 0.030, 1, "RFC 3951"),
}


def _ethernet(ip: int) -> int:
    return max(ip + 18, 64)


def _cells(carried: int) -> int:
    return _CELL * math.ceil((carried + _AAL5_TRAILER) / _CELL_PAYLOAD)


@dataclass(frozen=True)
class Framing:
    """The headers of a link: their bytes on the wire, and the bytes that current routers count."""

    on_wire: Callable[[int], int]
    counted: int
    source: str


#: Framings by the names of scenarios.
FRAMINGS = {
    "raw": Framing(lambda ip: ip, 0, "nothing added"),
    "ethernet-header": Framing(lambda ip: ip + 14, 14, "IEEE 802.3"),
    "ethernet-frame": Framing(_ethernet, 14, "IEEE 802.3: header, check sequence, 64 bytes at least"),
    "ethernet-wire": Framing(lambda ip: _ethernet(ip) + 20, 14, "IEEE 802.3 with preamble and gap"),
    "ppp": Framing(lambda ip: ip + 7, 4, "RFC 1662: address, control, protocol, check sequence, one flag"),
    "hdlc": Framing(lambda ip: ip + 7, 4, "Cisco HDLC: address, control, type, check sequence, one flag"),
    "aal5-mux": Framing(_cells, 0, "RFC 2684, ITU-T I.363.5"),
    "aal5-snap": Framing(lambda ip: _cells(ip + _LLC_SNAP), 0, "RFC 2684, ITU-T I.363.5"),
}


@dataclass(frozen=True)
class Call:
    """One direction of a call."""

    name: str
    interval_s: float
    ip_bytes: int
    source: str

    @property
    def ip_bps(self) -> float:
        """The rate of the IP packets, bits per second."""
        return 8 * self.ip_bytes / self.interval_s


def per_call(codec: str, interval: str | float | None = None) -> Call:
    """Return the packets of one direction of a call.

    Parameters
    ----------
    codec
        The codec's name.
    interval
        Time between packets, `20ms` or seconds; by default the codec's usual one.

    Raises
    ------
    InvalidInputError
        The codec is not known, or the interval is not a multiple of the duration of its frames.

    """
    found = CODECS.get(codec)
    if found is None:
        raise InvalidInputError(f"codec: `{codec}` is not known", f"one of {', '.join(CODECS)}")
    interval_s = found.frames * found.frame_s if interval is None else quantity.time("interval", interval)
    frames = round(interval_s / found.frame_s)
    if frames < 1 or abs(frames * found.frame_s - interval_s) > 1e-9:
        raise InvalidInputError(
            f"interval: {interval_s * 1e3:g} ms is not a whole number of frames of {codec}",
            f"give a multiple of {found.frame_s * 1e3:g} ms",
        )
    return Call(codec, interval_s, frames * found.frame_bytes + _HEADERS, found.source)


def calls(
    bandwidth: str | float,
    *,
    codec: str = "g711",
    framing: str = "ethernet-wire",
    interval: str | float | None = None,
    share: float = _SHARE,
) -> Advice:
    """Return how many calls fit into a share of a link, and the priority for them.

    Parameters
    ----------
    bandwidth
        Rate of the link, `2Mb/s` or bits per second.
    codec
        The codec, such as `g711` or `g729`.
    framing
        The link's framing, as in scenarios: `ethernet-wire`, `ppp`, `aal5-snap`.
    interval
        Time between packets of a call, `20ms` or seconds; by default the codec's usual one.
    share
        Share of the link that calls may use, above 0 and at most 1.

    Raises
    ------
    InvalidInputError
        A value is out of range, or no call fits.

    """
    bandwidth_bps = quantity.rate("bandwidth", bandwidth)
    if not 0 < share <= 1:
        raise InvalidInputError(f"share: {share:g}", "above 0 and at most 1")
    link = FRAMINGS.get(framing)
    if link is None:
        raise InvalidInputError(f"framing: `{framing}` is not known", f"one of {', '.join(FRAMINGS)}")
    call = per_call(codec, interval)
    wire = link.on_wire(call.ip_bytes)
    per_second = 1 / call.interval_s
    # The addend absorbs rounding errors.
    number = math.floor(share * bandwidth_bps / (8 * wire * per_second) + 1e-9)
    if number < 1:
        raise InvalidInputError(
            f"a call of {8 * wire * per_second / 1e3:g} kb/s does not fit into "
            f"{share * bandwidth_bps / 1e3:g} kb/s",
            "use a codec of a lower rate, a larger share or a faster link",
        )
    priority = 1e3 * math.ceil(number * 8 * (call.ip_bytes + link.counted) * per_second / 1e3 - 1e-9)
    steps = _steps(call, link, number, priority)
    notes = ["silence suppression is ignored: its gain is not certain for few calls"]
    if framing.startswith("aal5"):
        notes.append(
            "routers do not count cells, so the rate in `priority` is lower than the rate of the calls "
            "on the link"
        )
    return Advice(
        f"calls of {codec} on {share * 100:g} % of {bandwidth_bps / 1e3:g} kb/s, {framing}",
        steps,
        f"policy-map calls\n class voice\n  priority {round(priority / 1e3)}",
        tuple(notes),
    )


def _steps(call: Call, link: Framing, number: int, priority: float) -> tuple[Step, ...]:
    wire, per_second = link.on_wire(call.ip_bytes), 1 / call.interval_s
    return (
        Step("L", "IP bytes of a packet: its frames, RTP, UDP and IPv4", "codec · T / 8 + 40",
             call.ip_bytes, "B", f"{call.source}; RFC 3550"),
        Step("wire", "its bytes on the link", "L with framing", wire, "B", link.source),
        Step("call", "rate of one direction of a call on the link", "8 · wire / T", 8 * wire * per_second,
             "b/s", link.source),
        Step("calls", "calls at the same time", "share · bandwidth / call", number, "",
             "share of a third: Cisco's Enterprise QoS designs; a rule of thumb"),
        Step("priority", "the rate that a router with HQF counts for them, in whole kb/s",
             "calls · 8 · (L + header) / T", priority, "b/s",
             "counted bytes of HQF: header of the link without check sequence"),
    )  # fmt: skip
