"""The number of cells that agree with Linux, and the order of its disciplines."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from perhop.study import Figure, Outcome, Verdict, judged

#: The fraction of the cells that must agree.
MOST = 0.9
# Disciplines whose waits differ by less than this time have no order.
EQUAL_MS = 1.0


def cells(outcome: Outcome) -> Verdict:
    """Judge the number of cells that agree: of all cells, of each metric, and of each discipline."""
    figures = [figure for figure in outcome.figures if figure.table != "windows"]
    groups = {"all": figures}
    for figure in figures:
        groups.setdefault(figure.metric.replace("_", " "), []).append(figure)
    for figure in figures:
        groups.setdefault(figure.case["discipline"], []).append(figure)
    parts = {name: near(group) >= MOST * len(group) for name, group in groups.items()}
    return judged(parts, ", ".join(f"{name} {near(group)} of {len(group)}" for name, group in groups.items()))


def constant_rate(outcome: Outcome) -> Verdict:
    """Judge the cells of the sender that does not respond, by discipline."""
    return every(of_table(outcome, "cbr12"), "discipline")


def hosts_of_today(outcome: Outcome) -> Verdict:
    """Judge the cells of flows with SACK, by congestion control."""
    figures = [*of_table(outcome, "four-flows"), *of_table(outcome, "fq_pie")]
    return every([figure for figure in figures if figure.case["flows"].endswith("-on")], "flows")


def without_sack(outcome: Outcome) -> Verdict:
    """Judge the cells of flows without SACK, by discipline."""
    figures = of_table(outcome, "four-flows")
    return every([figure for figure in figures if figure.case["flows"].endswith("-plain")], "discipline")


def call(outcome: Outcome) -> Verdict:
    """Judge the cells of the call and of the other flows, by discipline."""
    return every(of_table(outcome, "call"), "discipline")


def order(outcome: Outcome) -> Verdict:
    """Judge the order of the disciplines by their median wait."""
    parts, evidence = {}, []
    for flows in ("reno-on", "cubic-on"):
        for rtt in ("20", "100"):
            waits = [
                figure
                for figure in of_table(outcome, "four-flows")
                if figure.metric == "wait_p50_ms"
                and (figure.case["flows"], figure.case["rtt_ms"]) == (flows, rtt)
            ]
            agreements = [
                (first.published < second.published) is (first.measured < second.measured)
                for first, second in combinations(waits, 2)
                if abs(first.published - second.published) > EQUAL_MS
            ]
            parts[f"{flows}, {rtt} ms"] = all(agreements)
            evidence.append(f"{flows}, {rtt} ms: {sum(agreements)} of {len(agreements)} pairs")
    return judged(parts, "; ".join(evidence))


def windows(outcome: Outcome) -> Verdict:
    """Judge the windows of one flow over time, by kind of flow."""
    return every(of_table(outcome, "windows"), "flows")


def every(figures: list[Figure], column: str) -> Verdict:
    """Judge whether all cells agree, for each value of a column."""
    groups: dict[str, list[Figure]] = {}
    for figure in figures:
        groups.setdefault(figure.case[column], []).append(figure)
    parts = {name: near(group) == len(group) for name, group in groups.items()}
    return judged(parts, ", ".join(f"{name} {near(group)} of {len(group)}" for name, group in groups.items()))


def near(figures: Iterable[Figure]) -> int:
    """Return the number of cells that agree."""
    return sum(figure.verdict == "agrees" for figure in figures)


def of_table(outcome: Outcome, table: str) -> list[Figure]:
    """Return the figures of a table."""
    return [figure for figure in outcome.figures if figure.table == table]
