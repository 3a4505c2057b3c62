"""`perhop design`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from perhop import design
from perhop.command.options import Json, pairs
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json
from perhop.design import Advice
from perhop.design.star import Ring
from perhop.errors import Exit, InvalidInputError


def wred(
    *,
    bandwidth: str,
    delay: str,
    mtu: str = "1500B",
    precedence: Annotated[list[str] | None, Parameter(negative=())] = None,
    json: Json = False,
) -> Exit:
    """Choose the thresholds and the weight of WRED for a delay: formula, numbers, IOS lines.

    Parameters
    ----------
    bandwidth
        Bandwidth of the class, for example 2Mb/s.
    delay
        Maximum average queueing delay, for example 100ms.
    mtu
        Maximum packet length in IP bytes. Default: 1500B.
    precedence
        An IP precedence and its mark probability denominator, for example 5=10. May be given several times.
        Default: 3=2, 4=5 and 5=10.

    """
    denominators = {_whole_number(key): _whole_number(value) for key, value in pairs(precedence).items()}
    return _show(design.wred(bandwidth, delay, mtu=mtu, denominators=denominators or None), json=json)


def star(
    *,
    arrival: str,
    delay: str,
    link: str,
    packet: str = "1500B",
    ratio: float = 1.0,
    best_effort: str | None = None,
    ring: int | None = None,
    particle: int = 512,
    json: Json = False,
) -> Exit:
    """Choose the service rate of an EF class under WFQ for a delay: formula, numbers, IOS lines.

    Parameters
    ----------
    arrival
        Peak arrival rate of the EF packets, for example 300kb/s.
    delay
        Maximum delay in the EF queue, for example 20ms.
    link
        Rate of the link or PVC, for example 2Mb/s.
    packet
        Maximum length of an EF packet in IP bytes. Default: 1500B.
    ratio
        Minimum ratio of service rate to arrival rate. Default: 1.
    best_effort
        Maximum length of other packets in IP bytes. Adds the delay of an ATM interface's transmit ring.
    ring
        Particles in the transmit ring. Default: the particles of one packet.
    particle
        Bytes in a particle. Default: 512.

    """
    if ring is not None and best_effort is None:
        raise InvalidInputError(
            "--ring needs --best-effort",
            "give the length of the packets in the ring, for example --best-effort 1500B",
        )
    advice = design.star(
        arrival, delay, link=link, packet=packet, ratio=ratio, best_effort=best_effort,
        ring=None if ring is None else Ring(ring, particle),
    )  # fmt: skip
    return _show(advice, json=json)


def policer(
    *,
    rate: str | None = None,
    rtt: str = "100ms",
    mtu: str = "1500B",
    calls: int | None = None,
    codec: str = "g711",
    interval: str | None = None,
    jitter: str | None = None,
    json: Json = False,
) -> Exit:
    """Choose the burst of a policer for TCP, or rate and burst for calls: formula, numbers, IOS lines.

    Parameters
    ----------
    rate
        Committed rate for TCP, for example 2Mb/s.
    rtt
        Round-trip time of TCP connections. Default: 100ms.
    mtu
        Maximum packet length in IP bytes. Default: 1500B.
    calls
        Number of simultaneous calls, instead of a rate.
    codec
        Codec of the calls. Default: g711.
    interval
        Time between packets of a call. Default: the interval of the codec.
    jitter
        Largest variation of delay before the policer. Default: none.

    """
    if (rate is None) == (calls is None):
        raise InvalidInputError("give either --rate or --calls", "--rate 2Mb/s for TCP, --calls 10 for voice")
    if calls is not None:
        return _show(design.voice_policer(calls, codec=codec, interval=interval, jitter=jitter), json=json)
    return _show(design.policer(rate or "", rtt=rtt, mtu=mtu), json=json)


def shaper(
    *,
    rate: str,
    line: str,
    traffic: str = "voice",
    interval: str | None = None,
    json: Json = False,
) -> Exit:
    """Choose the committed burst of a shaper: formula, numbers, IOS lines.

    Parameters
    ----------
    rate
        Shaping rate, for example 2Mb/s.
    line
        Rate of the line behind the shaper, for example 10Mb/s.
    traffic
        voice (the default): interval of 10 ms; data: interval of 125 ms.
    interval
        Interval instead of the interval of --traffic, for example 20ms.

    """
    return _show(design.shaper(rate, line=line, traffic=traffic, interval=interval), json=json)


def calls(
    *,
    bandwidth: str,
    codec: str = "g711",
    framing: str = "ethernet-wire",
    interval: str | None = None,
    share: float = 0.33,
    json: Json = False,
) -> Exit:
    """Show how many calls a link carries, by codec and framing: formula, numbers, IOS lines.

    Parameters
    ----------
    bandwidth
        Rate of the link, for example 2Mb/s.
    codec
        g711 (default), g722, g726-32, g728, g729, g723-63, g723-53, gsm, ilbc-20, ilbc-30.
    framing
        Framing of the link, as in scenarios: ethernet-wire (default), ppp, hdlc, aal5-mux, aal5-snap, raw.
    interval
        Time between packets of a call. Default: the interval of the codec.
    share
        Fraction of the link rate for calls. Default: 0.33.

    """
    advice = design.calls(bandwidth, codec=codec, framing=framing, interval=interval, share=share)
    return _show(advice, json=json)


def queue(
    *,
    bandwidth: str,
    delay: str,
    packet: str = "1500B",
    rtt: str | None = None,
    flows: int = 1,
    json: Json = False,
) -> Exit:
    """Choose the limit of a queue and thresholds of WRED for a delay: formula, numbers, IOS lines.

    Parameters
    ----------
    bandwidth
        Bandwidth of the class, for example 2Mb/s.
    delay
        Maximum delay in the queue, for example 50ms.
    packet
        Largest packet of the class in IP bytes. Default: 1500B.
    rtt
        Round-trip time of TCP connections. perhop then reports whether the queue keeps the link busy.
    flows
        Number of simultaneous TCP connections. Default: 1.

    """
    return _show(design.queue(bandwidth, delay, packet=packet, rtt=rtt, flows=flows), json=json)


def ring(*, line: str, delay: str, packet: str = "1500B", json: Json = False) -> Exit:
    """Choose the length of the transmit ring for the delay of priority packets: formula, numbers, IOS lines.

    Parameters
    ----------
    line
        Rate of the line, for example 512kb/s.
    delay
        Maximum delay that the ring adds to a priority packet, for example 10ms.
    packet
        Largest packet on the line, with its framing. Default: 1500B.

    """
    return _show(design.ring(line, delay, packet=packet), json=json)


def buffers(
    file: Path,
    /,
    *,
    interface: str,
    burst: str,
    arrival: str,
    queue: str | None = None,
    model: str | None = None,
    port_units: int | None = None,
    frame: int = 1518,
    json: Json = False,
) -> Exit:
    """Choose the multiplier or the ratio of a Catalyst's queue for a burst: formula, numbers, IOS lines.

    Parameters
    ----------
    file
        The configuration of a Catalyst 3650, 3850 or 9000 with a UADP chip.
    interface
        The port through which the burst leaves.
    burst
        The burst in bytes of its frames, for example 200kB.
    arrival
        The rate at which the burst arrives, for example 10Gb/s: the sum of all senders.
    queue
        The class or the number of the queue. Default: the last queue.
    model
        The product, for example c9300-24t, if the configuration does not name it.
    port_units
        The memory of the port in units of 256 bytes, if it is not published.
    frame
        The length of a frame, bytes with Ethernet header and check sequence.

    """
    advice = design.buffers(
        file,
        burst,
        arrival,
        interface=interface,
        queue=queue,
        model=model,
        port_units=port_units,
        frame=frame,
    )
    return _show(advice, json=json)


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInputError(
            f"--precedence: `{text}` is not a whole number", "for example --precedence 5=10"
        ) from None


def _show(advice: Advice, *, json: bool) -> Exit:
    if json:
        print_json({"schema_version": 1, **advice.to_dict()})
    else:
        print(advice)
    return Exit.OK
