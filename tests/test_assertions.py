"""Assertions about a run: `--assert`, their grammar, and the values that decide them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import perhop
from conftest import ROOT, Command
from perhop.verdicts import Telephony, assertions
from perhop.verdicts.assertions import named_class
from perhop.verdicts.quantities import OF_CLASSES, OF_TCP, units


@pytest.fixture(scope="module")
def results() -> perhop.Results:
    """A router with UDP and TCP, three replications of it."""
    return perhop.run(ROOT / "examples" / "router.cfg", duration="20s", replications=3)


def judged(results: perhop.Results, *given: str) -> list[assertions.Judged]:
    return assertions.judge(assertions.read(given), results.judged(Telephony.from_options()), results.summary)


def mean(results: perhop.Results, name: str, column: str) -> float:
    (group,) = (row for row in results.summary["classes"] if row["class"] == name)
    return float(group[column]["mean"])


def test_every_column_of_a_summary_is_a_quantity_with_its_unit(results: perhop.Results) -> None:
    for table, known in (("classes", OF_CLASSES), ("tcp", OF_TCP)):
        for group in results.summary[table]:
            columns = {name: value["unit"] for name, value in group.items() if name != "class"}
            assert columns == known


@pytest.mark.parametrize(
    ("quantity", "column"),
    [
        ("delay_p99", "delay_p99_s"),
        ("delay_p99_s", "delay_p99_s"),
        ("jitter", "ipdv_mean_abs_s"),
        ("jitter_p95", "ipdv_abs_p95_s"),
        ("loss", "dropped_percent"),
        ("throughput", "throughput_bps"),
        ("offered", "offered_packets"),
        ("dropped_queue_full", "dropped_queue_full"),
    ],
)
def test_a_quantity_names_its_column(results: perhop.Results, quantity: str, column: str) -> None:
    unit = {"s": "s", "b/s": "b/s"}.get(units()[quantity], "")
    (assertion,) = judged(results, f"business.{quantity} >= 0{unit}")
    assert assertion.measured is not None
    assert assertion.measured.mean == mean(results, "business", column)


@pytest.mark.parametrize(
    ("value", "bound"),
    [("20ms", 0.02), ("0.02s", 0.02), ("20 ms", 0.02), ("20000us", 0.02), ("0", 0.0)],
)
def test_times_are_written_as_in_scenarios(value: str, bound: float) -> None:
    assert assertions.parse(f"voice.delay_p99 < {value}").bound.mean == pytest.approx(bound)


@pytest.mark.parametrize(
    ("text", "percent"),
    [
        ("v.loss < 1%", 1.0),
        ("v.loss < 1 %", 1.0),
        ("v.loss < 0.01", 1.0),
        ("v.dropped_percent < 1", 1.0),
        ("v.late < 0.5%", 0.5),
    ],
)
def test_a_loss_is_a_ratio_or_percent(text: str, percent: float) -> None:
    assert assertions.parse(text).bound.mean == pytest.approx(percent)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_each_operator_compares_with_the_mean(results: perhop.Results, sign: str) -> None:
    exact = mean(results, "voice", "offered_packets")
    for value in (exact - 1.0, exact, exact + 1.0):
        (assertion,) = judged(results, f"voice.offered {sign} {value!r}")
        assert assertion.passed is eval(f"{exact!r} {sign} {value!r}")


def test_a_star_matches_each_class(results: perhop.Results) -> None:
    found = judged(results, "*.loss <= 1%")
    assert [assertion.name for assertion in found] == [row["class"] for row in results.summary["classes"]]
    assert found[0].text == "voice.loss <= 1%"
    assert {assertion.passed for assertion in found} == {True, False}


def test_a_name_may_hold_spaces_dots_and_quotes_around_it(results: perhop.Results) -> None:
    assert judged(results, '"business (back)".loss == 0', "business (back).loss==0")[0].passed
    assert assertions.parse("a.b c.loss < 1").name == "a.b c"


def test_an_interval_around_the_bound_is_uncertain(results: perhop.Results) -> None:
    (group,) = (row for row in results.summary["classes"] if row["class"] == "class-default")
    low, high = group["delay_mean_s"]["ci95"]
    middle = group["delay_mean_s"]["mean"]
    bounds = [f"{1e9 * bound_s:.0f}ns" for bound_s in (middle + 1e-9, 2 * high - low)]
    near, far = judged(results, *(f"class-default.delay_mean <= {bound}" for bound in bounds))
    assert (near.passed, near.uncertain) == (True, True)
    assert (far.passed, far.uncertain) == (True, False)


def test_an_unmeasured_quantity_fails_the_assertion(results: perhop.Results) -> None:
    for text, why in (("voice.goodput > 0", "no TCP"), ("voice.completion_p95 > 0", "no TCP")):
        (assertion,) = judged(results, text)
        assert (assertion.passed, assertion.measured) == (False, None)
        assert why in assertion.why


@pytest.mark.parametrize(
    ("text", "said", "help"),
    [
        ("voice", "is not an assertion", "for example 'voice.delay_p99 < 20ms'"),
        ("voice.loss", "is not an assertion", "for example"),
        ("voice.loss < ", "is not an assertion", "for example"),
        ("voice.dely_p99 < 2ms", "there is no quantity `dely_p99`", "did you mean `delay_p99`"),
        ("voice.loss = 1%", "there is no operator `=`", "operators: < <= > >= == !="),
        ("voice.loss =< 1%", "there is no operator `=<`", "operators"),
        ("voice.delay_p99 < 20", "delay_p99 is a time, but `20` is not", "for example 20ms"),
        ("voice.delay_p99 < 20kb/s", "delay_p99 is a time", "for example 20ms"),
        ("voice.throughput > 1ms", "throughput is a rate", "for example 1Mb/s"),
        ("voice.loss < 1ms", "loss is a part", "for example 1%"),
        ("voice.mos > 4%", "mos is a number", "for example 1"),
        ("voice.loss < few", "`few` is not a number", "for example"),
        ("voice.mos > nan", "`nan` is not a number", "for example"),
        ("voice.mos > inf", "`inf` is not a number", "for example"),
    ],
)
def test_errors_are_reported(text: str, said: str, help: str) -> None:
    with pytest.raises(perhop.InvalidInputError) as error:
        assertions.parse(text)
    assert said in str(error.value)
    assert help in (error.value.help or "")


def test_a_failed_assertion_has_exit_code_4(perhop: Command, scenario: Path) -> None:
    held, failed = "steady.offered > 100", "random.loss < 1%"
    assert perhop("run", scenario, "--assert", held).code == 0
    ended = perhop("run", scenario, "--replications", "1", "--assert", held, "--assert", failed)
    assert ended.code == 4
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["PASS", "steady.offered", ">", "100", "401", "packets"] in lines
    assert any(line[:4] == ["FAIL", "random.loss", "<", "1%"] for line in lines)
    assert "2 assertions, 1 failed" in ended.out


def test_quiet_prints_only_failures(perhop: Command, scenario: Path) -> None:
    asserted = ("--assert", "steady.offered > 1", "--assert", "steady.offered < 1")
    ended = perhop("run", scenario, "-q", "--replications", "1", *asserted)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == "failed: steady.offered < 1: 401 packets\n"


def test_results_are_written_if_an_assertion_fails(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "-o", "out", "--assert", "steady.offered < 1").code == 4
    assert (tmp_path / "out" / "summary.json").is_file()


def test_json_has_the_assertions(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--json", "--assert", "random.loss < 0.01", "--replications", "2")
    assert ended.code == 4
    (assertion,) = ended.json()["assertions"]
    assert (assertion["class"], assertion["quantity"], assertion["operator"]) == ("random", "loss", "<")
    assert (assertion["bound"], assertion["unit"], assertion["passed"]) == (1.0, "%", False)
    assert assertion["measured"]["mean"] > 1.0
    assert len(assertion["measured"]["ci95"]) == 2


def test_a_file_contains_several_assertions(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    file = tmp_path / "sla.txt"
    file.write_text("# what was promised\nsteady.offered > 100   # packets\n\nrandom.offered > 100\n")
    ended = perhop("run", scenario, "--assert", "@sla.txt")
    assert ended.code == 0, ended.err
    assert "2 assertions, all hold" in ended.out
    file.write_text("steady.offered > 100\nrandom.offred > 1\n")
    ended = perhop("run", scenario, "--assert", "@sla.txt")
    assert ended.code == 2
    assert ended.err.startswith("error: sla.txt:2: `random.offred > 1`: there is no quantity `offred`")
    assert "did you mean `offered`" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--assert", "stedy.loss < 1%"], "there is no class `stedy`\nhelp: did you mean `steady`?"),
        (["--assert", "@missing.txt"], "cannot read `missing.txt`: there is no such file"),
        (["--assert", "nothing"], "`nothing` is not an assertion"),
        (["--codec", "g728a"], "there is no codec `g728a`"),
        (["--jitter-buffer", "60"], "`60` is not a de-jitter buffer"),
    ],
)
def test_wrong_arguments_are_refused_before_the_run(
    perhop: Command, scenario: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ended = perhop("run", scenario, "-o", "out", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert (ended.out, (tmp_path / "out").exists()) == ("", False)
    document: Any = perhop("run", scenario, "--json", *arguments).json()
    assert said.partition("\n")[0] in document["error"]["message"]


def test_assertions_need_no_polars() -> None:
    # Loading polars takes longer than most runs.
    example = str(ROOT / "examples" / "first-steps.perhop.yaml")
    line = [
        "-X",
        "importtime",
        "-m",
        "perhop",
        "run",
        example,
        "--assert",
        "video.mos < 4",
        "--duration",
        "2s",
    ]
    ended = subprocess.run([sys.executable, *line], capture_output=True, text=True, check=True)
    loaded = {row.rpartition("|")[2].strip() for row in ended.stderr.splitlines()}
    assert "perhop.verdicts" in loaded
    assert "polars" not in loaded


def test_the_case_of_a_class_name_does_not_matter_if_it_is_unambiguous() -> None:
    assert named_class("voice", ["VOICE", "data"]) == "VOICE"
    assert named_class("voice", ["voice", "VOICE"]) == "voice"
    assert named_class("Voice", ["voice", "VOICE"]) is None
    assert named_class("video", ["VOICE"]) is None


def test_an_assertion_in_lower_case_matches_a_class_in_upper_case(perhop: Command) -> None:
    file = ROOT / "tests" / "configurations" / "branch-15-subrate.cfg"
    options = ("--duration", "2s", "--replications", "1", "--json")
    ended = perhop("run", file, *options, "--assert", "voice.loss < 50%")
    (judged,) = ended.json()["assertions"]
    assert (ended.code, judged["class"], judged["assertion"]) == (0, "VOICE", "voice.loss < 50%")
