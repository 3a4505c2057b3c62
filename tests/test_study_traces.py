"""Traces of studies: a published curve over one run and the measured one, kept in study.json and drawn."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, Command
from perhop import study as studies
from perhop.plot.description import Line
from perhop.plot.traces import trace_chart
from perhop.study.definition import Course
from perhop.study.traces import trace
from test_study import STUDY, make_study

COURSE = Course("window", ("time", "s"), ("congestion window", "segments"))
SWEEP = """
[courses.window]
x = "time"
x-unit = "s"
y = "congestion window"
y-unit = "segments"
[metrics.level]
unit = "Mb/s"
[sweeps.rate]
1 = { "traffic.steady.source.cbr.rate" = "1Mb/s" }
2 = { "traffic.steady.source.cbr.rate" = "4Mb/s" }
[[tables]]
id = "5"
title = "Windows"
sweep = { rate = "all" }
curves = ["level"]
traces = ["window"]
"""
MEASURE = """
def level(results, case):
    return [float(case["rate"])]


def window(results, case):
    return [(0.0, 1, float(case["rate"])), (1.0, 2, 2.5)]
"""


def test_both_curves_are_drawn_at_the_same_places() -> None:
    rows = [(0.0, 1.0, 1.0), (0.5, 2.0, 2.5)]
    chart = trace_chart(trace("5", {"flow": "reno"}, COURSE, rows).to_json(), "Table 5: Windows", "seed 1.")
    published, measured = chart.marks
    assert isinstance(published, Line)
    assert isinstance(measured, Line)
    assert (list(published.x), list(published.y)) == ([0.0, 0.5], [1.0, 2.0])
    assert (list(measured.x), list(measured.y)) == ([0.0, 0.5], [1.0, 2.5])
    assert published.stroke != measured.stroke
    assert chart.title == "Table 5: Windows: congestion window, reno"
    assert (chart.x.label, chart.x.unit, chart.y.unit) == ("Time", "s", "segments")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = make_study(tmp_path / "slow")
    (folder / "study.toml").write_text(STUDY + SWEEP)
    with (folder / "measures.py").open("a") as measures:
        measures.write(MEASURE)
    return folder


def test_traces_are_saved_plotted_and_reported(perhop: Command, study: Path, tmp_path: Path) -> None:
    ended = perhop("study", "run", study, "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 0, ended.err
    first, second = ended.json()["traces"]
    assert (first["case"], first["measured"]) == ({"rate": "1"}, [1.0, 2.5])
    assert (second["case"], second["published"], second["places"]) == ({"rate": "2"}, [1.0, 2.0], [0.0, 1.0])
    drawn = perhop("plot", "trace", "results/slow", "-o", "trace.html")
    assert drawn.code == 0, drawn.err
    assert "congestion window" in (tmp_path / "trace.html").read_text().lower()
    reported = perhop("report", "results", "-o", "report.html")
    assert reported.code == 0, reported.err
    assert "Windows: congestion window, rate 2" in (tmp_path / "report.html").read_text()


def test_a_table_with_traces_needs_a_course_and_a_measure(perhop: Command, study: Path) -> None:
    file = study / "study.toml"
    file.write_text(file.read_text().replace("[courses.window]", "[courses.other]"))
    ended = perhop("study", "run", study)
    assert ended.code == 2
    assert "table 5 has traces of `window`, but there is no [courses.window]" in ended.err
    file.write_text(STUDY + SWEEP)
    measures = study / "measures.py"
    measures.write_text(measures.read_text().replace("def window", "def another"))
    ended = perhop("study", "run", study)
    assert ended.code == 2
    assert "measures.py has no function `window`" in ended.err


def test_published_mean_windows_match_the_readings() -> None:
    """The curves are in one file, their means in another: they cannot contradict each other."""
    found = studies.find("linux-aqm")
    readings = tomllib.loads((ROOT / "studies/linux-aqm/reference/windows.toml").read_text())
    cases = {case["id"]: case for case in readings["case"]}
    rows = [row for row in found.published if row.table == "windows" and "mean" in row.metric]
    assert len(rows) == 16
    for row in rows:
        case = cases[f"{row.case['flows']}-r{row.case['rtt_ms']}"]
        quantity, factor = ("window", 1.0) if row.unit == "segments" else ("smoothed_us", 1e-3)
        values = [factor * int(word) for word in case[quantity].split()]
        # Each 10 ms up to 3 s, of which each tenth counts, then each 100 ms.
        fine = round((3.0 - case["first_s"]) * 100)
        begin = round(-case["first_s"] * 100) % 10
        taken = [*values[begin:fine:10], *values[fine:]]
        assert row.value == pytest.approx(sum(taken) / len(taken), rel=1e-5), row
