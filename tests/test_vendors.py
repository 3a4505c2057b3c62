"""Only front ends and their list depend on vendors, and crates import only lower layers."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import ROOT

#: The crates that read a vendor's text.
FRONT_ENDS = {"perhop-ios", "perhop-junos", "perhop-tc"}
#: The crate with the list of front ends, and the fuzz targets, each of which drives one front end.
MAY_NAME = {*FRONT_ENDS, "perhop-front-ends", "perhop-fuzz-targets"}
# The crates that a layer may use: its own and those of lower layers in the table of ARCHITECTURE.md.
_HEAD = "| layer | crates | knows |"


def _dependencies(crate: str) -> set[str]:
    """The crates of the workspace that a crate depends on, except for tests."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    return {name for name in manifest.get("dependencies", {}) if name.startswith("perhop-")}


def _layers() -> list[list[str]]:
    _, _, table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition(f"{_HEAD}\n")
    rows, _, _ = table.partition("\n\n")
    return [re.findall(r"`(perhop-[\w-]+)`", row.split("|")[2]) for row in rows.splitlines()[1:]]


def _crates() -> list[str]:
    return sorted(folder.name for folder in (ROOT / "crates").iterdir() if (folder / "Cargo.toml").exists())


def test_no_other_crate_names_a_vendor() -> None:
    naming = [
        str(file.relative_to(ROOT))
        for crate in _crates()
        if crate not in MAY_NAME
        for file in [*(ROOT / "crates" / crate).rglob("*.rs"), ROOT / "crates" / crate / "Cargo.toml"]
        if re.search(r"perhop[-_](ios|junos|tc)\b", file.read_text(encoding="utf-8"))
    ]
    assert not naming, "use the list of perhop-front-ends"


def test_front_ends_do_not_know_each_other_scenarios_or_engines() -> None:
    below = {"perhop-device", "perhop-analysis", "perhop-lint", "perhop-qos"}
    assert {crate: _dependencies(crate) - below for crate in FRONT_ENDS} == {
        crate: set() for crate in FRONT_ENDS
    }


def test_the_table_of_layers_has_every_crate_and_dependencies_go_down() -> None:
    layers = _layers()
    places = {crate: place for place, crates in enumerate(layers) for crate in crates}
    # The crate of fuzz targets drives all layers, and the program does not contain it.
    assert sorted(places) == [crate for crate in _crates() if crate != "perhop-fuzz-targets"]
    upward = {
        f"{crate} depends on {other}"
        for crate, place in places.items()
        for other in _dependencies(crate)
        if places[other] < place
    }
    assert not upward


# Commands and their words in the languages of vendors, names of platforms, and kinds of interfaces.
VENDOR = re.compile(
    r"policy-map|class-map|service-policy|random-detect|class-default|control-plane|access-group|rate-limit"
    r"|tx-ring|conform-action|shape average|queue-limit|load-interval|ip(?:v6)? address|fair-queue\b|set-dscp"
    r"|\bqdisc\b|\bclassid\b|fq_codel|\btc (?:qdisc|class|filter)"
    r"|\bhqf\b|\bios-xe\b|\bios15\b|(?:Serial|Ethernet)\d"
)
#: Modules of Python that still name vendors, with the reason.
NAMING = {
    "bufferbloat": "users name queueing disciplines in the words of tc",
    "command/bufferbloat.py": "its options and defaults are such names",
    "command/explain.py": "helps of options",
    "command/options.py": "helps of options",
    "answers.py": "values of the documents of --json",
    "command/commands.py": "names and helps of commands that users type as on a device",
    "command/examples.py": "examples of the command line",
    "command/show.py": "names of commands that users type as on a device",
    "design": "advice has lines to paste",
    "schema_types.py": "made from the scenario language, whose keys they are",
}


def _strings(file: Path) -> Iterator[str]:
    """Generate the texts of a module without its docstrings, which are the help texts of commands."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def _naming(package: Path) -> dict[str, list[str]]:
    """Return the vendor's words by the modules that name them."""
    found: dict[str, list[str]] = {}
    for file in sorted(package.rglob("*.py")):
        words = [match[0] for text in _strings(file) for match in VENDOR.finditer(text)]
        if words:
            found[str(file.relative_to(package))] = words
    return found


def test_python_does_not_name_the_words_of_a_vendor() -> None:
    naming = _naming(ROOT / "python" / "perhop")
    allowed = {module for module in naming if module in NAMING or module.partition("/")[0] in NAMING}
    others = {module: words for module, words in naming.items() if module not in allowed}
    assert others == {}, "ask the front end, by a function of perhop._core with a neutral name"
    used = {module if module in NAMING else module.partition("/")[0] for module in allowed}
    assert used == set(NAMING), "an exception that nothing needs"


@pytest.mark.parametrize("text", ["interface Serial0/0", "class-map match-any X", "tc qdisc add dev eth0"])
def test_a_word_in_a_module_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "module.py").write_text(f'"""Reads {text}."""\n\nWORDS = f"{text} {{1}}"\n')
    assert list(_naming(tmp_path)) == ["module.py"]
    (tmp_path / "module.py").write_text(f'"""Reads {text}."""\n')
    assert _naming(tmp_path) == {}
