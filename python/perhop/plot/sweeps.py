"""Plots of sweeps from a tidy frame: a row for each point, class and metric, with mean, `low` and `high`.

A frame has the columns `class`, `metric`, `unit`, `mean`, `low`, `high` (the 95 % confidence interval, null
with one replication) and one column for each swept parameter, numbers in base units. Metrics have the names
of `perhop.metrics`: `delay_p99`, `loss`, `share`. A parameter has the unit of the scenario language; `units`
has other units by path, such as `packets` for the length of a queue.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import polars as pl

from perhop.errors import InvalidInputError
from perhop.metrics import Metric
from perhop.palette import STROKES, of_classes
from perhop.plot import parameters as swept
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Cells, Line, Parallel, Points
from perhop.plot.parameters import Parameter, metric_of, paths_of, rows_of
from perhop.quantity import number, scale

# Limits for readability: charts, and colors in one chart.
_MOST_CHARTS, _MOST_COLORS = 50, 8
_STROKES = tuple(dict.fromkeys(STROKES.values()))


def against(
    frame: pl.DataFrame,
    parameter: str,
    metric: str = "throughput_bps",
    *,
    series: str | None = None,
    classes: Sequence[str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    caption: str = "",
    units: Mapping[str, str] | None = None,
) -> list[Chart]:
    """Plot a metric against a parameter, with bands of 95 % confidence.

    Each class has a color. With `series`, another parameter, each value of that parameter has a color and
    each class a stroke. There is a chart for each combination of the values of the remaining parameters.

    Raises:
        InvalidInputError: a name is unknown, or there would be too many charts, colors or strokes.

    """
    what = metric_of(metric)
    rows = rows_of(frame, what)
    rows = rows if classes is None else swept.of_classes(rows, classes)
    along = Parameter.from_frame(frame, parameter, units or {})
    colored = Parameter.from_frame(frame, series, units or {}) if series else None
    if colored is not None and colored.path == along.path:
        raise InvalidInputError(
            f"`{series}` is already the parameter of the x axis", "choose another parameter for the series"
        )
    divisor, unit = _scaled(what, rows)
    names = rows["class"].unique(maintain_order=True).to_list()
    styles = _styles(frame, names, colored)
    others = [path for path in swept.parameters(frame) if path not in (parameter, series)]
    title = f"{_capital(what.words)} against {along.name}" + (f", {names[0]}" if len(names) == 1 else "")
    drawn = []
    split_by = [Parameter.from_frame(frame, path, units or {}) for path in swept.several(rows, others)]
    shown = [along, *([colored] if colored else []), *split_by]
    for where, part in _combinations(rows, split_by):
        marks = [
            mark
            for (name, value), style in styles.items()
            if (mark := _series(_only(part, name, colored, value), along, style, divisor))
        ]
        banded = any(mark.low is not None for mark in marks)
        note = f"{'bars' if along.named else 'bands'}: 95 % confidence"
        y = Axis(_capital(what.words), unit, log=log_y)
        drawn.append(
            Chart(
                kind="against",
                title=", ".join(filter(None, [title, where])),
                x=along.axis(log=log_x),
                y=y,
                marks=tuple(marks),
                caption=_caption(
                    caption, note if banded else "one replication: no confidence band", paths_of(shown)
                ),
            )
        )
    return drawn


def heat_map(
    frame: pl.DataFrame,
    x: str,
    y: str,
    metric: str,
    class_name: str | None = None,
    *,
    caption: str = "",
    units: Mapping[str, str] | None = None,
) -> Chart:
    """Plot a metric of a class over two parameters, as colors.

    Raises:
        InvalidInputError: a name is unknown, no class is given, or another parameter has several values.

    """
    what = _of_one_class(metric, class_name)
    rows = rows_of(frame, what)
    across, up = (Parameter.from_frame(frame, path, units or {}) for path in (x, y))
    open = swept.several(frame, [path for path in swept.parameters(frame) if path not in (x, y)])
    if open:
        raise InvalidInputError(f"`{open[0]}` has several values", "filter the frame to one value")
    divisor, unit = _scaled(what, rows)
    name = f"{_capital(what.words)} ({unit})" if unit else _capital(what.words)
    found = list(rows.drop_nulls([x, y]).iter_rows(named=True))
    columns = [across.key(row[x]) for row in found]
    lines = [up.key(row[y]) for row in found]
    return Chart(
        kind="heat-map",
        title=f"{_capital(what.words)} of {what.class_name} over {across.name} and {up.name}",
        x=Axis(across.name, across.unit, across.texts),
        y=Axis(up.name, up.unit, up.texts),
        marks=(
            Cells(
                name,
                [across.values.index(value) for value in columns],
                [up.values.index(value) for value in lines],
                [_value(row["mean"], divisor) for row in found],
                tuple(
                    f"{_where(row, (across, up))}\n{_hover_text(what, row, divisor, unit)}" for row in found
                ),
            ),
        ),
        caption=_caption(caption, paths_of([across, up])),
    )


def parallel(
    frame: pl.DataFrame,
    metric: str,
    class_name: str | None = None,
    *,
    caption: str = "",
    units: Mapping[str, str] | None = None,
) -> Chart:
    """Plot every point as a line across an axis for each parameter, colored by a metric of a class.

    Raises:
        InvalidInputError: a name is unknown, no class is given, or nothing was measured.

    """
    what = _of_one_class(metric, class_name)
    rows = rows_of(frame, what)
    along = [
        Parameter.from_frame(frame, path, units or {})
        for path in swept.several(frame, swept.parameters(frame))
    ]
    found = list(rows.drop_nulls(["mean", *(parameter.path for parameter in along)]).iter_rows(named=True))
    if not found:
        raise InvalidInputError(f"`{what.column}` was not measured at any point")
    divisor, unit = _scaled(what, rows)
    name = f"{_capital(what.words)} ({unit})" if unit else _capital(what.words)
    places = [
        tuple(parameter.place(parameter.key(row[parameter.path])) for parameter in along) for row in found
    ]
    values = [_value(row["mean"], divisor) for row in found]
    measured = Axis(_capital(what.words), unit)
    return Chart(
        kind="parallel",
        title=f"{_capital(what.words)} of {what.class_name} over {len(along)} parameters",
        x=Axis("", categories=(*(parameter.name for parameter in along), measured.title)),
        y=Axis(""),
        marks=(
            Parallel(
                name,
                (*(parameter.axis() for parameter in along), measured),
                tuple((*place, value) for place, value in zip(places, values, strict=True)),
                values,
                tuple(f"{_where(row, along)}\n{_hover_text(what, row, divisor, unit)}" for row in found),
            ),
        ),
        caption=_caption(caption, paths_of(along)),
    )


def _of_one_class(metric: str, class_name: str | None) -> Metric:
    what = metric_of(metric, class_name)
    if what.class_name is None:
        raise InvalidInputError(f"`{metric}` needs a class", f"for example voice.{metric}")
    return what


def _styles(
    frame: pl.DataFrame, names: Sequence[str], colored: Parameter | None
) -> dict[tuple[str, float | str | None], tuple[str, str, str]]:
    """Return name, color and stroke of each series, by class and value of the series' parameter."""
    roles = of_classes(frame["class"].unique(maintain_order=True))
    if colored is None:
        return {(name, None): (name, roles[name], STROKES.get(roles[name], "solid")) for name in names}
    if len(colored.values) > _MOST_COLORS:
        raise InvalidInputError(
            f"`{colored.path}` has {len(colored.values)} values, more than the {_MOST_COLORS} colors",
            "filter the frame to fewer values",
        )
    if len(names) > len(_STROKES):
        raise InvalidInputError(
            f"{len(names)} classes, but only {len(_STROKES)} line styles", f"choose among {', '.join(names)}"
        )
    found: dict[tuple[str, float | str | None], tuple[str, str, str]] = {}
    for name, stroke in zip(names, _STROKES, strict=False):
        for place, value in enumerate(colored.values):
            label = colored.shown(value) + (f", {name}" if len(names) > 1 else "")
            found[name, value] = (label, f"class{place}", stroke)
    return found


def _only(
    rows: pl.DataFrame, name: str, colored: Parameter | None, value: float | str | None
) -> pl.DataFrame:
    rows = rows.filter(pl.col("class") == name)
    return rows if colored is None else rows.filter(pl.col(colored.path) == value)


def _series(
    rows: pl.DataFrame, along: Parameter, style: tuple[str, str, str], divisor: float
) -> Line | Points | None:
    """Return one line, or points if the parameter is text; `None` if nothing was measured."""
    found = [
        (
            along.place(along.key(row[along.path])),
            *(_value(row[column], divisor) for column in ("mean", "low", "high")),
        )
        for row in rows.drop_nulls([along.path, "mean"]).iter_rows(named=True)
    ]
    if not found:
        return None
    x, mean, low, high = (list(column) for column in zip(*sorted(found), strict=True))
    name, color, stroke = style
    banded = any(map(math.isfinite, low))
    # Names have no order, so no line connects them.
    if along.named:
        points = Points(name, color, x, mean)
        return replace(points, low=low, high=high) if banded else points
    line = Line(name, color, x, mean, stroke=stroke, marked=True)
    return replace(line, low=low, high=high) if banded else line


def _combinations(rows: pl.DataFrame, split_by: Sequence[Parameter]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Generate the rows of each combination of the other parameters, with its text for the title."""
    if not split_by:
        yield "", rows
        return
    paths = [parameter.path for parameter in split_by]
    groups = rows.group_by(paths, maintain_order=True)
    count = rows.select(paths).n_unique()
    if count > _MOST_CHARTS:
        raise InvalidInputError(
            f"the plot needs {count} charts, one for each combination of {', '.join(paths)};"
            f" the maximum is {_MOST_CHARTS}",
            "filter the frame to fewer values, or draw `parallel`, which shows all parameters at once",
        )
    for values, part in groups:
        yield _where(dict(zip(paths, values, strict=True)), split_by), part


def _where(row: Mapping[str, Any], along: Sequence[Parameter]) -> str:
    """Return the values of a point as text."""
    return ", ".join(
        f"{parameter.name} = {parameter.shown(parameter.key(row[parameter.path]))}"
        for parameter in along
        if row[parameter.path] is not None
    )


def _hover_text(what: Metric, row: Mapping[str, Any], divisor: float, unit: str) -> str:
    """Return a measured value as text, with its interval."""
    after = f" {unit}" if unit else ""
    text = f"{what.words}: {number(_value(row['mean'], divisor))}{after}"
    if row["low"] is None:
        return text
    return f"{text} ({number(row['low'] / divisor)} to {number(row['high'] / divisor)})"


def _scaled(what: Metric, rows: pl.DataFrame) -> tuple[float, str]:
    return scale(what.unit, float(cast(float, rows["mean"].fill_nan(None).abs().max() or 0.0)))


def _value(value: float | None, divisor: float) -> float:
    return math.nan if value is None else value / divisor


def _caption(*notes: str) -> str:
    text = "; ".join(note.rstrip(".") for note in notes if note)
    return f"{text}." if text else ""


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
