"""`perhop design`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from perhop.command.options import Json, pairs
from perhop.command.terminal import print_json
from perhop.errors import Exit, InvalidInputError

if TYPE_CHECKING:
    from perhop.design import Advice


def wred(
    *,
    bandwidth: str,
    delay: str,
    mtu: str = "1500B",
    precedence: Annotated[list[str] | None, Parameter(negative=())] = None,
    json: Json = False,
) -> Exit:
    """Choose WRED's thresholds and weight for a delay: formula, numbers, IOS lines.

    Parameters
    ----------
    bandwidth
        What the class gets: 2Mb/s.
    delay
        The longest average queueing delay: 100ms.
    mtu
        The longest packet in bytes of IP; 1500B.
    precedence
        An IP precedence and its mark probability denominator: 5=10; may stand several times. By
        default 3=2, 4=5 and 5=10, those of the test.
    json
        Print the design as one JSON document.

    """
    from perhop import design

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
        The longest delay in the EF queue: 20ms.
    link
        Rate of the link or PVC: 2Mb/s.
    packet
        The longest EF packet in bytes of IP; 1500B.
    ratio
        The least service-to-arrival ratio; 1.
    best_effort
        The longest packet of the others in bytes of IP: adds what the ring of an ATM interface costs.
    ring
        Particles in the transmit ring; by default it holds one packet.
    particle
        Bytes in a particle; 576.
    json
        Print the design as one JSON document.

    """
    from perhop import design
    from perhop.design.star import Ring

    if ring is not None and best_effort is None:
        raise InvalidInputError("--ring without --best-effort", "what is in it? --best-effort 1500B")
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
            f"--precedence: {text} is no whole number", "for example --precedence 5=10"
        ) from None


def _show(advice: Advice, *, json: bool) -> Exit:
    if json:
        print_json({"schema_version": 1, **advice.to_dict()})
    else:
        print(advice)
    return Exit.OK
