"""The tests that pytest runs: the tier `check`, and tests that are selected or named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONFTEST = """\
import scheduling, tiers
def pytest_configure(config):
    for tier in tiers.TIERS:
        config.addinivalue_line("markers", tier)
    for module in (tiers, scheduling):
        config.pluginmanager.register(module, module.__name__)
"""
TESTS = """\
import pytest
def test_plain(): pass
@pytest.mark.touched
def test_long(): pass
@pytest.mark.thorough
def test_longest(): pass
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("tiers.py", "scheduling.py", "seeds.py"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    return tmp_path


def lines_of(tree: Path, *arguments: str) -> list[str]:
    """Run pytest in a tree and return what it prints."""
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    ended = subprocess.run(line, cwd=tree, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_a_plain_run_has_one_tier_and_names_the_others(tree: Path, workers: tuple[str, ...]) -> None:
    lines = lines_of(tree, *workers)
    left_out = "1 tests of tier touched (pytest -m touched); 1 tests of tier thorough (pytest -m thorough)"
    assert f"left out: {left_out}" in lines
    assert lines[-1].startswith("1 passed")


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (("test_some.py",), 3),
        (("test_some.py::test_longest",), 1),
        (("-m", "touched"), 1),
        (("-m", "touched or thorough", "test_some.py"), 2),
        (("-n", "1", "test_some.py"), 3),
        ((".",), 1),
    ],
)
def test_named_or_selected_tests_run(tree: Path, arguments: tuple[str, ...], passed: int) -> None:
    assert lines_of(tree, *arguments)[-1].startswith(f"{passed} passed")
