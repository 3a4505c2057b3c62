"""What the paper says in words, judged by what was measured."""

from __future__ import annotations

from collections.abc import Callable

from perhop.study import Outcome, Verdict, agrees_if

CLASSES = ("af11", "af12", "af13")
# Maximum drop probabilities: mark probability denominators 10, 5, 2.
PROBABILITIES = {"af11": 0.1, "af12": 0.2, "af13": 0.5}
NUMBERS = ("3", "5", "10", "15", "20")
# "Clearly ordered": the shares of neighbors are this far apart, in percentage points.
CLEARLY = 5.0
# "Converges", "proportional", "a good approximation": within so many points.
NEAR, GOOD = 3.0, 7.0


def rates(outcome: Outcome) -> Verdict:
    """Judge the goodput of UDP and TCP within 5 % of the published ones."""
    found = {name: outcome.figure("rates", "goodput_kbps", traffic=name) for name in ("udp", "tcp")}
    evidence = ", ".join(
        f"{name.upper()} {one.measured:.0f} kb/s for {one.published:.0f}"
        f" ({one.measured / one.published - 1:+.1%})"
        for name, one in found.items()
    )
    return agrees_if(all(abs(one.measured / one.published - 1) <= 0.05 for one in found.values()), evidence)


def differentiation(outcome: Outcome) -> Verdict:
    """Judge the minimum thresholds at which the order is clear, and where AF11 is furthest above AF13."""
    shares = balanced(outcome)
    clear = [
        threshold
        for threshold, one in shares.items()
        if one["af11"] - one["af12"] >= CLEARLY and one["af12"] - one["af13"] >= CLEARLY
    ]
    spread = {threshold: one["af11"] - one["af13"] for threshold, one in shares.items()}
    most = max(spread, key=lambda threshold: spread[threshold])
    evidence = ", ".join(
        f"min {threshold}: {'/'.join(f'{one[name]:.0f}' for name in CLASSES)}"
        for threshold, one in shares.items()
    )
    middle = [threshold for threshold in shares if 5 <= threshold <= 40]
    holds = all(threshold in clear for threshold in middle) and spread[most] > 30
    return agrees_if(holds, f"% {evidence}; furthest apart at {most}")


def converges(outcome: Outcome) -> Verdict:
    """Judge the shares at the largest minimum threshold."""
    shares = balanced(outcome)
    largest = max(shares)
    last = shares[largest]
    holds = all(abs(one - 100 / 3) <= NEAR for one in last.values())
    return agrees_if(holds, f"% at {largest}: " + "/".join(f"{last[name]:.1f}" for name in CLASSES))


def af11_floor(outcome: Outcome) -> Verdict:
    """Judge the least share of AF11 with 3 flows, whichever other class grows."""
    found = {
        (grows, number): outcome.point("figure-6", "af11_percent", grows=grows, flows=number).measured
        for grows in ("af12", "af13")
        for number in NUMBERS
    }
    medium = ", ".join(f"{number} flows {found['af12', number]:.1f} %" for number in NUMBERS)
    return agrees_if(min(found.values()) >= 20, f"AF11 as AF12 grows: {medium}")


def off_proportional(outcome: Outcome) -> Verdict:
    """Judge the largest distance of a share from its class's part of the flows."""
    worst, where = distance(outcome, "wred-off", lambda name: 1.0)
    return agrees_if(worst <= NEAR, f"at most {worst:.1f} points from N/ΣN ({where})")


def approximation(outcome: Outcome) -> Verdict:
    """Judge the largest distance of a share from N/p, and that of N/√p and N beside it."""
    worst, where = distance(outcome, "figure-6", lambda name: 1 / PROBABILITIES[name])
    root, _ = distance(outcome, "figure-6", lambda name: PROBABILITIES[name] ** -0.5)
    alone, _ = distance(outcome, "figure-6", lambda name: 1.0)
    return agrees_if(
        worst <= GOOD and worst < root < alone,
        f"at most {worst:.1f} points from N/p ({where}); from N/√p {root:.1f}, from N {alone:.1f}",
    )


def balanced(outcome: Outcome) -> dict[int, dict[str, float]]:
    """Return the shares of Figure 5 with 3 flows for each class, by minimum threshold."""
    points = outcome.curve("figure-5", "af11_percent", flows_each="3")
    thresholds = [point.case["min_threshold"] for point in points]
    return {
        int(threshold): {
            name: outcome.point(
                "figure-5", f"{name}_percent", flows_each="3", min_threshold=threshold
            ).measured
            for name in CLASSES
        }
        for threshold in thresholds
    }


def distance(outcome: Outcome, table: str, weight: Callable[[str], float]) -> tuple[float, str]:
    """Return how far a share is at most from number of flows times weight, in points, and where."""
    worst, where = 0.0, ""
    for point in outcome.curve(table, "af11_percent"):
        grows, number = point.case["grows"], point.case["flows"]
        weights = {name: (int(number) if name == grows else 3) * weight(name) for name in CLASSES}
        for name in CLASSES:
            measured = outcome.point(table, f"{name}_percent", grows=grows, flows=number).measured
            off = abs(measured - 100 * weights[name] / sum(weights.values()))
            if off > worst:
                worst, where = off, f"{name.upper()} with {number} flows of {grows.upper()}: {measured:.1f} %"
    return worst, where
