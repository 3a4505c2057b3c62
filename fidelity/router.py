"""perhop compared with real routers: their output, and delays of one router that were read off plots.

The delays are those of studies/ef-star. Its scenario contains the measured path; two of its numbers are
fitted to the seven readings at the highest service rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from fidelity.comparison import Comparison, Rule, Value, estimate
from fidelity.document import Part
from fidelity.readings import CASES, READINGS, Reading, found_by_perhop
from fidelity.reasons import reason
from fidelity.simulating import SEED, Effort
from perhop.study import find

PEER = "router"
STUDY = "ef-star"
TABLES = {"router-wfq": "figure A.1", "router-priority": "figure A.3", "router-priority-1024": "figure A.3"}
SOURCE = "Andreozzi 2001, {}, read off the plot"
QUANTITIES = {"router_delay_ms": "delay, mean", "router_ipdv_ms": "IPDV, mean of the size"}
READ = "reading error"
BOUNDS: dict[str, Literal["at most", "at least"]] = {"at-most": "at most", "at-least": "at least"}


def compare(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with the delays of a router, then with the output of routers."""
    yield from compare_delays(effort)
    yield from compare_shown()


def compare_delays(effort: Effort) -> Iterator[Comparison]:
    """Generate the comparisons with delays."""
    study = find(STUDY)
    for table in study.tables:
        if table.id not in TABLES:
            continue
        for case in table.cases:
            results = study.scenario(case.name).run(seed=SEED, replications=effort.replications)
            for published in study.figures_of(table, case):
                samples = getattr(study.measures, published.metric)(results, published.case)
                yield Comparison(
                    PEER,
                    "ef-star's router",
                    ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in published.case.items()),
                    QUANTITIES[published.metric],
                    published.unit,
                    Value(published.value),
                    SOURCE.format(TABLES[table.id]),
                    estimate(samples),
                    Rule(chance=True, absolute=published.reading_error or 0.0, what=READ),
                )


def compare_shown() -> Iterator[Comparison]:
    """Generate the comparisons with the output of routers. Tests compare the texts."""
    for reading in READINGS:
        if isinstance(reading.values["value"], str):
            continue
        found = [float(text) for text in found_by_perhop(reading)]
        yield _shown(reading, max(found, key=lambda number: abs(number - reading.wanted)))


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
        "Delays come from the testbed of `studies/ef-star`. They are read from plots to about 2 % of full\n"
        "scale. The path of the testbed adds a constant and a time for each byte of a frame to the delay\n"
        "of the router. These two values are fitted to the seven readings at 1450 kb/s, and added to all\n"
        "delays of perhop. Counters and settings come from `tests/readings/routers-show.toml`; each set\n"
        "is compared with one run."
    )
    return Part(PEER, "Routers", f"{about}\n{_distances(found)}", found)


def _distances(found: Sequence[Comparison]) -> str:
    """Count the delays that were read off plots by their distance in multiples of the reading error."""
    read = [
        comparison.distance / comparison.rule.absolute for comparison in found if comparison.rule.what == READ
    ]
    near = ", ".join(
        f"{sum(distance <= limit for distance in read)} within {limit}" for limit in (1, 2, 5, 10)
    )
    return f"Of {len(read)} delays, by the number of reading errors: {near}."
