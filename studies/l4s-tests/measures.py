"""The measured shares of two flows."""

from __future__ import annotations

from perhop.results import Results


def first_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of the first flow in the goodput; per replication."""
    return [100 * first / (first + second) for first, second in rates(results)]


def ratio(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the ratio of the first flow's goodput to the second's."""
    return [first / second for first, second in rates(results)]


def prague_over_cubic(results: Results, case: dict[str, str]) -> list[float]:
    """Return the ratio of the goodput of Prague, which is the first flow, to that of CUBIC."""
    return ratio(results, case)


def rates(results: Results) -> list[tuple[float, float]]:
    """Return the goodput of both flows, b/s; per replication."""
    assert results.tcp is not None
    found = []
    for number in range(results.replications):
        goodput = {
            name: float(results.tcp.filter(**{"class": name, "replication": number})["goodput_bps"].sum())
            for name in ("first", "second")
        }
        found.append((goodput["first"], goodput["second"]))
    return found
