"""The statements of the paper, compared with the measurements."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from perhop import Results
from perhop.study import Figure, Outcome, Verdict, agrees_if, judged

KIB = 1024.0
# Green loss is "near RIO-C" if it differs by at most a tenth of a percent. "No packet" means 0.
NEAR_PERCENT = 0.1
# "About a hundredth of a percent" means within a factor of two.
HUNDREDTH = (0.005, 0.02)
MODELS = {"2": "staggered", "3": "partially overlapped", "4": "overlapped"}
TRANSACTIONS = {"5": "staggered", "6": "partially overlapped", "7": "overlapped"}
SCHEMES = ("rio-c", "wred")
GROSS = ("11:30-55", "11:40-65", "11:45-70", "11:50-75")
# Figure 4 is sampled every 20 ms; a burst lasts 120 ms.
BURST_SAMPLES = 6
# Thresholds of the staggered model, bytes, and the largest relative distance that counts as "around".
DP1_MAX, DP0_MIN, DP0_MAX = 25 * KIB, 25 * KIB, 50 * KIB
AROUND = 0.1


def onoff_rioc_protects(outcome: Outcome) -> Verdict:
    """Judge the green loss of RIO-C in each model: no packet in any replication."""
    lost = {model: green(outcome, table, "rio-c") for table, model in MODELS.items()}
    evidence = "; ".join(f"{model} {figure.measured:.3f} %" for model, figure in lost.items())
    parts = {f"none when {model}": figure.measured == 0 for model, figure in lost.items()}
    return judged(parts, f"green: {evidence}")


def onoff_wred_order(outcome: Outcome) -> Verdict:
    """Judge the green loss of WRED from model to model."""
    lost = [green(outcome, table, "wred") for table in MODELS]
    evidence = ", ".join(
        f"{model} {figure.measured:.2f} %" for model, figure in zip(MODELS.values(), lost, strict=True)
    )
    parts = {
        "drops green in all models": all(figure.measured > 0 for figure in lost),
        "fewest when staggered": lost[0].measured < lost[1].measured,
        "most when overlapped": lost[1].measured < lost[2].measured,
    }
    return judged(parts, f"green: {evidence}")


def onoff_yellow(outcome: Outcome) -> Verdict:
    """Judge the yellow loss of both schemes in the staggered model: within two points of 87 %."""
    rioc, wred = (
        outcome.figure("2", "dropped_percent", scheme=scheme, drop_precedence="dp1").measured
        for scheme in ("rio-c", "wred")
    )
    parts = {"RIO-C some 87 %": abs(rioc - 87) <= 2, "WRED some 87 %": abs(wred - 87) <= 2}
    return judged(parts, f"yellow: RIO-C {rioc:.2f} %, WRED {wred:.2f} %")


def transactions_order(outcome: Outcome) -> Verdict:
    """Judge the transactions per second: RIO-C above WRED by model, the staggered model above others."""
    rates = {
        scheme: [transaction_rate(outcome, table, scheme) for table in TRANSACTIONS] for scheme in SCHEMES
    }
    ahead = all(rioc > wred for rioc, wred in zip(rates["rio-c"], rates["wred"], strict=True))
    staggered_best = all(first > max(others) for first, *others in rates.values())
    evidence = "; ".join(
        f"{model} RIO-C {rioc:.3f}, WRED {wred:.3f}"
        for model, rioc, wred in zip(TRANSACTIONS.values(), rates["rio-c"], rates["wred"], strict=True)
    )
    parts = {"RIO-C ahead in each model": ahead, "each scheme best when staggered": staggered_best}
    return judged(parts, f"1/s and flow: {evidence}")


def transactions_protected(outcome: Outcome) -> Verdict:
    """Judge the green loss of transactions: 0 with RIO-C; WRED below 1 % if staggered, else above 10 %."""
    rioc = [green(outcome, table, "rio-c").measured for table in TRANSACTIONS]
    staggered, *others = wred = [green(outcome, table, "wred").measured for table in TRANSACTIONS]
    evidence = "; ".join(
        f"{model} RIO-C {loss_rioc:.3f} %, WRED {loss_wred:.2f} %"
        for model, loss_rioc, loss_wred in zip(TRANSACTIONS.values(), rioc, wred, strict=True)
    )
    parts = {
        **{
            f"RIO-C none when {model}": loss == 0
            for model, loss in zip(TRANSACTIONS.values(), rioc, strict=True)
        },
        "WRED a fraction of a percent when staggered": 0 < staggered < 1,
        "WRED more than 10 % in the other two": min(others) > 10,
    }
    return judged(parts, f"green: {evidence}")


def bulk_staggered(outcome: Outcome) -> Verdict:
    """Judge the bulk throughput in the staggered model: WRED must reach 80 to 100 % of RIO-C."""
    rioc, wred = (bulk_throughput(outcome, "8", scheme) for scheme in SCHEMES)
    return agrees_if(0.8 * rioc <= wred <= rioc, f"Mb/s: RIO-C {rioc:.2f}, WRED {wred:.2f}")


def bulk_overlapped(outcome: Outcome) -> Verdict:
    """Judge the bulk throughput in the other models: RIO-C must reach at least three times that of WRED."""
    pairs = {table: [bulk_throughput(outcome, table, scheme) for scheme in SCHEMES] for table in ("9", "10")}
    evidence = "; ".join(
        f"table {table} RIO-C {rioc:.2f}, WRED {wred:.2f}" for table, (rioc, wred) in pairs.items()
    )
    return judged(
        {f"three times in table {table}": rioc >= 3 * wred for table, (rioc, wred) in pairs.items()},
        f"Mb/s: {evidence}",
    )


def gross_stagger(outcome: Outcome) -> Verdict:
    """Judge the green loss of WRED as the thresholds rise: only the last step may be near RIO-C.

    RIO-C has no green loss (onoff-rioc-protects).
    """
    lost = [_gross(outcome, table) for table in GROSS]
    falls = all(before > after for before, after in pairwise(lost))
    evidence = ", ".join(
        f"{table.partition(':')[2]} KB {loss:.3f} %" for table, loss in zip(GROSS, lost, strict=True)
    )
    parts = {
        "falls with every step": falls,
        "to about a hundredth of a percent": HUNDREDTH[0] <= lost[-1] <= HUNDREDTH[1],
        "near RIO-C's, none, at the last step only": lost[0] > NEAR_PERCENT >= lost[-1],
    }
    return judged(parts, f"green: {evidence}")


def figure4(outcome: Outcome) -> Verdict:
    """Judge the averages at all times, before and during a burst.

    The averages of RIO-C are judged at all times: the mean of the yellow average must be around its maximum.
    The average of WRED is judged before and during bursts, by the mean of all bursts for each sample.
    """
    rioc, wred = outcome.results("figure 4a rio-c"), outcome.results("figure 4b wred")
    green_peak = series(rioc, 0, "deciding_average").max()
    starts = burst_starts(rioc)
    yellow_before, yellow_during = around(series(rioc, 1, "deciding_average"), starts)
    single_before, single_during = around(series(wred, 0, "deciding_average"), starts)
    yellow = series(rioc, 1, "deciding_average")
    rising = single_during.mean(axis=0)
    over = 100 * (single_during[:, -1] > DP0_MAX).mean()
    parts = {
        "green below its minimum": green_peak < DP0_MIN,
        "yellow around its maximum before a burst": near(yellow_before.mean(), DP1_MAX),
        "yellow around its maximum at all times": near(yellow.mean(), DP1_MAX),
        "WRED's around it until a burst": near(single_before.mean(), DP0_MIN),
        "rising between green's thresholds during it": bool(
            (np.diff(rising) > 0).all() and rising[0] > DP0_MIN and rising[-1] < DP0_MAX
        ),
    }
    return judged(
        parts,
        f"KiB: RIO-C DP0 at most {green_peak / KIB:.1f}, DP1 {yellow_before.mean() / KIB:.1f} before a burst"
        f" and {yellow_during.mean() / KIB:.1f} in it, {yellow.mean() / KIB:.1f} at all times;"
        f" WRED {single_before.mean() / KIB:.1f} before, {single_during.mean() / KIB:.1f} in it on the mean,"
        f" {rising[-1] / KIB:.1f} at its end, above green's maximum at the end of {over:.0f} % of bursts",
    )


def green(outcome: Outcome, table: str, scheme: str) -> Figure:
    """Return the green loss of one scheme."""
    return outcome.figure(table, "dropped_percent", scheme=scheme, drop_precedence="dp0")


def transaction_rate(outcome: Outcome, table: str, scheme: str) -> float:
    """Return the transactions per second and flow of one scheme."""
    return outcome.figure(table, "transactions_per_second_per_flow", scheme=scheme).measured


def bulk_throughput(outcome: Outcome, table: str, scheme: str) -> float:
    """Return the throughput of one scheme, Mb/s."""
    return outcome.figure(table, "throughput", scheme=scheme).measured


def _gross(outcome: Outcome, table: str) -> float:
    """Return the green loss from the two counts, because the last row of the paper has no percentage."""
    dropped = outcome.figure(table, "packets_dropped", drop_precedence="dp0").measured
    return 100 * dropped / outcome.figure(table, "packets_received", drop_precedence="dp0").measured


def near(value: float, threshold: float) -> bool:
    """Whether an average is around a threshold."""
    return abs(value - threshold) <= AROUND * threshold


def series(results: Results, precedence: int, column: str) -> npt.NDArray[np.float64]:
    """Return a column of `queues`, one line per replication, from the end of the warm-up on."""
    rows = results.queues.filter(precedence=precedence).sort("replication", "time_s")
    samples = rows[column].to_numpy().astype(float).reshape(results.replications, -1)
    warm = rows["time_s"].to_numpy().reshape(results.replications, -1)[0] > 10.0
    return samples[:, warm]


def burst_starts(rioc: Results) -> list[npt.NDArray[np.int64]]:
    """Return the first sample of each burst, one array per replication.

    RIO-C's green average changes only while green packets arrive. In a WRED run with the same seed, the
    bursts arrive at the same instants, because each source has its own random stream.
    """
    moves = np.diff(series(rioc, 0, "average"), axis=1) != 0
    starts = [np.flatnonzero(line[1:] & ~line[:-1]) + 2 for line in moves]
    return [begins[begins + BURST_SAMPLES < moves.shape[1]] for begins in starts]


def around(
    averages: npt.NDArray[np.float64], starts: list[npt.NDArray[np.int64]]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the average just before each burst, and the samples of the average during each burst."""
    pairs = list(zip(averages, starts, strict=True))
    before = np.concatenate([line[begins - 1] for line, begins in pairs])
    during = np.concatenate([line[begins[:, None] + np.arange(BURST_SAMPLES)] for line, begins in pairs])
    return before, during
