"""The statements of the paper, compared with the measurements."""

from __future__ import annotations

import math

import numpy as np

from perhop import Results
from perhop.study import Outcome, Verdict, agrees_if, judged

# The rates of the circuit and of the LAN, b/s.
CIRCUIT, LAN = 2e6, 100e6
CONFIGURED, MTU = 300e3, 1500
PROPAGATION_MS = 1.0
RATES = ("300", "600", "900", "1200")
SMALL, LARGE = ("64", "128", "256"), ("1280", "1518")
# "Up to about 25 ms": the value, and its tolerance, a fraction. Other comparisons use the tolerance, too.
SAVED_MS, NEAR = 25, 0.1
ABOUT = 0.25
IPDV_MS = (4.0, 4.7)


def cells_ms(ip_bytes: int) -> float:
    """Return the transmission time of the cells of an IP packet on the circuit, ms."""
    return math.ceil((ip_bytes + 8) / 48) * 53 * 8 / CIRCUIT * 1e3


BE_MS = cells_ms(1028)


def waiting_ms(delay_ms: float, frame: int) -> float:
    """Return the time that an EF frame waits behind other packets in queue and ring, ms."""
    on_lan = 2 * (frame + 20) * 8 / LAN * 1e3
    return delay_ms - cells_ms(frame - 18) - on_lan - PROPAGATION_MS


def bound(outcome: Outcome) -> Verdict:
    """Judge the bound by a calculation, and whether the longest wait for every size is within it."""
    limit = MTU * 8 / CONFIGURED * 1e3
    longest = {
        frame: waiting_ms(1e3 * ef(results, "delay_max_s").max(), int(frame))
        for frame in frames(outcome)
        for results in [outcome.results(f"figure-1: frame_size {frame}, service_rate 300")]
    }
    most = max(longest, key=lambda frame: longest[frame])
    return agrees_if(
        math.isclose(limit, 40) and longest[most] <= limit,
        f"bound {limit:.1f} ms; longest wait {longest[most]:.1f} ms ({most} B)",
    )


def size(outcome: Outcome) -> Verdict:
    """Judge the effect of the service rate by size, over all rates instead of between two rates.

    For small packets, the effect must be less than half a best-effort packet. Near the MTU, the delay must
    fall from rate to rate, by more than that, and at most by 25 ms with a tolerance of a tenth.
    """
    curves = {
        frame: [point.measured for point in outcome.curve("figure-1", "delay_ms", frame_size=frame)]
        for frame in frames(outcome)
    }
    changed = {frame: max(curve) - min(curve) for frame, curve in curves.items()}
    saved = {frame: curve[0] - curve[-1] for frame, curve in curves.items()}
    most = max(saved.values())
    parts = {
        "small packets hardly changed": max(changed[frame] for frame in SMALL) < BE_MS / 2,
        "a higher rate lowers large ones": all(
            saved[frame] > BE_MS / 2 and np.diff(curves[frame]).max() <= NEAR for frame in LARGE
        ),
        "by up to about 25 ms": abs(most - SAVED_MS) <= NEAR * SAVED_MS and most == saved["1518"],
    }
    evidence = ", ".join(f"{frame} B {saving:.1f}" for frame, saving in saved.items())
    return judged(parts, f"ms saved from 300 to 1450 kb/s: {evidence}")


def ipdv_flat(outcome: Outcome) -> Verdict:
    """Judge the spread of mean IPDV above the arrival rate, and its exceptions at a ratio of 1."""
    spreads, departures = [], {}
    for frame in frames(outcome):
        curve = {
            point.case["service_rate"]: point.measured
            for point in outcome.curve("figure-3", "ipdv_ms", frame_size=frame)
        }
        above = [value for rate, value in curve.items() if rate != "300"]
        spreads.append((max(above) - min(above)) / np.mean(above))
        if abs(curve["300"] - np.mean(above)) > 0.1 * np.mean(above):
            departures[frame] = (curve["300"], float(np.mean(above)))
    smaller = any(at < usual for at, usual in departures.values())
    greater = any(at > usual for at, usual in departures.values())
    moved = ", ".join(f"{frame} B {at:.2f} for {usual:.2f}" for frame, (at, usual) in departures.items())
    parts = {
        "flat above the arrival rate": max(spreads) < NEAR,
        "smaller for some size at a ratio of 1": smaller,
        "greater for some size at a ratio of 1": greater,
    }
    evidence = f"above the arrival rate at most {100 * max(spreads):.1f} % apart; at it, ms: {moved}"
    return judged(parts, evidence)


def ipdv_max(outcome: Outcome) -> Verdict:
    """Judge the greatest |IPDV| at each service rate against the 4 to 4.7 ms of a best-effort packet."""
    most = {rate: outcome.point("figure-4", "ipdv_max_ms", service_rate=rate).measured for rate in RATES}
    evidence = ", ".join(f"{rate} kb/s {ipdv:.2f} ms" for rate, ipdv in most.items())
    least, limit = IPDV_MS
    return agrees_if(
        all(least <= ipdv <= limit for ipdv in most.values()), f"{evidence}; a BE packet {BE_MS:.3f} ms"
    )


def periodic(outcome: Outcome) -> Verdict:
    """Judge length and regularity of the period and the course of the delay in it, by service rate.

    Jumps without a period also have a mean distance, so each distance must be near the mean. Delay and IPDV
    have the same period, because the IPDV is the difference of delays.
    """
    every = {rate: gaps_s(time_series(outcome, rate)) for rate in RATES}
    periods = {rate: float(np.mean(gaps)) if gaps else math.inf for rate, gaps in every.items()}
    slopes = {
        rate: slopes_of(outcome, rate)
        for rate in dict.fromkeys(
            point.case["service_rate"] for point in outcome.curve("figure-1", "delay_ms")
        )
    }
    broken = {
        rate: [f"{frame} B {ratio:.2f}" for frame, ratio, rises in found if rises != (ratio % 1 >= 0.5)]
        for rate, found in slopes.items()
    }
    parts = {
        "periodic": all(gaps and np.ptp(gaps) <= NEAR * np.mean(gaps) for gaps in every.values()),
        "of about 1 s": all(0.8 <= period <= 1.2 for period in periods.values()),
        "whatever the service rate": np.ptp(list(periods.values())) <= 0.05 * min(periods.values()),
        "rising or falling by the decimal part": not any(
            frames for rate, frames in broken.items() if rate != "300"
        ),
        "also at a ratio of 1": not broken["300"],
    }
    shown = ", ".join(
        f"{frame} B {ratio:.2f} {'rises' if up else 'falls'}" for frame, ratio, up in slopes["900"]
    )
    found = ", ".join(f"{rate} kb/s {period:.2f} s" for rate, period in periods.items())
    evidence = f"{found}; BE packets for an EF packet: {shown}"
    against = "; ".join(f"{', '.join(frames)} at {rate} kb/s" for rate, frames in broken.items() if frames)
    return judged(parts, f"{evidence}; against the rule: {against}" if against else evidence)


def delta(outcome: Outcome) -> Verdict:
    """Judge the differences between the minima of the delay, in transmission times of best-effort packets."""
    least = {rate: outcome.point("figure-2", "delay_min_ms", service_rate=rate).measured for rate in RATES}
    slow, medium = ((least[rate] - least["900"]) / BE_MS for rate in ("300", "600"))
    parts = {
        "about 3 between 300 and 900 kb/s": abs(slow - 3) <= ABOUT,
        "about 1 between 600 and 900": abs(medium - 1) <= ABOUT,
    }
    return judged(parts, f"300 to 900 kb/s {slow:.2f} BE packets, 600 to 900 {medium:.2f}")


def priority(outcome: Outcome) -> Verdict:
    """Judge the mean delay under WFQ from 900 kb/s on and under strict priority, for every size.

    Two delays are equal if they differ by at most a twentieth of a best-effort packet. Below 900 kb/s, the
    delays of large packets must differ; otherwise, the comparison would be meaningless.
    """
    strict = {
        frame: outcome.point("priority", "delay_ms", frame_size=frame).measured for frame in frames(outcome)
    }
    later = {
        (frame, rate): delay(outcome, frame, rate) - strict[frame]
        for frame in strict
        for rate in ("900", "1050", "1200", "1350", "1450")
    }
    apart = {key: difference for key, difference in later.items() if abs(difference) >= 0.05 * BE_MS}
    slow = delay(outcome, "1024", "300") - strict["1024"]
    parts = {
        "as under priority from 900 kb/s on whatever the size": not apart,
        "not so at 300 kb/s": slow > BE_MS / 2,
    }
    weighted = strict["1024"] + later["1024", "900"]
    evidence = f"1024 B: WFQ {weighted:.2f} ms, priority {strict['1024']:.2f} ms, WFQ at 300"
    evidence += f" {strict['1024'] + slow:.2f} ms"
    other = ", ".join(
        f"{frame} B at {rate} kb/s {difference:+.2f} ms" for (frame, rate), difference in apart.items()
    )
    return judged(parts, f"{evidence}; later than under priority: {other}" if other else evidence)


def tx_ring(outcome: Outcome) -> Verdict:
    """Judge the wait of an EF packet whose queue is empty, behind the ring and the packet on the wire."""
    results = outcome.results("figure-2: frame_size 1024, service_rate 1200")
    least = waiting_ms(1e3 * ef(results, "delay_min_s").min(), 1024) / BE_MS
    most = waiting_ms(1e3 * ef(results, "delay_max_s").max(), 1024) / BE_MS
    # A packet that arrives at the end of a transmission waits only for the ring, which is two packets.
    holds = 1.99 <= least <= 2.05 and 2.95 < most <= 3.001
    return agrees_if(holds, f"EF waits for {least:.2f} to {most:.2f} BE packets, one of them being sent")


# The tolerances of the figures of the RFC, as in study.toml. Smaller differences do not count.
FACTOR, POINTS = 1.15, 2.0


def differ(first: float, second: float) -> bool:
    """Return whether the difference of two jitters exceeds the tolerances."""
    return max(first, second) > FACTOR * min(first, second) and abs(first - second) > POINTS


def rfc2598(outcome: Outcome) -> Verdict:
    """Judge for both packet sizes and percentiles that there is a gain up to 1.5 and none above."""
    parts: dict[str, bool] = {}
    shown = []
    for packet in ("1500", "160"):
        for percentile in ("p50", "p90"):
            jitter = {
                ratio: outcome.figure(
                    "rfc2598-2", f"jitter_{percentile}_percent", ratio=ratio, packet=packet
                ).measured
                for ratio in ("1.03", "1.50", "1.70", "2.00", "3.00")
            }
            name = f"{packet} B {percentile}"
            shown.append(f"{name} {', '.join(f'{percent:.1f}' for percent in jitter.values())} %")
            least, knee, *beyond = jitter.values()
            parts[f"{name} gains up to 1.5"] = least > knee and differ(least, knee)
            parts[f"{name} flat beyond"] = not any(differ(percent, knee) for percent in beyond)
    flat = max(
        abs(value(outcome, frame, "450") - value(outcome, frame, "1450"))
        for frame in (*SMALL, "1024", "1518")
    )
    parts["INFN's mean IPDV flat from 1.5 on"] = flat < 0.1 * BE_MS
    measured = f"jitter at 1.03, 1.5, 1.7, 2 and 3: {'; '.join(shown)}"
    flatness = f"INFN's mean IPDV from 1.5 on {flat:.2f} ms apart"
    return judged(parts, f"{measured}; {flatness}")


def delay(outcome: Outcome, frame: str, rate: str) -> float:
    """Return the delay at a point of Figure 1, ms."""
    return outcome.point("figure-1", "delay_ms", frame_size=frame, service_rate=rate).measured


def value(outcome: Outcome, frame: str, rate: str) -> float:
    """Return the IPDV at a point of Figure 3, ms."""
    return outcome.point("figure-3", "ipdv_ms", frame_size=frame, service_rate=rate).measured


def frames(outcome: Outcome) -> list[str]:
    """Return the frame sizes of Figure 1, bytes."""
    return list(dict.fromkeys(point.case["frame_size"] for point in outcome.curve("figure-1", "delay_ms")))


def slopes_of(outcome: Outcome, rate: str) -> list[tuple[str, float, bool]]:
    """Return by frame size: BE packets per EF packet, and whether the delay rises in a period."""
    slopes = []
    for frame in frames(outcome):
        results = outcome.results(f"figure-1: frame_size {frame}, service_rate {rate}")
        ratio = packets(results, "be", 1028) / packets(results, "ef", int(frame) - 18)
        # If there is less than one BE packet per EF packet, the decimal part has no meaning.
        if ratio > 1:
            # The delay changes slowly in one direction and jumps back. The larger of the two changes is the
            # jump.
            rises = -ef(results, "ipdv_min_s").min() > ef(results, "ipdv_max_s").max()
            slopes.append((frame, ratio, bool(rises)))
    return slopes


def ef(results: Results, column: str) -> np.ndarray:
    """Return a column of `classes` for EF."""
    return results.classes.filter(**{"class": "ef"})[column].to_numpy()


def packets(results: Results, name: str, ip_bytes: int) -> float:
    """Return the number of packets of a class that arrive per second."""
    rates = results.classes.filter(**{"class": name})["throughput_bps"].to_numpy()
    return float(rates.mean()) / 8 / ip_bytes


def time_series(outcome: Outcome, rate: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return instants and delays in ms of Figure 2's frames; per replication."""
    results = outcome.results(f"figure-2: frame_size 1024, service_rate {rate}")
    rows = results.packets.filter(flow="ef")
    each = [rows.filter(replication=number) for number in range(results.replications)]
    return [
        (replication["sent_s"].to_numpy(), 1e3 * replication["delay_s"].to_numpy()) for replication in each
    ]


def gaps_s(series: list[tuple[np.ndarray, np.ndarray]]) -> list[float]:
    """Return the times from one jump of the delay by more than half a BE packet to the next."""
    gaps: list[float] = []
    for instants, delays in series:
        jumps = instants[1:][np.abs(np.diff(delays)) > BE_MS / 2]
        gaps.extend(np.diff(jumps))
    return gaps
