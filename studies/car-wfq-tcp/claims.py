"""The statements of the paper, compared with the measurements."""

from __future__ import annotations

from perhop.study import Figure, Outcome, Verdict, judged

# The guarantee of the class, 1.3 Mb/s of IP bytes, as payload of full segments.
GUARANTEE = 1.3 * 1460 / 1500
# The committed rate of CAR, in kb/s of IP bytes.
COMMITTED = 1296.0
# "At the configured rate" (1295 of 1296 kb/s in the paper) means within one percent.
AT_RATE = 0.01
# Ratios that the paper calls equal, or about some value, are judged with the tolerance of the underlying
# figures, which is a quarter: "an even split", "about 2:1" (published 2.05 and 2.42), a guarantee that is
# "enforced". "More than 10:1" is an exact bound.
NEAR = 1.25
ABOUT, MORE_THAN = 2.0, 10.0


def udp_starves(outcome: Outcome) -> Verdict:
    """Judge the rate for each number of streams, by the guarantee, the growth and the published numbers.

    Growth is slow if the rate grows less than half as fast as the number of streams, at both steps.
    """
    figures = [
        outcome.figure("scenario-1", "priority_mbps", priority_streams=number) for number in ("1", "10", "20")
    ]
    found = [figure.measured for figure in figures]
    free = [
        outcome.point("mechanism", "tcp_mbps", changed="ring-of-5", streams=number).measured
        for number in ("1", "10", "20")
    ]
    evidence = (
        f"1, 10, 20 streams get {series(found)} Mb/s of {GUARANTEE:.2f} Mb/s;"
        f" with a ring of 5 particles {series(free)}"
    )
    slowly = found == sorted(found) and found[1] < 5 * found[0] and found[2] < 10 * found[0]
    parts = {
        **{
            f"{number} below half the guarantee": rate < GUARANTEE / 2
            for number, rate in zip(("1", "10", "20"), found, strict=True)
        },
        "grows slowly with the number": slowly,
        "0.10/0.35/0.49 Mb/s": all(map(agrees, figures)),
    }
    return judged(parts, evidence)


def many_streams(outcome: Outcome) -> Verdict:
    """Judge the ratio of marked to unmarked TCP, and whether marked TCP has its guarantee."""
    one_to_one, ten, against_one = (
        ratio(outcome, priority, background)
        for priority, background in (("1", "1"), ("10", "10"), ("10", "1"))
    )
    alone, *many = (
        priority_of(outcome, "scenario-2", priority, background)
        for priority, background in (("1", "1"), ("10", "10"), ("10", "1"))
    )
    rows = {"priority_streams": "1", "background": "1"}
    split = [outcome.figure("scenario-2", metric, **rows) for metric in ("priority_mbps", "background_mbps")]
    parts = {
        "the guarantee enforced with 10 streams only": alone < GUARANTEE / NEAR <= min(many),
        "1 against 1 even with 0.8 Mb/s each": 1 / NEAR <= one_to_one <= NEAR and all(map(agrees, split)),
        "10 against 10 about 2:1": ABOUT / NEAR <= ten <= ABOUT * NEAR,
        "10 against 1 more than 10:1": against_one > MORE_THAN,
    }
    evidence = f"1 to 1: {one_to_one:.2f}; 10 to 10: {ten:.2f}; 10 to 1: {against_one:.2f};"
    evidence += f" marked {series([alone, *many])} Mb/s of {GUARANTEE:.2f}"
    return judged(parts, evidence)


def drop_costs(outcome: Outcome) -> Verdict:
    """Compare the scenarios that drop and that transmit exceeding packets, in every row that both have.

    For 1 stream of each class, the figures of the paper contradict its statement.
    """
    pairs = {
        f"{priority}/{background}": (
            priority_of(outcome, "scenario-2", priority, background),
            priority_of(outcome, "scenario-3", priority, background),
        )
        for priority, background in (("1", "0"), ("1", "1"), ("10", "10"), ("10", "1"))
    }
    evidence = ", ".join(f"{name}: {drop:.2f} for {send:.2f} Mb/s" for name, (send, drop) in pairs.items())
    rows = {"priority_streams": "1", "background": "0"}
    alone = [outcome.figure(table, "priority_mbps", **rows) for table in ("scenario-2", "scenario-3")]
    send, drop = pairs.pop("1/0")
    parts = {
        "1 alone gets less (1.16 against 1.6 Mb/s)": drop < 0.9 * send and all(map(agrees, alone)),
        **{f"{name} lower": drop < send for name, (send, drop) in pairs.items()},
    }
    return judged(parts, f"{evidence}; the paper's 1/1: 0.87 for 0.80")


def counters(outcome: Outcome) -> Verdict:
    """Judge the counters of the policer for 10 marked streams against 1, and for 20 against 20."""
    free, crowded = (
        {
            metric: outcome.figure("scenario-3", metric, priority_streams=priority, background=background)
            for metric in ("conformed_kbps", "exceeded_kbps")
        }
        for priority, background in (("10", "1"), ("20", "20"))
    )
    evidence = "; ".join(
        f"{name}: conformed {counters['conformed_kbps'].measured:.0f} kb/s,"
        f" exceeded {counters['exceeded_kbps'].measured:.1f} kb/s"
        for name, counters in (("10 against 1", free), ("20 against 20", crowded))
    )
    parts = {
        "10 against 1 conforms at 1.296 Mb/s": abs(free["conformed_kbps"].measured / COMMITTED - 1)
        <= AT_RATE,
        "its 112 kb/s exceed": agrees(free["exceeded_kbps"]),
        "20 against 20 conforms at 1150 kb/s": agrees(crowded["conformed_kbps"])
        and crowded["conformed_kbps"].measured < 0.95 * COMMITTED,
        "nothing of it exceeds": crowded["exceeded_kbps"].measured == 0,
    }
    return judged(parts, evidence)


def agrees(figure: Figure) -> bool:
    """Whether a figure differs from the published figure by at most its tolerance."""
    return figure.verdict == "agrees"


def ratio(outcome: Outcome, priority: str, background: str) -> float:
    """Return the ratio of the rates of marked and unmarked TCP in scenario 2."""
    rows = {"priority_streams": priority, "background": background}
    if (priority, background) == ("10", "10"):
        rows["run"] = "first"
    marked = outcome.figure("scenario-2", "priority_mbps", **rows).measured
    return marked / outcome.figure("scenario-2", "background_mbps", **rows).measured


def priority_of(outcome: Outcome, table: str, priority: str, background: str) -> float:
    """Return the rate of marked TCP, Mb/s."""
    rows = {"priority_streams": priority, "background": background}
    if (table, priority, background) == ("scenario-2", "10", "10"):
        rows["run"] = "first"
    return outcome.figure(table, "priority_mbps", **rows).measured


def series(values: list[float]) -> str:
    """Return `values` with two decimals, separated by slashes."""
    return "/".join(f"{value:.2f}" for value in values)
