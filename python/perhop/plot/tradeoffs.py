"""Two metrics of a sweep in one plot, and all metrics at two values of a parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

from perhop.errors import InvalidInputError
from perhop.metrics import better, resolve
from perhop.plot import parameters as swept
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Points
from perhop.plot.parameters import Parameter, rows_of
from perhop.quantity import interval, number, scale
from perhop.tables import Cell, Column, Table, sortable

Direction = Literal["small", "large"]
#: A metric of a class (`voice.delay_p99`), optionally with the desired direction. Without one, the default
#: direction of the metric applies.
Objective = str | tuple[str, Direction]
# The default metrics of a class in a table.
_USUAL = ("throughput", "share", "loss", "delay_mean", "delay_p99", "jitter")


def pareto(
    frame: pl.DataFrame,
    first: Objective,
    second: Objective,
    *,
    caption: str = "",
    units: Mapping[str, str] | None = None,
) -> Chart:
    """Plot two metrics of classes against each other: every point, and the Pareto front.

    `first` and `second` are metrics, for example `"voice.delay_p99"`, or metrics with the desired direction,
    for example `("voice.delay_p99", "small")`.

    Raises:
        InvalidInputError: a name is unknown, a class is missing, or no point has both metrics.

    """
    sides = [_objective(objective) for objective in (first, second)]
    (first_metric, _), (second_metric, _) = sides
    if (first_metric.class_name, first_metric.column) == (second_metric.class_name, second_metric.column):
        raise InvalidInputError(
            "both metrics are the same", "give two, for example voice.delay_p99 and data.loss"
        )
    known = [Parameter.from_frame(frame, path, units or {}) for path in swept.parameters(frame)]
    paths = [parameter.path for parameter in known]
    keys = [*paths, "point"] if "point" in frame.columns else paths
    left, right = (rows_of(frame, metric).select(*keys, "mean") for metric, _ in sides)
    both = left.join(right, on=keys, how="inner", nulls_equal=True, suffix="_second")
    both = both.drop_nulls(["mean", "mean_second"]).sort("mean", "mean_second", maintain_order=True)
    if both.is_empty():
        raise InvalidInputError("no point has both metrics", "give metrics that were measured")
    axes, columns = [], []
    for (metric, wanted), name in zip(sides, ("mean", "mean_second"), strict=True):
        values = both[name].to_list()
        divisor, unit = scale(metric.unit, max(map(abs, values)))
        axes.append(Axis(f"{metric.words.capitalize()} of {metric.class_name}, {wanted} is better", unit))
        columns.append([value / divisor for value in values])
    notes = tuple(
        "\n".join(
            [
                *(
                    f"{parameter.name} = {parameter.shown(parameter.key(row[parameter.path]))}"
                    for parameter in known
                ),
                *(f"{axis.title}: {number(values[at])}" for axis, values in zip(axes, columns, strict=True)),
            ]
        )
        for at, row in enumerate(both.iter_rows(named=True))
    )
    front = _front(columns[0], columns[1], [wanted for _, wanted in sides])
    x, y = ([column[at] for at in front] for column in columns)
    (metric, _), (other, _) = sides
    return Chart(
        kind="pareto",
        title=f"{metric.words.capitalize()} of {metric.class_name} and {other.words} of {other.class_name}",
        x=axes[0],
        y=axes[1],
        marks=(
            Points("all points", "queue", columns[0], columns[1], notes=notes),
            Line("front", "class0", x, y, marked=True, notes=tuple(notes[at] for at in front)),
        ),
        caption=caption,
    )


def _objective(given: Objective) -> tuple[Any, Direction]:
    text, wanted = (given, None) if isinstance(given, str) else given
    metric = resolve(text)
    if metric.class_name is None:
        raise InvalidInputError(f"`{text}` needs a class", f"for example voice.{text}")
    if wanted not in (None, "small", "large"):
        raise InvalidInputError(f"`{wanted}` is not a direction", "give small or large")
    return metric, wanted or better(metric.column)


def _front(first: Sequence[float], second: Sequence[float], wanted: Sequence[Direction]) -> list[int]:
    """Return the points that no other point beats in one metric without a loss in the other, in order."""
    signs = [1.0 if direction == "small" else -1.0 for direction in wanted]
    order = sorted(range(len(first)), key=lambda at: (signs[0] * first[at], signs[1] * second[at]))
    found: list[int] = []
    for at in order:
        if not found or signs[1] * second[at] < signs[1] * second[found[-1]]:
            found.append(at)
    return found


def before_after(
    frame: pl.DataFrame,
    parameter: str,
    first: float | str,
    second: float | str,
    *,
    metrics: Sequence[str] = _USUAL,
    units: Mapping[str, str] | None = None,
) -> Table:
    """Return each class and metric at two values of a parameter, and the difference with its 95 % interval.

    Half the interval of a difference is the root of the sum of the squares of both halves. There is a row for
    each combination of the other parameters.

    Raises:
        InvalidInputError: a name is unknown, or the parameter does not have a value.

    """
    along = Parameter.from_frame(frame, parameter, units or {})
    ends = [_as_parameter_value(along, value) for value in (first, second)]
    others = [path for path in swept.parameters(frame) if path != parameter]
    row_parameters = [Parameter.from_frame(frame, path, units or {}) for path in swept.several(frame, others)]
    rows: list[list[Cell]] = []
    for text in metrics:
        what = resolve(text)
        measured = set(frame["metric"].unique()) | {"share_percent"}
        if what.column not in measured:
            continue
        found = rows_of(frame, what)
        before, after = (found.filter(pl.col(parameter) == end) for end in ends)
        pairs = before.join(after, on=["class", *others], how="inner", nulls_equal=True, suffix="_after")
        for row in pairs.iter_rows(named=True):
            where = [
                Cell(row_parameter.shown(row_parameter.key(row[row_parameter.path])))
                for row_parameter in row_parameters
            ]
            rows.append([*where, Cell(row["class"]), *_compared(what.words, what.unit, row)])
    rows.sort(key=lambda row: [cell.text for cell in row[: len(row_parameters) + 1]])
    heads = [
        *(Column(row_parameter.name) for row_parameter in row_parameters),
        Column("class"),
        Column("metric"),
    ]
    heads += [Column(f"{along.name} = {along.shown(end)}", numeric=True) for end in ends]
    heads.append(Column("difference", numeric=True))
    return Table(
        f"{along.shown(ends[0])} and {along.shown(ends[1])} of {along.name}, ± 95 % confidence", heads, rows
    )


def _compared(words: str, unit: str, row: Mapping[str, Any]) -> list[Cell]:
    """Return the name of a metric, both its values and the difference, in one unit."""
    sides = [(row[f"mean{end}"], row[f"low{end}"], row[f"high{end}"]) for end in ("", "_after")]
    means = [mean for mean, _, _ in sides if mean is not None]
    divisor, shown = scale(unit, max(map(abs, means), default=0.0))
    cells = [Cell(f"{words} ({shown})" if shown else words)]
    for mean, low, high in sides:
        ends = None if low is None else (low, high)
        cells.append(Cell(interval(mean, ends, divisor), sortable(mean)))
    if len(means) < 2:
        return [*cells, Cell(interval(None, None))]
    difference = means[1] - means[0]
    halves = [(high - low) / 2 for _, low, high in sides if low is not None]
    half = math.hypot(*halves)
    ends = (difference - half, difference + half) if len(halves) == 2 else None
    return [*cells, Cell(interval(difference, ends, divisor), sortable(difference))]


def _as_parameter_value(along: Parameter, value: float | str) -> float | str:
    """Return a value in the form of the parameter; raises `InvalidInputError` for other values."""
    if value not in along.values:
        known = ", ".join(map(along.shown, along.values[:12]))
        raise InvalidInputError(f"`{along.path}` does not have the value {value}", f"values: {known}")
    return value
