"""`perhop bufferbloat`: latency under load by queueing discipline, with a grade."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import Command
from perhop import bufferbloat

LINE = ("--rate", "20/5Mb/s", "--rtt", "30ms")


@pytest.fixture(scope="module")
def tested() -> bufferbloat.Tested:
    return bufferbloat.test("20/5Mb/s", rtt="30ms", qdiscs=["fifo", "fq_codel", "pfifo limit 50"])


# DSLReports, FAQ 17930: less than 5 ms A+, 30 ms A, 60 ms B, 200 ms C, 400 ms D, 400 ms and more F.
@pytest.mark.parametrize(
    ("increase_ms", "wanted"),
    [(0, "A+"), (4.9, "A+"), (5, "A"), (29.9, "A"), (30, "B"), (60, "C"), (199, "C"), (200, "D"),
     (399, "D"), (400, "F"), (5000, "F")],
)  # fmt: skip
def test_grades_match_the_public_test(increase_ms: float, wanted: str) -> None:
    assert bufferbloat.grade(increase_ms / 1e3) == wanted


def test_round_trip_times_match_the_queue_delays(tested: bufferbloat.Tested) -> None:
    fifo, codel, short = tested.runs
    # 30 ms of propagation, and a ping of 64 bytes on lines of 20 and 5 Mb/s: 26 and 102 us.
    for run in tested.runs:
        assert run.idle_s == pytest.approx(0.0301, abs=2e-4)
    # A full queue of 50 packets of 1500 bytes: 30 ms at 20 Mb/s, 120 ms at 5 Mb/s.
    assert 0 < short.download.increase_s < 0.031
    assert 0 < short.upload.rtt_max_s - short.idle_s < 0.123
    assert short.upload.increase_s > 2 * short.download.increase_s
    # Queues of flows wait for one or two packets of other flows: 2.4 ms each at 5 Mb/s.
    assert codel.increase_s < 0.005
    assert codel.grade == "A+"
    assert fifo.upload.increase_s > 0.4
    assert fifo.grade in {"D", "F"}
    for run in tested.runs:
        assert 17e6 < run.download.rate_bps < 20e6
        assert 4.2e6 < run.upload.rate_bps < 5e6
        increases = (run.download.increase_s + run.upload.increase_s) / 2
        assert run.increase_s == pytest.approx(increases)


@pytest.mark.parametrize(
    ("rate", "down", "up"),
    [
        ("50/10Mb/s", 50e6, 10e6),
        ("1Gb/s/50Mb/s", 1e9, 50e6),
        ("2.5 / 0.5 Mb/s", 2.5e6, 0.5e6),
        ("20Mb/s", 20e6, 20e6),
    ],
)
def test_rates_are_down_and_up(rate: str, down: float, up: float) -> None:
    assert bufferbloat.Line.read(rate, "20ms") == bufferbloat.Line(down, up, 0.02)


def test_the_chart_has_a_line_for_each_discipline_and_the_loads(tested: bufferbloat.Tested) -> None:
    chart = tested.chart()
    names = [getattr(mark, "name", "") for mark in chart.marks]
    assert names[:2] == ["downloading", "uploading"]
    assert [name.split(" (")[0] for name in names[2:]] == ["fifo", "fq_codel", "pfifo limit 50"]
    assert "DSLReports" in chart.caption


def test_the_command_prints_a_table_a_graph_and_grades(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("bufferbloat", *LINE, "--qdisc", "fifo,cake", "--plot", "graph.html")
    assert ended.code == 0
    lines = ended.out.splitlines()
    graded = {line.split()[0]: line.split()[1] for line in lines[2:4]}
    assert graded["cake"] == "A+"
    assert graded["fifo"] in {"D", "F"}
    graphs = {line.split()[0]: line.split()[1] for line in lines if re.match(r"(fifo|cake) +[▁-█]", line)}
    assert set(graphs["cake"]) == {"▁"}
    assert "█" in graphs["fifo"]
    assert "grades: DSLReports" in ended.out
    assert "fifo: pfifo limit 1000" in ended.out
    assert "bufferbloat" in (tmp_path / "graph.html").read_text()


def test_the_document_has_the_runs_and_the_source_of_the_grades(perhop: Command) -> None:
    found = perhop("bufferbloat", "--rate", "10Mb/s", "--qdisc", "fq_codel", "--json").json()
    assert found["line"] == {"down_bps": 10e6, "up_bps": 10e6, "rtt_s": 0.02}
    assert found["grades"]["below_s"] == {"A+": 0.005, "A": 0.03, "B": 0.06, "C": 0.2, "D": 0.4, "F": None}
    [run] = found["runs"]
    assert run["grade"] == "A+"
    assert len(run["rtt_s"]) == len(run["time_s"])
    assert perhop("bufferbloat", "--rate", "10Mb/s", "--qdisc", "fq_codel", "--json").json() == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rate", "fast"), "rate: `fast` is not a rate or a pair of rates"),
        (("--rate", "50/10"), "rate: `50/10` is not a rate or a pair of rates"),
        (("--rate", "50/0Mb/s"), "rate: `0Mb/s` is not above 0"),
        (("--rate", "10Mb/s", "--rtt", "20"), "rtt: `20` is not a quantity with a known unit"),
        (("--rate", "10Mb/s", "--qdisc", "cakes"), "qdisc `cakes`: `cakes` is not a queueing discipline"),
        (("--rate", "10Mb/s", "--qdisc", "netem"), "qdisc `netem`: netem:"),
        (("--rate", "10Mb/s", "--qdisc", "cake,,fifo"), "qdisc: `cake,,fifo` has an empty name"),
        (("--rate", "10Mb/s", "--qdisc", "cake,cake"), "qdisc: `cake` is listed twice"),
        (("--rate", "10Mb/s", "--plot", "graph.txt"), "`graph.txt` has no suffix of a known format"),
    ],
)
def test_invalid_lines_are_refused(perhop: Command, arguments: tuple[str, ...], said: str) -> None:
    ended = perhop("bufferbloat", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert "help: " in ended.err
