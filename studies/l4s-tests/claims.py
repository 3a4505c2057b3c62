"""The statements of both sides of the argument about L4S, compared with the measurements."""

from __future__ import annotations

from perhop.study import Outcome, Verdict, agrees_if, judged

ROUND_TRIPS = ("10", "20", "80")
LEAST_RATIO = 20.0


def advantage(outcome: Outcome) -> Verdict:
    """Judge Prague's share when it shares DualPI2 with CUBIC, with equal round trips."""
    parts, evidence = {}, []
    for rate in ("50", "10"):
        found = [share(outcome, f"s1:dualpi2-{rate}", ("prague", "cubic"), (rtt, rtt)) for rtt in ROUND_TRIPS]
        parts[f"an advantage at {rate} Mb/s"] = all(share > 50 for share in found)
        evidence.append(f"{rate} Mb/s {'/'.join(f'{share:.0f}' for share in found)} %")
    twenty = share(outcome, "s1:dualpi2-50", ("prague", "cubic"), ("20", "20"))
    parts["2:1 at 50 Mb/s and 20 ms"] = twenty > 100 * 2 / 3
    return judged(parts, f"Prague at {'/'.join(ROUND_TRIPS)} ms: {', '.join(evidence)}")


def rtt_unfairness(outcome: Outcome) -> Verdict:
    """Judge the shares of two flows with round trips of 160 and 10 ms."""
    prague = share(outcome, "s1:dualpi2-50", ("prague", "prague"), ("160", "10"))
    cubic = share(outcome, "s1:pfifo-50", ("cubic", "cubic"), ("160", "10"))
    parts = {
        "greater than CUBIC's in a FIFO": prague < cubic,
        "more than 16:1": (100 - prague) / prague > 16,
    }
    evidence = (
        f"the flow of 160 ms has {prague:.1f} % with Prague in DualPI2, {cubic:.1f} % with CUBIC in a FIFO"
    )
    return judged(parts, evidence)


def classic_queues(outcome: Outcome) -> Verdict:
    """Judge the ratio of Prague's rate to the rate of the other flow in a queue that they share."""
    found = [figure for figure in outcome.figures if figure.table == "s6" and figure.metric == "ratio"]
    measured = [figure.measured for figure in found]
    published = [figure.published for figure in found]
    return agrees_if(
        min(measured) >= LEAST_RATIO,
        f"{min(measured):.0f} to {max(measured):.0f} times for {min(published):.0f} to {max(published):.0f}",
    )


def queues_of_flows(outcome: Outcome) -> Verdict:
    """Judge the shares of Prague and CUBIC in FQ-CoDel, with equal round trips."""
    found = [
        share(outcome, f"s1:fq_codel-{rate}", ("prague", "cubic"), (rtt, rtt))
        for rate in ("50", "10")
        for rtt in ROUND_TRIPS
    ]
    return agrees_if(
        all(40 <= share <= 60 for share in found), f"Prague {min(found):.1f} to {max(found):.1f} %"
    )


def coexistence(outcome: Outcome) -> Verdict:
    """Judge the ratio of Prague's rate to CUBIC's, by round trip."""
    parts, evidence = {}, []
    points = outcome.curve("coexistence", "prague_over_cubic")
    for rtt in dict.fromkeys(point.case["rtt_ms"] for point in points):
        found = [point.measured for point in points if point.case["rtt_ms"] == rtt]
        parts[f"{rtt} ms"] = all(0.5 <= ratio <= 2 for ratio in found)
        evidence.append(f"{rtt} ms {'/'.join(f'{ratio:.2f}' for ratio in found)}")
    rates = "/".join(dict.fromkeys(point.case["rate_mbps"] for point in points))
    return judged(parts, f"Prague over CUBIC at {rates} Mb/s: {'; '.join(evidence)}")


def share(outcome: Outcome, table: str, flows: tuple[str, str], round_trips: tuple[str, str]) -> float:
    """Return the measured share of the first of two flows."""
    (first, second), (near, far) = flows, round_trips
    case = {"first": first, "second": second, "first_rtt_ms": near, "second_rtt_ms": far}
    return outcome.figure(table, "first_percent", **case).measured
