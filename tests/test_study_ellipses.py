"""Ellipses of studies: the normal distribution of samples, kept in study.json and drawn."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from conftest import Command
from perhop.plot.description import Line, Points
from perhop.plot.ellipses import corners, ellipse_chart
from perhop.study.definition import Scatter
from perhop.study.ellipses import ellipse
from small_study import STUDY, make_study

SCATTER = Scatter("delay_goodput", ("queueing delay", "ms"), ("goodput", "Mb/s"))
SWEEP = """
[scatters.delay_goodput]
x = "queueing delay"
x-unit = "ms"
y = "goodput"
y-unit = "Mb/s"
[sweeps.rate]
1 = { "traffic.steady.source.cbr.rate" = "1Mb/s" }
2 = { "traffic.steady.source.cbr.rate" = "4Mb/s" }
[[tables]]
id = "4"
title = "Delay and goodput"
sweep = { rate = "all" }
ellipses = ["delay_goodput"]
"""
MEASURE = """
def delay_goodput(results, case):
    return [(1.0, 2.0), (100.0, 4.0)] if case["rate"] == "1" else [(3.0, 1.0)]
"""


def test_the_estimates_are_those_of_greatest_likelihood() -> None:
    # By hand: logarithms 0 and 2, values 2 and 4; both deviate by 1 from their means, with the same sign.
    found = ellipse("1", {"aqm": "pie"}, SCATTER, [(1.0, 2.0), (100.0, 4.0)])
    assert found is not None
    assert found.center == pytest.approx((10.0, 3.0))
    assert found.deviation == pytest.approx((1.0, 1.0))
    assert found.correlation == pytest.approx(1.0)
    # Four corners of a square in the logarithm: no correlation.
    square = ellipse("1", {}, SCATTER, [(1.0, 0.0), (1.0, 2.0), (10.0, 0.0), (10.0, 2.0)])
    assert square is not None
    assert square.deviation == pytest.approx((0.5, 1.0))
    assert square.correlation == pytest.approx(0.0)
    assert ellipse("1", {}, SCATTER, [(1.0, 2.0)]) is None


def test_corners_are_one_deviation_away() -> None:
    row = {"center": [10.0, 3.0], "deviation": [0.5, 2.0], "correlation": 0.6}
    x, y = corners(row)
    assert (x[0], y[0]) == pytest.approx((x[-1], y[-1])), "it is closed"
    for left, up in zip(x, y, strict=True):
        u, v = math.log10(left / 10.0) / 0.5, (up - 3.0) / 2.0
        # The contour of the normal distribution where Mahalanobis' distance is 1.
        assert (u * u - 2 * 0.6 * u * v + v * v) / (1 - 0.6**2) == pytest.approx(1.0)


def test_delay_decreases_to_the_right_on_a_logarithmic_axis() -> None:
    row = {"x": ["queueing delay", "ms"], "y": ["goodput", "Mb/s"], "samples": 9, "deviation": [0.2, 0.5]}
    rows = [
        row | {"case": {"aqm": aqm, "level": "mild"}, "center": [delay, 9.0], "correlation": 0.0}
        for aqm, delay in (("pie", 15.0), ("codel", 5.0))
    ]
    chart = ellipse_chart(rows, "Table 8.2: Levels", "seed 1.")
    assert (chart.x.log, chart.x.reversed, chart.y.log) == (True, True, False)
    assert chart.to_json()["x"]["reversed"] is True
    pie, codel, centers = chart.marks
    assert isinstance(pie, Line)
    assert isinstance(codel, Line)
    assert isinstance(centers, Points)
    assert (pie.name, codel.name) == ("pie, mild", "codel, mild")
    assert list(centers.x) == [15.0, 5.0]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = make_study(tmp_path / "slow")
    (folder / "study.toml").write_text(STUDY + SWEEP)
    with (folder / "measures.py").open("a") as measures:
        measures.write(MEASURE)
    return folder


def test_ellipses_are_saved_plotted_and_reported(perhop: Command, study: Path, tmp_path: Path) -> None:
    ended = perhop("study", "run", study, "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 0, ended.err
    ellipses = ended.json()["ellipses"]
    assert ellipses[0]["case"] == {"rate": "1"}
    assert ellipses[0]["samples"] == 2
    assert ellipses[0]["center"] == pytest.approx([10.0, 3.0])
    assert len(ellipses) == 1, "a single sample has no ellipse"
    drawn = perhop("plot", "ellipse", "results/slow", "-o", "ellipses.html")
    assert drawn.code == 0, drawn.err
    assert "queueing delay" in (tmp_path / "ellipses.html").read_text().lower()
    reported = perhop("report", "results", "-o", "report.html")
    assert reported.code == 0, reported.err
    assert "queueing delay and goodput" in (tmp_path / "report.html").read_text()


def test_a_table_with_ellipses_needs_a_scatter_and_a_measure(perhop: Command, study: Path) -> None:
    file = study / "study.toml"
    file.write_text(file.read_text().replace("[scatters.delay_goodput]", "[scatters.other]"))
    ended = perhop("study", "run", study)
    assert ended.code == 2
    assert "table 4 has ellipses of `delay_goodput`, but there is no [scatters.delay_goodput]" in ended.err
    file.write_text(STUDY + SWEEP)
    measures = study / "measures.py"
    measures.write_text(measures.read_text().replace("def delay_goodput", "def another"))
    ended = perhop("study", "run", study)
    assert ended.code == 2
    assert "measures.py has no function `delay_goodput`" in ended.err
