"""The commands that README and the tutorials show work as written."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import perhop
from conftest import ROOT, Command, Ended
from perhop.errors import Exit
from playground import is_built

DOCS = ROOT / "docs"


def blocks(page: Path, language: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


class Newcomer:
    """A reader who types in the commands of a page, in a new folder."""

    def __init__(self, folder: Path, perhop: Command) -> None:
        self.folder = folder
        self._perhop = perhop
        shutil.copy(ROOT / "examples" / "router.cfg", folder)

    def types(self, line: str) -> Ended:
        # A study with all its replications lasts long; the test checks only that it runs.
        if line.startswith("perhop study run"):
            line += " --replications 1 --no-sensitivity"
        command, pipe, rest = line.removeprefix("perhop").partition("|")
        assert not pipe or rest.split()[0] == "jq", f"not tried: {rest}"
        return self._perhop(*shlex.split(command))

    def runs(self, program: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-c", program]
        return subprocess.run(line, cwd=self.folder, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture
def newcomer(perhop: Command, tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path, perhop)


def commands(page: Path) -> list[str]:
    """Return the `perhop` commands of a page, without their remarks."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    typed = [line.removeprefix("$ ").partition("  #")[0].rstrip() for line in lines if line.startswith("$ ")]
    return [line for line in typed if line.startswith("perhop ")]


def test_the_tutorial_works_as_written(newcomer: Newcomer, tmp_path: Path) -> None:
    page = DOCS / "tutorial.md"
    typed = commands(page)
    assert len(typed) > 15
    scenario = tmp_path / "first.perhop.yaml"
    [own, *_] = blocks(page, "yaml")
    own_policy_comes_before = "perhop check first.perhop.yaml"
    assert own_policy_comes_before in typed
    for line in typed:
        if line == own_policy_comes_before:
            written = re.sub(
                r"^policies:\n(?: .*\n|\n)*", own + "\n", scenario.read_text(), flags=re.MULTILINE
            )
            assert "drr" in written, "the part is put in the place of the other"
            scenario.write_text(written)
        ended = newcomer.types(line)
        # One of them shows an error message.
        assert ended.code == (2 if "links.1.rat=" in line else 0), f"{line}\n{ended.err}"
    for program in blocks(page, "python"):
        ended = newcomer.runs(program)
        assert ended.returncode == 0, ended.stderr
    made = {file.name for file in tmp_path.iterdir()}
    assert {"first.svg", "delay.html", "queue.html", "throughput.svg", "branch.svg", "report.html"} <= made


def test_the_tutorial_of_networks_works_as_written(newcomer: Newcomer, tmp_path: Path) -> None:
    """The commands report the missing policy, and no fault after its correction."""
    page = DOCS / "tutorial-network.md"
    shutil.copytree(ROOT / "examples" / "network", tmp_path / "network")
    core = tmp_path / "network" / "core.cfg"
    corrected = blocks(page, "text")[-1]
    typed = commands(page)
    assert typed[-1] == "perhop check network --strict" and len(typed) > 4
    answers = []
    for line in typed:
        if line == typed[-1]:
            assert newcomer.types(line).code == Exit.FINDINGS
            before, _, after = core.read_text().partition("interface GigabitEthernet0/2\n")
            core.write_text(before + corrected + after.partition("!\n")[2])
        ended = newcomer.types(line)
        assert ended.code == Exit.OK, f"{line}\n{ended.out}{ended.err}"
        answers.append(ended.out)
    shown = [row.strip() for block in blocks(page, "text")[:-1] for row in block.splitlines()]
    # The page wraps the finding.
    wrapped = next(block for block in blocks(page, "text") if "network-policy-missing" in block)
    assert any(" ".join(wrapped.split("\n")).strip() in answer for answer in answers)
    shown = [row for row in shown if "network-policy-missing" not in row and not row.startswith("similar")]
    printed = {row.strip() for answer in answers for row in answer.splitlines()}
    assert {row for row in shown if row != "…"} <= printed


def test_the_tutorial_is_right_about_its_own_policy(newcomer: Newcomer, tmp_path: Path) -> None:
    newcomer.types("perhop init first")
    scenario = perhop.Scenario.load(tmp_path / "first.perhop.yaml")
    before = {str(row["class"]): row for row in scenario.run().classes.iter_rows(named=True)}
    [own, *_] = blocks(DOCS / "tutorial.md", "yaml")
    text = (tmp_path / "first.perhop.yaml").read_text()
    (tmp_path / "own.yaml").write_text(
        re.sub(r"^policies:\n(?: .*\n|\n)*", own + "\n", text, flags=re.MULTILINE)
    )
    after = {
        str(row["class"]): row for row in perhop.run(tmp_path / "own.yaml").classes.iter_rows(named=True)
    }
    assert after["voice"]["dropped_packets"] == 0
    assert after["voice"]["delay_mean_s"] > before["voice"]["delay_mean_s"]
    assert after["bulk"]["delay_mean_s"] < before["bulk"]["delay_mean_s"]


def test_a_sweep_is_plotted_and_read_with_pandas_as_on_the_page(newcomer: Newcomer) -> None:
    page = DOCS / "plots.md"
    newcomer.types("perhop init edge")
    sweeps = [line for line in commands(page) if "sweep" in line]
    assert len(sweeps) == 4
    for line in sweeps:
        ended = newcomer.types(line)
        assert ended.code == 0, f"{line}\n{ended.err}"
    for program in blocks(page, "python")[:2]:
        ended = newcomer.runs(program if "import perhop" in program else f"import perhop\n{program}")
        assert ended.returncode == 0, ended.stderr


def test_the_readme_works_as_written(newcomer: Newcomer) -> None:
    typed = commands(ROOT / "README.md")
    assert typed[0] == "perhop check router.cfg", "a reader who has a configuration finds it first"
    for line in typed:
        ended = newcomer.types(line)
        if line.startswith("perhop playground") and not is_built:
            # `make test` needs no npm, but the page exists only if npm built it.
            assert ended.code == Exit.MISSING_CAPABILITY and "make playground" in ended.err
            continue
        assert ended.code == 0, f"{line}\n{ended.err}"
    for program in blocks(ROOT / "README.md", "python"):
        assert newcomer.runs(program).returncode == 0
