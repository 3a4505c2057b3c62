"""WRED thresholds for a bottleneck, as in the test of CSELT, INFN and CERN (Chiminelli 2000)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from perhop.design import quantity
from perhop.design.advice import Advice, Step
from perhop.errors import InvalidInputError

_PAPER = "Chiminelli 2000, WRED overview"
_MEMORY_S = 0.1

# Limits of IOS.
_MOST_THRESHOLD = 4096
_MOST_EXPONENT = 16
_MOST_DENOMINATOR = 65536

#: Mark probability denominators of the test, by precedence.
DENOMINATORS = {3: 2, 4: 5, 5: 10}


def wred(
    bandwidth: str | float,
    delay: str | float,
    *,
    mtu: str | float = 1500,
    denominators: Mapping[int, int] | None = None,
) -> Advice:
    """Return the thresholds and the weight of WRED for an average queueing delay of at most `delay`.

    Parameters
    ----------
    bandwidth
        Bandwidth of the class, `2Mb/s` or bits per second.
    delay
        Maximum average queueing delay, `100ms` or seconds.
    mtu
        Maximum packet length, `1500B` or IP bytes.
    denominators
        Mark probability denominators by IP precedence; by default those of the test (3: 2, 4: 5, 5: 10).

    Raises
    ------
    InvalidInputError
        A value is out of range, or the delay is too short or too long for thresholds in packets.

    """
    bandwidth_bps, delay_s = quantity.rate("bandwidth", bandwidth), quantity.time("delay", delay)
    mtu_bytes = quantity.size("mtu", mtu)
    chosen = dict(DENOMINATORS if denominators is None else denominators)
    _check(chosen)
    packets_per_second = bandwidth_bps / (8 * mtu_bytes)
    maximum = round(delay_s * packets_per_second)
    minimum = max(round(maximum / 3), 1)
    if maximum <= minimum:
        raise InvalidInputError(
            f"delay: {delay_s * 1e3:g} ms are {delay_s * packets_per_second:.2g} packets of {mtu_bytes} B",
            f"give at least {2 * 1e3 / packets_per_second:.4g} ms, for distinct thresholds",
        )
    if maximum > _MOST_THRESHOLD:
        raise InvalidInputError(
            f"delay: a maximum threshold of {maximum} packets", f"routers accept at most {_MOST_THRESHOLD}"
        )
    # The average covers the packets that leave in 0.1 s, at least two, so the exponent is at least 1.
    exponent = min(max(round(math.log2(_MEMORY_S * packets_per_second)), 1), _MOST_EXPONENT)
    steps = (
        Step("U", "bandwidth in packets: converts time into queue length", "bandwidth / (8 · MTU)",
             packets_per_second, "packets/s", _PAPER),
        Step("max_th", "queue length that takes the delay to send", "delay · U", maximum, "packets", _PAPER),
        Step("min_th", "a third of the maximum", "max_th / 3", minimum, "packets", _PAPER),
        Step("n", "averaging over 100 ms of departures: the weight 2^-n nearest to 10 / U",
             "log2(U / 10)", exponent, "", "Cisco's advice for WRED on the 12000 series"),
        Step("W_q", "weight of a sample in the average", "2^-n", 2.0**-exponent, "", _PAPER),
    )  # fmt: skip
    notes = [
        "thresholds count packets of any size: with packets shorter than the MTU, the delay is shorter",
        "the average does not include the transmit ring: keep the ring short",
        "the authors of this method recommend the values only as a starting point for tuning",
    ]
    if maximum < 3 * len(chosen):
        notes.insert(
            0,
            f"max_th is only {maximum} packets: drops differ less between classes than their denominators do",
        )
    return Advice(
        f"WRED for {bandwidth_bps / 1e3:g} kb/s with at most {delay_s * 1e3:g} ms of average queue",
        steps,
        _ios(bandwidth_bps, minimum, maximum, exponent, chosen),
        tuple(notes),
    )


def _check(denominators: Mapping[int, int]) -> None:
    if not denominators:
        raise InvalidInputError(
            "no denominators", "give one for each precedence in the class, for example 5=10"
        )
    for precedence, denominator in denominators.items():
        if not 0 <= precedence <= 7:
            raise InvalidInputError(
                f"denominators: there is no precedence {precedence}", "write precedences from 0 to 7"
            )
        if not 1 <= denominator <= _MOST_DENOMINATOR:
            raise InvalidInputError(
                f"the denominator {denominator} for precedence {precedence} is out of range",
                f"write 1 to {_MOST_DENOMINATOR}, the reciprocal of the drop probability at max_th",
            )


def _ios(
    bandwidth_bps: float, minimum: int, maximum: int, exponent: int, denominators: Mapping[int, int]
) -> str:
    thresholds = [
        f"  random-detect precedence {precedence} {minimum} {maximum} {denominator}"
        for precedence, denominator in sorted(denominators.items())
    ]
    lines = [
        "policy-map wred-out",
        " class assured",
        f"  bandwidth {math.floor(bandwidth_bps / 1e3)}",
        "  random-detect",
        f"  random-detect exponential-weighting-constant {exponent}",
        *thresholds,
    ]
    return "\n".join(lines)
