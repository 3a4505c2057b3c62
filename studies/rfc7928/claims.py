"""The statements of RFC 7928 and the RFCs of the queues, compared with the measurements."""

from __future__ import annotations

import math
from statistics import fmean

from perhop.study import Outcome, Verdict, judged

AQMS = ("red", "codel", "fq-codel", "pie", "dualpi2", "fq-pie", "cake")
ALL = ("tail-drop", *AQMS)
# Queueing disciplines with a queue for each flow.
BY_FLOW = ("fq-codel", "fq-pie", "cake")
LEVELS = ("mild", "medium", "heavy")
ROUND_TRIPS = (5, 20, 50, 200, 560)
TARGETS_MS = {"pie": 15.0, "dualpi2": 15.0, "codel": 5.0}
NEAR = 0.2
# The excess of 12 Mb/s of payload over 10 Mb/s, percent. A packet has 1000 bytes of payload and 28 of
# headers.
EXCESS_PERCENT = 100 * (1 - 10 / (12 * 1.028))


def pie_target(outcome: Outcome) -> Verdict:
    """Judge the mean delays of PIE."""
    return target(outcome, "pie", NEAR, varies=True)


def dualpi2_target(outcome: Outcome) -> Verdict:
    """Judge the mean delays of DualPI2 with classic traffic only."""
    return target(outcome, "dualpi2", NEAR, varies=True)


def codel_target(outcome: Outcome) -> Verdict:
    """Judge the mean delays of CoDel."""
    return target(outcome, "codel", 0.5, varies=False)


def target(outcome: Outcome, aqm: str, near: float, *, varies: bool) -> Verdict:
    """Judge the distance of the mean delay from the target, at each level and while the level varies."""
    wanted = TARGETS_MS[aqm]
    found = {level: outcome.point("8.2", "delay_ms", aqm=aqm, level=level).measured for level in LEVELS}
    if varies:
        found["varying"] = outcome.point("8.2.5", "delay_ms", aqm=aqm).measured
    parts = {name: abs(delay / wanted - 1) <= near for name, delay in found.items()}
    return judged(parts, ", ".join(f"{name} {delay:.1f} ms" for name, delay in found.items()))


def trade_off(outcome: Outcome) -> Verdict:
    """Compare delay and goodput of each AQM with those of tail drop."""
    cases = [("5.1.1", {}), *(("8.2", {"level": level}) for level in LEVELS), ("9.1", {}), ("9.2", {})]
    parts, evidence = {}, []
    for aqm in AQMS:
        delays: list[float] = []
        rates: list[float] = []
        for table, case in cases:
            for metric, ratios in (("delay_ms", delays), ("goodput_mbps", rates)):
                usual = outcome.point(table, metric, aqm="tail-drop", **case).measured
                ratios.append(outcome.point(table, metric, aqm=aqm, **case).measured / usual)
        parts[f"delay of {aqm}"] = max(delays) <= 0.5
        parts[f"goodput of {aqm}"] = min(rates) >= 0.9
        evidence.append(
            f"{aqm}: at most {max(delays):.0%} of the delay, at least {min(rates):.0%} of the goodput"
        )
    return judged(parts, "; ".join(evidence))


def loss_levels(outcome: Outcome) -> Verdict:
    """Judge the losses with tail drop, also of flows that count every acknowledged segment."""
    parts, evidence = {}, []
    for level, wanted, share in zip(LEVELS, (0.1, 0.5, 1.0), (0.036, 0.081, 0.114), strict=True):
        found = outcome.point("8.2", "loss_percent", aqm="tail-drop", level=level).measured
        parts[level] = wanted / 1.5 <= found <= wanted * 1.5
        evidence.append(
            f"{level} {found:.2f} % for {wanted} ({150 * share * share:.2f} without delayed counting)"
        )
    return judged(parts, ", ".join(evidence))


def formula(outcome: Outcome) -> Verdict:
    """Compare the goodput with the result of the formula, by queue."""
    parts, evidence = {}, []
    for aqm in ALL:
        found = [point.measured for point in outcome.curve("8.2", "formula_percent", aqm=aqm)]
        parts[aqm] = all(75 <= percent <= 125 for percent in found)
        evidence.append(f"{aqm} {', '.join(f'{percent:.0f}' for percent in found)} %")
    return judged(parts, "mild, medium, heavy: " + "; ".join(evidence))


def initial_window(outcome: Outcome) -> Verdict:
    """Judge the share of the first of two flows."""
    parts, evidence = {}, []
    for aqm in ALL:
        found = [outcome.point(table, "first_percent", aqm=aqm).measured for table in ("5.1.1", "5.1.2")]
        parts[aqm] = all(40 <= share <= 60 for share in found)
        evidence.append(f"{aqm} {found[0]:.1f} and {found[1]:.1f} %")
    return judged(parts, "with ten and with three segments: " + ", ".join(evidence))


def aggressive(outcome: Outcome) -> Verdict:
    """Judge the share of CUBIC next to NewReno."""
    found = {aqm: outcome.point("5.2", "first_percent", aqm=aqm).measured for aqm in ALL}
    parts = {"CUBIC gets more": all(found[aqm] > 50 for aqm in ALL if aqm not in BY_FLOW)}
    parts["no AQM lets it have three quarters"] = all(found[aqm] <= 75 for aqm in AQMS)
    return judged(parts, shown(found, "%"))


def overload(outcome: Outcome) -> Verdict:
    """Judge the losses with 12 Mb/s of traffic that does not respond, and PIE's delay."""
    losses = {aqm: outcome.point("5.3:alone", "loss_percent", aqm=aqm).measured for aqm in ALL}
    delays = {aqm: outcome.point("5.3:alone", "delay_ms", aqm=aqm).measured for aqm in ALL}
    parts = {f"loss of {aqm}": abs(loss - EXCESS_PERCENT) <= 1 for aqm, loss in losses.items()}
    parts["target of pie"] = abs(delays["pie"] / TARGETS_MS["pie"] - 1) <= NEAR
    return judged(
        parts, f"loss for {EXCESS_PERCENT:.1f} %: {shown(losses, '%')}; delay: {shown(delays, 'ms')}"
    )


def isolation(outcome: Outcome) -> Verdict:
    """Judge the share of TCP next to UDP."""
    found = {aqm: 100 - outcome.point("5.3:beside", "udp_percent", aqm=aqm).measured for aqm in ALL}
    parts = {aqm: abs(share - 50) <= 5 if aqm in BY_FLOW else share <= 25 for aqm, share in found.items()}
    return judged(parts, f"TCP: {shown(found, '%')}")


def less_than_best_effort(outcome: Outcome) -> Verdict:
    """Judge the share of LEDBAT next to NewReno."""
    found = {aqm: outcome.point("5.4", "first_percent", aqm=aqm).measured for aqm in ALL}
    parts = {"leaves the link before tail-drop": found["tail-drop"] <= 20}
    parts |= {f"like best effort before {aqm}": 40 <= found[aqm] <= 60 for aqm in AQMS}
    return judged(parts, f"LEDBAT: {shown(found, '%')}")


def rtt_fairness(outcome: Outcome) -> Verdict:
    """Judge the share of the flow with a round trip of 100 ms among flows with other round trips."""
    parts, evidence = {}, []
    for aqm in ALL:
        found = [
            outcome.point("6", "first_percent", aqm=aqm, rtt_ms=str(rtt)).measured for rtt in ROUND_TRIPS
        ]
        if aqm in BY_FLOW:
            parts[aqm] = all(abs(share - 50) <= 5 for share in found)
        else:
            pairs = zip(ROUND_TRIPS, found, strict=True)
            parts[aqm] = all((share < 50) is (rtt < 100) for rtt, share in pairs)
        evidence.append(f"{aqm} {'/'.join(f'{share:.0f}' for share in found)}")
    ways = "/".join(map(str, ROUND_TRIPS))
    return judged(parts, f"% of the flow of 100 ms beside {ways} ms: {', '.join(evidence)}")


def capacity(outcome: Outcome) -> Verdict:
    """Judge delays after the capacity falls, and goodput while the capacity changes fast."""
    delays = {aqm: outcome.point("8.2.6:slow", "fallen_ms", queue=aqm).measured for aqm in ALL}
    rates = {aqm: outcome.point("8.2.6:fast", "goodput_mbps", queue=aqm).measured for aqm in ALL}
    parts = {f"target of {aqm}": abs(delays[aqm] / wanted - 1) <= 0.5 for aqm, wanted in TARGETS_MS.items()}
    parts |= {f"delay of {aqm}": delays[aqm] <= delays["tail-drop"] / 2 for aqm in AQMS}
    parts |= {f"goodput of {aqm}": rates[aqm] >= 0.9 * rates["tail-drop"] for aqm in AQMS}
    return judged(parts, f"after a fall: {shown(delays, 'ms')}; changing fast: {shown(rates, 'Mb/s')}")


def bursts(outcome: Outcome) -> Verdict:
    """Judge the losses of a stream with constant rate, and the load times of pages."""
    losses = {aqm: outcome.point("7", "cbr_loss_percent", aqm=aqm).measured for aqm in ALL}
    pages = {aqm: 1e3 * outcome.point("7", "web_s", aqm=aqm).measured for aqm in ALL}
    parts = {f"constant rate, {aqm}": losses[aqm] <= 1 for aqm in AQMS}
    parts |= {f"pages, {aqm}": pages[aqm] < pages["tail-drop"] for aqm in AQMS}
    return judged(parts, f"constant rate: {shown(losses, '%')}; pages: {shown(pages, 'ms')}")


def series(outcome: Outcome) -> Verdict:
    """Judge the share of flows through two queues with equal loss: 1 / sqrt(2) of that of the other flows."""
    found = {aqm: outcome.point("10", "through_percent", aqm=aqm).measured for aqm in ALL}
    wanted = 100 / (1 + math.sqrt(2))
    parts = {aqm: abs(share - (50 if aqm in BY_FLOW else wanted)) <= 5 for aqm, share in found.items()}
    mean = fmean(share for aqm, share in found.items() if aqm not in BY_FLOW)
    return judged(parts, f"{shown(found, '%')}; mean without queues of flows {mean:.1f} % for {wanted:.1f}")


def shown(found: dict[str, float], unit: str) -> str:
    """Return values by queue."""
    return ", ".join(f"{aqm} {value:.1f} {unit}" for aqm, value in found.items())
