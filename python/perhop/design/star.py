"""The service rate of an EF class under WFQ, as in the test of INFN-CNAF (Ferrari 1999)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from perhop.design import quantity
from perhop.design.advice import Advice, Step
from perhop.errors import InvalidInputError

_PAPER = "Ferrari 1999, EF service-to-arrival ratio"
_RESERVABLE = 0.75
_CELL_PAYLOAD, _CELL, _AAL5_TRAILER = 48, 53, 8


@dataclass(frozen=True)
class Ring:
    """The transmit ring of an ATM interface: number of particles and their size in bytes.

    A packet enters while one particle is free, and releases its particles when its first bit is sent, as in
    the platform profiles with a PA-A3.
    """

    particles: int
    particle_bytes: int = 512


def star(
    arrival: str | float,
    delay: str | float,
    *,
    link: str | float,
    packet: str | float = 1500,
    ratio: float = 1.0,
    best_effort: str | float | None = None,
    ring: Ring | None = None,
) -> Advice:
    """Return the service rate that bounds the queueing delay of EF packets, and its ratio to their rate.

    Parameters
    ----------
    arrival
        Peak arrival rate of the EF aggregate, `300kb/s` or bits per second.
    delay
        Maximum queueing delay of an EF packet, `20ms` or seconds.
    link
        Rate of the link or PVC, `2Mb/s` or bits per second.
    packet
        Maximum length of an EF packet, `1500B` or IP bytes.
    ratio
        Minimum service-to-arrival ratio.
    best_effort
        Maximum length of a packet of the other classes: adds the delay of the transmit ring.
    ring
        The transmit ring; by default it has room for the packet in transmission only.

    Raises
    ------
    InvalidInputError
        A value is out of range, or the service rate exceeds 75 % of the link.

    """
    arrival_bps, delay_s = quantity.rate("arrival", arrival), quantity.time("delay", delay)
    link_bps, packet_bytes = quantity.rate("link", link), quantity.size("packet", packet)
    if not (ratio >= 1 and math.isfinite(ratio)):
        raise InvalidInputError(
            f"a ratio of {ratio:g} is too small or not finite",
            "give a number from 1 on: below 1 the class is served more slowly than packets arrive",
        )
    needed = max(8 * packet_bytes / delay_s, ratio * arrival_bps)
    # IOS accepts whole kb/s. Rounding up does not violate the bound. The subtrahend absorbs rounding errors.
    service = 1e3 * math.ceil(needed / 1e3 - 1e-9)
    reservable = _RESERVABLE * link_bps
    if service > reservable:
        least = 8 * packet_bytes / reservable
        raise InvalidInputError(
            f"a service rate of {service / 1e3:g} kb/s exceeds what can be reserved: "
            f"{reservable / 1e3:g} kb/s, 75 % of the link",
            f"allow a delay of at least {least * 1e3:.4g} ms, or use strict priority"
            if arrival_bps * ratio <= reservable
            else "use a faster link, or send less EF traffic",
        )
    steps = [
        Step("G", "minimum service rate of EF: one packet of maximum length within the delay",
             "max(8 · packet / delay, ratio · arrival), in whole kb/s", service, "b/s", _PAPER),
        Step("bound", "maximum delay of a packet in the EF queue", "8 · packet / G",
             8 * packet_bytes / service, "s", "RFC 2598; " + _PAPER),
        Step("STAR", "service-to-arrival ratio", "G / arrival", service / arrival_bps, "",
             "RFC 2598 appendix A.3"),
        Step("share", "share of the link", "G / link", service / link_bps, "", _PAPER),
    ]  # fmt: skip
    if best_effort is not None:
        steps.append(_ring_step(quantity.size("best_effort", best_effort), link_bps, ring))
    return Advice(
        f"EF of {arrival_bps / 1e3:g} kb/s with at most {delay_s * 1e3:g} ms of queueing delay",
        tuple(steps),
        f"policy-map ef-out\n class ef\n  bandwidth {round(service / 1e3)}\n  queue-limit 10",
        _notes(service, arrival_bps, link_bps),
    )


def _ring_step(best_effort: int, link_bps: float, ring: Ring | None) -> Step:
    """Return the step of the delay that the packets ahead in the transmit ring add to an EF packet."""
    cells = math.ceil((best_effort + _AAL5_TRAILER) / _CELL_PAYLOAD)
    held = 1
    if ring is not None:
        if ring.particles < 1 or ring.particle_bytes < 1:
            raise InvalidInputError(
                f"a ring of {ring.particles} particles of {ring.particle_bytes} bytes is invalid",
                "give at least one particle of one byte",
            )
        # The packet in transmission has already released its particles.
        held = math.ceil(ring.particles / math.ceil(best_effort / ring.particle_bytes)) + 1
    time_s = held * cells * _CELL * 8 / link_bps
    packets = "1 best-effort packet" if held == 1 else f"{held} best-effort packets"
    what = f"delay in the transmit ring: {packets} of {cells} cells"
    return Step("ring", what, "packets · cells · 424 bit / link", time_s, "s", "ITU-T I.363.5; " + _PAPER)


def _notes(service: float, arrival: float, link: float) -> tuple[str, ...]:
    notes = ["the bound covers the EF queue alone; the transmit ring adds to it, see `ring`"]
    if service <= arrival:
        notes.append(
            "at a ratio of 1, delay variation is irregular (Ferrari 1999; RFC 2598 A.3): use a higher ratio"
        )
    elif service < 1.5 * arrival:
        notes.append("the ratio is below 1.5; a ratio above 1.5 gains little (RFC 2598 A.3, table 2)")
    rest = _RESERVABLE * link - service
    if rest <= service:
        notes.append("best effort gets no more than EF: WFQ then works like a priority queue")
    return tuple(notes)
