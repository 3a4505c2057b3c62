"""Conveniences of the package: paths, numbers in base units, frames and plot methods."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import perhop
from perhop import InvalidInputError, Scenario, ScenarioError, UnknownNameError
from perhop.paths import base_unit, written


@pytest.fixture
def loaded(scenario: Path) -> Scenario:
    return Scenario.load(scenario)


def test_values_are_read_by_path(loaded: Scenario) -> None:
    assert loaded["links.1.rate"] == "2Mb/s"
    assert loaded["traffic.steady.source.cbr.rate"] == loaded["traffic.0.source.cbr.rate"] == "800kb/s"
    assert loaded["measure.warmup"] == "1s"
    assert "links.1.rate" in loaded
    assert "links.1.rat" not in loaded
    assert loaded.get("links.7.rate", "none") == "none"
    with pytest.raises(UnknownNameError, match="no `rat`"):
        loaded["links.1.rat"]
    with pytest.raises(KeyError):
        loaded["nothing"]


def test_names_with_dots_are_found() -> None:
    found = Scenario({"perhop": 1, "hosts": {"a.b": {"address": "10.0.0.1"}}, "x.y": 3})
    assert found["hosts.a.b.address"] == "10.0.0.1"
    assert found["x.y"] == 3


def test_values_are_set_by_path(loaded: Scenario) -> None:
    loaded["links.1.rate"] = 2.5e6
    loaded["traffic.steady.source.cbr.packet.ip"] = 500
    loaded["traffic.*.start"] = 0.25
    loaded["duration"] = 10
    loaded["seed"] = 3
    assert loaded["links"][1]["rate"] == "2500kb/s"
    assert loaded["traffic.steady.source.cbr.packet.ip"] == "500B"
    assert [flow["start"] for flow in loaded["traffic"]] == ["250ms", "250ms"]
    assert (loaded["duration"], loaded["seed"]) == ("10s", 3)
    assert loaded.check()["duration"] == "10s"
    with pytest.raises(ScenarioError, match="no `rat`"):
        loaded["links.1.rat"] = 1
    assert loaded.set("duration", 12)["duration"] == "12s"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("links.1.rate", 2e6, "2000000b/s"),
        ("links.1.rate", 10**10, "10000000000b/s"),
        ("links.trunk.east.rate", 1e22, "10000000000000000000000b/s"),
        ("duration", 10, "10s"),
        ("links.0.delay", 1e-12, "0.000000000001s"),
        ("links.0.delay", 0.1, "0.1s"),
        ("links.0.delay", 0.0, "0s"),
        ("traffic.a.source.cbr.packet.ip", 1500, "1500B"),
        ("links.0.loss", 0.5, 0.5),
        ("seed", 3, 3),
        ("links.0.rate", "1Mb/s", "1Mb/s"),
        ("measure.queues", [1], [1]),
        ("links.0.rate", True, True),
    ],
)
def test_numbers_are_in_base_units(path: str, value: object, expected: object) -> None:
    found = written(path, value)
    assert found == expected
    assert type(found) is type(expected)


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    assert written("links.1.rate", np.float64(2e6)) == "2000000b/s"
    assert written("seed", np.int64(4)) == 4


def test_base_units() -> None:
    paths = ("links.1.rate", "duration", "traffic.x.source.cbr.packet.ip", "seed", "no.such.path")
    assert [base_unit(path) for path in paths] == ["b/s", "s", "bytes", "", ""]


def test_a_run_takes_numbers(scenario: Path) -> None:
    given = perhop.run(scenario, set={"links.1.rate": 1e6, "duration": 3})
    assert given.scenario["links"][1]["rate"] == "1Mb/s"
    assert given.summary == perhop.run(scenario, set={"links.1.rate": "1Mb/s"}, duration="3s").summary
    with pytest.raises(ScenarioError, match="rate"):
        perhop.run(scenario, set={"links.1.rate": -1})


def test_means_are_the_summary_as_a_frame(scenario: Path) -> None:
    results = perhop.run(scenario, replications=2)
    means = results.means
    assert means.columns == ["class", "metric", "unit", "mean", "low", "high"]
    (row,) = means.rows_by_key(["class", "metric"], named=True)["random", "throughput_bps"]
    (group,) = (entry for entry in results.summary["classes"] if entry["class"] == "random")
    given = group["throughput_bps"]
    assert (row["unit"], row["mean"], [row["low"], row["high"]]) == ("b/s", given["mean"], given["ci95"])
    assert perhop.run(scenario).means["low"].null_count() == perhop.run(scenario).means.height


def test_printed_classes_show_the_main_columns(scenario: Path, tmp_path: Path) -> None:
    results = perhop.run(scenario)
    shown = str(results.classes).replace("\n", "")
    for column in ("class", "throughput_bps", "dropped_percent", "delay_mean_s", "delay_p99_s"):
        assert column in results.classes.columns[:4] + results.classes.columns[-4:]
        assert column[:9] in shown, "polars breaks long names"
    assert set(results.classes.columns) == set(results.table("classes").columns)
    results.save(tmp_path / "saved")
    assert perhop.Results.load(tmp_path / "saved").classes.equals(results.classes)


def test_results_have_plot_methods(scenario: Path) -> None:
    results = perhop.run(scenario)
    assert results.plot.queue().to_json() == perhop.plot.queue(results).to_json()
    assert results.plot.throughput(stacked=True).stacked
    with pytest.raises(InvalidInputError):
        results.plot.congestion_window()
    kinds = {name for name in dir(results.plot) if not name.startswith("_")}
    assert kinds == {
        kind.replace("-", "_").replace("cwnd", "congestion_window") for kind in perhop.plot.KINDS
    } - {"throughput_stacked"}
    assert all(getattr(results.plot, kind).__doc__ for kind in kinds)
    assert "delay_cdf" in repr(results.plot)


def test_results_load_no_matplotlib(scenario: Path) -> None:
    code = f"import perhop, sys; r = perhop.run({str(scenario)!r}); r.plot; "
    code += "assert not {'matplotlib', 'perhop.plot', 'polars'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
