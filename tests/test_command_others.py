"""`perhop check`, `schema`, `init`, `completion`, `--help`, `--version`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, Command, command_line
from programs import needs

COMMANDS = ["run", "check", "explain", "trace", "diff", "bounds", "plot", "draw", "report", "export"]
COMMANDS += ["schema", "init", "completion", "convert", "help"]
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


def test_help_loads_no_heavy_library() -> None:
    # `make bench` times the start of the command line.
    heavy = ("polars", "numpy", "rich", "matplotlib", "jinja2")
    program = f"import sys, perhop.command; sys.exit(any(m in sys.modules for m in {heavy!r}))"
    assert subprocess.run([command_line([])[0], "-c", program], check=False).returncode == 0


def test_check_accepts_and_refuses(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(scenario.read_text().replace("duration: 5s", "duration: 5 parsec"))
    good = perhop("check", scenario)
    assert (good.code, good.out) == (0, f"{scenario}: scenario, ok\n")
    both = perhop("check", scenario, bad)
    assert both.code == 2
    assert "bad.yaml: not ok: 1 error: line 3: " in both.out and "duration" in both.out
    assert both.out.endswith("Found 1 finding in 2 files (1 error)\n")
    document = perhop("check", scenario, bad, "--json")
    assert document.code == 2
    files = document.json()["files"]
    assert [file["valid"] for file in files] == [True, False]
    (found,) = files[1]["diagnostics"]
    assert (found["path"], found["line"], found["severity"]) == ("duration", 3, "error")


def test_strict_refuses_warnings(perhop: Command, scenario: Path) -> None:
    scenario.write_text(scenario.read_text() + "policies: { nobody-asks: { conditioners: [] } }\n")
    tolerant = perhop("check", scenario)
    assert tolerant.code == 0
    assert "nobody-asks" in tolerant.err
    assert perhop("check", scenario, "--strict").code == 1


def test_the_schema_is_valid_and_accepts_scenarios(perhop: Command) -> None:
    import jsonschema

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
    classes = {row["class"]: row for row in perhop("run", "lab.perhop.yaml", "--json").json()["classes"]}
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
    classes = {row["class"]: row for row in ended.json()["classes"]}
    voice, bulk = classes["voice"], classes["bulk"]
    assert voice["dropped_packets"]["mean"] == 0, "its own limit does not matter in the lesson"
    assert voice["delay_mean_s"]["mean"] == pytest.approx(bulk["delay_mean_s"]["mean"], rel=0.02)
    assert voice["delay_mean_s"]["mean"] == pytest.approx(0.480, rel=0.02), "as docs/tutorial.md says"


TEMPLATES = ("classes", "l4s", "rfc4594", "rfc8325", "shaping", "sqm", "voice", "wred")


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_is_whole_and_tells_its_story(perhop: Command, template: str) -> None:
    assert perhop("init", "lab", "--template", template).code == 0
    checked = perhop("check", "lab.perhop.yaml", "--strict")
    assert (checked.code, checked.out.count("note")) == (0, 0), checked.out
    found = perhop("run", "lab", "--json").json()
    sent = {row["class"]: row["throughput_bps"]["mean"] for row in found["classes"]}
    waits = {row["class"]: row["delay_mean_s"]["mean"] for row in found["classes"]}
    lost = {row["class"]: row["dropped_packets"]["mean"] for row in found["classes"]}
    drops = {
        row["precedence"]: row["dropped_percent"]["mean"]
        for row in found["ports"]
        if row["port"] == "edge->core"
    }
    match template:
        case "classes":
            assert sent["business"] > sent["office"] > sent["rest"] > 0
        case "l4s":
            assert 0.5 < sent["prague"] / sent["cubic"] < 2.5
            # L4S has a step at 1 ms, and the classic queue a target of 15 ms.
            assert waits["prague"] < 0.012 and waits["cubic"] > 0.019
        case "rfc4594":
            assert lost["telephony"] == lost["game"] == lost["television"] == 0
            assert waits["telephony"] < 0.012 and sent["backup"] < sent["standard"] / 5
        case "rfc8325":
            assert lost["call"] == lost["conference"] == lost["game"] == 0
            assert waits["game"] < 0.008 and 3 < sent["download"] / sent["update"] < 5
        case "sqm":
            longer = "policies.up.queueing.classes.0.buffer={tail-drop: {limit: 250 packets}}"
            other = perhop("run", "lab", "--json", "--set", longer).json()["classes"]
            unmanaged = {row["class"]: row["delay_mean_s"]["mean"] for row in other}
            assert lost["call"] == 0 and waits["call"] < 0.018 and unmanaged["call"] > 0.1
        case "wred":
            assert drops[0] < 0.1 < drops[1], "what exceeds the profile is dropped first"
        case "shaping":
            unshaped = perhop(
                "run", "lab", "--json", "--set", "policies.customer.queueing.classes.0.shape=null"
            ).json()
            assert not found["classes"][0].get("dropped_policed", {"mean": 0})["mean"]
            assert unshaped["classes"][0]["dropped_policed"]["mean"] > 100


def test_an_unknown_template_is_refused(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("init", "lab", "--template", "shapin")
    assert ended.code == 2 and "did you mean `shaping`?" in ended.err
    assert perhop("init", "--template", "voice", "--from", "router.cfg").code == 2
    assert not list(tmp_path.glob("*.yaml"))


def test_a_scenario_is_found_by_its_name(perhop: Command) -> None:
    assert perhop("init", "first").code == 0
    for command in (("run", "first", "-q"), ("check", "first"), ("draw", "first"), ("bounds", "first")):
        ended = perhop(*command)
        assert ended.code == 0, ended.err
    assert perhop("run", "second").code == 2


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--reps", "--replications or --report"),
        ("--rep=3", "--replications or --report"),
        ("--sed", "--seed"),
        ("--repl", "--replications"),
        ("--outputt", "--output"),
    ],
)
def test_a_wrong_option_names_the_right_one(perhop: Command, given: str, meant: str) -> None:
    ended = perhop("run", "first.perhop.yaml", given, "3")
    assert ended.code == 2
    assert f"Did you mean {meant}?" in ended.err


def test_no_suggestion_without_a_similar_name(perhop: Command) -> None:
    ended = perhop("run", "first.perhop.yaml", "--zzzz")
    assert ended.code == 2 and "unknown option: --zzzz." in ended.err and "Did you mean" not in ended.err


def test_help_of_a_command(perhop: Command) -> None:
    assert perhop("help", "study", "run").out == perhop("study", "run", "--help").out
    assert perhop("help").out == perhop("--help").out
    ended = perhop("help", "runn")
    assert ended.code == 2 and "there is no command `runn`" in ended.err


def completed(perhop: Command, *words: str) -> list[str]:
    ended = perhop("complete", "--", *words)
    assert ended.code == 0, ended.err
    return ended.out.split()


def test_changing_values_are_completed(perhop: Command) -> None:
    assert perhop("init", "first").code == 0
    assert completed(perhop, "plot", "delay-") == ["delay-cdf", "delay-histogram"]
    assert completed(perhop, "run", "first", "--plot", "qu") == ["queue"]
    assert completed(perhop, "study", "run", "ef") == ["ef-star"]
    assert completed(perhop, "init", "--template", "") == list(TEMPLATES)
    paths = completed(perhop, "run", "first", "--set", "links.1.")
    assert "links.1.rate=" in paths
    assert perhop("run", "first", "-q", "--set", "links.1.rate=3Mb/s").code == 0
    assert "traffic.bulk.source.poisson.rate=" in completed(perhop, "run", "first", "--set", "traffic.bulk")
    assert completed(perhop, "run", "missing", "--set", "") == []
    assert completed(perhop, "run", "fi") == [], "files are the shell's"


@needs("bash")
def test_bash_completes_changing_values(perhop: Command, tmp_path: Path) -> None:
    assert perhop("init", "first").code == 0
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "perhop"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m perhop "$@"\n')
    program.chmod(0o755)
    (tmp_path / "completion.sh").write_text(perhop("completion", "bash").out)
    script = """
        source ./completion.sh
        complete_words() {
          COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
          _perhop_values 2> /dev/null
          echo "${COMPREPLY[*]}"
        }
        complete_words perhop plot delay-
        complete_words perhop run first --set traffic.bulk.source.poisson.r
        complete_words perhop run --repl
    """
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert ended.stdout.splitlines() == [
        "delay-cdf delay-histogram",
        "traffic.bulk.source.poisson.rate=",
        "--replications",
    ]


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


@needs("bash")
def test_the_bash_completion_is_bash(perhop: Command) -> None:
    script = perhop("completion", "bash").out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_completion_refuses_other_shells(perhop: Command) -> None:
    ended = perhop("completion", "cmd.exe")
    assert ended.code == 2
    assert "bash" in ended.err


def test_cite_prints_the_citation_file(perhop: Command) -> None:
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    bibtex, text = perhop("cite"), perhop("cite", "--style", "text")
    assert (bibtex.code, text.code) == (0, 0)
    for value in (
        stated["title"],
        stated["version"],
        stated["repository-code"],
        stated["authors"][0]["name"],
    ):
        assert value in bibtex.out and value in text.out
    assert bibtex.out.startswith("@software{perhop,\n") and bibtex.out.count("{") == bibtex.out.count("}")
    assert len(text.out.splitlines()) == 1


def test_the_interface_may_precede_the_file_as_on_a_device(perhop: Command) -> None:
    file = ROOT / "examples" / "router.cfg"
    usual = perhop("show", "policy-map", "interface", file, "Se0/0", "--duration", "2s", "-q")
    device = perhop("show", "policy-map", "interface", "Se0/0", file, "--duration", "2s", "-q")
    assert usual.code == 0 and "Service-policy output" in usual.out
    assert (device.code, device.out) == (0, usual.out)
    assert perhop("show", "policy-map", "interface", "Se0/0", "none.cfg").code == 2


def options_of_every_command() -> Iterator[tuple[str, str, str]]:
    """Generate each command with the name and the help of each of its options and arguments."""
    from cyclopts import App

    from perhop.command.parser import app

    def of_group(group: App, words: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
        for name in [name for name in group if not name.startswith("-")]:
            command = group[name]
            if command.default_command is None:
                yield from of_group(command, (*words, name))
            elif command.show:
                for argument in command.assemble_argument_collection(parse_docstring=True):
                    yield " ".join((*words, name)), argument.name, (argument.parameter.help or "").strip()

    yield from of_group(app, ())


def test_every_option_has_a_help_text_and_shared_options_share_it() -> None:
    found = list(options_of_every_command())
    assert len({command for command, _, _ in found}) > 30
    assert [(command, name) for command, name, help in found if not help] == []
    described = {
        name
        for file in (ROOT / "python" / "perhop" / "command").glob("*.py")
        for name in re.findall(r"^    (\w+)\n        \S", file.read_text(), re.MULTILINE)
    }
    assert not described & {"json", "platform", "set_", "load", "seed", "assume", "force", "quiet", "threads"}
