"""Shared by the tests: the command line as a user starts it, and a small scenario."""

from __future__ import annotations

import gc
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import chromium
import scheduling
import tiers
from forks import HANGS_AFTER_S, MODULES, PLOTTING, Forks

ROOT = Path(__file__).parent.parent

# A background job of a shell ignores Ctrl-C, and its children inherit this setting. The tests interrupt
# commands by Ctrl-C, so they restore its default effect.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# 4.8 Mb/s for a link of 2 Mb/s, so that most packets are dropped. The Poisson source depends on the seed.
SCENARIO = """\
perhop: 1
name: Overload
duration: 5s
hosts: { source: {}, sink: {} }
routers: { router: {} }
links:
  - { between: [source, router], rate: 100Mb/s, delay: 1ms }
  - { between: [router, sink], rate: 2Mb/s, delay: 10ms }
traffic:
  - name: steady
    from: source
    to: sink
    source: { cbr: { rate: 800kb/s, packet: { ip: 1000B } } }
  - name: random
    from: source
    to: sink
    source: { poisson: { rate: 4Mb/s, packet: { ip: 1000B } } }
measure:
  warmup: 1s
  queues: [{ from: router, to: sink, every: 100ms }]
  throughput-every: 1s
"""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The only document on stdout; text before or after it is an error."""
        return json.loads(self.out, parse_constant=pytest.fail)


Command = Callable[..., Ended]


def command_line(arguments: Sequence[str | Path]) -> list[str]:
    return [sys.executable, "-m", "perhop", *map(str, arguments)]


def in_process_of_its_own(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command as a user starts it, with the start of Python."""
    return subprocess.run(
        command_line(arguments),
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER_S,
        check=False,
    )


def runner(completed: Callable[..., subprocess.CompletedProcess[str]], folder: Path) -> Command:
    """Return a function that runs a command line in a folder and fails on a traceback."""

    def run(*arguments: str | Path, given: str = "", **environment: str) -> Ended:
        ended = completed([*map(str, arguments)], folder, {**os.environ, **environment}, given)
        assert "Traceback" not in ended.stderr, ended.stderr
        assert ended.returncode != -signal.SIGABRT, ended.stderr
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


def pytest_configure(config: pytest.Config) -> None:
    """Apply the tiers and the order of the tests."""
    for module in (tiers, scheduling, chromium):
        config.pluginmanager.register(module, module.__name__)


def pytest_collection_finish() -> None:
    """Exclude the thousands of collected tests from later garbage collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def command_forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """The process that is forked for each command of the tests."""
    found = Forks(tmp_path_factory.mktemp("forks"), (*MODULES, *PLOTTING))
    yield found
    found.end()


# The programs of these commands run in other namespaces or as other users.
_STARTS_PROGRAMS = (["live"], ["study", "live"], ["playground"], ["doctor"])


@pytest.fixture
def perhop(command_forks: Forks, tmp_path: Path) -> Command:
    """Run the command line in an empty folder, as a fork of a process with the modules of commands.

    A fork differs from a separate process only in its duration (tests/test_forks.py). Commands with variables
    that Python reads at its start, and commands that start programs, run in a separate process.
    """

    def completed(
        arguments: list[str], folder: Path, environment: Mapping[str, str], given: str
    ) -> subprocess.CompletedProcess[str]:
        starts_programs = any(arguments[: len(words)] == words for words in _STARTS_PROGRAMS)
        takes = command_forks.takes(environment) and not starts_programs
        return (command_forks.completed if takes else in_process_of_its_own)(
            arguments, folder, environment, given
        )

    return runner(completed, tmp_path)


@pytest.fixture
def perhop_process(tmp_path: Path) -> Command:
    """Run the command line in an empty folder, in a separate process, as a user starts it."""
    return runner(in_process_of_its_own, tmp_path)


class Terminal:
    """Runs each command in a separate pseudo-terminal."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks

    def shown(self, folder: Path, *arguments: str | Path, columns: int = 200, code: int = 0) -> str:
        """Run a command, assert its exit code, and return everything that it shows."""
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "50"}
        with ThreadPoolExecutor(1) as thread:
            reading = thread.submit(_all_of, ours)
            words = [*map(str, arguments)]
            ended = self._forks.ended_with(words, folder, environment, (theirs, theirs, theirs))
        os.close(ours)
        assert ended == code, reading.result()
        return reading.result()


def _all_of(terminal: int) -> str:
    shown = b""
    # Linux ends a read with an error if no process has the other side of the terminal open.
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            shown += part
    return shown.decode()


@pytest.fixture
def terminal(command_forks: Forks) -> Terminal:
    return Terminal(command_forks)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "overload.perhop.yaml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture(scope="session")
def run_folder_of_its_own() -> None:
    """Give this pytest process a private /run, where testbeds keep their state, permanently."""
    from perhop.live import kernel

    kernel.unshare(kernel.NEW_MOUNTS)
    kernel.make_mounts_private()
    kernel.mount("tmpfs", Path("/run"), "tmpfs")


def leftovers(folder: Path) -> list[str]:
    """Return the names of hidden files in a folder, which an interrupted or failed command left."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
