"""The order of tests and their distribution to workers: tests that wait or last long start first.

Some tests wait more than they compute: for packets in real time, a browser or signals. Each group of
these runs in one worker, whose processor the others can use: `pytest -n 4` suits two processors.
"""

from __future__ import annotations

from typing import Any

import pytest

#: Files that wait, by group. The files of a group run one after the other, in this order.
WAITING = {
    # These tests measure wall time and would disturb each other in parallel.
    "live": (
        "test_live_run.py",
        "test_live_hosts.py",
        "test_live_forwarder.py",
        "test_live_bridge.py",
        "test_live_headers.py",
        "test_live_testbed.py",
        "test_live_confinement.py",
        "test_live_cleaning.py",
        "test_live_unprivileged.py",
        "test_live_tcp.py",
        "test_convert_tc.py",
        "test_network_lab.py",
        "test_study_live.py",
        "test_view_live.py",
        "test_isolation.py",
        "test_live_folders.py",
    ),
    "watching": (
        "test_watch.py",
        "test_dask.py",
        "test_dask_exposure.py",
        "test_playground_lessons.py",
        "test_plots_in_browser.py",
        "test_playground.py",
        "test_view_run.py",
        "test_view_sweep.py",
        "test_view_server.py",
        "test_interrupt.py",
        "test_pacing.py",
    ),
}
#: Files that compute longest, in this order before all others.
LONGEST_FIRST = (
    "test_faults.py",
    "test_power_loss.py",
    "test_random_signals.py",
    "test_forged.py",
    "test_malformed.py",
    "test_tune.py",
    "test_notebooks.py",
    "test_flipped_bytes.py",
    "test_fidelity.py",
    "test_documentation.py",
    "test_sweep_growing.py",
    "test_examples.py",
    "test_convert.py",
    "test_reproducible.py",
    "test_bad_input.py",
    "test_router_runs.py",
    "test_command_others.py",
    "test_study.py",
)
#: Files whose tests share nothing that is expensive to create: their tests run in any workers.
SPREAD = frozenset(
    {
        "test_bad_input.py",
        "test_command_others.py",
        "test_convert.py",
        "test_documentation.py",
        "test_examples.py",
        "test_notebooks.py",
        "test_reproducible.py",
        "test_router_runs.py",
        "test_tune.py",
    }
)
_GROUPS = {name: group for group, names in WAITING.items() for name in names}
_PLACES = {name: place for place, name in enumerate((*_GROUPS, *LONGEST_FIRST))}


def unit(nodeid: str) -> str:
    """Return the name of the unit of a test; one worker runs all tests of a unit one after another."""
    file = nodeid.partition("::")[0]
    name = file.rpartition("/")[2]
    return nodeid if name in SPREAD else _GROUPS.get(name, file)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests: first files that wait, then the files that last longest."""
    items.sort(key=lambda item: _PLACES.get(item.path.name, len(_PLACES)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests by `unit`, unless the command line has a `--dist` option."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling  # lazy: a run without workers needs no xdist

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    # Units run in the order of their tests, and not by their number of tests.
    config.option.loadscopereorder = False
    return Scheduling(config, log)
