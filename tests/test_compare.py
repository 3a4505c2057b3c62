"""`perhop compare` and `perhop.compare`: two results, and verdicts on their differences."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import perhop
from conftest import ROOT, SCENARIO, Command
from perhop.compare import Quantity, Row, Sample, Tolerance, Tolerances, compare, load
from perhop.report import page
from perhop.results import Results

DELAY = Quantity("delay_mean_s", "delay mean", "s")
SHARE = Quantity("share_percent", "share of throughput", "%")


@pytest.fixture(scope="module")
def overload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("compare") / "overload.yaml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture(scope="module")
def results(overload: Path) -> Results:
    return perhop.run(overload, replications=5)


def row(first: list[float], second: list[float], tolerance: Tolerance | None = None) -> Row:
    sample = Sample.from_values(first)
    return Row("x", DELAY, sample, Sample.from_values(second), sample, tolerance or Tolerance(0.0))


def test_a_result_agrees_with_itself(results: Results) -> None:
    found = compare(results, results)
    assert found.rows and found.agrees
    assert {row.verdict for row in found.rows} == {"agrees"}
    assert all(row.difference == 0 for row in found.rows)
    shares = [row for row in found.rows if row.quantity.key == "share_percent"]
    assert sum(row.first.mean for row in shares) == pytest.approx(100)


def test_another_seed_is_within_random_variation(results: Results, overload: Path) -> None:
    found = compare(results, perhop.run(overload, replications=5, seed=7))
    verdicts = [row.verdict for row in found.rows]
    assert any(row.difference != 0 for row in found.rows)
    # If the figures were independent, one in twenty would be outside; these figures depend on each other.
    assert verdicts.count("differs") <= len(verdicts) / 5


def test_another_rate_is_beyond_random_variation(results: Results, overload: Path) -> None:
    faster = perhop.run(overload, replications=5, set={"links.1.rate": "3Mb/s"})
    found = compare(results, faster)
    rows = {(row.class_name, row.quantity.key): row for row in found.rows}
    assert not found.agrees
    assert rows["random", "throughput_bps"].verdict == "differs"
    assert rows["random", "dropped_percent"].within is False
    assert rows["random", "dropped_percent"].difference < -10


def test_causes_without_drops_have_no_row(results: Results) -> None:
    causes = {row.quantity.key for row in compare(results, results).rows if "dropped_" in row.quantity.key}
    assert causes == {"dropped_percent", "dropped_queue_full_percent"}


def test_random_variation_of_two_means_combines_both() -> None:
    # Three samples 1 apart: s = 1, Student's 97.5 % quantile at 2 degrees of freedom is 4.303.
    half = 4.303 / math.sqrt(3)
    found = row([1.0, 2.0, 3.0], [11.0, 12.0, 13.0])
    assert found.by_chance == pytest.approx(half * math.sqrt(2))
    assert found.difference == 10 and found.verdict == "differs"
    assert row([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).verdict == "agrees"


def test_random_variation_of_a_single_run_is_a_prediction_interval() -> None:
    # The prediction interval: t·s·√(1 + 1/n).
    found = row([1.0, 2.0, 3.0], [6.9])
    assert found.by_chance == pytest.approx(4.303 * math.sqrt(1 + 1 / 3))
    assert found.verdict == "agrees"
    assert row([1.0, 2.0, 3.0], [7.0]).verdict == "differs"


def test_without_replications_random_variation_is_unknown() -> None:
    found = row([1.0], [5.0])
    assert (found.by_chance, found.inside, found.verdict) == (None, None, "differs")
    assert row([1.0], [math.nan]).verdict == "not-comparable"


def test_a_difference_within_the_tolerance_agrees() -> None:
    same = [0.1, 0.1, 0.1]
    assert row(same, [0.104], Tolerance(1e-3, 0.05)).verdict == "agrees"
    assert row(same, [0.106], Tolerance(1e-3, 0.05)).verdict == "differs"
    assert row([0.001] * 3, [0.0019], Tolerance(1e-3, 0.05)).verdict == "agrees"


def test_a_binding_tolerance_overrides_random_variation() -> None:
    assert row([1.0, 2.0, 3.0], [2.5], Tolerance(0.1)).verdict == "agrees"
    assert row([1.0, 2.0, 3.0], [2.5], Tolerance(0.1, binding=True)).verdict == "differs"


def test_tolerances_are_judged_on_the_same_draws() -> None:
    first, second = Sample.from_values([1.0, 2.0, 3.0]), Sample.from_values([1.04])
    found = Row("x", DELAY, first, second, Sample.from_values([1.0]), Tolerance(0.05, binding=True))
    assert found.difference == pytest.approx(0.04) and found.verdict == "agrees"


def test_tcp_has_wider_tolerances_than_datagrams() -> None:
    tolerances = Tolerances()
    for quantity, tcp, words, binding in [
        (SHARE, False, "2", True),
        (SHARE, True, "10", True),
        (DELAY, False, "0.001 or 5 %", True),
        (DELAY, True, "0.001 or 5 %", False),
    ]:
        found = tolerances.for_quantity(quantity, tcp=tcp)
        assert (str(found), found.binding) == (words, binding)


def test_a_comparison_reads_back(results: Results, tmp_path: Path) -> None:
    found = compare(results, results)
    found.save(tmp_path / "both")
    again = load(tmp_path / "both")
    assert again.to_json() == found.to_json()
    assert "simulated-1" in {file.name for file in (tmp_path / "both").iterdir()}


def test_the_report_shows_a_comparison(results: Results, tmp_path: Path) -> None:
    compare(results, results).save(tmp_path / "both")
    html = page([tmp_path / "both"])
    assert "Overload: simulated 2 compared with simulated 1" in html
    assert "random variation" in html and 'class="verdict agrees"' in html


def test_two_folders_on_the_command_line(
    perhop: Command, results: Results, overload: Path, tmp_path: Path
) -> None:
    results.save(tmp_path / "one")
    ended = perhop(
        "run", overload, "--set", "links.1.rate=3Mb/s", "--replications", "5", "-q", "-o", tmp_path / "two"
    )
    assert ended.code == 0, ended.err
    ended = perhop("compare", tmp_path / "one", tmp_path / "two", "--json", "-o", tmp_path / "both")
    assert ended.code == 0, ended.err
    document = ended.json()
    assert document["agrees"] is False and document["figures"]["differs"] > 0
    assert document == json.loads((tmp_path / "both" / "comparison.json").read_text())
    ended = perhop("compare", tmp_path / "one", tmp_path / "two", "--strict")
    assert ended.code == 4 and "DIFFERS" in ended.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["one", "two", "three"], "not 3 arguments"),
        (["nowhere", "neither"], "has no results"),
        (["nowhere", "neither", "--duration", "5s"], "options that change a run do not apply"),
    ],
)
def test_incomparable_results_are_refused(perhop: Command, arguments: list[str], said: str) -> None:
    ended = perhop("compare", *arguments)
    assert ended.code == 2 and said in ended.err


def test_results_of_different_scenarios_are_refused(
    perhop: Command, results: Results, tmp_path: Path
) -> None:
    results.save(tmp_path / "one")
    other = ROOT / "examples" / "on-off-red.perhop.yaml"
    assert perhop("run", other, "--duration", "6s", "-q", "-o", tmp_path / "two").code == 0
    ended = perhop("compare", tmp_path / "one", tmp_path / "two")
    assert ended.code == 2 and "no class in common" in ended.err
