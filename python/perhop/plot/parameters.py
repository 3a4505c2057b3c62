"""The swept parameters of a tidy frame: their values on axes, in words and in titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import polars as pl

from perhop.errors import InvalidInputError
from perhop.metrics import SHARE, UNITS, Metric, resolve
from perhop.paths import base_unit, short_names
from perhop.plot.description import Axis
from perhop.quantity import scale, short, shortened

#: Columns of a tidy frame that are not parameters.
FIXED = ("point", "class", "metric", "unit", "mean", "low", "high", "replications")


@dataclass(frozen=True)
class Parameter:
    """A swept parameter: its values, and how they are shown."""

    path: str
    #: The path, or its last parts if they are unique in the frame.
    name: str
    #: The values: numbers ascend, and texts have the order of the frame.
    values: tuple[float | str, ...]
    divisor: float = 1.0
    unit: str = ""

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, path: str, units: Mapping[str, str]) -> Parameter:
        """Return the parameter of a column of a frame; raises `InvalidInputError` without that column."""
        known = parameters(frame)
        if path not in known:
            near = get_close_matches(path, known, n=1)
            help = f"did you mean `{near[0]}`?" if near else f"swept: {', '.join(known)}"
            raise InvalidInputError(f"`{path}` was not swept", help)
        column, name = frame[path].drop_nulls(), short_names(known)[path]
        if not column.dtype.is_numeric():
            return cls(path, name, tuple(map(str, column.unique(maintain_order=True))))
        values = [float(value) for value in column.unique().sort()]
        divisor, unit = scale(units.get(path) or base_unit(path), max(map(abs, values), default=0.0))
        return cls(path, name, tuple(values), divisor, unit)

    @property
    def named(self) -> bool:
        """Whether the values are texts."""
        return any(isinstance(value, str) for value in self.values)

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as distinct texts, without the unit."""
        if self.named:
            return tuple(shortened([str(value) for value in self.values]))
        return tuple(short(float(value) / self.divisor) for value in self.values)

    def axis(self, *, log: bool = False) -> Axis:
        """Return the axis of the parameter; texts are categories."""
        categories = self.texts if self.named else ()
        return Axis(self.name, self.unit, categories, log=log and not categories)

    def key(self, value: Any) -> float | str:  # noqa: ANN401 - a value of a frame
        """Return a value of the frame in the form of `values`."""
        return str(value) if self.named else float(value)

    def place(self, value: float | str) -> float:
        """Return the position of a value on the axis."""
        return float(self.values.index(value)) if self.named else float(value) / self.divisor

    def shown(self, value: float | str) -> str:
        """Return a value with its unit."""
        text = self.texts[self.values.index(value)]
        return f"{text} {self.unit}" if self.unit else text


def paths_of(parameters: Sequence[Parameter]) -> str:
    """Return the paths of parameters with shortened names, for a caption."""
    return "; ".join(
        f"{parameter.name}: {parameter.path}" for parameter in parameters if parameter.name != parameter.path
    )


def parameters(frame: pl.DataFrame) -> list[str]:
    """Return the swept parameters of a tidy frame by name; raises `InvalidInputError` for other frames."""
    missing = [
        column for column in FIXED if column not in ("point", "replications") and column not in frame.columns
    ]
    if missing:
        raise InvalidInputError(f"the frame has no column `{missing[0]}`", "give the frame of a sweep")
    return [column for column in frame.columns if column not in FIXED]


def several(frame: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the parameters among `names` with more than one value."""
    return [name for name in names if frame[name].n_unique() > 1]


def rows_of(frame: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return the rows of one metric, only of its class if the metric names one; compute shares if needed.

    Raises:
        InvalidInputError: the frame does not have the metric or the class.

    """
    known = frame["metric"].unique().to_list()
    rows = frame.filter(pl.col("metric") == metric.column)
    if metric.column == SHARE and SHARE not in known:
        rows = _shares(frame)
    if rows.is_empty():
        near = ", ".join(sorted(known)[:8])
        raise InvalidInputError(
            f"the sweep did not measure `{metric.column}`", f"measured, among others: {near}"
        )
    return rows if metric.class_name is None else of_classes(rows, [metric.class_name])


def of_classes(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows of some classes; raises `InvalidInputError` for a missing class."""
    known = rows["class"].unique(maintain_order=True).to_list()
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            help = f"did you mean `{near[0]}`?" if near else f"classes: {', '.join(known)}"
            raise InvalidInputError(f"there is no class `{name}`", help)
    return rows.filter(pl.col("class").is_in(list(names)))


def _shares(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the share of each class in the throughput of its point.

    The frame has no replications. The interval is therefore the widest interval that the throughput intervals
    allow to first order: all classes deviate together.
    """
    rows = frame.filter(pl.col("metric") == "throughput_bps")
    point = ["point"] if "point" in frame.columns else parameters(frame)
    half = (pl.col("high") - pl.col("low")) / 2
    whole = pl.col("mean").sum().over(point)
    others = (half.sum().over(point) - half) * pl.col("mean")
    error = 100.0 * ((whole - pl.col("mean")) * half + others) / whole**2
    part = 100.0 * pl.col("mean") / whole
    return rows.with_columns(
        metric=pl.lit(SHARE),
        unit=pl.lit(UNITS[SHARE]),
        mean=part,
        low=(part - error).clip(0.0, 100.0),
        high=(part + error).clip(0.0, 100.0),
    )


def metric_of(text: str, class_name: str | None = None) -> Metric:
    """Return a metric by its name, for a class that is given separately or as a prefix."""
    found = resolve(text)
    if found.class_name is not None and class_name not in (None, found.class_name):
        raise InvalidInputError(f"`{text}` is not a metric of class `{class_name}`", "give one class")
    return found._replace(class_name=class_name or found.class_name)
