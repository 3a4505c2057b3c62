"""Means over replications with their confidence intervals, for many points at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import polars as pl

from perhop import _core
from perhop.metrics import SHARE, UNITS

_KEYS = ("point", "replication", "class")


def with_shares(classes: pl.DataFrame) -> pl.DataFrame:
    """Return the table `classes` of some points with the share of each class in the throughput, percent."""
    whole = pl.col("throughput_bps").sum().over("point", "replication")
    return classes.with_columns((100.0 * pl.col("throughput_bps") / whole).alias(SHARE))


def summarized(classes: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return a row with mean and 95 % confidence interval for each metric, point and class.

    Columns: `point`, `class`, `metric`, `unit`, `mean`, `low`, `high` (null with one measurement), and the
    number of `replications` with a measurement.
    """
    values = classes.select("point", "class", *(pl.col(metric).cast(pl.Float64) for metric in metrics))
    long = values.unpivot(metrics, index=["point", "class"], variable_name="metric").with_columns(
        pl.col("value").fill_nan(None)
    )
    found = long.group_by("point", "class", "metric", maintain_order=True).agg(
        mean=pl.col("value").mean(), deviation=pl.col("value").std(), replications=pl.col("value").count()
    )
    return _ordered(_with_interval(found), metrics)


def differences(classes: pl.DataFrame, metrics: Sequence[str], pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the differences between metrics of points and of other points, paired by replication.

    `pairs` has the columns `point` and `base`. With common random numbers, points differ by less than their
    own intervals suggest (Law, "Simulation Modeling and Analysis", common random numbers). The interval is
    therefore the interval of the differences. The columns are the same as in `summarized`.
    """
    values = classes.select(*_KEYS, *(pl.col(metric).cast(pl.Float64) for metric in metrics))
    base = values.rename({"point": "base"})
    joined = values.join(pairs, on="point").join(base, on=["base", "replication", "class"], suffix=" base")
    both = joined.select(*_KEYS, *(pl.col(metric) - pl.col(f"{metric} base") for metric in metrics))
    return summarized(both.sort("point", maintain_order=True), metrics)


def units(metrics: Sequence[str]) -> pl.Expr:
    """Return the unit of each row's metric."""
    return pl.col("metric").replace_strict(
        {metric: UNITS.get(metric, "") for metric in metrics}, return_dtype=pl.String
    )


def _with_interval(found: pl.DataFrame) -> pl.DataFrame:
    quantiles = {count: student(count) for count in found["replications"].unique().to_list()}
    half = (
        pl.col("replications").replace_strict(quantiles, return_dtype=pl.Float64)
        * pl.col("deviation")
        / pl.col("replications").sqrt()
    )
    return found.with_columns(low=pl.col("mean") - half, high=pl.col("mean") + half)


def _ordered(found: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    order = {metric: place for place, metric in enumerate(metrics)}
    place = pl.col("metric").replace_strict(order, return_dtype=pl.Int32)
    return (
        found.with_row_index("row")
        .with_columns(unit=units(metrics), place=place, first=pl.col("row").min().over("point", "class"))
        .sort("point", "first", "place")
        .select("point", "class", "metric", "unit", "mean", "low", "high", "replications")
    )


@cache
def student(count: int) -> float | None:
    """Return the quantile of Student's t for a two-sided 95 % interval of the mean of `count` samples.

    The quantile is derived from the interval of samples with a known standard deviation, so that there is
    only one table of quantiles. `None` for fewer than two samples.
    """
    samples = [float(number) for number in range(count)]
    found = _core.confidence_95(samples)
    if found is None:
        return None
    deviation = math.sqrt(count * (count + 1) / 12)
    return (found[2] - found[0]) * math.sqrt(count) / deviation
