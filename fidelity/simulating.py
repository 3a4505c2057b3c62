"""Create scenarios and run them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

import perhop
from perhop.results import Results

#: The seed of every run, so that repeated runs on a machine give the same page.
SEED = 1


@dataclass(frozen=True)
class Effort:
    """The length of runs: simulated seconds are multiplied by `scale`."""

    replications: int = 8
    scale: float = 1.0

    def seconds(self, usual: float) -> str:
        """Return a simulated time; at least one second."""
        return f"{max(1, round(usual * self.scale))}s"


WHOLE = Effort()
#: For tests: short runs have wider intervals, so the rules by chance allow larger differences.
QUICK = Effort(replications=3, scale=0.1)


def one_link(name: str, rate: str, queueing: dict[str, Any], traffic: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a scenario of two hosts and a link, whose policy is `queueing`; the caller adds `duration`."""
    return {
        "perhop": 1,
        "name": name,
        "hosts": {"a": {}, "b": {}},
        "links": [{"between": ["a", "b"], "rate": rate, "interfaces": {"a": {"output": "queue"}}}],
        "policies": {"queue": {"queueing": queueing}},
        "traffic": [{"from": "a", "to": "b", **entry} for entry in traffic],
    }


def simulate(scenario: dict[str, Any] | perhop.Scenario, effort: Effort) -> Results:
    """Run a scenario with the replications of an effort, on all processors."""
    if isinstance(scenario, dict):
        scenario = perhop.Scenario(scenario)
    return scenario.run(seed=SEED, replications=effort.replications, threads=os.cpu_count() or 1)


def of_class(results: Results, name: str, column: str) -> list[float]:
    """Return a column of a class, one number per replication."""
    rows = results.classes.filter(pl.col("class") == name).sort("replication")
    return [float(value) for value in rows[column]]


def by_replication(table: pl.DataFrame, value: Callable[[pl.DataFrame], float]) -> list[float]:
    """Return `value` of the rows of each replication."""
    numbers = sorted(table["replication"].unique().to_list())
    return [float(value(table.filter(pl.col("replication") == number))) for number in numbers]


def mean_of(rows: pl.DataFrame, column: str) -> float:
    """Return the mean of a column of numbers."""
    return float(rows[column].cast(pl.Float64).to_numpy().mean())


def sum_of(rows: pl.DataFrame, column: str) -> float:
    """Return the sum of a column of numbers."""
    return float(rows[column].cast(pl.Float64).to_numpy().sum())
