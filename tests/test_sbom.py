"""The software bill of materials: valid CycloneDX, complete, and the same for the same commit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from conftest import ROOT
from programs import needs

pytestmark = needs("cargo")

TIME = "1700000000"


def write(folder: Path, seed: str) -> str:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": TIME, "PYTHONHASHSEED": seed}
    line = [sys.executable, ROOT / "tools" / "sbom.py", folder]
    subprocess.run(line, cwd=folder, env=environment, check=True)
    (made,) = folder.glob("perhop-*.cdx.json")
    return made.read_text()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("sbom"), "1")


@pytest.fixture(scope="module")
def document(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_sbom_is_valid_by_the_official_schema(text: str, document: dict[str, Any]) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    document = json.loads(text)
    document["components"][0]["hash"] = "none"
    assert validator.validate_str(json.dumps(document)) is not None, "the validator refuses nothing"


def test_every_component_has_version_license_and_purl(document: dict[str, Any]) -> None:
    for component in document["components"]:
        assert component["version"], component
        assert component["licenses"][0]["expression"], component
        assert re.match(r"pkg:(cargo|pypi|npm)/", component["purl"]), component


def test_third_party_components_have_hashes(document: dict[str, Any]) -> None:
    def hashes(component: dict[str, Any]) -> list[Any]:
        return [
            *component.get("hashes", []),
            *(ref.get("hashes") for ref in component.get("externalReferences", [])),
        ]

    without = {component["name"] for component in document["components"] if not hashes(component)}
    # Crates for fuzzing are used only in tests.
    own = {path.name for path in (ROOT / "crates").iterdir()} - {"perhop-fuzz-targets"}
    assert without == own


def test_the_crates_are_those_that_cargo_builds(document: dict[str, Any]) -> None:
    line = ["cargo", "tree", "--locked", "--package", "perhop-py", "--package", "perhop-web"]
    line += ["--target", "all", "--prefix", "none", "--edges", "normal,build", "--format", "{p}"]
    shown = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    built = {
        (words[0], words[1].lstrip("v")) for words in (row.split() for row in shown.splitlines()) if words
    }
    listed = {
        (component["name"], component["version"])
        for component in document["components"]
        if component["purl"].startswith("pkg:cargo")
    }
    assert len(built) > 50
    assert listed == built


def test_a_package_of_two_pages_is_listed_once(document: dict[str, Any]) -> None:
    # The report contains a file of ECharts, and the playground bundles parts of it.
    (echarts,) = (component for component in document["components"] if component["name"] == "echarts")
    assert {digest["alg"] for digest in echarts["hashes"]} == {"SHA-256", "SHA-512"}


def test_required_python_packages_are_listed(document: dict[str, Any]) -> None:
    scopes = {
        component["name"]: component["scope"]
        for component in document["components"]
        if component["purl"].startswith("pkg:pypi")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[><=]", text)[0] for text in project["dependencies"]}
    assert {scopes[name] for name in asked} == {"required"}
    assert (scopes["rich"], scopes["pyroute2"], scopes["matplotlib"]) == ("required", "optional", "optional")
    assert "pytest" not in scopes


def test_all_dependencies_are_listed(document: dict[str, Any]) -> None:
    listed = {component["bom-ref"] for component in document["components"]}
    top = document["metadata"]["component"]["bom-ref"]
    edges = {
        dependency["ref"]: set(dependency.get("dependsOn", [])) for dependency in document["dependencies"]
    }
    assert set(edges) == listed | {top}
    reached, waiting = set(), [top]
    while waiting:
        if (ref := waiting.pop()) not in reached:
            reached.add(ref)
            waiting += edges[ref]
    assert reached == listed | {top}


def test_the_same_commit_gives_the_same_bytes_and_names_no_folder(text: str, tmp_path: Path) -> None:
    assert write(tmp_path, "2") == text
    assert json.loads(text)["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    assert str(ROOT) not in text
    assert str(Path.home()) + "/" not in text
