"""Sweeps: every combination is run, saved, shown and plotted."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import perhop
from conftest import Command, files_in
from perhop._core import confidence_95
from perhop.errors import InvalidInputError
from perhop.plot import Line, Points
from perhop.report import page
from perhop.report.sweep import Swept
from perhop.sampling import split
from perhop.sweeping import Sweep, sweep

RATE = "links.1.rate"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> perhop.Sweep:
    from conftest import SCENARIO

    file = tmp_path_factory.mktemp("sweep") / "overload.perhop.yaml"
    file.write_text(SCENARIO)
    values = {RATE: ["4Mb/s", "1Mb/s"], "traffic.steady.source.cbr.rate": ["800kb/s", "400kb/s"]}
    return perhop.sweep(file, {**values, "duration": "3s"}, replications=3)


def test_every_combination_equals_a_separate_run(swept: perhop.Sweep, scenario: Path) -> None:
    assert swept.parameters == (RATE, "traffic.steady.source.cbr.rate")
    assert swept.points.select(swept.parameters).rows() == [
        (4e6, 8e5),
        (4e6, 4e5),
        (1e6, 8e5),
        (1e6, 4e5),
    ]
    changes = {RATE: "1Mb/s", "traffic.steady.source.cbr.rate": "800kb/s", "duration": "3s"}
    alone = perhop.run(scenario, set=changes, replications=3).classes
    of_sweep = swept.classes.filter(pl.col("point") == 2).drop("point", *swept.parameters)
    assert of_sweep.select(alone.columns).equals(alone.with_columns(pl.col("class").cast(pl.String)))
    assert swept.scenario_of(2).run().classes.equals(alone)


def test_the_table_is_tidy(swept: perhop.Sweep) -> None:
    table = swept.table()
    assert table.columns[:6] == ["point", *swept.parameters, "class", "metric", "unit"]
    row = table.row(
        by_predicate=(pl.col(RATE) == 1e6)
        & (pl.col("traffic.steady.source.cbr.rate") == 4e5)
        & (pl.col("class") == "steady")
        & (pl.col("metric") == "throughput_bps"),
        named=True,
    )
    samples = swept.classes.filter((pl.col("point") == 3) & (pl.col("class") == "steady"))["throughput_bps"]
    mean, low, high = confidence_95(samples.to_list()) or (0.0, 0.0, 0.0)
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((mean, low, high))
    assert (row["unit"], row["replications"]) == ("b/s", 3)


def test_shares_with_bands_against_each_parameter(swept: perhop.Sweep) -> None:
    charts = swept.share()
    assert [chart.title.rpartition(", ")[2] for chart in charts] == [
        "cbr.rate = 800 kb/s",
        "cbr.rate = 400 kb/s",
    ]
    steady, random = charts[0].marks
    assert isinstance(steady, Line)
    assert isinstance(random, Line)
    assert (list(steady.x), charts[0].x.unit) == ([1, 4], "Mb/s"), "numbers are in their order"
    assert [a + b for a, b in zip(steady.y, random.y, strict=True)] == pytest.approx([100, 100])
    assert all(low < y < high for low, y, high in zip(steady.low, steady.y, steady.high, strict=True))
    assert [list(mark.x) for mark in swept.share(against="traffic.steady.source.cbr.rate")[0].marks] == [
        [400, 800]
    ] * 2
    with pytest.raises(InvalidInputError, match="was not swept"):
        swept.share(against="duration")


def test_names_are_side_by_side(scenario: Path, tmp_path: Path) -> None:
    paths = {"traffic.steady.dscp": ["ef", "af11"], "duration": "2s"}
    found = perhop.sweep(scenario, paths, replications=2)
    (chart,) = found.share()
    assert chart.x.categories == ("ef", "af11")
    assert all(isinstance(mark, Points) for mark in chart.marks)
    chart.save(tmp_path / "share.svg")
    words = {text.text for text in ElementTree.parse(tmp_path / "share.svg").iter() if text.text}
    assert {"ef", "af11"} <= words


def test_a_seed_can_be_swept(scenario: Path) -> None:
    found = perhop.sweep(scenario, {"seed": [1, 2], "duration": "2s"}).classes
    throughputs, other = (found.filter(pl.col("seed") == seed)["throughput_bps"].to_list() for seed in (1, 2))
    assert throughputs != other


def test_a_saved_sweep_is_read_back(swept: perhop.Sweep, tmp_path: Path) -> None:
    swept.save(tmp_path / "one")
    swept.save(tmp_path / "two")
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two"), "the same sweep gives the same bytes"
    again = perhop.Sweep.load(tmp_path / "one")
    assert again.table().equals(swept.table())
    assert [chart.to_json() for chart in again.share()] == [chart.to_json() for chart in swept.share()]
    text = page([tmp_path / "one"])
    for expected in (
        "4 points",
        'data-kind="share"',
        "Share of throughput against",
    ):
        assert expected in text, expected
    assert text.count('<figure class="chart" data-kind="share">') == 4, "two for each parameter"


def test_the_command(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    arguments = (
        "sweep",
        scenario,
        "--set",
        f"{RATE}=1Mb/s,2Mb/s",
        "--set",
        "duration=2s",
        "--replications",
        "2",
    )
    ended = perhop(*arguments, "-o", "out", "--plot", "share.svg", "--plot", "share.html")
    assert ended.code == 0, ended.err
    for expected in ("2 points, 2 replications", "1Mb/s", "share of", "steady"):
        assert expected in ended.out, expected
    assert "Share of throughput against" in (tmp_path / "share.svg").read_text()
    assert "<!doctype html>" in (tmp_path / "share.html").read_text()
    document = perhop(*arguments, "--json").json()
    assert [point["set"] for point in document["points"]] == [{RATE: "1Mb/s"}, {RATE: "2Mb/s"}]
    assert document["points"] == Sweep.load(tmp_path / "out").to_json()["points"]
    plotted = perhop("plot", "share", "out", "-o", "again.svg")
    assert plotted.code == 0, plotted.err
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "share.svg").read_bytes()
    for point in (0, 1):
        assert perhop("run", "--from", f"out:{point}", "-q", "-o", f"run-{point}").code == 0
    plotted = perhop("plot", "share", "run-0", "run-1", "--against", RATE, "-o", "runs.svg")
    assert plotted.code == 0, plotted.err


def test_a_long_parameter_path_leaves_room_for_figures(perhop: Command, scenario: Path) -> None:
    text = scenario.read_text().replace("10ms }", "10ms, interfaces: { router: { output: wan } } }")
    scenario.write_text(
        text + "policies: { wan: { queueing: { scheduler: fifo, classes: [{ name: all }] } } }\n"
    )
    values = [
        "{ tail-drop: { limit: 20 packets } }",
        "{ red: { precedences: [{ min: 10 packets, max: 30 packets, max-probability: 0.1 }] } }",
    ]
    change = f"policies.wan.queueing.classes.all.buffer={','.join(values)}"
    ended = perhop("sweep", scenario, "--set", change, "--duration", "2s")
    assert ended.code == 0, ended.err
    heading = [line.split()[0] for line in ended.out.splitlines()[1:3]]
    assert heading == ["policies.wan.queueing.", "classes.all.buffer"]
    for value in values:
        assert f"{value[:24]}… " in ended.out
        assert value not in ended.out
    assert max(map(len, ended.out.splitlines())) < 140
    (chart,) = sweep(scenario, {"policies.wan.queueing.classes.all.buffer": values, "duration": "2s"}).share()
    assert chart.x.categories == tuple(f"{value[:24]}…" for value in values)


def test_the_duration_of_a_sweep(perhop: Command, scenario: Path) -> None:
    swept, other = (
        perhop("sweep", scenario, "--set", f"{RATE}=1Mb/s,2Mb/s", *length, "--json").json()
        for length in (["--duration", "2s"], ["--set", "duration=2s"])
    )
    assert swept == other
    assert swept["parameters"] == [RATE]


def test_a_sweep_of_a_router_reports_what_it_inferred(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "router.cfg").write_text("hostname edge\ninterface Serial0/0\n bandwidth 512\n")
    ended = perhop("sweep", "router.cfg", "--set", "seed=1,2", "--duration", "5s")
    assert ended.code == 0, ended.err
    assert "inferred: traffic from an added interface to Serial0/0" in ended.err


def test_invalid_sweeps_are_refused_before_anything_runs(perhop: Command, scenario: Path) -> None:
    for values, message in [
        ((f"{RATE}=1Mb/s",), "no parameter has several values"),
        ((f"{RATE}=1Mb/s,2Zb/s",), "2Zb/s"),
        ((f"{RATE}=1Mb/s,,2Mb/s",), "contains an empty value"),
        ((f"{RATE}=1Mb/s,2Mb/s", "--against", "duration"), "has fewer than two values"),
        ((f"{RATE}=1Mb/s,2Mb/s", "--plot", "share.bmp"), ".svg, .png, .pdf"),
        (("links.7.rate=1Mb/s,2Mb/s",), "links.7"),
    ]:
        ended = perhop("sweep", scenario, "--set", *values)
        assert (ended.code, ended.out) == (2, ""), values
        assert message in ended.err


def test_commas_within_a_value() -> None:
    assert split("1,2 , 3") == ["1", "2", "3"]
    assert split("{poisson: {rate: 1Mb/s, packet: {ip: 1B}}},fifo") == [
        "{poisson: {rate: 1Mb/s, packet: {ip: 1B}}}",
        "fifo",
    ]
    assert split("'a,b',[1,2]") == ["'a,b'", "[1,2]"]


def test_the_command_draws_the_requested_plots(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    offered = "traffic.steady.source.cbr.rate"
    line = ["sweep", scenario, "--set", f"{RATE}=1Mb/s,2Mb/s,4Mb/s", "--set", f"{offered}=400kb/s,800kb/s"]
    line += ["--duration", "2s", "-q", "-o", "out"]
    asked = ["delay_p99", "heat-map:loss=heat.svg", "parallel:share=parallel.html"]
    asked += ["pareto:steady.delay_p99,random.throughput=front.png"]
    ended = perhop(*line, *(word for plot in asked for word in ("--plot", plot)), "--series", offered)
    assert ended.code == 0, ended.err
    for name in ("delay_p99.svg", "heat.svg", "parallel.html", "front.png"):
        # If there are several charts, each class has a file.
        assert (tmp_path / name).stat().st_size > 1000, name
    plotted = perhop("plot", "delay_p99", "out", "--series", offered, "-o", "again.svg")
    assert plotted.code == 0, plotted.err
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "delay_p99.svg").read_bytes()
    # One metric of two classes.
    plotted = perhop("plot", "pareto:steady.loss,random.loss", "out", "-o", "losses.svg")
    assert plotted.code == 0, plotted.err
    for wrong, message in [
        (["--plot", "delay_p98"], "there is no metric"),
        (["--plot", "pie:loss"], "there is no plot `pie`"),
        (["--plot", "pareto:loss"], "needs two metrics"),
        (["--plot", "loss", "--series", "duration"], "has fewer than two values"),
    ]:
        refused = perhop(*line[:-2], *wrong)
        assert refused.code == 2, wrong
        assert message in refused.err


def test_a_heat_map_of_one_parameter_is_refused(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    line = ["sweep", scenario, "--set", f"{RATE}=1Mb/s,2Mb/s", "--duration", "2s", "-q", "-o", "out"]
    assert perhop(*line).code == 0
    refused = perhop("plot", "heat-map:loss", "out")
    assert refused.code == 2 and "a heat map needs two parameters with several values" in refused.err


def test_the_report_maps_two_parameters_of_three(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    offered = ["--set", "traffic.steady.source.cbr.rate=400kb/s,800kb/s"]
    arguments = ["sweep", scenario, "--set", f"{RATE}=1Mb/s,2Mb/s,4Mb/s", *offered, "--duration", "2s", "-q"]
    assert perhop(*arguments, "-o", "two").code == 0
    charts = Swept(tmp_path / "two").charts
    maps = [chart for chart in charts if chart.kind == "heat-map"]
    titles = [chart.title.split(" over ")[0] for chart in maps]
    delay = "Delay p99 of"
    assert titles == ["Dropped of steady", "Dropped of random", f"{delay} steady", f"{delay} random"]
    assert all(len(chart.marks[0].values) == 6 for chart in maps)
    assert [chart.kind for chart in charts if chart not in maps] == ["share"] * 5
    assert perhop(*arguments, "--set", "seed=1,2", "-o", "three").code == 0
    assert {chart.kind for chart in Swept(tmp_path / "three").charts} == {"parallel"}
    assert "Dropped of steady over" in page([tmp_path / "two"])
    # Randomly drawn points are not cells of a grid.
    drawn = [
        *arguments[:2],
        "--set",
        f"{RATE}=1Mb/s:4Mb/s",
        "--set",
        "traffic.steady.source.cbr.rate=400kb/s:800kb/s",
    ]
    drawn += ["--sample", "8", "--duration", "2s", "-q", "-o", "drawn"]
    assert perhop(*drawn).code == 0
    assert "heat-map" not in {chart.kind for chart in Swept(tmp_path / "drawn").charts}


def test_a_range_has_the_unit_of_its_last_number(perhop: Command) -> None:
    from perhop import sampling

    assert list(sampling.grid({"a.min": ["5:29:1 packets"]}).values["a.min"]) == [
        f"{count} packets" for count in range(5, 30)
    ]
    assert sampling.grid({"a": ["1:3:1Mb/s"]}).values == sampling.grid({"a": ["1Mb/s:3Mb/s:1Mb/s"]}).values
    drawn = sampling.sobol({"a": ["5:29 packets"]}, 8, 1)
    assert all(re.fullmatch(r"([5-9]|1\d|2\d) ?packets", drawn[number]["a"]) for number in range(8))
    assert perhop("init", "lab", "--template", "wred").code == 0
    path = "policies.shared.queueing.classes.0.buffer.wred.precedences.1.min"
    swept = perhop(
        *("sweep", "lab", "--set", f"{path}=5:29:8 packets", "--duration", "6s"),
        *("--replications", "1", "--plot", "loss=loss.svg", "--json"),
    )
    assert swept.code == 0, swept.err
    points = [point["set"][path] for point in swept.json()["points"]]
    assert points == ["5 packets", "13 packets", "21 packets", "29 packets"]
