"""The goals of tuning: conditions that must be met, and objectives to optimize."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import polars as pl

from perhop.errors import InvalidInputError
from perhop.metrics import SHARE, UNITS, Metric, resolve
from perhop.quantity import number, quantity, scale

Kind = Literal["<=", ">=", "=", "small", "large"]

_EXAMPLE = (
    "for example 'voice.delay_p99 <= 20ms', 'bulk.loss as small as possible', "
    "'gold.share of gold,silver = 60% within 3%'"
)
_WISH = re.compile(r"(?P<what>\S.*?)\s+as\s+(?P<kind>small|large)\s+as\s+possible\s*")
_CONDITION = re.compile(
    r"(?P<what>[^<>=]+?)\s*(?P<kind><=|>=|==?)\s*(?P<value>\S.*?)(?:\s+within\s+(?P<width>\S.*?))?\s*"
)
_SHARE_OF = re.compile(r"(?P<class>.+)\.share\s+of\s+(?P<classes>.+)")
# The default tolerance of `=`: percentage points for shares, or a fraction of the value.
_POINTS = 3.0
_PART = 0.05


@dataclass(frozen=True)
class Goal:
    """A condition on a metric or a parameter, or an objective: a value as small or as large as possible."""

    #: The text of the goal, unchanged.
    text: str
    kind: Kind
    #: The class, and the column of the table `classes`; for a parameter both are `None`.
    class_name: str | None
    column: str | None
    #: The parameter of the goal.
    parameter: str | None = None
    #: The classes whose total throughput a share refers to; empty means all classes.
    whole: tuple[str, ...] = ()
    #: The bound of a condition, in the base unit; `width` is the tolerance of an equality.
    value: float = 0.0
    width: float = 0.0
    #: `s`, `b/s`, `%`, `packets`, `bytes`, `1/s` or empty.
    unit: str = ""

    @property
    def is_objective(self) -> bool:
        """Whether the goal is an objective, which has no bound."""
        return self.kind in ("small", "large")

    def miss(self, value: float) -> float:
        """Return the distance of a value from a condition; at most 0 if the value meets the condition.

        The distance from a bound is a fraction of the bound. The distance from an equality is in multiples of
        `width`, beyond the first.
        """
        if self.kind == "=":
            return abs(value - self.value) / self.width - 1.0
        sign = 1.0 if self.kind == "<=" else -1.0
        return sign * (value - self.value) / (abs(self.value) or 1.0)

    def distance(self, value: float) -> float:
        """Return the distance of a value from the goal: 0 is best; for an objective, the smallest is best."""
        if self.is_objective:
            return value if self.kind == "small" else -value
        return self.miss(value) + 1.0 if self.kind == "=" else max(0.0, self.miss(value))

    def measured(self, classes: pl.DataFrame) -> list[float | None]:
        """Return the metric in each replication of one point, from the rows of the point in `classes`."""
        found = classes.filter(pl.col("class") == self.class_name).sort("replication")
        if self.whole:
            total = (
                classes.filter(pl.col("class").is_in(self.whole))
                .group_by("replication", maintain_order=True)
                .agg(pl.col("throughput_bps").sum().alias("whole"))
            )
            joined = found.join(total, on="replication", maintain_order="left")
            found = joined.with_columns((100.0 * pl.col("throughput_bps") / pl.col("whole")).alias(SHARE))
        values = found[str(self.column)].cast(pl.Float64).fill_nan(None).to_list()
        return [None if value is None else float(value) for value in values]

    def shown(self, value: float | None, half_width: float | None = None) -> str:
        """Return a value in a suitable unit, with the half-width of its interval."""
        if value is None:
            return "-"
        divisor, unit = scale(self.unit, abs(value))
        width = "" if half_width is None else f" ± {number(half_width / divisor, 2)}"
        return f"{number(value / divisor)}{width} {unit}".strip()

    def to_json(self) -> dict[str, Any]:
        """Return the goal as plain data."""
        return asdict(self) | {"whole": list(self.whole)}

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Goal:
        """Return the goal that `to_json` described; raises `TypeError` or `ValueError`."""
        goal = cls(**{**found, "whole": tuple(found["whole"])})
        if goal.kind not in ("<=", ">=", "=", "small", "large") or (goal.kind == "=" and goal.width <= 0):
            raise ValueError("the goal is empty")
        return goal


def parse(text: str, parameters: Mapping[str, str], classes: Sequence[str]) -> Goal:
    """Read a goal.

    Args:
        text: `CLASS.METRIC <= VALUE`, `>=`, `= VALUE within WIDTH`, or `... as small (large) as possible`; in
            place of the metric a varied parameter, or `CLASS.share of CLASS,CLASS`.
        parameters: the varied parameters with the base units of their numbers.
        classes: the classes of the scenario.

    Raises:
        InvalidInputError: the text is not a goal, or a name in it is unknown.

    """
    found = _WISH.fullmatch(text.strip()) or _CONDITION.fullmatch(text.strip())
    if found is None:
        raise InvalidInputError(f"`{text}` is not a goal", _EXAMPLE)
    parts = found.groupdict()
    what, kind = parts["what"], parts["kind"].replace("==", "=")
    if what in parameters:
        goal = Goal(text, cast(Kind, kind), None, None, what, unit=parameters[what])
    else:
        metric, whole = _metric(text, what, classes)
        goal = Goal(text, cast(Kind, kind), metric.class_name, metric.column, None, whole, unit=metric.unit)
    if goal.is_objective:
        return goal
    value = _value(text, parts["value"], goal.unit)
    width = 0.0
    if kind == "=":
        usual = _POINTS if goal.unit == "%" else _PART * abs(value)
        width = usual if parts["width"] is None else _width(text, parts["width"], goal.unit, value)
        if width <= 0:
            raise InvalidInputError(
                f"`{text}` does not define which values count as equal", "add `within` and a width"
            )
    elif parts["width"] is not None:
        raise InvalidInputError(f"`{text}`: `within` applies only to `=`", _EXAMPLE)
    return Goal(**{**vars(goal), "value": value, "width": width})


def _metric(text: str, what: str, classes: Sequence[str]) -> tuple[Metric, tuple[str, ...]]:
    """Return the metric of a goal, and the classes whose total throughput a share refers to."""
    share = _SHARE_OF.fullmatch(what)
    whole = tuple(class_name.strip() for class_name in share["classes"].split(",")) if share else ()
    metric = Metric(share["class"], SHARE, UNITS[SHARE]) if share else resolve(what)
    if metric.class_name is None:
        raise InvalidInputError(f"`{text}` has no class", _EXAMPLE)
    for name in (metric.class_name, *whole):
        if name not in classes:
            raise InvalidInputError(
                f"`{text}`: there is no class `{name}`", f"classes: {', '.join(sorted(classes))}"
            )
    if whole and metric.class_name not in whole:
        raise InvalidInputError(f"`{text}`: `{metric.class_name}` is not part of the total", _EXAMPLE)
    return metric, whole


def _value(text: str, written: str, unit: str) -> float:
    """Return a number in the base unit `unit`; a number without a unit is in this unit."""
    found = quantity(written.removesuffix("%").strip() if unit == "%" else written)
    if found is None or found[1] not in ("", unit):
        unit_note = f", whose unit is {unit}" if unit else ""
        raise InvalidInputError(f"`{text}`: `{written}` is not a value of the metric{unit_note}", _EXAMPLE)
    return found[0]


def _width(text: str, written: str, unit: str, value: float) -> float:
    if written.endswith("%") and unit != "%":
        return _value(text, written[:-1], "") / 100 * abs(value)
    return _value(text, written, unit)
