"""The design of sweeps: stop rules, seeds, paired differences, and the points of a design."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import perhop as library
from conftest import Command
from perhop._core import confidence_95
from perhop.errors import InvalidInputError
from perhop.sampling import Design, grid, latin_hypercube, sobol, split, zipped
from perhop.sweeping import Sweep, Until, design_of
from perhop.sweeping.statistics import student

RATE = "links.1.rate"


def until(scenario: Path, rule: str, **more: object) -> Sweep:
    values = {RATE: "1Mb/s,2Mb/s,4Mb/s", "duration": "3s"}
    return library.sweep(scenario, values, until=rule, replications=2, at_most=40, **more)  # type: ignore[arg-type]


def test_replications_are_added_until_the_interval_is_narrow(scenario: Path) -> None:
    """The number is the smallest with a narrow interval, regardless of the number of threads."""
    found = until(scenario, "random.throughput within 2%")
    assert (
        found.points["replications"].to_list()
        == until(scenario, "random.throughput within 2%", threads=1).points["replications"].to_list()
    )
    everything = library.sweep(scenario, {RATE: "1Mb/s,2Mb/s,4Mb/s", "duration": "3s"}, replications=40)
    for point, replications in found.points.select("point", "replications").iter_rows():
        rows = (pl.col("point") == point) & (pl.col("class") == "random")
        samples = everything.classes.filter(rows)["throughput_bps"].to_list()
        wanted = 40
        for count in range(2, 41):
            interval = confidence_95(samples[:count])
            assert interval is not None
            mean, low, high = interval
            if (high - low) / 2 <= 0.02 * mean:
                wanted = count
                break
        assert replications == wanted
        assert found.classes.filter(rows)["throughput_bps"].to_list() == samples[:wanted]
    assert len(set(found.points["replications"])) > 1, "the rule makes a difference"


def test_a_rule_that_is_never_met_ends(scenario: Path) -> None:
    found = library.sweep(
        scenario,
        {RATE: "1Mb/s,2Mb/s", "duration": "2s"},
        until="random.throughput within 0.000001%",
        replications=2,
        at_most=4,
    )
    assert found.points["replications"].to_list() == [4, 4]


@pytest.mark.parametrize(
    ("text", "most", "said"),
    [
        ("voice.delay_p99", 9, "is not a stop rule"),
        ("delay_p99 within 1ms", 9, "has no class"),
        ("voice.delay within 1ms", 9, "there is no metric `delay`"),
        ("voice.delay_p99 within 1Mb/s", 9, "is not a width"),
        ("voice.delay_p99 within 0ms", 9, "is not a width"),
        ("voice.delay_p99 within 1ms", 1, "two replications"),
    ],
)
def test_invalid_rules_are_refused(text: str, most: int, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        Until.parse(text, most)


def test_widths_have_units() -> None:
    assert Until.parse("voice.delay_p99 within 1ms", 9) == Until("voice", "delay_p99_s", 1e-3, False, 9)
    assert Until.parse("a.b.throughput within 5 %", 9) == Until("a.b", "throughput_bps", 0.05, True, 9)
    assert Until.parse("bulk.loss within 0.5%", 9) == Until("bulk", "dropped_percent", 0.5, False, 9)


def test_common_random_numbers_make_differences_sharper(scenario: Path) -> None:
    """Pairing by replication, calculated by hand; with separate seeds, points also differ by noise."""
    values = {RATE: "8Mb/s,8.5Mb/s", "duration": "5s"}
    common, own = (
        library.sweep(scenario, values, replications=8, independent=independent)
        for independent in (False, True)
    )
    sharp, dull = (
        found.differences(metrics=["delay_mean"]).filter(pl.col("class") == "random").row(0, named=True)
        for found in (common, own)
    )
    rows = common.classes.filter(pl.col("class") == "random")
    delays, other = (rows.filter(pl.col("point") == point)["delay_mean_s"].to_list() for point in (0, 1))
    by_hand = confidence_95([b - a for a, b in zip(delays, other, strict=True)])
    assert (sharp["mean"], sharp["low"], sharp["high"]) == pytest.approx(by_hand)
    assert sharp["high"] - sharp["low"] < (dull["high"] - dull["low"]) / 2
    assert own.scenario_of(0)["seed"] != own.scenario_of(1)["seed"]
    assert own.scenario_of(1).run().classes["throughput_bps"].to_list() == (
        own.classes.filter(pl.col("point") == 1)["throughput_bps"].to_list()
    )


def test_quantiles_of_student() -> None:
    """Published quantiles of t for 97.5 %: 1, 4 and 29 degrees of freedom."""
    assert [student(count) for count in (2, 5, 30)] == pytest.approx([12.706, 2.776, 2.045], abs=1e-3)
    assert student(1) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1:9:2", ["1", "3", "5", "7", "9"]),
        ("9:1:-4", ["9", "5", "1"]),
        ("0.1:0.5:0.1", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("1Mb/s:2Mb/s:250kb/s", ["1Mb/s", "1.25Mb/s", "1.5Mb/s", "1.75Mb/s", "2Mb/s"]),
        ("10ms:35ms:10ms", ["10ms", "20ms", "30ms"]),
        ("log(1,1000,4)", ["1", "10", "100", "1000"]),
        ("log(1ms,1s,4)", ["1ms", "10ms", "100ms", "1000ms"]),
        ("1,5:7:1,ef", ["1", "5", "6", "7", "ef"]),
        ("fe80::1,00:11:22:33:44:55", ["fe80::1", "00:11:22:33:44:55"]),
        ("{a: {b: 1, c: 2}},[1,2],'x,y'", ["{a: {b: 1, c: 2}}", "[1,2]", "'x,y'"]),
    ],
)
def test_values_of_a_parameter(text: str, wanted: list[str]) -> None:
    assert grid({"path": split(text)}).lists["path"] == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1:9:-1", "leads away from its end"),
        ("1:9:0", "leads away from its end"),
        ("1:9:100", "has one value"),
        ("1:9999999:1", "the limit is 1,000,000"),
        ("log(0,9,3)", "is not a range"),
        ("log(1,9)", "is not a list of values"),
        ("log(1ms,9Mb/s,3)", "ends of different kinds"),
        ("1,,2", "contains an empty value"),
    ],
)
def test_invalid_ranges_are_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        grid({"path": split(text, "path")})


def test_every_combination_in_order_by_number() -> None:
    design = design_of({"a": "1:3:1", "b": ["x", "y"], "c": "9"})
    assert len(design) == 6
    assert [tuple(design[number].values()) for number in range(6)] == [
        (a, b, "9") for a in ("1", "2", "3") for b in ("x", "y")
    ]
    assert design.parameters == ("a", "b")
    assert Design.of_json(design.to_json()) == design
    assert len(design_of({"a": "1:1000:1", "b": "1:1000:1"})) == 1_000_000


def test_values_together() -> None:
    design = zipped({"a": ["1", "2", "3"], "b": ["4:6:1"], "c": ["7"]})
    assert [tuple(design[number].values()) for number in range(3)] == [
        ("1", "4", "7"),
        ("2", "5", "7"),
        ("3", "6", "7"),
    ]
    with pytest.raises(InvalidInputError, match="a has 2, b has 3 values"):
        zipped({"a": ["1", "2"], "b": ["4", "5", "6"]})


def test_a_latin_hypercube_has_a_point_in_every_layer() -> None:
    pytest.importorskip("scipy")
    design = latin_hypercube({"x": ["0.0:10.0"], "y": ["log(1,1000)"], "z": ["red,green"]}, 20, 3)
    found = [design[number] for number in range(20)]
    assert sorted(int(float(point["x"]) * 2) for point in found) == list(range(20))
    assert sorted(point["z"] for point in found) == ["green"] * 10 + ["red"] * 10
    assert [point == other for point, other in zip(found, _again(design), strict=True)] == [True] * 20


def test_sobol_points_are_balanced_and_remain() -> None:
    pytest.importorskip("scipy")
    few, many = (sobol({"x": ["0.0:8.0"], "n": ["1:4"]}, count, 5) for count in (16, 64))
    assert [few[number] for number in range(16)] == [many[number] for number in range(16)]
    counts = [0] * 8
    for point in _again(many):
        counts[int(float(point["x"]))] += 1
    assert counts == [8] * 8
    whole = [point["n"] for point in _again(many)]
    assert {number: whole.count(number) for number in "1234"} == dict.fromkeys("1234", 16)
    assert [many[0]] != [sobol({"x": ["0.0:8.0"], "n": ["1:4"]}, 64, 6)[0]]


def _again(design: Design) -> list[dict[str, str]]:
    same = Design.of_json(design.to_json())
    return [same[number] for number in range(len(same))]


def test_samples_and_tables_by_the_command(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    line = ["sweep", scenario, "--set", f"{RATE}=1Mb/s:4Mb/s", "--sample", "6", "--duration", "2s", "-q"]
    ended = perhop(*line, "--table", "ports", "-o", "out")
    assert ended.code == 0, ended.err
    found = Sweep.load(tmp_path / "out")
    rates = found.points[RATE].to_list()
    assert len(set(rates)) == 6
    assert all(1e6 <= rate <= 4e6 for rate in rates)
    assert found.frame("ports").height > 6
    zipping = ["--set", "seed=1,2", "--set", f"{RATE}=1Mb/s,2Mb/s", "--zip", "--json", "--duration", "2s"]
    points = perhop("sweep", scenario, *zipping).json()["points"]
    assert [point["set"] for point in points] == [
        {"seed": "1", RATE: "1Mb/s"},
        {"seed": "2", RATE: "2Mb/s"},
    ]
    for wrong in (["--sample", "3", "--zip"], ["--table", "nothing"], ["--engine", "nothing"]):
        assert perhop(*line[:4], "--duration", "2s", *wrong).code == 2, wrong
    assert not math.isnan(found.table(["share"])["mean"].sum())
