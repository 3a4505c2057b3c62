"""What the paper says in words, judged by what was measured."""

from __future__ import annotations

from itertools import product

from perhop.study import Outcome, Verdict, agrees_if

MARKERS = {"2": "TCM", "3": "RBM"}
UDP_RATES = ("1.28 Mb/s", "128 kb/s")
CIRS = ("192 kb/s", "256 kb/s")
# "Adds nothing", "nearly the same".
NEAR_FACTOR, NEAR_FAIRNESS = 1.1, 0.1
# "Radically": fairness rises by this much. Without precedences it is 0.1 where UDP floods, else 0.6.
RADICAL_FAIRNESS = 0.2


def none_starves(outcome: Outcome) -> Verdict:
    """Without precedences, 1.28 Mb/s of UDP a group."""
    throughput = measured(outcome, "2:none", "tcp_mean", "1.28 Mb/s", "none")
    fairness = measured(outcome, "2:none", "fairness", "1.28 Mb/s", "none")
    evidence = f"average {throughput:.2f} kb/s, fairness {fairness:.3f}"
    return agrees_if(throughput < 1 and 0.095 <= fairness < 0.105, evidence)


def two_suffice(outcome: Outcome) -> Verdict:
    """Every row with two precedences against the one without, and the one with three against it."""
    holds, steps = True, []
    for marker, rate, cir in product(MARKERS, UDP_RATES, CIRS):
        none = row(outcome, f"{marker}:none", rate, "none")
        two, three = row(outcome, f"{marker}:2dp", rate, cir), row(outcome, f"{marker}:3dp", rate, cir)
        holds &= two[0] > none[0] and two[1] >= none[1] + RADICAL_FAIRNESS and near(two, three)
        path = " → ".join(f"{one[1]:.2f}" for one in (none, two, three))
        steps.append(f"{MARKERS[marker]} {rate} {cir}: {path}")
    return agrees_if(holds, "fairness with none → two → three precedences: " + "; ".join(steps))


def cir(outcome: Outcome) -> Verdict:
    """Every row with 192 kb/s against the one with 256 kb/s."""
    holds, steps = True, []
    for marker, part, rate in product(MARKERS, ("2dp", "3dp"), UDP_RATES):
        table = f"{marker}:{part}"
        low, high = (row(outcome, table, rate, cir) for cir in CIRS)
        holds &= low[0] < high[0] and low[1] < high[1]
        holds &= all(
            measured(outcome, table, metric, rate, CIRS[0]) > measured(outcome, table, metric, rate, CIRS[1])
            for metric in ("udp_max", "udp_min")
        )
        steps.append(f"{MARKERS[marker]} {part} {rate}: {low[0]:.1f} → {high[0]:.1f}")
    return agrees_if(holds, "average TCP, kb/s: " + "; ".join(steps))


def tcm_rbm(outcome: Outcome) -> Verdict:
    """Every row of table 2 against the same of table 3."""
    holds, farthest = True, 0.0
    for part, rate in product(("none", "2dp", "3dp"), UDP_RATES):
        for cir in ("none",) if part == "none" else CIRS:
            tcm, rbm = row(outcome, f"2:{part}", rate, cir), row(outcome, f"3:{part}", rate, cir)
            holds &= near(tcm, rbm) and (part == "3dp" or tcm == rbm)
            farthest = max(farthest, abs(rbm[0] / tcm[0] - 1))
    evidence = f"average TCP at most {100 * farthest:.1f} % apart; equal with two precedences"
    return agrees_if(holds, evidence)


def row(outcome: Outcome, table: str, udp_rate: str, cir: str) -> tuple[float, float]:
    """Return the mean TCP throughput and the fairness of a row."""
    throughput = measured(outcome, table, "tcp_mean", udp_rate, cir)
    return throughput, measured(outcome, table, "fairness", udp_rate, cir)


def near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two rows are nearly the same."""
    ratio = other[0] / one[0]
    return 1 / NEAR_FACTOR <= ratio <= NEAR_FACTOR and abs(other[1] - one[1]) <= NEAR_FAIRNESS


def measured(outcome: Outcome, table: str, metric: str, udp_rate: str, cir: str) -> float:
    """Return one measured figure."""
    return outcome.figure(table, metric, udp_rate=udp_rate, cir=cir).measured
