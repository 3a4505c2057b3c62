"""Plots that compare: shares against a swept parameter, published against measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError
from perhop.plot.captions import caption
from perhop.plot.chart import Axis, Chart, Line, Mark, Points
from perhop.plot.palette import STROKES, of_classes
from perhop.results import Results

if TYPE_CHECKING:
    from perhop.study.report import Report

# What the parts of a whole can be taken of: column of `classes`, and what it is called.
_PARTS = {
    "throughput_bps": "throughput",
    "delivered_packets": "packets delivered",
    "dropped_packets": "drops",
}


def share(runs: Sequence[Results], parameter: str, *, of: str = "throughput_bps") -> Chart:
    """Plot the share that each class has of the throughput against a parameter that differs between runs.

    `parameter` is the path of a value in the scenarios, as for `perhop run --set`. Bands are 95 % confidence
    intervals over the replications of each run.
    """
    points = sorted(((*_value(run, parameter), run) for run in runs), key=lambda point: point[0])
    if len({value for value, *_ in points}) < 2:
        raise InvalidInputError(f"{parameter} has the same value in all runs", "give runs that differ in it")
    marks: list[Mark] = []
    names = {name: None for *_, run in points for name in run.classes["class"]}
    divisor, unit = _scaled(points)
    for name, role in of_classes(names).items():
        rows = [(value / divisor, *_share(run, str(name), of)) for value, _, run in points]
        x, mean, low, high = (list(column) for column in zip(*rows, strict=True))
        banded = all(run.replications > 1 for *_, run in points)
        stroke = STROKES.get(role, "solid")
        marks.append(
            Line(str(name), role, x, mean, low if banded else None, high if banded else None, stroke)
        )
        marks.append(Points(f"{name}, measured", role, x, mean))
    last = points[-1][2]
    said = "bands: 95 % confidence" if last.replications > 1 else "one replication: no confidence band"
    return Chart(
        kind="share",
        title=f"Share of {_PARTS.get(of, of)} against {parameter}",
        x=Axis(parameter, unit),
        y=Axis(f"Share of {_PARTS.get(of, of)}", "%", least=0.0, greatest=100.0),
        marks=tuple(marks),
        caption=caption(last, said),
    )


def published(report: Report, table: str, metric: str) -> Chart:
    """Plot the published figures of one table beside the measured ones."""
    rows = [one for one in report.figures if (one.table, one.metric) == (table, metric)]
    if not rows:
        raise InvalidInputError(f"{report.study.id} has no published {metric} in table {table}")
    heading = next(one.heading for one in report.study.tables if one.id == table)
    return published_chart(
        [one.to_json() for one in rows],
        heading,
        f"seed {report.seed}; {len(report.study.assumptions)} assumptions: "
        + ", ".join(f"{one.name} = {one.value}" for one in report.study.assumptions)
        + ".",
    )


def published_chart(rows: Sequence[Mapping[str, Any]], heading: str, said: str) -> Chart:
    """Plot published figures beside measured ones, given as they stand in `study.json`."""
    # The first is drawn at the top.
    rows = list(reversed(rows))
    metric, unit = str(rows[0]["metric"]).replace("_", " "), str(rows[0]["unit"])
    names = tuple(" ".join(row["case"].values()) or str(row["table"]) for row in rows)
    measured = [math.nan if row["measured"] is None else float(row["measured"]) for row in rows]
    ends = [row["ci95"] or (value, value) for row, value in zip(rows, measured, strict=True)]
    places = list(range(len(rows)))
    replications = rows[0]["replications"]
    times = (
        f"mean of {replications} replications with 95 % confidence" if replications > 1 else "1 replication"
    )
    return Chart(
        kind="published",
        title=f"{heading}: {metric}",
        x=Axis(metric.capitalize(), unit, least=0.0),
        y=Axis("", categories=names),
        marks=(
            Points("published", "published", [float(row["published"]) for row in rows], places, hollow=True),
            Points(
                "measured", "measured", measured, places, [low for low, _ in ends], [high for _, high in ends]
            ),
        ),
        caption=f"published: outlined; measured: filled, {times}; {said}",
    )


def _value(run: Results, parameter: str) -> tuple[float, str]:
    """Return the value of a parameter in a run as a number in its base unit."""
    from perhop import _core

    found: Any = run.scenario
    for step in parameter.split("."):
        try:
            found = _member(found, step)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{parameter}: the scenario of {run.summary['scenario']!r} has no {step}",
                "give a path as for `perhop run --set`, as in links.0.rate",
            ) from error
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return float(found), ""
    quantity = _core.quantity(str(found))
    if quantity is None:
        raise InvalidInputError(
            f"{parameter} is {found!r}, which is no number", "sweep a quantity or a number"
        )
    return quantity


def _member(found: Any, step: str) -> Any:  # noqa: ANN401 - whatever a scenario holds
    if isinstance(found, list) and not step.isdigit():
        return (
            next(one for one in found if one.get("name") == step)
            if any(one.get("name") == step for one in found)
            else found[int(step)]
        )
    return found[int(step)] if isinstance(found, list) else found[step]


def _scaled(points: list[tuple[float, str, Results]]) -> tuple[float, str]:
    from perhop.quantity import scale

    return scale(points[0][1], max(value for value, *_ in points))


def _share(run: Results, name: str, of: str) -> tuple[float, float, float]:
    """Return mean and confidence interval of a class's share in percent."""
    import polars as pl

    from perhop import _core

    totals = run.classes.group_by("replication", maintain_order=True).agg(
        part=pl.col(of).filter(pl.col("class").cast(pl.String) == name).sum(), whole=pl.col(of).sum()
    )
    samples = (100.0 * totals["part"] / totals["whole"]).to_list()
    interval = _core.confidence_95(samples)
    return interval or (samples[0], samples[0], samples[0])
