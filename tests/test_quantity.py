"""Numbers as people read them."""

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
    values = [{"mean": mean, "ci95": None, "unit": "b/s"} for mean in (2e6, 3.5e5, None)]
    assert column(values) == ("Mb/s", ["2", "0.3500", "-"])
    assert column([]) == ("", [])
