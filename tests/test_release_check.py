"""A release: the checks of tools/release_check.py, and the steps of the workflow before it publishes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import release_check

WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that can be released as 0.3.0."""
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "0.3.0"\n')
    (tmp_path / "Cargo.lock").write_text(
        '[[package]]\nname = "perhop-qos"\nversion = "0.3.0"\n'
        '[[package]]\nname = "libm"\nversion = "9.9.9"\nsource = "registry"\n'
    )
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 0.3.0\n")
    changes = "# Changelog\n\n## Unreleased\n\n### Fixed\n\n## 0.3.0\n\n- New.\n\n## 0.2.0\n\n- Old.\n"
    (tmp_path / "CHANGELOG.md").write_text(changes)
    return tmp_path


def test_this_commit_is_consistent() -> None:
    assert release_check.faults(ROOT) == []


def test_a_consistent_tree_is_released_with_its_notes(tree: Path) -> None:
    assert release_check.faults(tree, "v0.3.0") == []
    assert release_check.notes(tree) == "- New."


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("CITATION.cff", "version: 0.3.0", "version: 0.2.0", "CITATION.cff: version 0.2.0"),
        ("Cargo.lock", '"0.3.0"', '"0.2.0"', "Cargo.lock: 0.2.0"),
        ("CHANGELOG.md", "## 0.3.0", "## 0.4.0", "the newest section is for 0.4.0"),
        ("CHANGELOG.md", "- New.", "", "the section of 0.3.0 is empty"),
        ("CHANGELOG.md", "### Fixed", "### Fixed\n\n- Late.", "Unreleased has entries"),
    ],
)
def test_an_inconsistent_tree_is_refused(tree: Path, file: str, old: str, new: str, said: str) -> None:
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new))
    assert said in "\n".join(release_check.faults(tree, "v0.3.0"))


def test_a_tag_of_another_version_is_refused(tree: Path) -> None:
    (found,) = release_check.faults(tree, "v0.3.1")
    assert found == "the tag is v0.3.1, Cargo.toml is at 0.3.0; expected v0.3.0"


def needed(job: str) -> set[str]:
    """The jobs that end well before `job` starts."""
    direct = JOBS[job].get("needs", [])
    names = {direct} if isinstance(direct, str) else set(direct)
    return names.union(*(needed(name) for name in names))


def test_the_workflow_publishes_a_tag_after_everything_else() -> None:
    # PyYAML reads the key `on` as true.
    assert WORKFLOW[True]["push"] == {"tags": ["v*"]}  # type: ignore[index]
    others = set(JOBS) - {"publish", "announce"}
    assert needed("publish") == others
    assert needed("announce") == {"publish", *others}
    publish = JOBS["publish"]
    assert publish["if"] == "github.ref_type == 'tag'"
    assert (publish["environment"], publish["permissions"]) == ("pypi", {"id-token": "write"})
    # Only the publishing job may have more than read permission.
    writing = {name for name, job in JOBS.items() if "permissions" in job}
    assert writing == {"publish", "announce"}
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_every_action_is_pinned_to_a_version() -> None:
    uses = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert any(action.startswith("pypa/gh-action-pypi-publish@") for action in uses)
    assert [action for action in uses if not re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", action)] == []


# The tests that compare lock files with their registries.
ABOUT_REGISTRIES = {"tests/test_supply.py", "tests/test_dependencies.py", "tests/test_release_check.py"}
REGISTRIES = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|crates\.io|npmjs\.(?:org|com))\b")


def test_no_file_names_a_registry() -> None:
    """Clients have their registry configured; a name in a file would override a user's mirror."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    naming = set()
    for name in listed.stdout.splitlines():
        file = ROOT / name
        # cargo writes the name of its registry into a lock.
        if file.is_symlink() or not file.is_file() or file.name == "Cargo.lock":
            continue
        if REGISTRIES.search(file.read_text(encoding="utf-8", errors="ignore")):
            naming.add(name)
    assert naming <= ABOUT_REGISTRIES
