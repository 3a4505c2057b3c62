"""The tools behind `make check` and `make fast`: dependencies of steps, and the steps that a change needs."""

from __future__ import annotations

import io
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import fast
import steps as step_runner

MAKEFILE = """\
passes:
\t@echo "skipped: a peer is missing"
\t@echo passes >> order
needs:
\t@echo needs >> order
fails:
\t@echo "what went wrong"; exit 3
hangs:
\t@sleep 600
"""


def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *steps: step_runner.Step
) -> tuple[list[step_runner.Run], str]:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    monkeypatch.setattr(step_runner, "ROOT", tmp_path)
    out = io.StringIO()
    ended = step_runner.run_steps(steps, tmp_path / "logs", 2, out)
    return ended, out.getvalue()


def test_a_step_waits_for_those_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step_runner.Step("b", "needs", after=("a",)), step_runner.Step("a", "passes")]
    ended, shown = run(tmp_path, monkeypatch, *steps)
    assert [run.step.name for run in ended] == ["a", "b"]
    assert (tmp_path / "order").read_text() == "passes\nneeds\n"
    assert "a: passed" in shown
    table = step_runner.summary(ended, 1.0)
    assert "  a: skipped: a peer is missing" in table
    assert table.count("passed") == 2


def test_a_failed_step_shows_its_output_and_stops_only_what_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [
        step_runner.Step("c", "fails"),
        step_runner.Step("d", "needs", after=("c",)),
        step_runner.Step("e", "needs", after=("d",)),
        step_runner.Step("f", "passes"),
    ]
    ended, shown = run(tmp_path, monkeypatch, *steps)
    assert {run.step.name: run.code for run in ended} == {"c": 2, "f": 0}
    assert "c: FAILED with exit code 2" in shown and "what went wrong" in shown
    assert "not run: d, which needs c" in shown and "not run: e, which needs d" in shown


def test_a_step_that_hangs_is_ended_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step_runner.Step("g", "hangs", limit_s=0.5), step_runner.Step("h", "needs", after=("g",))]
    ended, shown = run(tmp_path, monkeypatch, *steps)
    assert [run.step.name for run in ended] == ["g"] and ended[0].code != 0
    assert "g: FAILED because of its limit of 0.5 s" in shown
    assert "not run: h, which needs g" in shown


@pytest.mark.parametrize("tier", step_runner.TIERS)
def test_every_step_is_a_target_and_needs_steps_that_are_there(tier: str) -> None:
    targets = {line.partition(":")[0] for line in (ROOT / "Makefile").read_text().splitlines()}
    steps = step_runner.TIERS[tier]
    assert {step.target for step in steps} <= targets
    assert {name for step in steps for name in step.after} <= {step.name for step in steps}


def test_every_step_of_the_long_tier_runs_every_week() -> None:
    weekly = (ROOT / ".github" / "workflows" / "weekly.yml").read_text()
    [line] = [line for line in weekly.splitlines() if line.strip().startswith("step: [")]
    listed = line.partition("[")[2].strip("]").split(", ")
    assert listed == [step.name for step in step_runner.THOROUGH]


def test_dependents_of_a_changed_crate_are_compiled() -> None:
    needs = {"qos": set[str](), "sim": {"qos"}, "py": {"sim"}, "lint": set[str]()}
    assert fast.dependents({"qos"}, needs) == {"sim", "py"}
    assert fast.dependents({"lint"}, needs) == set()


def test_the_crates_match_the_workspace() -> None:
    listed = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    needs = fast.crates()
    manifests = (tomllib.loads((ROOT / member / "Cargo.toml").read_text()) for member in listed)
    assert needs.keys() >= {manifest["package"]["name"] for manifest in manifests}
    assert "perhop-qos" in needs["perhop-sim"]


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("crates/perhop-qos/src/lib.rs", "cargo test --package perhop-qos --package perhop-qos-tests"),
        ("crates/perhop-ios/src/lib.rs", "cargo clippy --package perhop-ios"),
        ("python/perhop/inference/__init__.py", "test_inference.py"),
        ("tests/test_rates.py", "tests/test_rates.py"),
        ("vectors/ios/any.cfg", "cargo test --package perhop-ios"),
    ],
)
def test_a_change_runs_its_own_tests(path: str, step: str) -> None:
    lanes = fast.lanes([path], "HEAD", has_long=False)
    lines = [" ".join(step.line) for lane in lanes for step in lane]
    assert any(step in line for line in lines), lines


def test_a_change_of_prose_compiles_nothing() -> None:
    lanes = fast.lanes(["docs/tutorial.md"], "HEAD", has_long=False)
    assert not any(step.line[0] == "cargo" for lane in lanes for step in lane)
