"""A command in a fork behaves as in its own process: the same streams and exit code."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from conftest import Command, files_in
from forks import Forks

LINES = {
    "help": "--help",
    "no such command": "runn",
    "no such option": "run overload.perhop.yaml --fast",
    "a table": "run overload.perhop.yaml",
    "a document": "run overload.perhop.yaml --json --replications 2",
    "a mistake": "check mistake.yaml",
    "an error as a document": "run mistake.yaml --json",
    "a rule": "explain class-shadowed",
    "a goal that is not met": "run overload.perhop.yaml --assert 'random.loss < 1%'",
    "a study that is none": "study show nowhere",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_streams_and_exit_code(line: str, perhop: Command, perhop_process: Command, scenario: Path) -> None:
    mistake = scenario.read_text().replace("rate: 2Mb/s", "rat: 2Mb/s")
    (scenario.parent / "mistake.yaml").write_text(mistake)
    arguments = shlex.split(line)
    assert perhop(*arguments) == perhop_process(*arguments)


def test_files_and_standard_input(perhop: Command, perhop_process: Command, scenario: Path) -> None:
    line = ("run", "-", "--seed", "3", "--plot", "throughput", "-q", "-o")
    for run, folder in ((perhop, "fork"), (perhop_process, "process")):
        ended = run(*line, folder, given=scenario.read_text())
        assert (ended.code, ended.out, ended.err) == (0, "", "")
    fork, process = (files_in(scenario.parent / name) for name in ("fork", "process"))
    assert fork == process and "throughput.svg" in fork


def test_a_command_leaves_no_state_for_the_next(perhop: Command, scenario: Path) -> None:
    before = perhop("run", scenario)
    assert perhop("run", scenario, "--seed", "2", COLUMNS="60", NO_COLOR="1", PERHOP_TRACEBACK="1").code == 0
    assert perhop("run", "gone.yaml").code == 2
    assert perhop("run", scenario) == before


def test_a_variable_that_is_read_at_the_start_needs_a_process_of_its_own(command_forks: Forks) -> None:
    assert command_forks.takes({**os.environ, "COLUMNS": "60", "PYTEST_CURRENT_TEST": "another"})
    for name in ("PYTHONHASHSEED", "LC_ALL", "TZ", "RAYON_NUM_THREADS", "HOME"):
        assert not command_forks.takes({**os.environ, name: "1"}), name
    assert not command_forks.takes({key: value for key, value in os.environ.items() if key != "HOME"})


def test_output_may_exceed_a_pipe_buffer(perhop: Command) -> None:
    document = perhop("schema")
    assert len(document.out) > 1 << 16 and json.loads(document.out)
    ended = perhop("check", "-", given="#" * (1 << 18))
    assert ended.code == 2
