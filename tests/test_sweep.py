"""Sweeps: every combination is run, saved, shown and plotted."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import perhop
from conftest import Command, files_in
from perhop.command.sweep import split
from perhop.errors import InvalidInputError
from perhop.plot import Line, Points
from perhop.report import page
from perhop.sweeping import sweep

RATE = "links.1.rate"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> perhop.Sweep:
    from conftest import SCENARIO

    file = tmp_path_factory.mktemp("sweep") / "overload.perhop.yaml"
    file.write_text(SCENARIO)
    values = {RATE: ["4Mb/s", "1Mb/s"], "traffic.steady.source.cbr.rate": ["800kb/s", "400kb/s"]}
    return perhop.sweep(file, {**values, "duration": "3s"}, replications=3)


def test_every_combination_is_run_as_if_alone(swept: perhop.Sweep, scenario: Path) -> None:
    assert swept.parameters == (RATE, "traffic.steady.source.cbr.rate")
    assert [tuple(point.values.values()) for point in swept.points] == [
        ("4Mb/s", "800kb/s"),
        ("4Mb/s", "400kb/s"),
        ("1Mb/s", "800kb/s"),
        ("1Mb/s", "400kb/s"),
    ]
    changes = {**swept.points[2].values, "duration": "3s"}
    alone = perhop.run(scenario, set=changes, replications=3)
    assert swept.points[2].results.classes.equals(alone.classes)


def test_the_table_is_tidy(swept: perhop.Sweep) -> None:
    table = swept.table()
    assert table.columns[:5] == [*swept.parameters, "class", "metric", "unit"]
    row = table.row(
        by_predicate=(pl.col(RATE) == "1Mb/s")
        & (pl.col("traffic.steady.source.cbr.rate") == "400kb/s")
        & (pl.col("class") == "steady")
        & (pl.col("metric") == "throughput_bps"),
        named=True,
    )
    samples = swept.points[3].results.classes.filter(pl.col("class") == "steady")["throughput_bps"]
    assert row["mean"] == pytest.approx(samples.mean())
    assert row["low"] <= row["mean"] <= row["high"]
    assert (row["unit"], row["replications"]) == ("b/s", 3)


def test_shares_with_bands_against_each_parameter(swept: perhop.Sweep) -> None:
    charts = swept.share()
    assert [chart.title.rpartition(", ")[2] for chart in charts] == [
        "traffic.steady.source.cbr.rate = 800kb/s",
        "traffic.steady.source.cbr.rate = 400kb/s",
    ]
    steady, random = charts[0].marks
    assert isinstance(steady, Line)
    assert isinstance(random, Line)
    assert (list(steady.x), charts[0].x.unit) == ([1, 4], "Mb/s"), "numbers stand in their order"
    assert [a + b for a, b in zip(steady.y, random.y, strict=True)] == pytest.approx([100, 100])
    assert all(low < y < high for low, y, high in zip(steady.low, steady.y, steady.high, strict=True))
    assert [list(mark.x) for mark in swept.share(against="traffic.steady.source.cbr.rate")[0].marks] == [
        [400, 800]
    ] * 2
    with pytest.raises(InvalidInputError, match="was not swept"):
        swept.share(against="duration")


def test_names_stand_side_by_side(scenario: Path, tmp_path: Path) -> None:
    paths = {"traffic.steady.dscp": ["ef", "af11"], "duration": "2s"}
    found = perhop.sweep(scenario, paths, replications=2)
    (chart,) = found.share()
    assert chart.x.categories == ("ef", "af11")
    assert all(isinstance(mark, Points) for mark in chart.marks)
    chart.save(tmp_path / "share.svg")
    words = {text.text for text in ElementTree.parse(tmp_path / "share.svg").iter() if text.text}
    assert {"ef", "af11"} <= words


def test_a_seed_can_be_swept(scenario: Path) -> None:
    one, other = perhop.sweep(scenario, {"seed": [1, 2], "duration": "2s"}).points
    assert not one.results.classes.equals(other.results.classes)


def test_what_is_saved_is_read_again(swept: perhop.Sweep, tmp_path: Path) -> None:
    swept.save(tmp_path / "one")
    swept.save(tmp_path / "two")
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two"), "the same sweep gives the same bytes"
    again = perhop.Sweep.load(tmp_path / "one")
    assert again.table().equals(swept.table())
    assert [chart.to_json() for chart in again.share()] == [chart.to_json() for chart in swept.share()]
    text = page([tmp_path / "one"])
    for expected in (
        f"{RATE} = 4Mb/s, traffic",
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
    for expected in ("2 points, 2 replications", "1Mb/s", "share of throughput", "steady"):
        assert expected in ended.out, expected
    assert "Share of throughput against" in (tmp_path / "share.svg").read_text()
    assert "<!doctype html>" in (tmp_path / "share.html").read_text()
    document = perhop(*arguments, "--json").json()
    assert [point["set"] for point in document["points"]] == [{RATE: "1Mb/s"}, {RATE: "2Mb/s"}]
    saved = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert [point["classes"] for point in saved["points"]] == [
        point["classes"] for point in document["points"]
    ]
    plotted = perhop("plot", "share", "out", "-o", "again.svg")
    assert plotted.code == 0, plotted.err
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "share.svg").read_bytes()
    runs = [tmp_path / "out" / point["folder"] for point in saved["points"]]
    plotted = perhop("plot", "share", *runs, "--against", RATE, "-o", "runs.svg")
    assert plotted.code == 0, plotted.err


def test_a_part_of_a_policy_as_a_parameter_leaves_room_for_the_figures(
    perhop: Command, scenario: Path
) -> None:
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
    heading = [line.split()[0] for line in ended.out.splitlines()[2:4]]
    assert heading == ["policies.wan.queueing.", "classes.all.buffer"]
    for value in values:
        assert f" {value[:24]}… " in ended.out
        assert value not in ended.out
    assert max(map(len, ended.out.splitlines())) < 140
    (chart,) = sweep(scenario, {"policies.wan.queueing.classes.all.buffer": values, "duration": "2s"}).share()
    assert chart.x.categories == tuple(f"{value[:24]}…" for value in values)


def test_the_duration_of_a_sweep(perhop: Command, scenario: Path) -> None:
    one, other = (
        perhop("sweep", scenario, "--set", f"{RATE}=1Mb/s,2Mb/s", *length, "--json").json()
        for length in (["--duration", "2s"], ["--set", "duration=2s"])
    )
    assert one == other
    assert one["parameters"] == [RATE]


def test_a_sweep_of_a_router_reports_what_it_inferred(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "router.cfg").write_text("hostname edge\ninterface Serial0/0\n bandwidth 512\n")
    ended = perhop("sweep", "router.cfg", "--set", "seed=1,2", "--duration", "5s")
    assert ended.code == 0, ended.err
    assert "inferred: traffic from an added interface to Serial0/0" in ended.err


def test_invalid_sweeps_are_refused_before_anything_runs(perhop: Command, scenario: Path) -> None:
    for values, said in [
        ((f"{RATE}=1Mb/s",), "no parameter has several values"),
        ((f"{RATE}=1Mb/s,2Zb/s",), "2Zb/s"),
        ((f"{RATE}=1Mb/s,,2Mb/s",), "contains an empty value"),
        ((f"{RATE}=1Mb/s,2Mb/s", "--against", "duration"), "has fewer than two values"),
        ((f"{RATE}=1Mb/s,2Mb/s", "--plot", "share.bmp"), ".svg, .png, .pdf"),
        (("links.7.rate=1Mb/s,2Mb/s",), "links.7"),
    ]:
        ended = perhop("sweep", scenario, "--set", *values)
        assert (ended.code, ended.out) == (2, ""), values
        assert said in ended.err


def test_commas_within_a_value() -> None:
    assert split("1,2 , 3") == ["1", "2", "3"]
    assert split("{poisson: {rate: 1Mb/s, packet: {ip: 1B}}},fifo") == [
        "{poisson: {rate: 1Mb/s, packet: {ip: 1B}}}",
        "fifo",
    ]
    assert split("'a,b',[1,2]") == ["'a,b'", "[1,2]"]
