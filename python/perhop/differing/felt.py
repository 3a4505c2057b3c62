"""The effect of a change on each class: loss, delay and throughput in short simulations under one load."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perhop import _core
from perhop.batch import Job, simulate_all
from perhop.limits import processors
from perhop.results import Results
from perhop.scenario import Scenario

#: The maximum packet-hops of all replications of one side without `--simulate`.
MOST_PACKET_HOPS = 2_000_000
#: Replications of each side, and the minimum for useful intervals.
_REPLICATIONS, _FEWEST = 5, 3
# The suffix of the names of classes of replies.
_BACK = " (back)"
# A smaller change is not reported: percentage points of loss, seconds of delay, and relative change.
_LEAST_LOSS, _LEAST_DELAY_S, _LEAST_PART = 0.1, 1e-3, 0.05


@dataclass(frozen=True)
class FeltFigure:
    """A figure of a class under the old and the new configuration: means with 95 % intervals."""

    before: dict[str, Any]
    after: dict[str, Any]
    #: Whether the difference is significant and large enough to report.
    differs: bool


@dataclass(frozen=True)
class FeltClass:
    """The figures of a class."""

    name: str
    loss_percent: FeltFigure
    delay_p99_s: FeltFigure
    throughput_bps: FeltFigure

    @property
    def differs(self) -> bool:
        """Whether the change affects the class."""
        return any(figure.differs for figure in (self.loss_percent, self.delay_p99_s, self.throughput_bps))

    @property
    def weight(self) -> float:
        """The size of the change, for the order of classes: points of loss, and doublings of delay."""
        loss, delay = self.loss_percent, self.delay_p99_s
        weight = _apart(loss) if loss.differs else 0.0
        means = (delay.before["mean"], delay.after["mean"])
        return weight + (10.0 * abs(math.log2(means[1] / means[0])) if delay.differs and all(means) else 0.0)


@dataclass(frozen=True)
class Felt:
    """The effect of a change on each class; `reason` is the reason for a missing simulation."""

    classes: list[FeltClass] = field(default_factory=list)
    replications: int = 0
    seed: int = 0
    reason: str | None = None
    #: `quiet`, `busy` or `overload`: the load of each class relative to its guaranteed rate.
    load: str = "busy"


def felt_briefly(before: Scenario, after: Scenario, *, seed: int | None, replications: int | None) -> Felt:
    """Simulate both sides if that takes few packet-hops; otherwise return a reason instead of figures.

    Raises:
        ScenarioError: a scenario is not valid.

    """
    hops = max(_core.packet_hops(scenario.to_json(), scenario.base) for scenario in (before, after))
    affordable = int(MOST_PACKET_HOPS / max(hops, 1.0))
    count = replications or min(_REPLICATIONS, affordable)
    if count > affordable or count < min(_FEWEST, replications or _FEWEST):
        needed = hops * (replications or _FEWEST)
        words = f"{needed / 1e6:,.1f} million packet-hops" if math.isfinite(needed) else "unknown packet-hops"
        return Felt(reason=f"the simulation takes about {words}; above 2 million, give --simulate")
    chosen = int(before["seed"]) if seed is None else seed
    jobs = [Job(scenario, chosen, count) for scenario in (before, after)]
    done = simulate_all(jobs, processors(), None)
    return felt_in(*(done[job.key] for job in jobs))


def felt_in(before: Results, after: Results) -> Felt:
    """Return the figures of each class in the results of both sides."""
    groups = [{row["class"]: row for row in results.summary["classes"]} for results in (before, after)]
    classes = [
        FeltClass(
            name,
            loss_percent=_figure(*(side[name]["dropped_percent"] for side in groups), least=_LEAST_LOSS),
            delay_p99_s=_figure(*(side[name]["delay_p99_s"] for side in groups), least=_LEAST_DELAY_S),
            throughput_bps=_figure(*(side[name]["throughput_bps"] for side in groups), least=0.0),
        )
        for name in groups[0]
        if name in groups[1] and not name.endswith(_BACK)
    ]
    return Felt(classes, before.replications, before.seed)


def _figure(before: Mapping[str, Any], after: Mapping[str, Any], *, least: float) -> FeltFigure:
    first, second = ({"mean": figure["mean"], "ci95": figure["ci95"]} for figure in (before, after))
    if first["mean"] is None or second["mean"] is None:
        return FeltFigure(first, second, differs=first["mean"] is not second["mean"])
    halves = [
        (figure["ci95"][1] - figure["ci95"][0]) / 2 if figure["ci95"] else 0.0 for figure in (first, second)
    ]
    needed = max(math.hypot(*halves), least, _LEAST_PART * max(first["mean"], second["mean"]))
    return FeltFigure(first, second, differs=abs(second["mean"] - first["mean"]) > needed)


def _apart(figure: FeltFigure) -> float:
    return abs(float(figure.after["mean"] or 0.0) - float(figure.before["mean"] or 0.0))
