"""Every user error causes one message and the documented exit code, never a traceback."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
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
        (["--set", "nonsense"], "expected PATH=VALUE, got `nonsense`"),
        (["--set", "links.1.rat=1Mb/s"], "did you mean `rate`?"),
        (["--set", "links.1.rate=fast"], "links.1.rate"),
        (["--replications", "-1"], "--replications"),
        (["--replications", "0"], "--replications"),
        (["--replications", "many"], "--replications"),
        (["--seed", "-1"], "--seed"),
        (["--threads", "0"], "--threads"),
        (["--duration", "10"], "duration"),
        (["--sed", "1"], "--sed"),
        (["too-much"], "too many arguments: too-much"),
        (["--plot", "queue=nowhere/queue.svg"], "/nowhere` is not a folder"),
        (["--plot", "cwnd"], "no samples for this plot: the scenario has no TCP traffic"),
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


def test_a_wrong_duration_is_reported_as_a_duration(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--duration", "10")
    assert "override duration=10" in ended.err
    assert "--set" not in ended.err


def test_no_command_shows_the_commands(perhop: Command) -> None:
    ended = perhop()
    assert ended.code == 0
    assert "Usage: perhop" in ended.out


def test_help_is_offered_for_the_closest_command(perhop: Command) -> None:
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
    # Even root cannot create a folder in /proc.
    ended = perhop("run", scenario, "-o", "/proc/out")
    assert ended.code == 2
    assert "/proc" in ended.err


@pytest.mark.parametrize("arguments", [["schema"], ["run", "{scenario}", "--json"], ["--help"]])
def test_a_closed_pipe(scenario: Path, arguments: list[str]) -> None:
    """In `perhop schema | head`, the reader closes the pipe before the first write."""
    line = command_line([argument.format(scenario=scenario) for argument in arguments])
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 74
    assert stderr == ""


@pytest.mark.parametrize(
    "arguments",
    ["run {scenario} --json", "run {scenario}", "check {scenario}", "schema", "--help", "--version"],
)
def test_unwritable_standard_output_is_reported_in_one_line(scenario: Path, arguments: str) -> None:
    """The output is a full disk or closed; short output is written at the end, long output earlier."""
    command = " ".join(command_line(arguments.format(scenario=scenario).split()))
    for redirection, reason in (("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        line = ["bash", "-c", f"{command} {redirection}"]
        ended = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (74, f"error: standard output: {reason}\n")
        assert leftovers(scenario.parent) == []


def test_closed_standard_error(scenario: Path) -> None:
    for arguments, code in (["run", scenario, "--duration", "2s"], 0), (["run", "nowhere.yaml"], 2):
        line = " ".join(command_line(arguments)) + " 2>&-"
        ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        assert ended.returncode == code
        assert ended.stdout.startswith("Overload" if code == 0 else "")
        assert "error" not in ended.stdout


_READERS = {
    "manifest.json": ("plot throughput {}", "report {}", "compare {} {}", "export csv {}"),
    "classes.parquet": ("report {}", "compare {} {}", "export csv {}"),
}


@pytest.mark.parametrize("file", list(_READERS))
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: file.mkdir(), "it is a directory"),
        (lambda file: file.symlink_to("/proc/self/mem"), "cannot read `"),
        (lambda file: file.write_bytes(b"a\0b"), "is damaged"),
        (lambda file: None, "there is no "),
    ],
    ids=["directory", "unreadable", "damaged", "missing"],
)
def test_a_folder_of_results_with_a_file_that_cannot_be_read(
    perhop: Command, scenario: Path, tmp_path: Path, file: str, spoil: Callable[[Path], None], said: str
) -> None:
    # A bracket in the name is not a pattern.
    assert perhop("run", scenario, "--duration", "2s", "-q", "-o", "out[1]").code == 0
    assert perhop("export", "csv", "out[1]").code == 0
    (tmp_path / "out[1]" / file).unlink()
    spoil(tmp_path / "out[1]" / file)
    for command in _READERS[file]:
        ended = perhop(*command.replace("{}", "out[1]").split(), "-o", "made.html")
        assert ended.code == 2, ended.err
        assert said in ended.err
        assert file in ended.err
        assert not (tmp_path / "made.html").exists()


@pytest.mark.parametrize("command", ["report {}", "plot share {}", "study show {}", "run {scenario} -o {}"])
def test_a_folder_that_cannot_be_searched(perhop: Command, scenario: Path, command: str) -> None:
    # A name that is too long for the file system also stops root, unlike missing permissions.
    name = 300 * "x"
    ended = perhop(*command.replace("{scenario}", str(scenario)).replace("{}", name).split())
    assert ended.code == 2
    assert "File name too long" in ended.err


_READS_A_FILE = """\
perhop: 1
name: Reads a file
duration: 2s
hosts: {{ a: {{}}, b: {{}} }}
routers: {{ r: {router} }}
links:
  - {{ between: [a, r], rate: 1Mb/s }}
  - {{ between: [r, b], rate: 1Mb/s }}
traffic:
  - {{ name: t, from: a, to: b, source: {source} }}
"""


@pytest.mark.parametrize(
    "reading",
    [
        {"router": "{ configuration: { file: folder } }"},
        {"source": "{ trace: { file: folder } }"},
        {"source": "{ pcap: { file: folder } }"},
    ],
    ids=["configuration", "trace", "capture"],
)
def test_a_scenario_that_reads_a_folder(perhop: Command, tmp_path: Path, reading: dict[str, str]) -> None:
    (tmp_path / "folder").mkdir()
    usual = {"router": "{}", "source": "{ cbr: { rate: 1Mb/s, packet: { ip: 100B } } }"}
    (tmp_path / "reads.yaml").write_text(_READS_A_FILE.format(**usual | reading))
    ended = perhop("run", "reads.yaml")
    assert ended.code == 2
    assert "`./folder`: it is a directory\n" in ended.err


def test_a_file_without_permission_is_not_reported_as_misspelled(perhop: Command, scenario: Path) -> None:
    """Even root cannot read /proc/self/mem, unlike a file without permission bits."""
    scenario.with_name("memory.yaml").symlink_to("/proc/self/mem")
    scenario.rename(scenario.with_name("memory-1.yaml"))
    ended = perhop("run", "memory.yaml")
    assert ended.code == 2
    assert "cannot read `memory.yaml`: " in ended.err
    assert "did you mean" not in ended.err
    assert "did you mean `memory-1.yaml`?" in perhop("run", "memory-2.yaml").err


def test_a_run_whose_results_exceed_memory_is_refused_before_it_begins(
    scenario: Path, perhop: Command
) -> None:
    many = ("--replications", "1000", "--duration", "100h", "--set")
    for arguments, key, remedy in (
        (("--replications", "1000000000"), "replications", "fewer replications"),
        ((*many, "measure.packets=[random]"), "measure.packets", "no list of packets"),
        ((*many, "measure.queues.0.every=40ms"), "measure.queues", "a longer `every`"),
    ):
        ended = perhop("run", scenario, "-q", *arguments)
        assert ended.code == 2, ended.err
        assert re.match(r"error: the results need about [0-9.]+ [TP]B of memory", ended.err), ended.err
        assert key in ended.err
        assert remedy in ended.err
    scenario.write_text(f"{scenario.read_text()}replications: 1000000000\n")
    assert perhop("check", scenario).code == 2


def test_more_hops_than_the_hop_limit_are_an_error_of_check(tmp_path: Path, perhop: Command) -> None:
    names = ["a", *(f"r{number}" for number in range(300)), "b"]
    document = {
        "perhop": 1,
        "name": "chain",
        "duration": "1s",
        "hosts": {"a": {}, "b": {}},
        "routers": {name: {} for name in names[1:-1]},
        "links": [{"between": [node, other], "rate": "1Mb/s"} for node, other in pairwise(names)],
        "traffic": [
            {
                "name": "one",
                "from": "a",
                "to": "b",
                "source": {"cbr": {"rate": "8kb/s", "packet": {"ip": "100B"}}},
            }
        ],
    }
    (tmp_path / "chain.yaml").write_text(json.dumps(document))
    for command in ("check", "run"):
        ended = perhop(command, "chain.yaml")
        assert ended.code == 2
        assert "has 301 hops, more than the time to live of a packet allows" in ended.err


def test_ten_thousand_errors_are_counted_and_a_hundred_shown(tmp_path: Path, perhop: Command) -> None:
    source = {"cbr": {"rate": "8kb/s", "packet": {"ip": "100B"}}}
    document = {
        "perhop": 1,
        "name": "errors",
        "duration": "1s",
        "hosts": {"a": {}, "b": {}},
        "links": [{"between": ["a", "b"], "rate": "1Mb/s"}],
        "traffic": [
            {"name": f"t{n}", "from": "a", "to": f"nobody{n}", "source": source} for n in range(10_000)
        ],
    }
    # One line of a megabyte: no error quotes the whole line.
    (tmp_path / "errors.yaml").write_text(json.dumps(document))
    ended = perhop("check", "errors.yaml")
    assert ended.code == 2
    assert "there is no host `nobody0`" in ended.err
    assert "error: and 9900 more errors" in ended.err
    assert len(ended.err) < 100_000
    (tmp_path / "repeated.yaml").write_text("perhop: 1\n" + "name: x\n" * 10_000)
    ended = perhop("check", "repeated.yaml")
    assert "error: and 9899 more errors" in ended.err
