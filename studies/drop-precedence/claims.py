"""The statements of the paper, compared with the measurements."""

from __future__ import annotations

from itertools import product

from perhop.study import Outcome, Verdict, judged

MARKERS = {"2": "TCM", "3": "RBM"}
UDP_RATES = ("1.28 Mb/s", "128 kb/s")
CIRS = ("192 kb/s", "256 kb/s")
# The largest differences that count as "adds nothing" and "nearly the same".
NEAR_FACTOR, NEAR_FAIRNESS = 1.1, 0.1
# "Radically" means that fairness rises by at least this difference and throughput at least doubles. Without
# precedences, fairness is 0.1 if UDP floods the link, otherwise 0.6.
RADICAL_FAIRNESS, RADICAL_FACTOR = 0.2, 2.0
METRICS = ("tcp_max", "tcp_min", "tcp_mean", "udp_max", "udp_min", "fairness")


def none_starves(outcome: Outcome) -> Verdict:
    """Judge the rows without precedences and with 1.28 Mb/s of UDP per group, in both tables."""
    rows = [row(outcome, f"{marker}:none", "1.28 Mb/s", "none") for marker in MARKERS]
    parts = {
        "average below 1 kb/s": all(throughput < 1 for throughput, _ in rows),
        "fairness about 0.10": all(0.095 <= fairness < 0.105 for _, fairness in rows),
    }
    return judged(parts, f"average {rows[0][0]:.2f} kb/s, fairness {rows[0][1]:.3f}")


def two_suffice(outcome: Outcome) -> Verdict:
    """Compare every row with two precedences with the rows without precedences and with three."""
    fair = third = True
    least, steps = dict.fromkeys(UDP_RATES, float("inf")), []
    for marker, rate, cir in product(MARKERS, UDP_RATES, CIRS):
        none = row(outcome, f"{marker}:none", rate, "none")
        two_precedences, three = (
            row(outcome, f"{marker}:2dp", rate, cir),
            row(outcome, f"{marker}:3dp", rate, cir),
        )
        fair &= two_precedences[1] >= none[1] + RADICAL_FAIRNESS
        third &= near(two_precedences, three)
        least[rate] = min(least[rate], two_precedences[0] / none[0])
        path = " → ".join(f"{row[1]:.2f}" for row in (none, two_precedences, three))
        steps.append(f"{MARKERS[marker]} {rate} {cir}: {path}")
    parts = {
        **{
            f"TCP with {rate} of UDP radically more": factor >= RADICAL_FACTOR
            for rate, factor in least.items()
        },
        "fairness radically better": fair,
        "a third adds nothing": third,
    }
    more = ", ".join(f"{factor:.2f} times with {rate}" for rate, factor in least.items())
    evidence = f"average TCP at least {more} of UDP (in the paper 95 and 1.17); fairness with none → two →"
    return judged(parts, f"{evidence} three precedences: " + "; ".join(steps))


def cir(outcome: Outcome) -> Verdict:
    """Compare every row with 192 kb/s with the row with 256 kb/s."""
    tcp = fair = udp = True
    steps = []
    for marker, part, rate in product(MARKERS, ("2dp", "3dp"), UDP_RATES):
        table = f"{marker}:{part}"
        low, high = (row(outcome, table, rate, cir) for cir in CIRS)
        tcp &= low[0] < high[0]
        fair &= low[1] < high[1]
        udp &= all(
            measured(outcome, table, metric, rate, CIRS[0]) > measured(outcome, table, metric, rate, CIRS[1])
            for metric in ("udp_max", "udp_min")
        )
        steps.append(f"{MARKERS[marker]} {part} {rate}: {low[0]:.1f} → {high[0]:.1f}")
    parts = {"TCP throughput rises": tcp, "fairness rises": fair, "UDP throughput falls": udp}
    return judged(parts, "average TCP, kb/s: " + "; ".join(steps))


def tcm_rbm(outcome: Outcome) -> Verdict:
    """Compare every row of table 2 with the same row of table 3."""
    alike = same = True
    farthest = 0.0
    for part, rate in product(("none", "2dp", "3dp"), UDP_RATES):
        for cir in ("none",) if part == "none" else CIRS:
            tcm, rbm = row(outcome, f"2:{part}", rate, cir), row(outcome, f"3:{part}", rate, cir)
            alike &= near(tcm, rbm)
            same &= part == "3dp" or all(
                measured(outcome, f"2:{part}", metric, rate, cir)
                == measured(outcome, f"3:{part}", metric, rate, cir)
                for metric in METRICS
            )
            farthest = max(farthest, abs(rbm[0] / tcm[0] - 1))
    evidence = f"average TCP at most {100 * farthest:.1f} % apart"
    evidence += "; with two precedences every figure is the same" if same else ""
    return judged({"every row nearly the same": alike, "one marker with two precedences": same}, evidence)


def row(outcome: Outcome, table: str, udp_rate: str, cir: str) -> tuple[float, float]:
    """Return the mean TCP throughput and the fairness of a row."""
    throughput = measured(outcome, table, "tcp_mean", udp_rate, cir)
    return throughput, measured(outcome, table, "fairness", udp_rate, cir)


def near(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Whether two rows are nearly the same, by throughput and by fairness."""
    ratio = second[0] / first[0]
    return 1 / NEAR_FACTOR <= ratio <= NEAR_FACTOR and abs(second[1] - first[1]) <= NEAR_FAIRNESS


def measured(outcome: Outcome, table: str, metric: str, udp_rate: str, cir: str) -> float:
    """Return one measured figure."""
    return outcome.figure(table, metric, udp_rate=udp_rate, cir=cir).measured
