"""Plots: they show the right numbers, and repeated plots are equal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import perhop
import perhop.plot
from conftest import ROOT, Command
from perhop import _core
from perhop.errors import InvalidInputError
from perhop.plot.description import Line, Points, Rule, Span, thinned

SAMPLED = {"measure.throughput-every": "500ms", "measure.delay-every": "500ms", "duration": "10s"}


@pytest.fixture(scope="module")
def wred() -> perhop.Results:
    """Two drop precedences: thresholds 40 to 80 packets with 2 %, 10 to 40 with 10 %."""
    return perhop.run(ROOT / "examples" / "wred.perhop.yaml", replications=2, set=SAMPLED)


# Other scenarios have plots of connections and pages.
@pytest.mark.parametrize(
    "kind", [kind for kind in perhop.plot.KINDS if kind not in ("cwnd", "page-load-cdf")]
)
def test_every_kind_is_drawn_with_units_and_caption(wred: perhop.Results, kind: str, tmp_path: Path) -> None:
    for number, chart in enumerate(perhop.plot.charts(wred, kind)):
        assert chart.kind == kind
        assert chart.marks
        for axis in (chart.x, chart.y):
            assert axis.unit or axis.label == "Drop probability"
        for word in ("seed 1", "2", "first 5 s omitted", "defaults for"):
            assert word in chart.caption
        for suffix in ("svg", "png", "pdf"):
            file = tmp_path / f"{number}.{suffix}"
            chart.save(file)
            again = tmp_path / f"again.{suffix}"
            chart.save(again)
            assert file.read_bytes() == again.read_bytes(), "the same chart gives the same bytes"
        text = (tmp_path / f"{number}.svg").read_text()
        ElementTree.fromstring(text)
        assert chart.title in text


def test_throughput_matches_the_table(wred: perhop.Results) -> None:
    (line,) = perhop.plot.throughput(wred).marks
    assert isinstance(line, Line)
    means = wred.throughput.group_by("time_s").agg(pl.col("throughput_bps").mean()).sort("time_s")
    assert list(line.x) == means["time_s"].to_list()
    assert list(line.y) == pytest.approx([value / 1e6 for value in means["throughput_bps"]])
    assert all(low <= y <= high for low, y, high in zip(line.low, line.y, line.high, strict=True))


def test_the_queue_is_plotted_with_its_thresholds(wred: perhop.Results) -> None:
    marks = perhop.plot.queue(wred).marks
    rules = {mark.name: (mark.at, mark.color) for mark in marks if isinstance(mark, Rule)}
    assert rules == {
        "min, precedence 0": (40, "green"),
        "max, precedence 0": (80, "green"),
        "min, precedence 1": (10, "yellow"),
        "max, precedence 1": (40, "yellow"),
    }
    queue, average = (mark for mark in marks if isinstance(mark, Line))
    samples = wred.queues.filter(pl.col("replication") == 0)
    assert max(queue.y) == samples["most_packets"].max() >= samples["packets"].max()
    assert max(average.y) == samples["deciding_average"].max()


def test_drop_curves_match_the_policy(wred: perhop.Results) -> None:
    marks = perhop.plot.drop_curve(wred).marks
    green, yellow = (mark for mark in marks if isinstance(mark, Line))
    assert list(zip(green.x, green.y, strict=True))[:4] == [(0, 0), (40, 0), (80, 0.02), (80, 1)]
    assert list(zip(yellow.x, yellow.y, strict=True))[:4] == [(0, 0), (10, 0), (40, 0.1), (40, 1)]
    assert (green.stroke, yellow.stroke) == ("solid", "dashed"), "color is not all that tells them apart"
    (visited,) = (mark for mark in marks if isinstance(mark, Span))
    averages = wred.queues["deciding_average"]
    assert (visited.begin, visited.end) == (averages.min(), averages.max())


def test_a_distribution_ends_at_all_packets(wred: perhop.Results) -> None:
    (line,) = perhop.plot.delay_cdf(wred).marks
    assert isinstance(line, Line)
    assert list(np.diff(line.y) >= 0) == [True] * (len(line.y) - 1)
    assert line.y[-1] == pytest.approx(100)
    # The plot has the same median as the table, between those of the replications.
    median = line.x[int(np.searchsorted(line.y, 50))] / 1e3
    assert wred.classes["delay_p50_s"].min() <= median <= wred.classes["delay_p50_s"].max()


def test_delays_over_time_agree_with_the_total(wred: perhop.Results) -> None:
    table = wred.delays
    assert table["delay_max_s"].max() == wred.classes["delay_max_s"].max()
    weighted = (table["delay_mean_s"] * table["packets"]).sum() / table["packets"].sum()
    classes = wred.classes
    mean = (classes["delay_mean_s"] * classes["delivered_packets"]).sum() / classes["delivered_packets"].sum()
    assert weighted == pytest.approx(mean, rel=1e-9)


def test_shares_against_a_parameter(scenario: Path) -> None:
    rates = ["1Mb/s", "2Mb/s", "4Mb/s"]
    runs = [perhop.run(scenario, replications=3, set={"links.1.rate": rate}) for rate in reversed(rates)]
    chart = perhop.plot.share(runs, "links.1.rate")
    assert (chart.x.unit, chart.y.unit) == ("Mb/s", "%")
    steady, random = chart.marks
    assert steady.marked, "a dot at what was measured"
    assert list(steady.x) == [1, 2, 4]
    assert [a + b for a, b in zip(steady.y, random.y, strict=True)] == pytest.approx([100] * 3)
    (rates,) = (run.classes for run in runs if run.scenario["links"][1]["rate"] == "4Mb/s")
    parts = rates.filter(pl.col("class") == "steady")["throughput_bps"]
    wholes = rates.group_by("replication", maintain_order=True).agg(pl.col("throughput_bps").sum())
    assert steady.y[2] == pytest.approx((100 * parts / wholes["throughput_bps"]).mean())
    assert steady.low[2] < steady.y[2] < steady.high[2]
    with pytest.raises(InvalidInputError, match="same value"):
        perhop.plot.share([runs[0], runs[0]], "links.1.rate")
    with pytest.raises(InvalidInputError, match="has no `rat`"):
        perhop.plot.share(runs, "links.1.rat")


def test_congestion_windows(scenario: Path) -> None:
    text = scenario.read_text().replace(
        "cbr: { rate: 800kb/s, packet: { ip: 1000B } }", "bulk: { tcp: { profile: linux-modern } }"
    )
    scenario.write_text(text + "  connections: [{ traffic: steady, every: 50ms }]\n")
    results = perhop.run(scenario)
    chart = perhop.plot.congestion_window(results)
    (line,) = chart.marks
    assert isinstance(line, Line)
    assert list(line.y) == results.table("connections")["cwnd_segments"].to_list()
    assert (line.name, chart.y.unit) == ("steady", "segments")


def test_fewer_points_show_the_same_extremes() -> None:
    values = np.sin(np.arange(100_000) / 50)
    values[77_777] = 5
    line = thinned(Line("", "class0", np.arange(100_000.0), values))
    assert len(line.y) <= 1200
    assert (max(line.y), min(line.y)) == (5, values.min())
    assert list(_core.envelope(np.array([1.0, 2.0]), 1)) == [0, 1]


def test_quantities() -> None:
    assert _core.quantity("1.5Mb/s") == (1.5e6, "b/s")
    assert _core.quantity("20ms") == (0.02, "s")
    assert _core.quantity("25KiB") == (25600, "bytes")
    assert _core.quantity("40 packets") == (40, "packets")
    assert _core.quantity("fifo") is None


def test_missing_samples_are_reported(scenario: Path) -> None:
    results = perhop.run(scenario)
    with pytest.raises(InvalidInputError, match="delays is empty") as caught:
        perhop.plot.delay(results)
    assert "measure.delay-every" in str(caught.value.help)
    with pytest.raises(InvalidInputError, match="early drops"):
        perhop.plot.drop_curve(results)


def test_the_command_plots_saved_results(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    ran = perhop("run", scenario, "-o", "out", "--plot", "queue", "--plot", "delay-cdf=cdf.png", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (tmp_path / "out" / "queue.svg").read_text().startswith("<?xml")
    assert (tmp_path / "cdf.png").read_bytes().startswith(b"\x89PNG")
    plotted = perhop("plot", "throughput", "out", "-o", "throughput.html")
    assert plotted.code == 0, plotted.err
    assert "<!doctype html>" in (tmp_path / "throughput.html").read_text()
    for arguments, message in [
        (("run", scenario, "--plot", "qeue"), "did you mean `queue`?"),
        (("run", scenario, "--plot", "queue=q.bmp"), ".svg, .png, .pdf"),
        (("plot", "delay", "out"), "table delays is empty"),
        (("plot", "queue", "out", "-o", "nowhere/queue.svg"), "is not a folder"),
        (("plot", "queue", "nowhere"), "no results of a run"),
        (("plot", "share", "out"), "--against"),
    ]:
        ended = perhop(*arguments)
        assert ended.code == 2
        assert message in ended.err


def without_matplotlib(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = (
        f"import sys; sys.modules['matplotlib'] = None\nfrom perhop.command import main; main({arguments!r})"
    )
    line = [sys.executable, "-c", program]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_without_matplotlib_plots_are_pages(scenario: Path, tmp_path: Path) -> None:
    ended = without_matplotlib(tmp_path, "run", str(scenario), "-o", "out", "--plot", "queue")
    assert ended.returncode == 0, ended.stderr
    assert "written to out/queue.html" in ended.stderr
    assert without_matplotlib(tmp_path, "plot", "throughput", "out").returncode == 0
    assert (tmp_path / "throughput.html").is_file()


def test_without_matplotlib_the_results_are_kept(scenario: Path, tmp_path: Path) -> None:
    ended = without_matplotlib(tmp_path, "run", str(scenario), "-o", "out", "--plot", "queue=queue.svg")
    assert ended.returncode == 5
    assert "pip install 'perhop[plot]'" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert (tmp_path / "out" / "summary.json").is_file()
    assert "steady" in ended.stdout, "the table is shown before anything is drawn"


def test_published_next_to_measured() -> None:
    from perhop.plot.comparisons import published_chart

    row = {"table": "1", "metric": "dropped_percent", "unit": "%", "replications": 3, "verdict": "agrees"}
    rows = [
        row | {"case": {"load": "light"}, "published": 1, "measured": 1.1, "ci95": [1.0, 1.2]},
        row | {"case": {"load": "heavy"}, "published": 50, "measured": None, "ci95": None},
    ]
    chart = published_chart(rows, "Table 1: Loss", "seed 1.")
    published, measured = chart.marks
    assert isinstance(published, Points)
    assert isinstance(measured, Points)
    assert chart.y.categories == ("heavy", "light"), "the first row is drawn at the top"
    assert list(published.x) == [50, 1]
    assert chart.to_json()["marks"][1]["x"] == [None, 1.1]
    assert chart.x.title == "Dropped (%)", "the unit appears once"
