"""The engine dask: the same bytes as with threads on this machine, even if workers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import perhop as library
from conftest import Command, files_in
from perhop.engines import named
from perhop.engines.dask import EngineLostError
from perhop.errors import InvalidInputError
from perhop.sweeping import Advance, Sweep

distributed = pytest.importorskip("distributed")

# Dask closes sockets and event loops only at the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # The clusters of these tests have no TLS; tests/test_dask_exposure.py tests TLS.
    pytest.mark.filterwarnings("ignore::perhop.engines.dask.ExposedClusterWarning"),
]

VALUES = {"links.1.rate": "1Mb/s:4Mb/s:100kb/s", "duration": "3s"}
LONG = {"seed": "1:240:1", "duration": "400s"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each in a separate process, on loopback."""
    begin = [sys.executable, "-m"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen([*begin, "distributed.cli.dask_scheduler", *options], **quiet)  # type: ignore[call-overload]
    workers: list[subprocess.Popen[bytes]] = []
    try:
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        worker = ["distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
        worker += ["--no-dashboard", "--host", "127.0.0.1", "--no-nanny", "--death-timeout", "30"]
        workers += [subprocess.Popen([*begin, *worker], **quiet) for _ in range(2)]  # type: ignore[call-overload]
        with distributed.Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, scheduler, workers
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


def test_a_local_cluster_gives_the_same_bytes(scenario: Path, tmp_path: Path) -> None:
    library.sweep(scenario, VALUES, replications=2, output=tmp_path / "embedded")
    library.sweep(scenario, VALUES, replications=2, output=tmp_path / "dask", engine=named("dask", threads=2))
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "embedded")


@pytest.mark.touched
def test_workers_that_are_killed_lose_nothing(
    scenario: Path,
    cluster: tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, _, workers = cluster
    killed: list[int] = []

    def kill(now: Advance) -> None:
        if now.done >= 20 and not killed:
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.append(now.done)

    engine = named("dask", scheduler=address)
    library.sweep(scenario, LONG, output=tmp_path / "dask", engine=engine, progress=kill)
    assert 20 <= killed[0] < 240, "in the middle"
    library.sweep(scenario, LONG, output=tmp_path / "embedded")
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "embedded")


@pytest.mark.touched
def test_a_scheduler_that_is_killed_loses_nothing_that_was_finished(
    scenario: Path,
    cluster: tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, scheduler, _ = cluster
    advances: list[int] = []

    def kill(now: Advance) -> None:
        advances.append(now.done)
        if now.done >= 20 and scheduler.poll() is None:
            scheduler.kill()
            scheduler.wait()

    engine = named("dask", scheduler=address)
    with pytest.raises(EngineLostError, match="the scheduler of the cluster has stopped"):
        library.sweep(scenario, LONG, output=tmp_path / "out", engine=engine, progress=kill)
    half = Sweep.load(tmp_path / "out")
    assert advances[-1] <= half.points.height < 240
    library.sweep(scenario, LONG, output=tmp_path / "out")
    library.sweep(scenario, LONG).save(tmp_path / "whole")
    assert files_in(tmp_path / "out") == files_in(tmp_path / "whole")


def test_an_unreachable_scheduler_is_one_error(perhop: Command, scenario: Path) -> None:
    line = ["sweep", scenario, "--set", "seed=1,2", "--duration", "2s"]
    refused = perhop(*line, "--scheduler", "tcp://127.0.0.1:1")
    assert (refused.code, "add --engine dask" in refused.err) == (2, True)
    with pytest.raises(InvalidInputError, match="no scheduler answers"):
        library.sweep(
            scenario,
            {"seed": "1,2", "duration": "2s"},
            engine=named("dask", scheduler="tcp://127.0.0.1:1"),
        )
    with pytest.raises(InvalidInputError, match="there is no engine `ray`"):
        named("ray")
