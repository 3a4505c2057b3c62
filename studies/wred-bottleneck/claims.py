"""The statements of the paper, compared with the measurements."""

from __future__ import annotations

from collections.abc import Callable

from perhop.study import Outcome, Verdict, agrees_if, judged

CLASSES = ("af11", "af12", "af13")
# Maximum drop probabilities: mark probability denominators 10, 5, 2.
PROBABILITIES = {"af11": 0.1, "af12": 0.2, "af13": 0.5}
NUMBERS = ("3", "5", "10", "15", "20")
FLOWS_EACH = ("3", "10")
# "Clearly ordered": the minimum distance of the shares of neighbors, in percentage points.
CLEARLY = 5.0
# "Converges" and "a good approximation" mean within these percentage points. "Directly proportional" means
# within a tenth.
NEAR, GOOD = 3.0, 7.0
PROPORTIONAL = 0.1
# The split by `bandwidth 666` and `bandwidth 2000`, and the IP bytes per byte of payload: datagrams of 576 B
# have headers of 28 B, and segments of 1460 B have headers of 40 B.
UDP_PART, IP_BYTES = 666 / 2666, {"udp": 604 / 576, "tcp": 1500 / 1460}


def rates(outcome: Outcome) -> Verdict:
    """Judge the goodput of UDP and TCP (within 5 % of the published values) and their split in IP bytes."""
    found = {name: outcome.figure("rates", "goodput_kbps", traffic=name) for name in ("udp", "tcp")}
    evidence = ", ".join(
        f"{name.upper()} {figure.measured:.0f} kb/s for {figure.published:.0f}"
        f" ({figure.measured / figure.published - 1:+.1%})"
        for name, figure in found.items()
    )
    carried = {name: figure.measured * IP_BYTES[name] for name, figure in found.items()}
    part = carried["udp"] / sum(carried.values())
    parts = {
        **{
            f"{name.upper()} within 5 %": near(figure.measured, figure.published)
            for name, figure in found.items()
        },
        "split as configured": near(part, UDP_PART),
    }
    return judged(parts, f"{evidence}; UDP {part:.1%} of the IP bytes for {UDP_PART:.1%}")


def differentiation(outcome: Outcome) -> Verdict:
    """Judge the order over the middle thresholds, and whether an interval has the largest differentiation.

    The interval must be bounded on both sides: below it and above it, the shares of the classes are closer
    together.
    """
    parts, evidence = {}, []
    for flows in FLOWS_EACH:
        shares = balanced(outcome, flows)
        middle = [share for threshold, share in shares.items() if 5 <= threshold <= 40]
        spread = {threshold: share["af11"] - share["af13"] for threshold, share in shares.items()}
        most = max(spread, key=lambda threshold: spread[threshold])
        parts[f"ordered with {flows} flows each"] = all(
            share["af11"] - share["af12"] >= CLEARLY and share["af12"] - share["af13"] >= CLEARLY
            for share in middle
        )
        parts[f"an interval of most differentiation with {flows}"] = min(spread) < most < max(spread)
        shown = ", ".join(
            f"min {threshold}: {'/'.join(f'{share[name]:.0f}' for name in CLASSES)}"
            for threshold, share in shares.items()
        )
        evidence.append(f"% with {flows} flows each, {shown}; furthest apart at {most}")
    return judged(parts, "; ".join(evidence))


def converges(outcome: Outcome) -> Verdict:
    """Judge the shares at the largest minimum threshold."""
    parts, evidence = {}, []
    for flows in FLOWS_EACH:
        shares = balanced(outcome, flows)
        largest = max(shares)
        last = shares[largest]
        parts[f"with {flows} flows each"] = all(abs(share - 100 / 3) <= NEAR for share in last.values())
        shown = "/".join(f"{last[name]:.1f}" for name in CLASSES)
        evidence.append(f"% at {largest}, the largest tried, with {flows} flows each: {shown}")
    return judged(parts, "; ".join(evidence))


def af11_floor(outcome: Outcome) -> Verdict:
    """Judge the minimum share of AF11 with 3 flows, over all choices of the class that has more flows."""
    found = {
        (grows, number): outcome.point("figure-6", "af11_percent", grows=grows, flows=number).measured
        for grows in ("af12", "af13")
        for number in NUMBERS
    }
    medium = ", ".join(f"{number} flows {found['af12', number]:.1f} %" for number in NUMBERS)
    return agrees_if(min(found.values()) >= 20, f"AF11 as AF12 grows: {medium}")


def off_proportional(outcome: Outcome) -> Verdict:
    """Judge the largest relative distance of a share from the class's fraction of the flows."""
    worst, where = distance(outcome, "wred-off", lambda name: 1.0, relative=True)
    return agrees_if(worst <= PROPORTIONAL, f"at most {worst:.1%} from N/ΣN ({where})")


def approximation(outcome: Outcome) -> Verdict:
    """Judge the largest distance of a share from the rule N/p, and from the rules N/√p and N."""
    worst, where = distance(outcome, "figure-6", lambda name: 1 / PROBABILITIES[name])
    root, _ = distance(outcome, "figure-6", lambda name: PROBABILITIES[name] ** -0.5)
    alone, _ = distance(outcome, "figure-6", lambda name: 1.0)
    relative, small = distance(outcome, "figure-6", lambda name: 1 / PROBABILITIES[name], relative=True)
    return agrees_if(
        worst <= GOOD and worst < root < alone,
        f"at most {worst:.1f} points from N/p ({where}); from N/√p {root:.1f}, from N {alone:.1f};"
        f" in relation to the share at most {relative:.0%} ({small})",
    )


def near(measured: float, wanted: float) -> bool:
    """Whether a value is within 5 % of another."""
    return abs(measured / wanted - 1) <= 0.05


def balanced(outcome: Outcome, flows: str) -> dict[int, dict[str, float]]:
    """Return the shares of Figure 5 for this number of flows per class, by minimum threshold."""
    points = outcome.curve("figure-5", "af11_percent", flows_each=flows)
    thresholds = [point.case["min_threshold"] for point in points]
    return {
        int(threshold): {
            name: outcome.point(
                "figure-5", f"{name}_percent", flows_each=flows, min_threshold=threshold
            ).measured
            for name in CLASSES
        }
        for threshold in thresholds
    }


def distance(
    outcome: Outcome, table: str, weight: Callable[[str], float], *, relative: bool = False
) -> tuple[float, str]:
    """Return the largest distance of a share from the number of flows times the weight, and its case.

    The distance is in percentage points or, with `relative`, a fraction of the share that the rule predicts.
    """
    worst, where = 0.0, ""
    for point in outcome.curve(table, "af11_percent"):
        grows, number = point.case["grows"], point.case["flows"]
        weights = {name: (int(number) if name == grows else 3) * weight(name) for name in CLASSES}
        for name in CLASSES:
            measured = outcome.point(table, f"{name}_percent", grows=grows, flows=number).measured
            wanted = 100 * weights[name] / sum(weights.values())
            off = abs(measured - wanted) / (wanted if relative else 1)
            if off > worst:
                worst, where = off, f"{name.upper()} with {number} flows of {grows.upper()}: {measured:.1f} %"
    return worst, where
