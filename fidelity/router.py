"""perhop beside real routers: what they printed, and the delays of one that were read off plots.

Delays are those of the testbed of studies/ef-star. Between the sender and the receiver there is more than the
router: a constant, and further links, whose time grows with the frame. Both are fitted to the readings at the
highest service rate and then hold for all others: two numbers, least squares.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import perhop
from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.readings import CASES, READINGS, Reading, found_by_perhop
from fidelity.reasons import reason
from fidelity.simulating import SEED, Effort, of_class

PEER = "router"
ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "readings" / "ef-router.csv"
SCENARIO = ROOT / "studies" / "ef-star" / "star.perhop.yaml"
SOURCE = "Andreozzi 2001, figure {}, read off the plot"
# What the ring of this router is, as changes of the scenario: the one place to change it.
RING: dict[str, Any] = {}
READ = "reading error"
# The readings that the path is fitted to.
FITTED = ("A1", "1450")
COLUMNS = {"owd_mean": "delay_mean_s", "ipdv_mean": "ipdv_mean_abs_s"}
BOUNDS: dict[str, Literal["at most", "at least"]] = {"at-most": "at most", "at-least": "at least"}
# Ethernet header and FCS, which the frame sizes count.
ETHERNET_BYTES = 18


@dataclass(frozen=True)
class Delay:
    """A delay of the router, read off a plot; microseconds."""

    figure: str
    scheduler: str
    service_rate: str
    frame: int
    best_effort: str
    metric: str
    value: float
    reading_error: float

    @property
    def fitted(self) -> bool:
        """Whether the path is fitted to it."""
        return (self.figure, self.service_rate) == FITTED

    def changes(self) -> dict[str, Any]:
        """Return the changes of the scenario for it."""
        rate = ["no bandwidth", "no queue-limit", "priority 300"]
        if self.scheduler == "wfq":
            rate = [f"bandwidth {self.service_rate}"]
        return {
            "traffic.ef.source.cbr.packet.ip": f"{self.frame - ETHERNET_BYTES}B",
            "traffic.be.source.cbr.packet.payload": f"{self.best_effort}B",
            "routers.star.configuration.add": ["policy-map wan", "class ef", *rate],
            **RING,
        }


def delays() -> list[Delay]:
    """Return the delays that were read off plots."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [
            Delay(
                row["figure"],
                row["scheduler"],
                row["ef_bw_kbps"],
                int(row["ef_frame_bytes"]),
                row["be_bytes"],
                row["metric"],
                float(row["value"]),
                float(row["reading_error"]),
            )
            for row in rows
        ]


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with the delays of a router, then with what routers printed."""
    yield from compare_delays(effort)
    yield from compare_shown()


def compare_delays(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with delays."""
    wanted = delays()
    found = {one: _simulated(one, effort) for one in wanted}
    constant, slope = path_of(found)
    for one, samples in found.items():
        added = constant + slope * one.frame if one.metric == "owd_mean" else 0.0
        measured = estimate([sample + added for sample in samples])
        fit = "; the path is fitted to it" if one.fitted else ""
        case = f"EF {one.frame} B, best effort {one.best_effort} B"
        case += f", {one.service_rate} kb/s for EF" if one.service_rate else ", strict priority"
        yield Comparison(
            PEER,
            "ef-star's router",
            case + fit,
            "delay, mean" if one.metric == "owd_mean" else "IPDV, mean of the size",
            "µs",
            Value(one.value),
            SOURCE.format(one.figure),
            measured,
            Rule(chance=True, absolute=one.reading_error, what=READ),
        )


def path_of(found: Mapping[Delay, list[float]]) -> tuple[float, float]:
    """Return what the path adds: a constant in µs, and µs for each byte of an EF frame; least squares."""
    pairs = [(one.frame, one.value - float(np.mean(samples))) for one, samples in found.items() if one.fitted]
    slope, constant = np.polyfit([frame for frame, _ in pairs], [left for _, left in pairs], 1)
    return float(constant), float(slope)


def _simulated(one: Delay, effort: Effort) -> list[float]:
    """Return the simulated value of a delay in µs, one per replication."""
    scenario = perhop.Scenario.load(SCENARIO, one.changes())
    results = scenario.run(seed=SEED, replications=effort.replications)
    return [1e6 * value for value in of_class(results, "ef", COLUMNS[one.metric])]


def compare_shown() -> Iterator[Comparison]:
    """Generate the comparisons with what routers printed; texts are left to the tests."""
    for reading in READINGS:
        if isinstance(reading.values["value"], str):
            continue
        found = [float(one) for one in found_by_perhop(reading)]
        yield _shown(reading, max(found, key=lambda one: abs(one - reading.wanted)))


def _shown(reading: Reading, found: float) -> Comparison:
    values, case = reading.values, CASES[reading.case]
    what = "" if values["kind"] == "configured" else "5 % or 2 points"
    return Comparison(
        PEER,
        reading.case,
        case["router"],
        values["quantity"],
        "b/s" if values["unit"] == "kb/s" else values["unit"],
        Value(reading.wanted),
        case["source"],
        Value(found),
        Rule(absolute=reading.width, what=what, bound=BOUNDS.get(values["kind"])),
        reason("router readings", case["source"]) if values.get("departs") else None,
    )


def part(effort: Effort) -> Part:
    """Return the comparisons with routers as a part of the page."""
    found = list(compare(effort))
    about = (
        "Delays are those of the testbed of `studies/ef-star`, read off plots to about 2 % of full scale\n"
        "(`tests/readings/ef-router.csv`). What the path adds to the router is a constant and a time for\n"
        "each byte of a frame: fitted to the seven readings at 1450 kb/s, and added to all. Counters and\n"
        "settings are those of `tests/readings/routers-show.toml`, beside one run each."
    )
    return Part(PEER, "Routers", f"{about}\n{_distances(found)}", found)


def _distances(found: Sequence[Comparison]) -> str:
    """Say how many of the delays that were read off plots are how many reading errors away."""
    read = [one.distance / one.rule.absolute for one in found if one.rule.what == READ]
    near = ", ".join(f"{sum(one <= limit for one in read)} within {limit}" for limit in (1, 2, 5, 10))
    return f"Of {len(read)} delays {near} reading errors."
