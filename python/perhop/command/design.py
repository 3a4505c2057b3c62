"""`perhop design`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from perhop import design
from perhop.command.options import Json, pairs
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
        Bandwidth of the class: 2Mb/s.
    delay
        Maximum average queueing delay: 100ms.
    mtu
        Maximum packet length in IP bytes; default 1500B.
    precedence
        An IP precedence and its mark probability denominator: 5=10; may be given several times. By
        default 3=2, 4=5 and 5=10, as in the test.
    json
        Print the design as one JSON document.

    """
    denominators = {_whole(key): _whole(value) for key, value in pairs(precedence).items()}
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
    particle: int = 576,
    json: Json = False,
) -> Exit:
    """Choose the service rate of an EF class under WFQ for a delay: formula, numbers, IOS lines.

    Parameters
    ----------
    arrival
        Peak arrival rate of the EF packets: 300kb/s.
    delay
        Maximum delay in the EF queue: 20ms.
    link
        Rate of the link or PVC: 2Mb/s.
    packet
        Maximum length of an EF packet in IP bytes; default 1500B.
    ratio
        Minimum service-to-arrival ratio; default 1.
    best_effort
        Maximum length of other packets in IP bytes: adds the delay of an ATM interface's transmit ring.
    ring
        Particles in the transmit ring; by default it holds one packet.
    particle
        Bytes in a particle; default 576.
    json
        Print the design as one JSON document.

    """
    if ring is not None and best_effort is None:
        raise InvalidInputError(
            "--ring needs --best-effort",
            "give the length of the packets in the ring, as in --best-effort 1500B",
        )
    advice = design.star(
        arrival, delay, link=link, packet=packet, ratio=ratio, best_effort=best_effort,
        ring=None if ring is None else Ring(ring, particle),
    )  # fmt: skip
    return _show(advice, json=json)


def _whole(text: str) -> int:
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
