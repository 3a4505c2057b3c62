"""Definitions of studies: listed, shown, and refused if a part is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command
from perhop.errors import InvalidInputError
from perhop.study import find
from perhop.study import run as run_study
from small_study import make_study


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return make_study(tmp_path / "slow")


def test_list_and_show(perhop: Command, study: Path) -> None:
    assert perhop("study", "list").code == 0
    assert perhop("study", "list", "--json").json()["schema_version"] == 1
    shown = perhop("study", "show", study)
    assert shown.code == 0
    for words in ("A light load loses nothing.", "heavy again", "the paper forgot to say"):
        assert words in shown.out


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("study.toml", "absolute = 0.5", "absolut = 0.5", "metrics.dropped_percent"),
        (
            "study.toml",
            'rows = { load = "light" }',
            "",
            "no case reproduces {'load': 'light'}",
        ),
        ("study.toml", 'rows = { load = "light" }', "rows = {}", "several cases reproduce"),
        ("study.toml", '"heavy again"', '"heavy"', "several cases are named `heavy`"),
        ("study.toml", 'title = "Loss"', "", "`title` is missing"),
        ("study.toml", "[[tables]]", "[[tables", "study.toml"),
        ("study.toml", 'links.1.rate" = "2Mb/s"', 'links.1.rat" = "2Mb/s"', "did you mean `rate`"),
        ("claims.toml", 'tables = ["1"]', 'tables = ["7"]', "no table 7"),
        ("reference/slow.csv", "metric", "quantity", "missing columns: metric"),
        (
            "study.toml",
            'tables = ["1"]\n',
            'set-in-table = { "7" = {} }\n',
            "assumption link rate: no table 7",
        ),
        (
            "study.toml",
            'rows = { load = "light" }\n\n[[ass',
            "[[ass",
            "highlight `light loss` matches 2 figures",
        ),
        ("claims.py", "def half", "def hlf", "claim `slow.half` has no function `half`"),
        ("measures.py", "def delivered", "def dlivered", "no function `delivered`"),
    ],
)
def test_an_incomplete_study_is_refused(
    perhop: Command, study: Path, file: str, old: str, new: str, said: str
) -> None:
    text = (study / file).read_text()
    assert old in text
    (study / file).write_text(text.replace(old, new, 1))
    ended = perhop("study", "run", study, "-o", "out")
    assert ended.code == 2, ended.err
    assert said in ended.err
    assert not (study.parent / "out").exists()


@pytest.mark.parametrize("program", ["claims.py", "measures.py"])
def test_showing_a_study_executes_nothing_of_it(perhop: Command, study: Path, program: str) -> None:
    (study / program).write_text("import pathlib\npathlib.Path(__file__).with_name('executed').touch()\n")
    ended = perhop("study", "show", study)
    assert ended.code == 0 and "slow.half" in ended.out
    assert not (study / "executed").exists()
    # Only a run of the study finds missing functions.
    ended = perhop("study", "run", study)
    assert ended.code == 2 and "no function" in ended.err
    assert (study / "executed").exists()


def test_an_unknown_study(perhop: Command) -> None:
    assert perhop("study", "run", "no-such-study").code == 2
    assert perhop("study", "run").code == 2
    assert perhop("study", "show", "no-such-study").code == 2


def test_a_case_has_its_scenario_as_the_study_runs_it() -> None:
    mred = find("mred-af")
    wred = mred.scenario("staggered wred")
    assert wred["policies"]["core"]["queueing"]["classes"][0]["buffer"]["mred"]["averages"] == "single"
    report = run_study(mred, only=["2"], replications=1, sensitivity=False)
    ran = report.results["staggered wred"].scenario
    assert ran["policies"] == json.loads(wred.to_json())["policies"]
    with pytest.raises(InvalidInputError, match="no case `staggered wret`"):
        mred.scenario("staggered wret")


@pytest.mark.touched
def test_a_report_shows_itself_in_a_notebook() -> None:
    report = run_study(find("ef-star"), only=["figure-2", "figure-4"], replications=1, sensitivity=False)
    shown = report._repr_html_()
    # A table without published values is not shown; claims are shown if they were judged.
    assert shown.count("<table>") == 1
    assert "A tx ring of 5 particles" in shown
    assert "flatten from about 1.5" not in shown
    assert repr(report) == "<perhop.study.Report of ef-star: 0 figures, seed 1>"
