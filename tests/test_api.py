"""`import perhop`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import perhop
from perhop import _core, errors
from perhop.bounds import Seen
from perhop.errors import InvalidInputError
from perhop.running import Progress
from perhop.saved import Saved
from perhop.verdicts.telephony import Telephony


@pytest.mark.parametrize("levels", [62, 63, 5000])
def test_a_scenario_is_refused_where_it_is_nested_too_deeply(levels: int) -> None:
    inner: list[object] = []
    for _ in range(levels):
        inner = [inner]
    too_deep = levels > 62
    with pytest.raises(InvalidInputError) as caught:
        perhop.Scenario({"perhop": 1, "name": inner}).run()  # type: ignore[typeddict-item]
    assert ("nested more than 64 levels deep" in str(caught.value)) == too_deep


def test_run_gives_tables_and_a_summary(scenario: Path) -> None:
    results = perhop.run(scenario, seed=1, replications=2)
    assert isinstance(results.classes, pl.DataFrame)
    assert results.classes.height == 4
    assert results.summary["seed"] == 1
    for name in results.names:
        assert results.table(name).columns == list(results.units[name])
    assert results.flows.height == 4
    assert results.queues["time_s"].max() <= 5.0
    with pytest.raises(KeyError, match=r"^no table `flow`$") as caught:
        results.table("flow")
    assert isinstance(caught.value, perhop.UnknownNameError)
    assert "classes, flows" in str(caught.value.help)


def test_drops_by_cause_add_up(scenario: Path) -> None:
    results = perhop.run(scenario)
    by_class = results.drops.group_by("class").agg(pl.col("packets").sum())
    expected = results.classes.select("class", packets="dropped_packets")
    assert by_class.sort("class").equals(expected.sort("class"))
    assert set(results.drops.filter(pl.col("packets") > 0)["cause"]) == {"queue_full"}


def test_set_and_duration(scenario: Path) -> None:
    results = perhop.run(scenario, duration="3s", set={"traffic.steady.count": 2, "links.1.rate": "10Mb/s"})
    assert results.scenario["traffic"][0]["count"] == 2
    assert results.classes["dropped_packets"].sum() == 0


def test_a_scenario_is_changed_in_code(scenario: Path) -> None:
    changed = perhop.Scenario.load(scenario)
    changed["traffic"][0]["count"] = 3
    changed.set("traffic.random.source.poisson.rate", "1 Mb/s").set("seed", 9)
    assert (
        changed["traffic"][1]["source"]["poisson"]["rate"]
        == changed.check()["traffic"][1]["source"]["poisson"]["rate"]
    )
    results = changed.run()
    assert results.seed == 9
    flows = dict(results.classes.select("class", "flows").iter_rows())
    assert flows == {"steady": 3, "random": 1}


def test_a_scenario_in_code_alone() -> None:
    cbr = {"rate": "8kb/s", "packet": {"ip": "100B"}}
    results = perhop.Scenario(
        {
            "perhop": 1,
            "name": "Two hosts",
            "duration": "10s",
            "hosts": {"a": {}, "b": {}},
            "links": [{"between": ["a", "b"], "rate": "1Mb/s", "delay": "5ms"}],
            "traffic": [{"name": "only", "from": "a", "to": "b", "source": {"cbr": cbr}}],
        }
    ).run()
    # 100 bytes at 1 Mb/s are 0.8 ms, and the wire adds 5 ms.
    assert results.classes["delay_max_s"].to_list() == [0.0058]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [("links.1.rat", "1Mb/s", "rate"), ("links.9.rate", "1Mb/s", "links"), ("duration", "soon", "duration")],
)
def test_a_wrong_change_is_reported(scenario: Path, path: str, value: str, said: str) -> None:
    loaded = perhop.Scenario.load(scenario)
    before = loaded.to_json()
    with pytest.raises(perhop.ScenarioError, match=said) as caught:
        loaded.set(path, value)
    assert caught.value.diagnostics[0]["severity"] == "error"
    assert caught.value.diagnostics[0]["message"] in str(caught.value)
    assert loaded.to_json() == before


def test_columns_share_memory(scenario: Path) -> None:
    running = _core.start(perhop.Scenario.load(scenario).to_json(), ".", 1, 1, 1)
    assert running.wait(60)
    _, tables, _, _ = running.result()
    time = tables["queues"].arrays()["time_s"]
    assert isinstance(time, np.ndarray)
    assert not time.flags.owndata, "the array uses the memory that Rust filled"
    series = pl.Series("time_s", time)
    assert series.to_numpy().ctypes.data == time.ctypes.data
    assert pl.DataFrame([series]).to_arrow()["time_s"].chunk(0).buffers()[1].address == time.ctypes.data


def test_results_are_pickled(scenario: Path) -> None:
    results = perhop.run(scenario, seed=1, replications=2)
    before = results.verdicts()
    again = pickle.loads(pickle.dumps(results))
    assert all(again.table(name).equals(results.table(name)) for name in results.names)
    assert again.verdicts().equals(before)


def test_columns_are_arrays_and_lists(scenario: Path) -> None:
    results = perhop.run(scenario, seed=1, replications=2)
    columns = results._columns["classes"]
    names = ["class", "offered_packets", "delay_mean_s"]
    lists = columns.lists(names)
    assert [len(lists[name]) for name in names] == [len(columns)] * 3 and len(columns) > 0
    codes, texts = columns.arrays()["class"]
    assert [texts[code] for code in codes] == lists["class"]
    # The values are the same after the arrays have taken over their memory.
    assert repr(columns.lists(names)) == repr(lists) and len(columns) == len(codes)
    with pytest.raises(KeyError, match="delay"):
        columns.lists(["delay"])


def test_tables_convert_to_pandas_and_arrow(scenario: Path) -> None:
    classes = perhop.run(scenario).classes
    assert list(classes.to_pandas()["class"]) == ["steady", "random"]
    assert classes.to_arrow().num_rows == 2


def test_results_convert_by_the_name_of_a_table(scenario: Path) -> None:
    results = perhop.run(scenario)
    assert list(results.to_pandas()["class"]) == ["steady", "random"]
    assert results.to_pandas("flows").shape[0] == results.flows.height
    assert results.to_arrow("flows").num_rows == results.flows.height
    with pytest.raises(perhop.UnknownNameError, match="no table `flow`"):
        results.to_pandas("flow")


WITHOUT = """\
import sys
from importlib.machinery import PathFinder

found = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, *more: None if name.split(".")[0] == "{package}" else found(name, *more)
)
import perhop

results = perhop.run(sys.argv[1])
{conversion}
"""


@pytest.mark.parametrize(
    ("package", "conversion", "said"),
    [
        ("pyarrow", "results.to_pandas()", "a table as pandas needs the package pyarrow"),
        ("pyarrow", "results.to_arrow()", "a table as Arrow needs the package pyarrow"),
        ("pyarrow", "results.classes.to_pandas()", "a table as pandas needs the package pyarrow"),
        ("pyarrow", "results.flows.to_arrow()", "a table as Arrow needs the package pyarrow"),
        ("pandas", "results.to_pandas()", "a table as pandas needs the package pandas"),
        ("pyarrow", "perhop.Scenario.load(sys.argv[1]).bounds().to_pandas()", "needs the package pyarrow"),
    ],
)
def test_a_missing_package_is_named_with_its_install_command(
    scenario: Path, package: str, conversion: str, said: str
) -> None:
    code = WITHOUT.format(package=package, conversion=conversion)
    ran = subprocess.run(
        [sys.executable, "-c", code, str(scenario)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("perhop.errors.MissingCapabilityError: ")
    assert said in last
    assert last.endswith(": pip install 'perhop[pandas]'")
    assert "During handling" not in ran.stderr


def test_a_result_can_be_taken_once(scenario: Path) -> None:
    running = _core.start(perhop.Scenario.load(scenario).to_json(), ".", 1, 1, 1)
    assert running.wait(60)
    running.result()
    with pytest.raises(RuntimeError, match="already been taken"):
        running.result()


def test_progress_and_cancel(scenario: Path) -> None:
    endless = perhop.Scenario.load(scenario).set("duration", "1000000s").to_json()
    running = _core.start(endless, ".", 1, 1, 1)
    assert not running.wait(0.0)
    with pytest.raises(RuntimeError, match="not ended"):
        running.result()
    running.cancel()
    assert running.wait(60)
    with pytest.raises(KeyboardInterrupt):
        running.result()


def test_progress_ends_at_one(scenario: Path) -> None:
    seen: list[Progress] = []
    results = perhop.run(scenario, replications=2, progress=seen.append)
    assert seen[-1].fraction == 1.0
    assert seen[-1].simulated_s == pytest.approx(10.0)
    assert seen[-1].packet_hops == results.summary["packet_hops"]


def test_confidence() -> None:
    mean, low, high = _core.confidence_95([1.0, 2.0, 3.0]) or (0, 0, 0)
    # Student's t for two degrees of freedom: 4.303; s = 1, n = 3.
    assert (mean, high - low) == (2.0, pytest.approx(2 * 4.303 / 3**0.5, rel=1e-3))
    assert _core.confidence_95([1.0]) is None


def test_the_schema() -> None:
    assert perhop.schema()["type"] == "object"


def test_unknown_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        _ = perhop.rum  # type: ignore[attr-defined]
    assert set(dir(perhop)) == set(perhop.__all__)


def test_deprecated_names_warn_and_work(scenario: Path, tmp_path: Path) -> None:
    perhop.run(scenario).save(tmp_path / "saved")
    with pytest.warns(DeprecationWarning, match=r"^Results\.of will be removed .*; use Results\.from_saved$"):
        read = perhop.Results.of(Saved.open(tmp_path / "saved", "run", "live"))
    assert read.seed == 1
    with pytest.warns(DeprecationWarning, match=r"^Telephony\.of .* use Telephony\.from_options$") as caught:
        assert Telephony.of("g729").codec.name == "g729"
    assert caught[0].filename == __file__, "it names the line of the caller"
    with pytest.warns(DeprecationWarning, match=r"^Seen\.of .* use Seen\.queue$"):
        assert Seen([], []).of("a -> b", "voice") is None


def test_every_error_has_a_common_base_and_is_exported() -> None:
    defined = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert set(defined) <= set(perhop.__all__)
    assert all(issubclass(kind, (perhop.PerhopError, perhop.PerhopWarning)) for kind in defined.values())


def test_a_scenario_error_of_the_extension_module_is_a_perhop_error(tmp_path: Path) -> None:
    with pytest.raises(perhop.PerhopError) as caught:
        perhop.run(tmp_path / "missing.yaml")
    assert type(caught.value) is perhop.ScenarioError
    assert caught.value.exit_code == errors.Exit.INVALID_INPUT
    assert caught.value.diagnostics[0]["severity"] == "error"
    assert str(caught.value) in caught.value.colored or "\x1b" in caught.value.colored


@pytest.mark.parametrize("argument", [{"seed": -1}, {"seed": 2**64}, {"replications": 0}, {"threads": -1}])
def test_a_number_out_of_range_is_refused(scenario: Path, argument: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(argument))) as caught:
        perhop.run(scenario, **argument)
    assert "whole number from" in str(caught.value.help)
