"""The import graph of the package: layers, no cycles, and a reason for each import inside a function."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from conftest import ROOT

PACKAGE = ROOT / "python" / "perhop"
# The marker of an import inside a function; the reason follows it.
REASON = "# lazy: "
# The head of the table of layers in ARCHITECTURE.md.
LAYERS = "| layer | modules and packages of `python/perhop` |"


@cache
def _modules() -> dict[str, ast.Module]:
    """Every module of the package except the studies, by name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if "studies" not in parts:
            name = ".".join(parts).removesuffix(".__init__")
            found[name] = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    return found


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def _targets(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules of the package that a statement imports; the name of a package means its `__init__`."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        assert node.level == 0, "relative imports are not used"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if name in _modules() else str(node.module) for name in names]
    yield from (name for name in names if name in _modules() and name != "perhop")


def _packages(target: str, importer: str) -> Iterator[str]:
    """Return the packages around `target` that its import loads, without those around `importer`."""
    parts = target.split(".")[:-1]
    for length in range(2, len(parts) + 1):
        package = ".".join(parts[:length])
        if not f"{importer}.".startswith(f"{package}."):
            yield package


def _named(tree: ast.Module) -> Iterator[str]:
    """Return the modules that are imported by name, with `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _modules():
            yield node.value


def _graph() -> dict[str, set[str]]:
    """Return the imports of each module, also those inside functions, for type checking only and by name."""
    graph: dict[str, set[str]] = {name: set() for name in _modules()}
    for name, tree in _modules().items():
        targets = {target for node in _imports(tree) for target in _targets(node)}
        for target in targets | set(_named(tree)) - {"perhop"}:
            graph[name] |= {target, *_packages(target, name)} - {name}
    return graph


def _place(module: str) -> str:
    """The module or package right below `perhop` that `module` is or belongs to."""
    return module.removeprefix("perhop.").partition(".")[0]


def _places(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph of the modules and packages right below `perhop`."""
    places: dict[str, set[str]] = {_place(name): set() for name in graph}
    for name, targets in graph.items():
        places[_place(name)] |= {_place(target) for target in targets} - {_place(name)}
    return places


def _layers() -> list[str]:
    """The modules and packages below `perhop` in the order of ARCHITECTURE.md, from the bottom up."""
    _, _, table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition(f"{LAYERS}\n")
    rows, _, _ = table.partition("\n\n")
    return [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[2])]


def _upward(places: dict[str, set[str]], layers: list[str]) -> list[str]:
    """Describe the imports that do not go to a lower layer."""
    return [
        f"`{name}` imports `{target}`, which stands above it"
        for name, targets in places.items()
        for target in sorted(targets)
        if layers.index(target) > layers.index(name)
    ]


@pytest.mark.parametrize("among", [dict, _places], ids=["modules", "packages"])
def test_the_import_graph_has_no_cycle(among: Callable[[dict[str, set[str]]], dict[str, set[str]]]) -> None:
    try:
        TopologicalSorter(among(_graph())).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_every_module_belongs_to_one_layer() -> None:
    assert sorted(_layers()) == sorted([*_places(_graph()), "_core"])


def test_imports_go_down_only() -> None:
    upward = _upward(_places(_graph()), _layers())
    assert not upward, "ARCHITECTURE.md lists the layers:\n" + "\n".join(upward)


def test_the_checks_see_imports_that_go_up_or_around() -> None:
    # There is no circle among the modules, but one among their packages.
    around = {"perhop.plot.a": {"perhop.report.a"}, "perhop.report.b": {"perhop.plot.b"}}
    TopologicalSorter(around).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter(_places(around)).prepare()
    assert _upward(_places(around), _layers()) == ["`plot` imports `report`, which stands above it"]
    # Arguments of `import_module` count, too.
    assert "perhop.plot" in _graph()["perhop"]


def test_the_checks_see_a_cycle_and_a_lazy_import() -> None:
    graph = _graph()
    assert "perhop.running" in graph["perhop.scenario"]
    graph["perhop.errors"].add("perhop.command")
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()
    assert any(True for tree in _modules().values() for _ in _inside_functions(tree))


def _inside_functions(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom))


def test_every_import_inside_a_function_has_a_reason() -> None:
    without = []
    for name, tree in _modules().items():
        file = PACKAGE.parent.joinpath(*name.split("."))
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        lines = file.read_text(encoding="utf-8").splitlines()
        for node in _inside_functions(tree):
            _, marker, reason = lines[node.lineno - 1].partition(REASON)
            if not marker or not reason.strip():
                without.append(f"{file}:{node.lineno}: {ast.unparse(node)}")
    assert not without, f"write `{REASON}reason` behind:\n" + "\n".join(without)


# Modules that load slowly: polars loads longer than most examples run, and cyclopts longer than a check.
HEAVY = {
    "cyclopts",
    "email",
    "matplotlib",
    "numpy",
    "perhop.draw",
    "perhop.inference",
    "perhop.plot",
    "perhop.schema_types",
}
HEAVY |= {"hashlib", "polars", "random", "rich", "shutil", "yaml"}
STEPS, ROUTER = "examples/first-steps.perhop.yaml", "examples/router.cfg"
MAY_LOAD: dict[str, set[str]] = {
    "--help": set(),
    "design --help": set(),
    "run --help": {"cyclopts", "rich", "random", "shutil", "hashlib"},
    f"check {ROUTER}": set(),
    f"check {ROUTER} --json": set(),
    f"rates {ROUTER}": {"perhop.inference"},
    f"run {ROUTER} --replications 1": {"perhop.inference"},
    f"run {STEPS} --duration 2s": set(),
    f"run {STEPS} --duration 2s --json": set(),
    f"run {STEPS} --duration 2s -q": set(),
}
# The maximum number of perhop's modules that a command loads. Without bytecode each of them costs 1 to 4 ms.
MOST_MODULES = {"--help": 18, f"check {ROUTER}": 40, f"run {ROUTER} --replications 1": 90}


@pytest.mark.parametrize("command", MAY_LOAD)
def test_a_command_loads_only_what_it_needs(command: str) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "perhop", *command.split()]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "perhop.command" in loaded
    assert loaded & HEAVY <= MAY_LOAD[command]
    own = [name for name in loaded if name.partition(".")[0] == "perhop"]
    assert len(own) <= MOST_MODULES.get(command, len(own)), sorted(own)


def test_tests_import_only_names_that_other_tests_define() -> None:
    """A renamed helper breaks each file that imports it; the helper's own tests do not detect this."""
    folder = ROOT / "tests"
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("*.py")}
    defined = {name: set(_defined(tree)) for name, tree in trees.items()}
    missing = [
        f"{importer}: {alias.name} of {node.module}"
        for importer, tree in trees.items()
        for node in _imports(tree)
        if isinstance(node, ast.ImportFrom) and node.module in defined
        for alias in node.names
        if alias.name not in defined[node.module]
    ]
    assert missing == []


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names that the statements of a module bind at its top level, also in a condition."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
