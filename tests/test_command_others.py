"""`perhop check`, `schema`, `init`, `completion`, `--help`, `--version`."""

from __future__ import annotations

import json
import resource
import subprocess
from importlib.metadata import version
from pathlib import Path

import jsonschema
import pytest

from conftest import Command, command_line

COMMANDS = ["run", "check", "explain", "trace", "diff", "bounds", "plot", "draw", "report", "export"]
COMMANDS += ["schema", "init", "completion", "convert"]
COMMANDS += ["study", "study list", "study show", "study run", "design", "design wred", "design star"]
COMMANDS += [f"design {name}" for name in ("policer", "shaper", "calls", "queue", "ring")]


def test_version(perhop: Command) -> None:
    assert perhop("--version").out.strip() == version("perhop")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_examples(perhop: Command, command: str) -> None:
    ended = perhop(*command.split(), "--help")
    assert ended.code == 0
    assert "Examples:" in ended.out
    assert f"perhop {command}".strip() in ended.out.partition("Examples:")[2]


def test_help_is_fast_and_loads_no_heavy_library() -> None:
    # The minimum of several: on a busy machine, processor time grows with cache contention.
    assert any(_processor_seconds(command_line(["--help"])) < 0.3 for _ in range(10))
    heavy = ("polars", "numpy", "rich", "matplotlib", "jinja2")
    program = f"import sys, perhop.command; sys.exit(any(m in sys.modules for m in {heavy!r}))"
    assert subprocess.run([command_line([])[0], "-c", program], check=False).returncode == 0


def _processor_seconds(line: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_check_accepts_and_refuses(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(scenario.read_text().replace("duration: 5s", "duration: 5 parsec"))
    good = perhop("check", scenario)
    assert (good.code, good.out) == (0, f"{scenario}: scenario, ok\n")
    both = perhop("check", scenario, bad)
    assert both.code == 2
    assert "duration" in both.err
    document = perhop("check", scenario, bad, "--json")
    assert document.code == 2
    files = document.json()["files"]
    assert [file["valid"] for file in files] == [True, False]
    (found,) = files[1]["diagnostics"]
    assert (found["path"], found["line"], found["severity"]) == ("duration", 3, "error")


def test_strict_refuses_what_is_suspicious(perhop: Command, scenario: Path) -> None:
    scenario.write_text(scenario.read_text() + "policies: { nobody-asks: { conditioners: [] } }\n")
    tolerant = perhop("check", scenario)
    assert tolerant.code == 0
    assert "nobody-asks" in tolerant.err
    assert perhop("check", scenario, "--strict").code == 2


def test_the_schema_is_a_schema_and_knows_scenarios(perhop: Command) -> None:
    schema = perhop("schema").json()
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    assert {"hosts", "links", "traffic", "duration"} <= set(schema["properties"])


def test_init_writes_a_scenario_that_runs(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("init", "lab")
    assert ended.code == 0, ended.err
    starter = tmp_path / "lab.perhop.yaml"
    assert starter.read_text().startswith("# yaml-language-server: $schema=perhop.schema.json\n")
    assert json.loads((tmp_path / "perhop.schema.json").read_text()) == perhop("schema").json()
    assert perhop("check", "lab.perhop.yaml", "--strict").code == 0
    classes = {one["class"]: one for one in perhop("run", "lab.perhop.yaml", "--json").json()["classes"]}
    assert classes["voice"]["dropped_packets"]["mean"] == 0, "the story that the starter tells"
    assert classes["bulk"]["dropped_percent"]["mean"] > 10
    # One bulk packet of 1500 bytes may be on the wire: 6 ms at 2 Mb/s, behind 11 ms of propagation.
    assert classes["voice"]["delay_max_s"]["mean"] < 0.011 + 0.006 + 5 * 188 * 8 / 2e6 + 0.001
    assert classes["bulk"]["delay_mean_s"]["mean"] > 0.1


def test_the_first_change_that_the_starter_suggests(perhop: Command) -> None:
    assert perhop("init").code == 0
    set_fifo = ("--set", "policies.wan.queueing.scheduler=fifo")
    ended = perhop("run", "first.perhop.yaml", *set_fifo, "--json")
    assert ended.code == 0, ended.err
    classes = {one["class"]: one for one in ended.json()["classes"]}
    assert classes["voice"]["delay_mean_s"]["mean"] > 0.1, "without priority voice waits as long as bulk data"


def test_init_overwrites_nothing(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "first.perhop.yaml").write_text("mine")
    ended = perhop("init")
    assert ended.code == 2
    assert "exists already" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["first.perhop.yaml"]
    assert (tmp_path / "first.perhop.yaml").read_text() == "mine"
    assert perhop("init", "no/such/folder").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(perhop: Command, shell: str) -> None:
    ended = perhop("completion", shell)
    assert ended.code == 0
    for word in ("study", "replications", "--json" if shell != "fish" else "json"):
        assert word in ended.out


def test_the_bash_completion_is_bash(perhop: Command) -> None:
    script = perhop("completion", "bash").out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_completion_refuses_other_shells(perhop: Command) -> None:
    ended = perhop("completion", "cmd.exe")
    assert ended.code == 2
    assert "bash" in ended.err
