"""Both files Cargo.lock obey deny.toml, and the oldest supported compiler can build every crate.

The rules are those of cargo-deny (`make deny`), whose build lasts minutes; these tests read the metadata that
cargo prints. tests/test_supply.py covers all that is not from crates.io.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest

from conftest import ROOT
from programs import lacking

RULES = tomllib.loads((ROOT / "deny.toml").read_text())
ALLOWED = set(RULES["licenses"]["allow"])
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
EXCEPTIONS = {rule["crate"]: set(rule["allow"]) for rule in RULES["licenses"]["exceptions"]}


def metadata_of(manifest: str) -> list[dict[str, Any]]:
    if reason := lacking("cargo"):
        pytest.skip(reason)
    line = ["cargo", "metadata", "--locked", "--quiet", "--format-version", "1", "--manifest-path", manifest]
    ended = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    found: list[dict[str, Any]] = json.loads(ended.stdout)["packages"]
    assert len(found) > 50
    return found


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    return metadata_of("Cargo.toml")


@pytest.fixture(scope="module", params=["Cargo.toml", "fuzz/Cargo.toml"])
def either(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return metadata_of(request.param)


def is_allowed(expression: str, allowed: Collection[str] = frozenset(ALLOWED)) -> bool:
    """Whether these licenses alone satisfy an SPDX expression; AND binds tighter than OR."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def alternatives() -> bool:
        met = parts()
        while words and words[0] == "OR":
            words.pop(0)
            met = parts() or met
        return met

    def parts() -> bool:
        met = operand()
        while words and words[0] == "AND":
            words.pop(0)
            met = operand() and met
        return met

    def operand() -> bool:
        name = words.pop(0)
        if name == "(":
            met = alternatives()
            assert words.pop(0) == ")", expression
            return met
        if words and words[0] == "WITH":
            name = " ".join([name, words.pop(0), words.pop(0)])
        return name in allowed

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
def test_license_expressions_are_read_as_in_spdx(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_every_license_is_allowed(either: list[dict[str, Any]]) -> None:
    licenses = {package["name"]: package["license"] or "(none)" for package in either}
    refused = {
        name: license
        for name, license in licenses.items()
        if not is_allowed(license, ALLOWED | EXCEPTIONS.get(name, set()))
    }
    assert refused == {}


def test_exceptions_are_only_for_packages_that_are_not_shipped(packages: list[dict[str, Any]]) -> None:
    fuzzing = {package["name"]: package["license"] for package in metadata_of("fuzz/Cargo.toml")}
    assert {package["name"] for package in packages} & set(EXCEPTIONS) == set()
    assert {name for name in EXCEPTIONS if is_allowed(fuzzing[name])} == set()


def test_every_allowed_license_is_needed(packages: list[dict[str, Any]]) -> None:
    named = " ".join(package["license"] for package in packages)
    assert {license for license in ALLOWED if license not in named} == set()


def test_no_crate_is_banned_or_duplicated(either: list[dict[str, Any]]) -> None:
    count = Counter(package["name"] for package in either)
    assert {rule["crate"] for rule in RULES["bans"]["deny"]} & set(count) == set()
    twice = {name for name, versions in count.items() if versions > 1}
    assert twice == {rule["crate"] for rule in RULES["bans"]["skip"]}


def test_every_crate_comes_from_the_registry_or_the_tree(either: list[dict[str, Any]]) -> None:
    assert {package["source"] for package in either} == {CRATES_IO, None}


@pytest.mark.parametrize("lock", ["Cargo.lock", "fuzz/Cargo.lock"])
def test_every_crate_of_the_registry_has_its_hash(lock: str) -> None:
    pinned = tomllib.loads((ROOT / lock).read_text())["package"]
    registry = [crate for crate in pinned if "source" in crate]
    assert len(registry) > 50
    assert [crate["name"] for crate in registry if not re.fullmatch("[0-9a-f]{64}", crate["checksum"])] == []


def test_fuzzing_uses_the_shipped_versions(packages: list[dict[str, Any]]) -> None:
    shipped = {(package["name"], package["version"]) for package in packages}
    known = {name for name, _ in shipped}
    fuzzed = {(package["name"], package["version"]) for package in metadata_of("fuzz/Cargo.toml")}
    assert {(name, version) for name, version in fuzzed if name in known} - shipped == set()


def test_no_crate_of_the_workspace_is_published(packages: list[dict[str, Any]]) -> None:
    own = {package["name"]: package["publish"] for package in packages if package["source"] is None}
    assert len(own) >= 6
    assert {name for name, publish in own.items() if publish != []} == set()


def test_the_oldest_supported_compiler_takes_every_dependency(packages: list[dict[str, Any]]) -> None:
    """All crates of the workspace have the `rust-version` of Cargo.toml; no dependency needs a newer one."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    asked = {package["name"]: package["rust_version"] for package in packages if package["rust_version"]}
    newer = {name: rust for name, rust in asked.items() if version(rust) > version(manifest["rust-version"])}
    assert newer == {}
    assert {package["rust_version"] for package in packages if package["source"] is None} == {
        manifest["rust-version"]
    }


def test_the_extension_module_shares_the_build_of_the_tests() -> None:
    """If a dependency had different features, cargo would build every crate twice in `make check`."""

    def features(*selection: str) -> dict[str, str]:
        line = [
            "cargo",
            "tree",
            "--locked",
            "--offline",
            "--format",
            "{p} {f}",
            "--prefix",
            "none",
            *selection,
        ]
        shown = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        packages = (re.sub(r" \((?:\*|proc-macro|/[^)]*)\)", "", line).split() for line in shown.splitlines())
        return {" ".join(package[:2]): " ".join(package[2:]) for package in packages if package}

    module = features("--edges", "normal,build", "--package", "perhop-py")
    tests = features("--edges", "normal,build,dev", "--workspace")
    assert len(module) > 80
    assert {name: tests[name] for name in module} == module
