"""Report circles of imports among the Rust files of the workspace.

    python tools/rust_imports.py

A file imports from another file of its crate by a `use` or by a path in its code. Re-exports are followed to
the file that defines the imported item. Modules that are only for tests are left out. A circle is a set of
files in which each file reaches every other file by imports.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_STRING = r'r#".*?"#|"(?:\\.|[^"\\])*"'
_NOT_CODE = re.compile(rf"{_STRING}|'(?:\\.|[^'\\])'|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{.*", re.DOTALL)
_VISIBILITY = re.compile(r"\bpub\s*\([^)]*\)")
_USE = re.compile(r"\buse\s+([^;]+);")
_MOD = re.compile(r"\bmod\s+(\w+)\s*;")
_PATH = re.compile(r"(?<![\w:$])[a-z_]\w*(?:::\w+)+")

#: The segments of a path. The path of a module begins below the crate.
_Segments = tuple[str, ...]


@dataclass
class _Module:
    """A file of Rust, and its place in its crate."""

    file: Path
    name: _Segments
    children: dict[str, _Module] = field(default_factory=dict)
    #: The paths that the file imports.
    imports: list[_Segments] = field(default_factory=list)
    #: The paths of its imports and re-exports, by the names that they have in the file.
    names: dict[str, _Segments] = field(default_factory=dict)


def circles(root: Path = _ROOT) -> list[list[str]]:
    """Return the circles of imports of every crate, each as sorted paths relative to `root`."""
    found = []
    for library in sorted(root.glob("crates/*/src/lib.rs")):
        modules = {module.name: module for module in _walk(_read(library, ()))}
        graph = {name: _imported(module, modules) for name, module in modules.items()}
        for circle in _components(graph):
            found.append(sorted(str(modules[name].file.relative_to(root)) for name in circle))
    return sorted(found)


def _read(file: Path, name: _Segments) -> _Module:
    module = _Module(file, name)
    code = _TESTS.sub("", _NOT_CODE.sub("", file.read_text(encoding="utf-8")))
    code = _VISIBILITY.sub("pub", code)
    for tree in _USE.findall(code):
        for leaf, alias in _leaves(re.sub(r"\s+", "", tree.replace(" as ", "@"))):
            module.imports.append(leaf)
            module.names[alias] = leaf
    for path in _PATH.findall(_USE.sub("", code)):
        first, *rest = path.split("::")
        module.imports.append((*module.names.get(first, (first,)), *rest))
    folder = file.parent if file.name in {"lib.rs", "mod.rs"} else file.with_suffix("")
    for child in _MOD.findall(code):
        for candidate in (folder / f"{child}.rs", folder / child / "mod.rs"):
            if candidate.exists():
                module.children[child] = _read(candidate, (*name, child))
    return module


def _walk(module: _Module) -> Iterator[_Module]:
    yield module
    for child in module.children.values():
        yield from _walk(child)


def _leaves(tree: str) -> Iterator[tuple[_Segments, str]]:
    """Yield each path of a use tree, and the name under which it is imported."""
    if "{" not in tree:
        path, _, alias = tree.partition("@")
        segments = tuple(path.removesuffix("::self").split("::"))
        yield segments, alias or segments[-1]
        return
    prefix, _, rest = tree.partition("{")
    depth, part = 0, ""
    for letter in f"{rest[: rest.rindex('}')]},":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part:
                yield from _leaves(prefix + part)
            part = ""
        else:
            part += letter


def _imported(module: _Module, modules: dict[_Segments, _Module]) -> set[_Segments]:
    """Return the names of the other modules of its crate that `module` imports from."""
    targets = {_resolve(path, module, modules) for path in module.imports}
    return {target for target in targets if target is not None and target != module.name}


def _resolve(path: _Segments, module: _Module, modules: dict[_Segments, _Module]) -> _Segments | None:
    """Return the module that defines `path`, a path used in `module`; `None` outside its crate."""
    segments, at = list(path), module.name
    if segments[0] == "crate":
        segments, at = segments[1:], ()
    elif segments[0] in {"super", "self"}:
        while segments and segments[0] in {"super", "self"}:
            at = at[:-1] if segments.pop(0) == "super" else at
    elif segments[0] not in module.children:
        return None
    while segments and segments[0] in modules[at].children:
        at = (*at, segments.pop(0))
    if at != module.name and segments and segments[0] in modules[at].names:
        reexported = (*modules[at].names[segments[0]], *segments[1:])
        return _resolve(reexported, modules[at], modules) or at
    return at


def _components(graph: dict[_Segments, set[_Segments]]) -> set[frozenset[_Segments]]:
    """Return the strongly connected components of more than one node."""
    reached = {node: _reached(node, graph) for node in graph}
    return {
        frozenset(other for other in reached[node] if node in reached[other])
        for node in graph
        if node in reached[node]
    }


def _reached(start: _Segments, graph: dict[_Segments, set[_Segments]]) -> set[_Segments]:
    """Return the nodes that can be reached from `start` over at least one edge."""
    reached: set[_Segments] = set()
    ahead = [start]
    while ahead:
        new = graph[ahead.pop()] - reached
        reached |= new
        ahead.extend(new)
    return reached


if __name__ == "__main__":
    found = circles()
    for circle in found:
        sys.stdout.write(f"{len(circle)} files: {', '.join(circle)}\n")
    sys.exit(1 if found else 0)
