"""The order of tests and their distribution to workers: longest first, the tests of most files together."""

from __future__ import annotations

from typing import Any

import pytest

#: Files that take longest, in this order before all others; the first ones wait more than they compute.
LONGEST_FIRST: tuple[str, ...] = ()
#: Files whose tests share nothing that is expensive to make: any worker takes any of them.
SPREAD: frozenset[str] = frozenset()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests by file, except for those of `SPREAD` (`pytest -n` without `--dist` of its own)."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling  # lazy: a run without workers needs no xdist

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if file.rpartition("/")[2] in SPREAD else file

    # By the order of the tests, and not by the number of tests in a file.
    config.option.loadscopereorder = False
    return Scheduling(config, log)
