"""What the paper says in words, judged by what was measured."""

from __future__ import annotations

import math

import numpy as np

from perhop import Results
from perhop.study import Outcome, Verdict, agrees_if

# The circuit, and the framing of AAL5 with VC multiplexing.
CIRCUIT, LAN = 2e6, 100e6
CONFIGURED, MTU = 300e3, 1500
PROPAGATION_MS = 1.0
RATES = ("300", "600", "900", "1200")
SMALL = ("64", "128", "256")


def cells_ms(ip_bytes: int) -> float:
    """Return the time that the cells of an IP packet take on the circuit."""
    return math.ceil((ip_bytes + 8) / 48) * 53 * 8 / CIRCUIT * 1e3


BE_MS = cells_ms(1028)


def waiting_ms(delay_ms: float, frame: int) -> float:
    """Return what of the delay of an EF frame was spent behind other packets: in queue and ring."""
    on_lan = 2 * (frame + 20) * 8 / LAN * 1e3
    return delay_ms - cells_ms(frame - 18) - on_lan - PROPAGATION_MS


def bound(outcome: Outcome) -> Verdict:
    """Judge the bound by arithmetic, and that the longest wait of a full-sized packet keeps it."""
    limit = MTU * 8 / CONFIGURED * 1e3
    results = outcome.results("figure-1: frame_size 1518, service_rate 300")
    longest = waiting_ms(1e3 * ef(results, "delay_max_s").max(), 1518)
    return agrees_if(
        math.isclose(limit, 40) and longest <= limit, f"bound {limit:.1f} ms; longest wait {longest:.1f} ms"
    )


def size(outcome: Outcome) -> Verdict:
    """Judge what the highest service rate saves, by size."""
    saved = {
        frame: delay(outcome, frame, "300") - delay(outcome, frame, "1450")
        for frame in dict.fromkeys(
            point.case["frame_size"] for point in outcome.curve("figure-1", "delay_ms")
        )
    }
    small = max(saved[frame] for frame in SMALL)
    evidence = ", ".join(f"{frame} B {one:.1f}" for frame, one in saved.items())
    holds = small < BE_MS / 2 and 20 <= max(saved.values()) <= 27 and saved["1518"] == max(saved.values())
    return agrees_if(holds, f"ms saved from 300 to 1450 kb/s: {evidence}")


def ipdv_flat(outcome: Outcome) -> Verdict:
    """Judge the spread of mean IPDV above the arrival rate, and where a ratio of 1 leaves that."""
    spreads, departures = [], {}
    for frame in dict.fromkeys(point.case["frame_size"] for point in outcome.curve("figure-3", "ipdv_ms")):
        curve = {
            point.case["service_rate"]: point.measured
            for point in outcome.curve("figure-3", "ipdv_ms", frame_size=frame)
        }
        above = [value for rate, value in curve.items() if rate != "300"]
        spreads.append(max(above) - min(above))
        if abs(curve["300"] - np.mean(above)) > 0.1 * np.mean(above):
            departures[frame] = (curve["300"], float(np.mean(above)))
    smaller = any(at < usual for at, usual in departures.values())
    greater = any(at > usual for at, usual in departures.values())
    moved = ", ".join(f"{frame} B {at:.2f} for {usual:.2f}" for frame, (at, usual) in departures.items())
    return agrees_if(
        max(spreads) < 0.1 * BE_MS and smaller and greater,
        f"above the arrival rate at most {max(spreads):.2f} ms apart; at it, ms: {moved}",
    )


def ipdv_max(outcome: Outcome) -> Verdict:
    """Judge the greatest |IPDV| at each service rate, within half a millisecond of a best-effort packet."""
    most = {rate: outcome.point("figure-4", "ipdv_max_ms", service_rate=rate).measured for rate in RATES}
    evidence = ", ".join(f"{rate} kb/s {one:.2f} ms" for rate, one in most.items())
    return agrees_if(
        all(abs(one - BE_MS) <= 0.5 for one in most.values()), f"{evidence}; a BE packet {BE_MS:.3f} ms"
    )


def periodic(outcome: Outcome) -> Verdict:
    """Judge the period at each service rate, and whether the delay rises or falls in it."""
    periods = {rate: period_s(time_series(outcome, rate)) for rate in RATES}
    same = max(periods.values()) - min(periods.values()) <= 0.05 * min(periods.values())
    about_1_s = all(0.8 <= one <= 1.2 for one in periods.values())
    slopes = []
    for point in outcome.curve("figure-1", "delay_ms", service_rate="900"):
        frame = point.case["frame_size"]
        results = outcome.results(f"figure-1: frame_size {frame}, service_rate 900")
        ratio = packets(results, "be", 1028) / packets(results, "ef", int(frame) - 18)
        # Below one BE packet for an EF packet there is no such decimal part to speak of.
        if ratio > 1:
            # The delay creeps one way and jumps back: the jump is the greater of the two.
            rises = -ef(results, "ipdv_min_s").min() > ef(results, "ipdv_max_s").max()
            slopes.append((frame, ratio, bool(rises)))
    by_rule = all(rises == (ratio % 1 >= 0.5) for _, ratio, rises in slopes)
    shown = ", ".join(f"{frame} B {ratio:.2f} {'rises' if up else 'falls'}" for frame, ratio, up in slopes)
    found = ", ".join(f"{rate} kb/s {one:.2f} s" for rate, one in periods.items())
    return agrees_if(same and about_1_s and by_rule, f"{found}; BE packets for an EF packet: {shown}")


def delta(outcome: Outcome) -> Verdict:
    """Judge the differences of the minima in best-effort packets."""
    least = {rate: outcome.point("figure-2", "delay_min_ms", service_rate=rate).measured for rate in RATES}
    slow, medium = ((least[rate] - least["900"]) / BE_MS for rate in ("300", "600"))
    return agrees_if(
        abs(slow - 3) <= 1 and abs(medium - 1) <= 1,
        f"300 to 900 kb/s {slow:.2f} BE packets, 600 to 900 {medium:.2f}",
    )


def priority(outcome: Outcome) -> Verdict:
    """Judge the least and the mean delay under WFQ at 900 kb/s and under strict priority."""
    strict = outcome.point("priority", "delay_ms", frame_size="1024").measured
    weighted = delay_of(outcome, "figure-2: frame_size 1024, service_rate 900")
    slow = delay_of(outcome, "figure-2: frame_size 1024, service_rate 300")
    holds = abs(weighted - strict) < 0.05 * BE_MS < slow - strict
    return agrees_if(
        holds, f"1024 B: WFQ {weighted:.2f} ms, priority {strict:.2f} ms, WFQ at 300 {slow:.2f} ms"
    )


def tx_ring(outcome: Outcome) -> Verdict:
    """Judge what an EF packet waits for that need not wait in its queue: the ring and the packet sent."""
    results = outcome.results("figure-2: frame_size 1024, service_rate 1200")
    least = waiting_ms(1e3 * ef(results, "delay_min_s").min(), 1024) / BE_MS
    most = waiting_ms(1e3 * ef(results, "delay_max_s").max(), 1024) / BE_MS
    # A packet that comes while the last bits of another go out may wait for next to nothing more.
    holds = round(least, 1) == 2 and 2.9 < most <= 3.001
    return agrees_if(holds, f"EF waits for {least:.2f} to {most:.2f} BE packets, one of them in segmentation")


def rfc2598(outcome: Outcome) -> Verdict:
    """Judge what a ratio beyond 1.5 still changes, in the RFC's simulations and in INFN's."""
    jitter = {
        (packet, ratio): outcome.figure(
            "rfc2598-2", "jitter_p90_percent", ratio=ratio, packet=packet
        ).measured
        for packet in ("1500", "160")
        for ratio in ("1.03", "1.50", "2.00", "3.00")
    }
    later = max(
        abs(jitter[packet, ratio] / jitter[packet, "1.50"] - 1)
        for packet in ("1500", "160")
        for ratio in ("2.00", "3.00")
    )
    first = jitter["1500", "1.03"] / jitter["1500", "1.50"] - 1
    flat = max(
        abs(value(outcome, frame, "450") - value(outcome, frame, "1450"))
        for frame in (*SMALL, "1024", "1518")
    )
    shown = ", ".join(f"{packet} B {ratio}: {one:.0f} %" for (packet, ratio), one in jitter.items())
    return agrees_if(
        later < 0.1 < first and flat < 0.1 * BE_MS,
        f"90th percentile of jitter by ratio: {shown}; INFN's mean IPDV from 1.5 on {flat:.2f} ms apart",
    )


def delay(outcome: Outcome, frame: str, rate: str) -> float:
    """Return a point of Figure 1."""
    return outcome.point("figure-1", "delay_ms", frame_size=frame, service_rate=rate).measured


def value(outcome: Outcome, frame: str, rate: str) -> float:
    """Return a point of Figure 3."""
    return outcome.point("figure-3", "ipdv_ms", frame_size=frame, service_rate=rate).measured


def delay_of(outcome: Outcome, case: str) -> float:
    """Return the mean delay of EF in a case."""
    return float(1e3 * ef(outcome.results(case), "delay_mean_s").mean())


def ef(results: Results, column: str) -> np.ndarray:
    """Return a column of `classes` for EF."""
    return results.classes.filter(**{"class": "ef"})[column].to_numpy()


def packets(results: Results, name: str, ip_bytes: int) -> float:
    """Return the packets of a class that arrive in a second."""
    rates = results.classes.filter(**{"class": name})["throughput_bps"].to_numpy()
    return float(rates.mean()) / 8 / ip_bytes


def time_series(outcome: Outcome, rate: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return instants and delays in ms of Figure 2's frames; per replication."""
    results = outcome.results(f"figure-2: frame_size 1024, service_rate {rate}")
    rows = results.packets.filter(flow="ef")
    each = [rows.filter(replication=number) for number in range(results.replications)]
    return [(one["sent_s"].to_numpy(), 1e3 * one["delay_s"].to_numpy()) for one in each]


def period_s(series: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the mean time from one jump of the delay by more than half a BE packet to the next."""
    gaps: list[float] = []
    for instants, delays in series:
        jumps = instants[1:][np.abs(np.diff(delays)) > BE_MS / 2]
        gaps.extend(np.diff(jumps))
    return float(np.mean(gaps)) if gaps else math.inf
