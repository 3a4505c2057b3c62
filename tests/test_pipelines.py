"""The steps that this tree offers to pipelines: GitHub, GitLab, pre-commit."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from test_check_many import BAD, GOOD

PLACE = re.compile(r"\$(?:\{\{|\[\[) inputs\.(\w+) (?:\}\}|\]\])")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a good and a bad configuration, and `perhop` on the path."""
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "good one.cfg").write_text(GOOD)
    (tmp_path / "sites" / "bad.cfg").write_text(BAD)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "perhop"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m perhop "$@"\n')
    command.chmod(0o755)
    return tmp_path


def _step(
    script: str, variables: dict[str, str], repository: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run a script like a CI runner, which passes inputs only in variables of the environment."""
    assert not PLACE.search(script), "an input in a script could run commands"
    values = {name: PLACE.sub(lambda place: inputs[place[1]], value) for name, value in variables.items()}
    path = f"{repository / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=repository,
        env={**os.environ, **values, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_of_github(repository: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    install, check = action["runs"]["steps"]
    assert shlex.split(install["run"]) == ["python3", "-m", "pip", "install", "$GITHUB_ACTION_PATH"]
    defaults = {name: declared["default"] for name, declared in action["inputs"].items()}
    ended = _step(check["run"], check["env"], repository, **{**defaults, "files": "'sites/*.cfg'"})
    assert ended.returncode != 0
    assert "::error file=sites/bad.cfg,title=class-map-undefined,line=5::" in ended.stdout
    alone = _step(
        check["run"], check["env"], repository, files="'sites/good one.cfg'", arguments="--fail-on error"
    )
    assert alone.returncode == 0, alone.stderr
    _step(check["run"], check["env"], repository, files="sites; touch stolen $(touch stolen)", arguments="")
    assert not (repository / "stolen").exists()


def test_the_component_of_gitlab(repository: Path) -> None:
    head, body = yaml.safe_load_all((ROOT / "templates" / "perhop-check.yml").read_text())
    job: dict[str, Any] = body["perhop-check"]
    assert set(PLACE.findall(json.dumps(job))) == set(head["spec"]["inputs"])
    (script,) = job["script"]
    ended = _step(script, job["variables"], repository, files="sites", arguments="")
    assert ended.returncode != 0
    report = json.loads((repository / job["artifacts"]["reports"]["codequality"]).read_text())
    assert {finding["check_name"] for finding in report if finding["severity"] == "critical"} == {
        "class-map-undefined"
    }


def test_the_hook_of_pre_commit(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    names = {"a.cfg": True, "b.tc": True, "x.perhop.yaml": True, "x.tests.yml": True, "README.md": False}
    assert {name: re.search(hook["files"], name) is not None for name in names} == names
    ended = _step(f"{hook['entry']} 'sites/good one.cfg' sites/bad.cfg", {}, repository)
    assert ended.returncode == 1
    assert "sites/bad.cfg:5: error[class-map-undefined]" in ended.stdout
