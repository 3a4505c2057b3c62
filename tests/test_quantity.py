"""Measured values as text."""

from __future__ import annotations

import math

import pytest

from perhop.quantity import column, interval, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (4501.0, "4,501"),
        (49.99, "49.99"),
        (0.012346, "0.01235"),
        (0.0000123, "1.23e-05"),
        (123456.7, "123,457"),
        (math.nan, "-"),
        (None, "-"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("mean", "ends", "text"),
    [
        (50.123, None, "50.12"),
        (50.123, (49.0, 51.2), "50.12 ± 1.1"),
        (1.624, (1.623999, 1.624001), "1.624 ± <0.001"),
        (7.0, (7.0, 7.0), "7 ± 0"),
        (math.nan, (1.0, 2.0), "-"),
    ],
)
def test_interval(mean: float, ends: tuple[float, float] | None, text: str) -> None:
    assert interval(mean, ends) == text


def test_a_column_has_one_unit() -> None:
    groups = [{"rate": {"mean": mean, "ci95": None, "unit": "b/s"}} for mean in (2e6, 3.5e5, None)]
    assert column(groups, "rate") == ("Mb/s", ["2", "0.3500", "-"])
    assert column([], "rate") == ("", [])


def test_milliseconds_and_seconds_in_one_column() -> None:
    def delays(*means: float) -> tuple[str, list[str]]:
        return column([{"delay_s": {"mean": mean, "ci95": None, "unit": "s"}} for mean in means], "delay_s")

    assert delays(0.0149, 2.979) == ("ms", ["14.90", "2,979"])
    assert delays(0.0149, 0.5) == ("ms", ["14.90", "500"])
    assert delays(0.5, 2.979) == ("s", ["0.5000", "2.979"])
    assert delays(0.0149, 29.79) == ("s", ["0.01490", "29.79"])


def test_percentiles_have_the_unit_of_their_mean() -> None:
    delays = {"delay_mean_s": 0.33, "delay_p99_s": 1.48}
    groups = [{key: {"mean": mean, "ci95": None, "unit": "s"} for key, mean in delays.items()}]
    assert column(groups, "delay_mean_s") == ("ms", ["330"])
    assert column(groups, "delay_p99_s") == ("ms", ["1,480"])
    assert column([{"delay_p99_s": groups[0]["delay_p99_s"]}], "delay_p99_s") == ("s", ["1.480"])
