"""Delete or alter single statements of a healthy network, and count the faults that `perhop check` reports.

    python tools/line_sweep.py FOLDER... [--kind mtu --kind lists]... [--sample 40 --seed 1] [--jobs 2]

Each statement of a chosen kind is deleted with its block, and altered once for each alteration of its kind.
A change counts as reported if a warning or an error that the healthy network lacks is at the statement or at
the header of one of its blocks, or names such a line; as reported elsewhere if all new warnings are at other
lines. The tool prints both shares by kind, and the changes without a new warning. Missing rules are among
these changes, next to changes that no rule can recognize, such as another rate of a single site.

    python tools/line_sweep.py examples/network                     # every kind, every statement
    python tools/line_sweep.py configs --kind mtu --kind sessions   # two kinds
    python tools/line_sweep.py configs --sample 40 --seed 2         # at most 40 changes of each kind
    python tools/line_sweep.py configs --json > sweep.json          # every change with its new findings
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from line_sweep_kinds import KINDS, Kind

from perhop.checking import Finding, check_file
from perhop.errors import PerhopError
from perhop.network.findings import between_devices

SERIOUS = ("warning", "error")
_NAMED_FILE = re.compile(r"([\w.-]+\.\w+)(?:, lines? |:)(\d+)")
_NAMED_LINES = re.compile(r"\blines? (\d+(?:(?:, and|,| and) \d+)*)")

Texts = dict[str, str]
#: The place of a finding: the name of the file, and the line.
Place = tuple[str, int]


@dataclass
class Statement:
    """A line of a configuration with its block."""

    #: The line numbers, from 1: the first and the last line of the statement with its block.
    first: int
    last: int
    #: The first lines of the blocks around the statement.
    headers: list[int]


@dataclass
class Change:
    """A statement that is deleted or altered."""

    file: str
    kind: str
    how: str
    first: int
    last: int
    headers: list[int]
    old: str
    #: The altered line; empty if the statement is deleted.
    new: str
    outcome: str = ""
    findings: list[str] = field(default_factory=list)

    def apply(self, text: str) -> str:
        """Return the text with the change. The other lines keep their numbers."""
        lines = text.split("\n")
        if self.new:
            lines[self.first - 1] = self.new
        else:
            lines[self.first - 1 : self.last] = [""] * (self.last - self.first + 1)
        return "\n".join(lines)


def statements(text: str) -> Iterator[Statement]:
    """Generate the statements of a configuration with blocks by braces or by indentation."""
    lines = text.split("\n")
    depths = list(_depths(lines))
    for place, depth in enumerate(depths):
        if depth is None or _is_closing(lines[place]):
            continue
        last = place
        for after in range(place + 1, len(lines)):
            inner = depths[after]
            if inner is not None and inner <= depth:
                break
            if inner is not None:
                last = after
        yield Statement(place + 1, last + 1, list(_headers(depths, place)))


def _is_closing(line: str) -> bool:
    return line.strip().startswith("}")


def _depths(lines: list[str]) -> Iterator[int | None]:
    """Generate the depth of each line; `None` for comments and empty lines.

    A closing brace has the depth of the statements in its block.
    """
    has_braces = any(line.rstrip().endswith("{") for line in lines) and any(
        line.strip() == "}" for line in lines
    )
    depth = 0
    for line in lines:
        text = line.strip()
        if not text or text.startswith(("!", "#", "/*")):
            yield None
        elif not has_braces:
            yield len(line) - len(line.lstrip())
        else:
            yield depth
            depth += text.endswith("{") - _is_closing(line)


def _headers(depths: list[int | None], place: int) -> Iterator[int]:
    depth = depths[place] or 0
    for before in range(place - 1, -1, -1):
        outer = depths[before]
        if depth == 0:
            return
        if outer is not None and outer < depth:
            yield before + 1
            depth = outer


def changes(name: str, text: str, kinds: Iterable[Kind]) -> Iterator[Change]:
    """Generate the changes of the statements of some kinds."""
    lines = text.split("\n")
    known = list(kinds)
    for own in statements(text):
        line = lines[own.first - 1]
        path = " ".join([*(lines[header - 1].strip() for header in reversed(own.headers)), line.strip()])
        for kind in known:
            if not kind.selects(line, path):
                continue
            for how, new in kind.alterations(line):
                # A fault inside a block leaves the block.
                if new or own.headers or own.first == own.last:
                    yield Change(name, kind.name, how, own.first, own.last, own.headers, line, new)
            break


def sampled(found: list[Change], size: int, seed: int) -> list[Change]:
    """Return at most `size` changes of each kind, drawn at random, in the order of the files."""
    by_kind = defaultdict(list)
    for place, change in enumerate(found):
        by_kind[change.kind].append(place)
    draw = random.Random(seed)
    kept: set[int] = set()
    for places in by_kind.values():
        kept.update(places if len(places) <= size else draw.sample(places, size))
    return [change for place, change in enumerate(found) if place in kept]


class Checker:
    """A copy of a network that a process changes and checks."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        """Write the files into a folder, and check them."""
        self._texts = texts
        self._folder = folder
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        self._of_files = {name: self._check_file(name) for name in texts}
        self._healthy = Counter(_identity(name, finding) for name, finding in self._check(self._of_files))

    def judge(self, change: Change) -> Change:
        """Check the network with a change, and set its outcome."""
        path = self._folder / change.file
        path.write_text(change.apply(self._texts[change.file]), encoding="utf-8")
        try:
            of_files = {**self._of_files, change.file: self._check_file(change.file)}
            new = self._new(self._check(of_files))
        except PerhopError as error:
            change.outcome, change.findings = "refused", [str(error)]
            return change
        finally:
            path.write_text(self._texts[change.file], encoding="utf-8")
        change.outcome = outcome(change, new)
        change.findings = [
            f"{name}:{finding.line} {finding.rule}: {finding.message}" for name, finding in new
        ]
        return change

    def _check_file(self, name: str) -> list[Finding]:
        return [
            finding for finding in check_file(self._folder / name).findings if finding.severity in SERIOUS
        ]

    def _check(self, of_files: dict[str, list[Finding]]) -> Iterator[tuple[str, Finding]]:
        between = between_devices([self._folder], [self._folder / name for name in self._texts]).findings
        for name, own in of_files.items():
            both = [*own, *between.get(self._folder / name, [])]
            yield from ((name, finding) for finding in both if finding.severity in SERIOUS)

    def _new(self, found: Iterable[tuple[str, Finding]]) -> list[tuple[str, Finding]]:
        known, new = Counter(self._healthy), []
        for name, finding in found:
            identity = _identity(name, finding)
            if known[identity] > 0:
                known[identity] -= 1
            else:
                new.append((name, finding))
        return new


def _identity(name: str, found: Finding) -> tuple[str, int | None, str, str]:
    return name, found.line, found.rule, found.message


def places(name: str, found: Finding) -> set[Place]:
    """Return the places at which a finding is, or that its message names."""
    text = f"{found.message} {found.remedy or ''}"
    named = {(file, int(line)) for file, line in _NAMED_FILE.findall(text)}
    own = _NAMED_LINES.findall(_NAMED_FILE.sub("", text))
    in_file = {(Path(name).name, int(number)) for several in own for number in re.findall(r"\d+", several)}
    return {(Path(name).name, found.line or 0), *named, *in_file}


def outcome(change: Change, new: list[tuple[str, Finding]]) -> str:
    """Return whether new findings report a change: `reported`, `elsewhere` or `missed`."""
    lines = {*range(change.first, change.last + 1), *change.headers}
    accepted = {(Path(change.file).name, line) for line in lines}
    if any(places(name, finding) & accepted for name, finding in new):
        return "reported"
    return "elsewhere" if new else "missed"


#: The copy of the network of a process.
_CHECKER: list[Checker] = []


def _start(texts: Texts, folder: str) -> None:
    _CHECKER.append(Checker(texts, Path(tempfile.mkdtemp(dir=folder))))


def _judge(change: Change) -> Change:
    return _CHECKER[0].judge(change)


def sweep(folder: Path, kinds: list[Kind], size: int, seed: int, jobs: int) -> list[Change]:
    """Return the changes of a network with their outcomes."""
    texts = read(folder)
    found = [change for name, text in texts.items() for change in changes(name, text, kinds)]
    found = sampled(found, size, seed)
    done: list[Change] = []
    place = Path(tempfile.mkdtemp(prefix="line-sweep-"))
    try:
        # A fork of a process that has used perhop's threads would wait for threads that do not exist in the
        # fork.
        processes = multiprocessing.get_context("spawn")
        initial = (texts, str(place))
        with ProcessPoolExecutor(jobs, processes, initializer=_start, initargs=initial) as pool:
            for change in pool.map(_judge, found, chunksize=4):
                done.append(change)
                _progress(f"{folder}: {len(done)} of {len(found)}")
    finally:
        shutil.rmtree(place, ignore_errors=True)
        _progress("")
    return done


def read(folder: Path) -> Texts:
    """Return the texts of a folder's files, without hidden and binary files."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if file.is_file() and not any(part.startswith(".") for part in name.parts):
            try:
                found[name.as_posix()] = file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def table(done: Iterable[Change]) -> Iterator[str]:
    """Generate the lines of the table by kind."""
    by_kind: dict[str, Counter[str]] = {}
    for change in done:
        by_kind.setdefault(change.kind, Counter())[change.outcome] += 1
    yield f"{'kind':14} {'changes':>7} {'reported':>9} {'elsewhere':>9} {'missed':>7}"
    rows = [(kind.name, by_kind[kind.name]) for kind in KINDS if kind.name in by_kind]
    for name, counts in [*rows, ("all", sum((counts for _, counts in rows), Counter[str]()))]:
        total = counts.total()
        share = f"{100 * counts['reported'] / total:.0f} %" if total else "-"
        yield f"{name:14} {total:7} {share:>9} {counts['elsewhere']:9} {counts['missed']:7}"


def summary(done: dict[Path, list[Change]]) -> Iterator[str]:
    """Generate the table, and a line for each change without a new finding."""
    yield from table(change for found in done.values() for change in found)
    for folder, found in done.items():
        for change in found:
            if change.outcome in {"missed", "refused"}:
                what = f"{change.old.strip()} -> {change.new.strip() or change.how}"
                yield f"{change.outcome}: {folder / change.file}:{change.first}: {change.kind}: {what}"


def main() -> int:
    """Print the table and the missed changes, or the document of `--json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="+", type=Path, help="a folder of configurations without faults")
    names = [kind.name for kind in KINDS]
    parser.add_argument("--kind", action="append", choices=names, help="this kind only (repeatable)")
    parser.add_argument("--sample", type=int, default=10**9, help="at most so many changes of each kind")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--json", action="store_true", help="print all changes with their new findings")
    given = parser.parse_args()
    kinds = [kind for kind in KINDS if not given.kind or kind.name in given.kind]
    done = {}
    for folder in given.folder:
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
        done[folder] = sweep(folder, kinds, given.sample, given.seed, given.jobs)
    if given.json:
        members = {str(folder): [asdict(change) for change in found] for folder, found in done.items()}
        sys.stdout.write(f"{json.dumps(members, indent=1)}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in summary(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
