"""Python packages and files of others in the package: pinned by hash, under licenses that are allowed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from base64 import b64decode
from hashlib import sha256
from importlib import metadata
from typing import Any

import pytest

from conftest import ROOT
from programs import needs_checkout
from test_dependencies import is_allowed

sys.path.insert(0, str(ROOT / "tools"))

import sbom
from python_licenses import RULES, license_of, locked, normalized

BUNDLED: list[dict[str, Any]] = tomllib.loads((ROOT / "requirements" / "bundled.toml").read_text())["file"]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())


NPM = "https://registry.npmjs.org/"


def installed() -> list[str]:
    """The pinned packages that are installed; others are for other systems or other Pythons."""
    present = {normalized(found.name) for found in metadata.distributions() if found.name}
    names = sorted(locked().keys() & present)
    assert len(names) > 80
    return names


def needed() -> set[str]:
    """The packages that a user of perhop installs, extras included."""
    bom = sbom.Bom()
    project = PROJECT["project"]
    optional = [text for extra in sbom.EXTRAS for text in project["optional-dependencies"][extra]]
    sbom.python_packages(bom, [*project["dependencies"], *optional], sbom.ComponentScope.REQUIRED)
    return {component.name for component in bom.components}


def test_every_license_of_a_python_package_is_allowed() -> None:
    development = {*RULES["allow"], *RULES["allow-development"]}
    licenses = {name: license_of(name) or "(none)" for name in installed()}
    refused = {
        name: expression for name, expression in licenses.items() if not is_allowed(expression, development)
    }
    assert refused == {}


def test_licenses_of_installed_packages_require_only_a_notice() -> None:
    licenses = {name: license_of(name) or "(none)" for name in needed()}
    assert len(licenses) > 20
    assert {
        name: expression
        for name, expression in licenses.items()
        if not is_allowed(expression, RULES["allow"])
    } == {}


def test_every_rule_of_licenses_is_needed() -> None:
    names = installed()
    licenses = " ".join(license_of(name) or "" for name in names)
    parts = [part for file in BUNDLED for part in file["parts"]]
    licenses += " ".join(part["license"] for part in parts)
    allowed = {*RULES["allow"], *RULES["allow-development"]}
    assert {license for license in allowed if license not in re.findall(r"[A-Za-z0-9.-]+", licenses)} == set()
    assert set(RULES["stated"]) <= set(names)


def test_unknown_words_are_not_a_license(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "stated", {})
    monkeypatch.setitem(RULES, "spelled", {})
    assert license_of("jinja2") == "BSD License"
    assert not is_allowed("BSD-License", RULES["allow"])


def test_every_python_package_has_its_hash_and_none_is_installed_without() -> None:
    packages = locked()
    assert len(packages) > 80
    bare = [name for name, versions in packages.items() for hashes in versions.values() if not hashes]
    assert bare == []
    makefile = (ROOT / "Makefile").read_text()
    installs = [line for line in makefile.splitlines() if re.match(r"\t\S.*pip install", line)]
    assert len(installs) >= 3
    # The wheel built from the tree has no hash, and installs no other package.
    assert [line for line in installs if "--require-hashes -r" not in line and "--no-deps" not in line] == []


def test_the_build_takes_the_maturin_of_the_lock() -> None:
    (version,) = locked()["maturin"]
    assert PROJECT["build-system"]["requires"] == [f"maturin=={version}"]


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: str(file["name"]))
def test_third_party_files_match_their_pins(file: dict[str, Any]) -> None:
    data = (ROOT / file["path"]).read_bytes()
    assert sha256(data).hexdigest() == file["sha256"]
    assert f'version="{file["version"]}"'.encode() in data
    for part in [file, *file["parts"]]:
        assert is_allowed(part["license"], RULES["allow"])
        if notice := part.get("license-file"):
            assert "copyright" in (ROOT / notice).read_text().lower()
    kind, _, digest = file["integrity"].partition("-")
    assert (kind, len(b64decode(digest))) == ("sha512", 64)


@needs_checkout
def test_every_minified_script_is_listed() -> None:
    line = ["git", "ls-files", "*.min.*", "package*.json", "**/package*.json"]
    found = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    # Packages of npm need a lock; a test below checks the playground's.
    of_playground = {"playground/package.json", "playground/package-lock.json"}
    assert set(found) - of_playground == {file["path"] for file in BUNDLED}


def test_every_package_of_npm_is_pinned_by_hash_under_an_allowed_license() -> None:
    wanted = json.loads((ROOT / "playground" / "package.json").read_text())
    lock = json.loads((ROOT / "playground" / "package-lock.json").read_text())["packages"]
    top = lock.pop("")
    assert {**top["dependencies"], **top["devDependencies"]} == {
        **wanted["dependencies"],
        **wanted["devDependencies"],
    }
    assert all(re.fullmatch(r"[0-9.]+", version) for version in top["dependencies"].values())
    shipped = 0
    for place, package in lock.items():
        assert package.get("resolved", NPM).startswith(NPM), place
        kind, _, digest = package["integrity"].partition("-")
        assert (kind, len(b64decode(digest))) == ("sha512", 64), place
        # Users receive nothing that contains development tools.
        allowed = [*RULES["allow"], *(["MPL-2.0"] if package.get("dev") else [])]
        assert is_allowed(package["license"], allowed), place
        shipped += not package.get("dev")
    assert shipped > 8
