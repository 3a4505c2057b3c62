"""Count the small faults in a crate that its tests find: mutation testing with one build for all faults.

    python tools/mutants.py perhop-qos [--file GLOB]... [--sample 300 --seed 1] [--floor 0.9]

`cargo mutants --list` lists the faults (`.cargo/mutants.toml` lists those that change no result). For each
fault, the tool writes one more version of the function to a copy of the workspace. A number in the
environment selects the version that runs (mutant schemata: Untch, Offutt and Harrold 1993, ISSTA). The crate
is therefore built once instead of thousands of times, and a fault takes only seconds: its tests run until the
first one fails. Faults in constants, in `const` functions and in functions that return an `impl` cannot be
selected at run time. They are only counted; `cargo mutants` can test them (`--rest` lists them).

A fault is caught (a test failed), missed (no test failed), timed out, or unviable (it does not compile). The
files are in target/mutants; its outcomes.json contains every fault with its outcome.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_CHOICE = "PERHOP_MUTANT"
_PROFILE = "mutants"
#: The limit on the address space of a test, bytes, because a fault may allocate memory without end.
_MEMORY = 4 << 30
_SELECT = f"""
#[doc(hidden)]
pub fn chosen_mutant() -> u32 {{
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {{
        std::env::var("{_CHOICE}").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
    }});
    *CHOSEN
}}
"""


@dataclass
class Mutant:
    """A fault: a replacement of the text between two positions of a file."""

    number: int
    name: str
    file: str
    start: int
    end: int
    replacement: str
    #: The position of the first character of the function, and the position after its last character; `None`
    #: for a fault outside of functions.
    function: tuple[int, int] | None
    outcome: str = ""
    killer: str = ""


@dataclass
class _Source:
    text: str
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [0]
        for line in self.text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, place: dict[str, int]) -> int:
        return self._starts[place["line"] - 1] + place["column"] - 1


@dataclass
class _Test:
    """A part of a test program, its time without a fault, and the number of faults that it found."""

    program: Path
    folder: Path
    #: The module whose tests are run, and the names of these tests; empty for all tests of the program.
    module: str = ""
    names: list[str] = field(default_factory=list)
    seconds: float = 0.0
    found: int = 0

    @property
    def name(self) -> str:
        return f"{self.program.name} {self.module}".rstrip()

    @property
    def command(self) -> list[str]:
        return [str(self.program), *(["--exact", *self.names] if self.names else [])]


def _report(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def listed(package: str) -> list[Mutant]:
    """Return every fault that `cargo mutants` lists in `package`."""
    command = ["cargo", "mutants", "--list", "--json", "--package", package]
    rows = json.loads(subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True).stdout)
    sources: dict[str, _Source] = {}
    mutants = []
    for number, row in enumerate(rows, start=1):
        source = sources.setdefault(row["file"], _Source((_ROOT / row["file"]).read_text(encoding="utf-8")))
        start, end = (source.offset(row["span"][side]) for side in ("start", "end"))
        function = row["function"]
        span = function and tuple(source.offset(function["span"][side]) for side in ("start", "end"))
        mutants.append(Mutant(number, row["name"], row["file"], start, end, row["replacement"], span))
    return mutants


def _outermost(mutants: list[Mutant]) -> None:
    """Assign the faults of a function inside another function to the outer function."""
    for mutant in mutants:
        around = [
            other.function
            for other in mutants
            if other.function
            and other.file == mutant.file
            and other.function[0] <= mutant.start < other.function[1]
        ]
        if mutant.function and around:
            mutant.function = min(around)


def _body(text: str, function: tuple[int, int]) -> int | None:
    """Return the start of a function's body, if another body can be selected at run time."""
    name = text.find("fn ", function[0])
    brace = text.index("{", name)
    signature = text[function[0] : brace].splitlines()
    words = " ".join(line for line in signature if not line.lstrip().startswith(("//", "#"))).split()
    returns = " ".join(words).partition("->")[2]
    if "const" in words[: words.index("fn")] or "impl " in returns:
        return None
    return brace


def rewrite(text: str, mutants: list[Mutant]) -> tuple[str, list[tuple[int, int, Mutant]]]:
    """Return `text` with code that selects one of the faults of `mutants`, and the lines of each fault."""
    by_function: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in mutants:
        assert mutant.function is not None
        by_function.setdefault(mutant.function, []).append(mutant)
    written: list[str] = []
    lines: list[tuple[int, int, Mutant]] = []
    line = 1

    def write(part: str) -> tuple[int, int]:
        nonlocal line
        first = line
        written.append(part)
        line += part.count("\n")
        return first, line

    position = 0
    for function in sorted(by_function):
        brace, end = _body(text, function), function[1]
        assert brace is not None and text[end - 1] == "}", text[function[0] : end]
        write(text[position:brace] + "{ match crate::chosen_mutant() {\n")
        for mutant in by_function[function]:
            changed = text[brace : mutant.start] + mutant.replacement + text[mutant.end : end]
            lines.append((*write(f"{mutant.number} => {changed}\n"), mutant))
        write(f"_ => {text[brace:end]}\n}} }}")
        position = end
    write(text[position:])
    return "".join(written), lines


class Workspace:
    """The copy of the workspace that is built and run."""

    def __init__(self, package: str, testers: list[str]) -> None:
        self.package = package
        #: The crates whose tests are run.
        self.testers = [package, *testers]
        self.folder = _ROOT / "target" / "mutants" / package
        self.tree = self.folder / "tree"
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True).stdout
        paths = [_ROOT / name for name in names.split("\0") if name]
        #: A snapshot of the sources, so that later edits do not disturb a survey.
        self.sources = {
            str(path.relative_to(_ROOT)): path.read_bytes()
            for path in paths
            if path.is_file() and not path.is_symlink()
        }

    def write(self, mutants: list[Mutant]) -> dict[str, list[tuple[int, int, Mutant]]]:
        """Write the sources with `mutants`.

        Unchanged files keep their modification times, so that cargo does not rebuild them.
        """
        lines = {}
        by_file: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            by_file[mutant.file].append(mutant)
        for name, source in self.sources.items():
            content = source
            if name in by_file:
                text, lines[name] = rewrite(source.decode(), by_file[name])
                content = text.encode()
            if name == f"crates/{self.package}/src/lib.rs":
                content += _SELECT.encode()
            target = self.tree / name
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        return lines

    def cargo(self, packages: list[str], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        """Run cargo in the copy; return its exit code and messages.

        Warnings are allowed, because faults leave items unused.
        """
        command = ["cargo", *arguments, "--profile", _PROFILE, "--locked"]
        command += [argument for package in packages for argument in ("--package", package)]
        environment = {
            **os.environ,
            "RUSTFLAGS": "--cap-lints allow",
            "CARGO_TARGET_DIR": str(self.folder / "build"),
        }
        done = subprocess.run(
            [*command, "--message-format", "json"],
            check=False,
            cwd=self.tree,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.returncode, [
            json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")
        ]

    def build(self, mutants: list[Mutant]) -> list[_Test]:
        """Build all `mutants` that compile, mark the others as unviable, and return the test programs."""
        while True:
            viable = [mutant for mutant in mutants if not mutant.outcome]
            lines = self.write(viable)
            code, messages = self.cargo([self.package], "check")
            if code == 0:
                break
            wrong = set(_wrong(messages, lines))
            if not wrong:
                raise SystemExit(
                    "error: the copy does not compile, and no fault is to blame:\n" + _rendered(messages)
                )
            _report(f"{len(wrong)} of {len(viable)} do not compile")
            for mutant in viable:
                if mutant.number in wrong:
                    mutant.outcome = "unviable"
        code, messages = self.cargo(self.testers, "test", "--no-run")
        if code != 0:
            raise SystemExit("error: the tests do not compile:\n" + _rendered(messages))
        built = [message for message in messages if message.get("executable")]
        return [test for program in built for test in _tests(program)]


def _tests(built: dict[str, Any]) -> list[_Test]:
    """Return the parts of a program that cargo `built`: modules of an integration test, or the program.

    A program with a fault runs to its end. All integration tests of a crate are one program, so a fault would
    take the time of all of them. With modules, it takes only the time of one module.
    """
    program, folder = Path(built["executable"]), Path(built["manifest_path"]).parent
    if "test" not in built["target"]["kind"]:
        return [_Test(program, folder)]
    command = [program, "--list", "--format", "terse"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    modules: dict[str, list[str]] = defaultdict(list)
    for name in (line.removesuffix(": test") for line in listed if line.endswith(": test")):
        modules[name.partition("::")[0]].append(name)
    return [_Test(program, folder, module, names) for module, names in sorted(modules.items())]


def _rendered(messages: list[dict[str, Any]]) -> str:
    found = [
        message["message"]["rendered"] for message in messages if message["reason"] == "compiler-message"
    ]
    return "\n".join(found[:5])


def _wrong(messages: list[dict[str, Any]], lines: dict[str, list[tuple[int, int, Mutant]]]) -> Iterator[int]:
    """Generate the numbers of the faults at which the compiler reports errors."""
    for message in messages:
        if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
            continue
        for span in message["message"]["spans"]:
            for first, last, mutant in lines.get(span["file_name"], []):
                if span["is_primary"] and first <= span["line_start"] <= last:
                    yield mutant.number


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _fails(test: _Test, number: int, timeout: float) -> str:
    """Return the outcome of `test` for fault `number`: caught, timeout, or an empty text if the test passes.

    Random tests use their usual seeds.
    """
    environment = {
        **os.environ,
        _CHOICE: str(number),
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
        "PROPTEST_RNG_SEED": "1",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "RUST_BACKTRACE": "0",
    }
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            test.command,
            check=False,
            cwd=test.folder,
            env=environment,
            stdout=quiet,
            stderr=quiet,
            timeout=timeout,
            preexec_fn=_limited,
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return "caught" if done.returncode else ""


def run(mutants: Iterable[Mutant], tests: list[_Test], jobs: int, minutes: float) -> None:
    """Determine the outcome of every fault within `minutes`.

    Tests that find the most faults per second run first.
    """
    for test in tests:
        begun = time.monotonic()
        if _fails(test, 0, 600):
            raise SystemExit(f"error: {test.name} fails without a fault")
        test.seconds = time.monotonic() - begun

    end = time.monotonic() + 60 * minutes

    def run_tests(mutant: Mutant) -> Mutant:
        if time.monotonic() > end:
            return mutant
        for test in sorted(tests, key=lambda test: -(test.found + 1) / (test.seconds + 0.05)):
            mutant.outcome = _fails(test, mutant.number, max(20.0, 20 * test.seconds))
            if mutant.outcome:
                mutant.killer = test.name
                test.found += 1
                return mutant
        mutant.outcome = "missed"
        return mutant

    with ThreadPoolExecutor(jobs) as pool:
        for mutant in pool.map(run_tests, mutants):
            if mutant.outcome in ("missed", "timeout"):
                _report(f"{mutant.outcome}: {mutant.name}")


def interval(share: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of `count` (Wilson 1927)."""
    z = 1.959964
    center = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (center - spread) / (1 + z * z / count), (center + spread) / (1 + z * z / count)


def report(mutants: list[Mutant], rest: int, *, is_sample: bool) -> float:
    """Print the outcomes of the faults; return the share of the viable faults that were found."""
    counts = Counter(mutant.outcome for mutant in mutants)
    found, viable = counts["caught"] + counts["timeout"], len(mutants) - counts["unviable"]
    share = found / max(1, viable)
    low, high = interval(share, max(1, viable))
    by_chance = f", 95 % interval {100 * low:.1f} to {100 * high:.1f} %" if is_sample else ""
    _report(
        f"{len(mutants)} faults: {counts['caught']} caught, {counts['timeout']} timed out,"
        f" {counts['missed']} missed, {counts['unviable']} unviable;"
        f" {100 * share:.1f} % of the viable ones were found{by_chance};"
        f" {rest} more are for cargo mutants alone"
    )
    return share


def main() -> int:
    """Test the faults of a crate; return 1 if the share of found faults is below the floor."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package")
    parser.add_argument("--tests", action="append", help="also run the tests of this crate (repeatable)")
    parser.add_argument(
        "--file", action="append", help="only faults in files that match this pattern (repeatable)"
    )
    parser.add_argument(
        "--name", action="append", help="only faults with this text in their name (repeatable)"
    )
    parser.add_argument("--sample", type=int, help="number of random faults")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin no fault after this number of minutes"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--floor", type=float, default=0.0, help="fail if a smaller share of the faults is found"
    )
    parser.add_argument(
        "--rest", action="store_true", help="print the names of the faults that only cargo mutants can test"
    )
    arguments = parser.parse_args()
    if shutil.which("cargo-mutants") is None:
        raise SystemExit("error: cargo-mutants is missing; run: cargo install --locked cargo-mutants")
    chosen = listed(arguments.package)
    if arguments.file:
        chosen = [
            mutant for mutant in chosen if any(fnmatch.fnmatch(mutant.file, each) for each in arguments.file)
        ]
    if arguments.name:
        chosen = [mutant for mutant in chosen if any(each in mutant.name for each in arguments.name)]
    _outermost(chosen)
    texts = {mutant.file: (_ROOT / mutant.file).read_text(encoding="utf-8") for mutant in chosen}
    able = [
        mutant
        for mutant in chosen
        if mutant.function and _body(texts[mutant.file], mutant.function) is not None
    ]
    numbers = {mutant.number for mutant in able}
    rest = [mutant.name for mutant in chosen if mutant.number not in numbers]
    if arguments.rest:
        _report("\n".join(rest))
        return 0
    # Build all faults, so that another sample needs no further build.
    workspace = Workspace(arguments.package, arguments.tests or [])
    tests = workspace.build(able)
    random.Random(arguments.seed).shuffle(able)
    drawn = able[: arguments.sample]
    run([mutant for mutant in drawn if not mutant.outcome], tests, arguments.jobs, arguments.minutes)
    drawn = sorted((mutant for mutant in drawn if mutant.outcome), key=lambda mutant: mutant.number)
    outcomes = [{"name": mutant.name, "outcome": mutant.outcome, "killer": mutant.killer} for mutant in drawn]
    (workspace.folder / "outcomes.json").write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    return int(report(drawn, len(rest), is_sample=len(drawn) < len(able)) < arguments.floor)


if __name__ == "__main__":
    sys.exit(main())
