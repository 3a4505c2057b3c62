"""Whatever a user gets wrong ends in one message and the documented exit code, never in a traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import Command, command_line, leftovers


def test_a_missing_file(perhop: Command) -> None:
    ended = perhop("run", "nowhere.yaml")
    assert ended.code == 2
    assert "nowhere.yaml" in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    "given", ["run", "check", "draw", "sweep", "live run", "init --from", "live bridge --policy"]
)
def test_a_file_that_does_not_exist(perhop: Command, given: str) -> None:
    more = ["--in", "eth1", "--out", "eth2"] if given.startswith("live bridge") else []
    ended = perhop(*given.split(), "missing.cfg", *more)
    assert ended.code == 2, ended.err
    assert "cannot read `missing.cfg`: there is no such file" in ended.err


def test_a_folder_given_as_scenario(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("run", tmp_path)
    assert ended.code == 2
    assert str(tmp_path) in ended.err


def test_a_binary_file(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "photo.yaml").write_bytes(bytes(range(256)))
    ended = perhop("run", "photo.yaml")
    assert ended.code == 2
    assert "photo.yaml" in ended.err


def test_a_misspelled_key_names_line_and_the_right_one(perhop: Command, scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace("rate: 2Mb/s", "rat: 2Mb/s"))
    ended = perhop("run", scenario)
    assert ended.code == 2
    assert "overload.perhop.yaml:8" in ended.err
    assert "`rate`" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "nonsense"], "path=value"),
        (["--set", "links.1.rat=1Mb/s"], "did you mean `rate`?"),
        (["--set", "links.1.rate=fast"], "links.1.rate"),
        (["--replications", "-1"], "--replications"),
        (["--replications", "0"], "--replications"),
        (["--replications", "many"], "--replications"),
        (["--seed", "-1"], "--seed"),
        (["--threads", "0"], "--threads"),
        (["--duration", "10"], "duration"),
        (["--sed", "1"], "--sed"),
        (["too-much"], "nothing is known to do with too-much"),
        (["--plot", "queue=nowhere/queue.svg"], "nowhere is no folder"),
        (["--plot", "cwnd"], "measure.connections, as in [{traffic: bulk, every: 100ms}]"),
    ],
)
def test_wrong_arguments(perhop: Command, scenario: Path, arguments: list[str], said: str) -> None:
    plain = perhop("run", scenario, "-o", "out", *arguments)
    assert plain.code == 2, plain.err
    assert said in plain.err
    assert plain.out == ""
    as_json = perhop("run", scenario, "-o", "out", *arguments, "--json")
    assert as_json.code == 2
    assert as_json.json()["error"]["message"]
    assert not (scenario.parent / "out").exists(), "nothing is written"


def test_a_duration_is_not_called_what_it_is_not(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--duration", "10")
    assert "duration=10, set in place" in ended.err
    assert "--set" not in ended.err


def test_no_command_shows_the_commands(perhop: Command) -> None:
    ended = perhop()
    assert ended.code == 0
    assert "Usage: perhop" in ended.out


def test_help_is_offered_for_the_command_that_was_meant(perhop: Command) -> None:
    for given, command in ((["run", "--sed", "1"], "perhop run"), (["live", "rnu"], "perhop live")):
        assert f"help: see: {command} --help" in perhop(*given).err


def test_a_misspelled_command(perhop: Command) -> None:
    ended = perhop("rnu")
    assert ended.code == 2
    assert "run" in ended.err


def test_the_output_is_a_file(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    ended = perhop("run", scenario, "-o", "out")
    assert ended.code == 2
    assert "is a file" in ended.err
    assert (tmp_path / "out").read_text() == "mine"
    ended = perhop("run", scenario, "-o", "out/deeper")
    assert ended.code == 2
    assert "is a file" in ended.err


def test_the_output_cannot_be_written(perhop: Command, scenario: Path) -> None:
    # Not even root can make a folder in /proc.
    ended = perhop("run", scenario, "-o", "/proc/out")
    assert ended.code == 2
    assert "/proc" in ended.err


@pytest.mark.parametrize("arguments", [["schema"], ["run", "{scenario}", "--json"], ["--help"]])
def test_a_closed_pipe(scenario: Path, arguments: list[str]) -> None:
    """As in `perhop schema | head`: the reader goes away before anything is written."""
    line = command_line([argument.format(scenario=scenario) for argument in arguments])
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 1
    assert said == ""


def test_a_full_disk_is_said_in_one_line(perhop: Command, scenario: Path) -> None:
    line = " ".join(command_line(["run", scenario, "--json"])) + " > /dev/full"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert leftovers(scenario.parent) == []
