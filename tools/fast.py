"""Check the code that a change touches, in a minute and a half: `make fast`.

`make touched` runs the long tests.

    python tools/fast.py [--since COMMIT] [--long] [--list]

The change is the difference from COMMIT. On a branch, the default is the fork from main. On main, it is the
last commit if the tree has uncommitted changes, else the commit before it. tests/touched.toml maps paths to
Python tests; the tests of a changed crate always run. Exit code 1 means that a check failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AREAS = ROOT / "tests" / "touched.toml"
#: The crate that every other crate needs. After its change, a new extension module would take longer than all
#: other steps.
_DATA_PLANE = "perhop-qos"
_BIN = Path(sys.executable).parent
_QUICK = "not touched and not thorough"


@dataclass(frozen=True)
class Area:
    """Paths, the tests that `make fast` runs for them, and the long tests of `make touched`."""

    paths: tuple[str, ...]
    fast: tuple[str, ...]
    touched: tuple[str, ...]

    def contains(self, path: str) -> bool:
        """Whether a path belongs to this area; `**` matches any depth."""
        return any(fnmatch(path, pattern) for pattern in self.paths)


def areas(file: Path = AREAS) -> list[Area]:
    """Read the map from paths to tests."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))["map"]
    keys = ("paths", "fast", "touched")
    return [Area(*(tuple(area.get(key, ())) for key in keys)) for area in found]


def _git(*arguments: str) -> list[str]:
    line = ["git", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def base() -> str:
    """Return the commit with which a change is compared if none is given."""
    [branch] = _git("rev-parse", "--abbrev-ref", "HEAD")
    if branch != "main" and _git("branch", "--list", "main"):
        [commit] = _git("merge-base", "main", "HEAD")
        return commit
    return "HEAD" if _git("status", "--porcelain") else "HEAD~1"


def changed(since: str) -> list[str]:
    """Return the paths that differ from a commit, and the untracked paths."""
    return sorted({*_git("diff", "--name-only", since), *_git("ls-files", "--others", "--exclude-standard")})


def crates() -> dict[str, set[str]]:
    """Return the crates of the workspace, each with the other crates of the workspace that it needs."""
    line = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    shown = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = json.loads(shown)["packages"]
    names = {package["name"] for package in packages}
    return {
        package["name"]: {need["name"] for need in package["dependencies"]} & names - {package["name"]}
        for package in packages
    }


def dependents(changed_crates: set[str], needs: dict[str, set[str]]) -> set[str]:
    """Return the crates that depend on a changed crate, directly or indirectly."""
    found: set[str] = set()
    while True:
        more = (
            {crate for crate, needed in needs.items() if needed & (changed_crates | found)}
            - found
            - changed_crates
        )
        if not more:
            return found
        found |= more


@dataclass(frozen=True)
class Step:
    """A command with the name under which it is reported."""

    name: str
    line: Sequence[str]


def _packages(names: Iterable[str]) -> list[str]:
    return [part for name in sorted(names) for part in ("--package", name)]


def rust_steps(own: set[str], needs: dict[str, set[str]]) -> list[Step]:
    """Return lints and tests of the changed crates, and checks that dependent crates compile."""
    # The integration tests of a crate may be a package of their own.
    own = own | {f"{name}-tests" for name in own} & needs.keys()
    steps = [Step("format of Rust", ("cargo", "fmt", "--check"))]
    options = ("--locked", "--quiet")
    lint = ("cargo", "clippy", *_packages(own), "--all-targets", *options, "--", "-D", "warnings")
    steps.append(Step("clippy", lint))
    # The extension module has no tests in Rust.
    if tested := own - {"perhop-py"}:
        steps.append(Step("tests of Rust", ("cargo", "test", *_packages(tested), *options)))
    if others := dependents(own, needs):
        steps.append(Step("dependents", ("cargo", "check", *_packages(others), *options)))
    return steps


def python_lints() -> list[Step]:
    """Return the checks of format, lints and types of all Python."""
    return [
        Step("format of Python", (str(_BIN / "ruff"), "format", "--check", "--quiet")),
        Step("ruff", (str(_BIN / "ruff"), "check", "--quiet")),
        Step("mypy", (str(_BIN / "mypy"),)),
    ]


def test_steps(tests: Sequence[str], marks: str) -> list[Step]:
    """Return the build of the extension module, if it is outdated, and tests of Python with some marks."""
    if not tests:
        return []
    make = ("make", "--no-print-directory")
    steps = [Step("extension", (*make, "test-setup"))]
    if marks != _QUICK and any("playground" in test for test in tests):
        steps.append(Step("playground", (*make, "playground-if-possible", "PROFILE=tested")))
    return [*steps, Step("tests of Python", (str(_BIN / "pytest"), "-q", "-n", "2", "-m", marks, *tests))]


def _run(steps: Sequence[Step]) -> list[str]:
    """Run steps one after the other, also after a failed step; return the failed steps."""
    failed = []
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    for step in steps:
        began = time.monotonic()
        ended = subprocess.run(
            step.line,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        seconds = time.monotonic() - began
        state = "passed" if ended.returncode == 0 else "FAILED"
        shown = ended.stdout.decode(errors="replace") if ended.returncode else ""
        sys.stdout.write(f"{step.name}: {state} in {seconds:.1f} s\n{shown}")
        sys.stdout.flush()
        if ended.returncode:
            failed.append(step.name)
    return failed


def changed_crates(paths: Sequence[str], known: Iterable[str]) -> set[str]:
    """Return the crates to which the paths belong; a vector belongs to the crate that reads it."""
    found = set()
    for path in paths:
        match path.split("/"):
            case ["crates", crate, *_]:
                found.add(crate)
            case ["vectors", ("ios" | "tc") as language, *_]:
                found.add(f"perhop-{language}")
            case ["vectors", *_]:
                found.add(_DATA_PLANE)
    return found & set(known)


def lanes(paths: Sequence[str], since: str, *, has_long: bool) -> list[list[Step]]:
    """Return the steps for changed paths, as lanes that run in parallel."""
    found = [area for area in areas() if any(area.contains(path) for path in paths)]
    if has_long:
        tests = sorted({test for area in found for test in area.touched})
        return [test_steps(tests, "touched")] if tests else []
    needs = crates()
    own = changed_crates(paths, needs)
    # If the data plane changed, the tests of Python are left to `make check`.
    tests = [] if _DATA_PLANE in own else [test for area in found for test in area.fast]
    tests += [path for path in paths if fnmatch(path, "tests/test_*.py") and (ROOT / path).exists()]
    python = [
        Step("width of prose", (sys.executable, "tools/prose_width.py")),
        Step("style of prose", (sys.executable, "tools/prose_style.py", "--since", since)),
    ]
    if any(path.endswith((".py", ".pyi")) for path in paths):
        python += python_lints()
    python += test_steps(sorted(set(tests)), _QUICK)
    return [rust_steps(own, needs) if own else [], python]


def main() -> int:
    """Run the steps that a change needs; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--since", help="the commit with which the change is compared")
    parser.add_argument("--long", action="store_true", help="run the long tests instead of the quick tests")
    parser.add_argument("--list", action="store_true", help="only print the steps")
    arguments = parser.parse_args()
    since = arguments.since or base()
    paths = changed(since)
    sys.stdout.write(f"{len(paths)} files differ from {since}\n")
    found = lanes(paths, since, has_long=arguments.long)
    if arguments.list:
        sys.stdout.write("".join(f"{step.name}: {' '.join(step.line)}\n" for lane in found for step in lane))
        return 0
    began = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        failed = [name for names in pool.map(_run, found) for name in names]
    seconds = time.monotonic() - began
    sys.stdout.write(f"{'failed: ' + ', '.join(failed) if failed else 'all passed'} ({seconds:.0f} s)\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
