"""Cargo.lock keeps the rules of deny.toml, and the oldest supported compiler takes every crate in it.

The rules are those of cargo-deny, which takes minutes to build; this reads the metadata that cargo gives.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from typing import Any

import pytest

from conftest import ROOT

RULES = tomllib.loads((ROOT / "deny.toml").read_text())
ALLOWED = set(RULES["licenses"]["allow"])


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    line = ["cargo", "metadata", "--locked", "--quiet", "--format-version", "1"]
    ended = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    found: list[dict[str, Any]] = json.loads(ended.stdout)["packages"]
    assert len(found) > 50
    return found


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met with the allowed licenses alone; AND binds tighter than OR."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def alternatives() -> bool:
        met = parts()
        while words and words[0] == "OR":
            words.pop(0)
            met = parts() or met
        return met

    def parts() -> bool:
        met = one()
        while words and words[0] == "AND":
            words.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        name = words.pop(0)
        if name == "(":
            met = alternatives()
            assert words.pop(0) == ")", expression
            return met
        if words and words[0] == "WITH":
            name = " ".join([name, words.pop(0), words.pop(0)])
        return name in ALLOWED

    met = alternatives()
    assert not words, expression
    return met


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR GPL-3.0-only) AND BSD-3-Clause", True),
        ("MIT OR GPL-3.0-only AND GPL-2.0-only", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH Classpath-exception-2.0", False),
    ],
)
def test_license_expressions_are_read_as_spdx_says(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_every_license_is_allowed(packages: list[dict[str, Any]]) -> None:
    licenses = {package["name"]: package["license"] or "(none)" for package in packages}
    refused = {name: license for name, license in licenses.items() if not is_allowed(license)}
    assert refused == {}


def test_every_allowed_license_is_needed(packages: list[dict[str, Any]]) -> None:
    named = " ".join(package["license"] for package in packages)
    assert {license for license in ALLOWED if license not in named} == set()


def test_no_crate_is_banned_or_there_twice(packages: list[dict[str, Any]]) -> None:
    count = Counter(package["name"] for package in packages)
    assert {rule["crate"] for rule in RULES["bans"]["deny"]} & set(count) == set()
    twice = {name for name, versions in count.items() if versions > 1}
    assert twice == {rule["crate"] for rule in RULES["bans"]["skip"]}


def test_every_crate_comes_from_the_registry_or_the_tree(packages: list[dict[str, Any]]) -> None:
    sources = {str(package["source"]).partition("+")[0] for package in packages}
    assert sources == {"registry", "None"}


def test_no_crate_of_the_workspace_is_published(packages: list[dict[str, Any]]) -> None:
    own = {package["name"]: package["publish"] for package in packages if package["source"] is None}
    assert len(own) >= 6
    assert {name for name, publish in own.items() if publish != []} == set()


def test_the_oldest_supported_compiler_takes_every_dependency(packages: list[dict[str, Any]]) -> None:
    """Also that every crate of the workspace takes its `rust-version` from Cargo.toml."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    asked = {package["name"]: package["rust_version"] for package in packages if package["rust_version"]}
    newer = {name: rust for name, rust in asked.items() if version(rust) > version(manifest["rust-version"])}
    assert newer == {}
    assert {package["rust_version"] for package in packages if package["source"] is None} == {
        manifest["rust-version"]
    }
