"""What the paper says in words, judged by what was measured."""

from __future__ import annotations

from perhop.study import Outcome, Verdict, agrees_if

# What the guarantee of the class, 1.3 Mb/s of IP bytes, is in payload of full segments.
GUARANTEE = 1.3 * 1460 / 1500
# What CAR lets pass, in kb/s of IP bytes.
COMMITTED = 1296.0
# Ratios that the paper calls equal or about some value are judged like the figures that they are made of,
# within a quarter: "an even split", "about 2:1" (published 1.17/0.57 and 1.09/0.45). "More than 10:1" is a
# bound, and taken at its word.
NEAR = 1.25
ABOUT_TWO = (1.17 / 0.57 / NEAR, 1.09 / 0.45 * NEAR)
MORE_THAN = 10.0


def udp_starves(outcome: Outcome) -> Verdict:
    """Judge whether TCP stays below half its guarantee, and 20 streams get much less than 20 times one's."""
    found = [
        outcome.figure("scenario-1", "priority_mbps", priority_streams=number).measured
        for number in ("1", "10", "20")
    ]
    free = [
        outcome.point("mechanism", "tcp_mbps", changed="ring-of-5", streams=number).measured
        for number in ("1", "10", "20")
    ]
    evidence = (
        f"1, 10, 20 streams get {series(found)} Mb/s of {GUARANTEE:.2f} Mb/s;"
        f" with a ring of 5 particles {series(free)}"
    )
    slowly = found == sorted(found) and found[2] < 10 * found[0]
    return agrees_if(max(found) < GUARANTEE / 2 and slowly, evidence)


def many_streams(outcome: Outcome) -> Verdict:
    """Judge the ratio of marked to unmarked TCP."""
    one, ten, against_one = (
        ratio(outcome, priority, background)
        for priority, background in (("1", "1"), ("10", "10"), ("10", "1"))
    )
    even = 1 / NEAR <= one <= NEAR
    holds = even and ABOUT_TWO[0] <= ten <= ABOUT_TWO[1] and against_one > MORE_THAN
    return agrees_if(holds, f"1 to 1: {one:.2f}; 10 to 10: {ten:.2f}; 10 to 1: {against_one:.2f}")


def drop_costs(outcome: Outcome) -> Verdict:
    """Judge dropping against transmitting; 1 against 1 is left out, where the paper itself has more."""
    pairs = {
        f"{priority}/{background}": (
            priority_of(outcome, "scenario-2", priority, background),
            priority_of(outcome, "scenario-3", priority, background),
        )
        for priority, background in (("1", "0"), ("10", "10"), ("10", "1"))
    }
    evidence = ", ".join(f"{name}: {drop:.2f} for {send:.2f} Mb/s" for name, (send, drop) in pairs.items())
    lower = all(drop < send for send, drop in pairs.values())
    return agrees_if(lower and pairs["1/0"][1] < 0.9 * pairs["1/0"][0], evidence)


def counters(outcome: Outcome) -> Verdict:
    """Judge what the policer counts with 10 streams against 1 and with 20 against 20."""
    free, crowded = (
        {
            metric: outcome.figure(
                "scenario-3", metric, priority_streams=priority, background=background
            ).measured
            for metric in ("conformed_kbps", "exceeded_kbps")
        }
        for priority, background in (("10", "1"), ("20", "20"))
    )
    evidence = "; ".join(
        f"{name}: conformed {one['conformed_kbps']:.0f} kb/s, exceeded {one['exceeded_kbps']:.1f} kb/s"
        for name, one in (("10 against 1", free), ("20 against 20", crowded))
    )
    at_the_rate = abs(free["conformed_kbps"] / COMMITTED - 1) <= 0.01 and free["exceeded_kbps"] > 5
    below = crowded["conformed_kbps"] < 0.95 * COMMITTED and crowded["exceeded_kbps"] < 5
    return agrees_if(at_the_rate and below, evidence)


def ratio(outcome: Outcome, priority: str, background: str) -> float:
    """Return marked over unmarked in scenario 2."""
    rows = {"priority_streams": priority, "background": background}
    if (priority, background) == ("10", "10"):
        rows["run"] = "first"
    marked = outcome.figure("scenario-2", "priority_mbps", **rows).measured
    return marked / outcome.figure("scenario-2", "background_mbps", **rows).measured


def priority_of(outcome: Outcome, table: str, priority: str, background: str) -> float:
    """Return what marked TCP gets."""
    rows = {"priority_streams": priority, "background": background}
    if (table, priority, background) == ("scenario-2", "10", "10"):
        rows["run"] = "first"
    return outcome.figure(table, "priority_mbps", **rows).measured


def series(values: list[float]) -> str:
    """Return `values` in two decimals, slashes between them."""
    return "/".join(f"{value:.2f}" for value in values)
