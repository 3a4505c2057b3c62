"""Tiers of tests: the tests of a run, and a summary of those that it leaves out.

Unmarked tests are the tier `check`, which a plain `pytest` runs. `touched` and `thorough` run where they are
selected (`pytest -m touched`), or where a file or a test is named (`pytest tests/test_wheel.py`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from seeds import SEED

TIERS = ("touched", "thorough")
_LEFT_OUT = pytest.StashKey[Counter[str]]()


def _files_named(config: pytest.Config) -> set[Path]:
    """The files that the command line names, alone or with tests."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return set()
    places = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return {place.resolve() for place in places if place.is_file()}


def tier(item: pytest.Item) -> str:
    """Return the tier of a test."""
    return next((name for name in TIERS if item.get_closest_marker(name)), "check")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other tiers than `check`, unless they are selected or named."""
    if config.option.markexpr:
        return
    named = _files_named(config)
    left_out = [item for item in items if tier(item) != "check" and item.path.resolve() not in named]
    config.stash[_LEFT_OUT] = Counter(map(tier, left_out))
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        leaving = set(left_out)
        items[:] = [item for item in items if item not in leaving]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Report the tests left out to the process that started this worker, if any."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash.get(_LEFT_OUT, Counter()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Store the tests that a worker has left out; all workers leave out the same tests."""
    output = getattr(node, "workeroutput", None)
    if output is not None:
        node.config.stash[_LEFT_OUT] = Counter(output.get("left_out", {}))


def pytest_report_header() -> list[str]:
    """Return the data needed to repeat a run."""
    as_root = "as root" if os.geteuid() == 0 else "not as root: without tests of live runs"
    return [f"perhop: PERHOP_SEED={SEED}, {as_root}"]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show which tiers were left out, and how many tests lacked rights or a program."""
    left_out = config.stash.get(_LEFT_OUT, Counter())
    words = [f"{count} tests of tier {name} (pytest -m {name})" for name, count in left_out.items()]
    skipped = len(terminalreporter.stats.get("skipped", []))
    if skipped:
        words.append(f"{skipped} skipped for the reasons above")
    if words:
        terminalreporter.write_line(f"left out: {'; '.join(words)}")


def touched(names: Iterable[str], *, but: Collection[str]) -> list[ParameterSet]:
    """Return parameters of tier `touched`, except for those of `but`, which represent them in `check`."""
    known = list(names)
    assert set(but) <= set(known), set(but) - set(known)
    return [pytest.param(name, marks=() if name in but else pytest.mark.touched) for name in known]
