"""The map of paths to tests (tests/touched.toml) matches the tree: it has no removed and no missing entry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from scheduling import LONGEST_FIRST, SPREAD, WAITING, unit

MAP = tomllib.loads((ROOT / "tests" / "touched.toml").read_text(encoding="utf-8"))["map"]
TESTS = {str(file.relative_to(ROOT)) for file in (ROOT / "tests").glob("test_*.py")}


@pytest.mark.parametrize("entry", MAP, ids=lambda entry: entry["paths"][0])
def test_every_path_and_every_test_exists(entry: dict[str, list[str]]) -> None:
    assert entry.keys() <= {"paths", "fast", "touched"} and entry["fast"]
    for pattern in entry["paths"]:
        assert any(ROOT.glob(pattern)), f"{pattern} matches nothing"
    assert {*entry["fast"], *entry.get("touched", [])} <= TESTS


def test_every_test_is_named() -> None:
    named = {test for entry in MAP for key in ("fast", "touched") for test in entry.get(key, [])}
    assert TESTS - named == set()


def test_every_package_and_every_crate_is_mapped() -> None:
    patterns = {pattern for entry in MAP for pattern in entry["paths"]}
    packages = (file.parent for file in (ROOT / "python" / "perhop").glob("*/__init__.py"))
    crates = (file.parent for file in (ROOT / "crates").glob("*/Cargo.toml"))
    studies = (file.parent for file in (ROOT / "studies").glob("*/study.toml"))
    for folder in (*packages, *crates, *studies, ROOT / "python" / "perhop" / "templates"):
        assert f"{folder.relative_to(ROOT)}/**" in patterns


def test_the_lists_of_long_tests_are_the_files_with_such_tests() -> None:
    named = {test for entry in MAP for test in entry.get("touched", [])}
    marks = re.compile(r"mark\.touched\b|[= ]touched\(")
    marked = {test for test in TESTS if marks.search((ROOT / test).read_text(encoding="utf-8"))}
    # These files name the marker but do not use it.
    assert named == marked - {"tests/test_tiers.py", f"tests/{Path(__file__).name}"}


def test_files_with_their_own_worker_exist() -> None:
    waiting = [name for names in WAITING.values() for name in names]
    assert {f"tests/{name}" for name in (*waiting, *LONGEST_FIRST, *SPREAD)} <= TESTS
    assert len({*waiting, *LONGEST_FIRST}) == len(waiting) + len(LONGEST_FIRST), "one place for each"
    assert SPREAD.isdisjoint(waiting)


def test_tests_that_wait_go_to_one_worker() -> None:
    assert unit("tests/test_live_run.py::test_a") == unit("tests/test_live_hosts.py::test_b") == "live"
    assert unit("tests/test_api.py::test_a") == unit("tests/test_api.py::test_b[x]")
    assert unit("tests/test_examples.py::test_a") != unit("tests/test_examples.py::test_b")
