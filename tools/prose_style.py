"""Report wording and names that docs/style.md rejects, on changed lines only.

    python tools/prose_style.py [--since REV]

Changed lines are those that the working tree adds to the merge base of REV and HEAD, and all lines of
untracked files. A line that only moved is not a changed line. Without `--since`, the base is the newest of
several commits: the merge bases with `origin/main` and `main` if HEAD has commits of its own, otherwise the
20th ancestor of HEAD; and the commit that added the page. The tool reads comments and docstrings of Rust and
Python, Markdown outside code, and names of functions. Without git, or without an earlier commit, the tool
prints this fact and exits with 0.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prose_width import BUILT, COMMENT, FENCE, GENERATED, ROOT, TRAILING

PAGE = Path("docs/style.md")
SUFFIXES = {".rs", ".py", ".md", ".js", ".mjs"}
# Pages whose text comes from tables in the crates, or from data.
WRITTEN_PAGES = {*GENERATED, "docs/tc.md", "docs/fidelity.md"}
ANCESTORS = 20
# Code, targets of links and addresses, which are not prose.
NOT_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|https?://\S+|<!--.*?-->")
HUNK = re.compile(r"@@ -\d+(?:,(?P<removed>\d+))? \+(?P<first>\d+)(?:,(?P<added>\d+))? @@")
FUNCTION = {
    ".rs": re.compile(r"^\s*(?:[^/\s]\S* )*fn (?P<name>\w+)"),
    ".py": re.compile(r"^\s*(?:async )?def (?P<name>\w+)"),
    # A function, a method, or a constant with an arrow function.
    ".js": re.compile(
        r"^\s*(?:export )?(?:default )?(?:static )?(?:async )?(?:"
        r"(?:function )?(?P<name>#?\w+)\(.*\{$"
        r"|(?:const|let) (?P<arrow>\w+) = (?:async )?(?:\([^()]*\)|\w+) =>)"
    ),
}
FUNCTION[".mjs"] = FUNCTION[".js"]


class NothingToCompareError(Exception):
    """There is no git, no repository, or no earlier commit."""


@dataclass(frozen=True)
class Pattern:
    """A wording that is rejected."""

    name: str
    found: re.Pattern[str]
    instead: str
    #: The place in which the wording is rejected: `prose`, `opening` (first line of a doc comment) or
    #: `function` (name of a function).
    place: str


@dataclass(frozen=True)
class Text:
    """A piece of a line in which patterns are searched for."""

    line: int
    place: str
    text: str


@dataclass(frozen=True)
class Fault:
    """A rejected wording at a line."""

    path: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.words!r}: {self.instead}"


def patterns(page: str) -> list[Pattern]:
    """Return the patterns in the TOML block of the style page.

    Raises:
        ValueError: the page has no such block.

    """
    block = re.search(r"^```toml\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    if block is None:
        raise ValueError(f"{PAGE} has no block of patterns; it begins with ```toml")
    return [
        Pattern(entry["name"], re.compile(entry["pattern"]), entry["instead"], entry.get("place", "prose"))
        for entry in tomllib.loads(block[1])["reject"]
    ]


def markdown_texts(lines: Sequence[str]) -> Iterator[Text]:
    """Yield the lines of a page that are prose."""
    fence: str | None = None
    for number, line in enumerate(lines, 1):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and fence is not None and mark[1].startswith(fence):
            fence = None
        elif fence is None:
            yield Text(number, "prose", line)


def rust_texts(lines: Sequence[str]) -> Iterator[Text]:
    """Yield the comments of a Rust file."""
    before = ""
    for number, line in enumerate(lines, 1):
        comment = COMMENT.fullmatch(line)
        mark = comment["mark"] if comment else ""
        if comment:
            text = comment["text"].strip()
            yield Text(number, "prose", text)
            if mark not in ("//", before):
                yield Text(number, "opening", text)
        elif trailing := TRAILING.fullmatch(line):
            yield Text(number, "prose", trailing["comment"].lstrip("/ "))
        before = mark


def python_texts(lines: Sequence[str]) -> Iterator[Text]:
    """Yield the comments and docstrings of a Python file; nothing if the file does not parse."""
    source = "\n".join(lines) + "\n"
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return  # ruff reports it
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], "prose", token.string.lstrip("#: "))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is None:
            continue
        docstring = node.body[0]
        for number in range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1):
            text = lines[number - 1].strip().strip('r"')
            yield Text(number, "prose", text)
            if number == docstring.lineno:
                yield Text(number, "opening", text)


def javascript_texts(lines: Sequence[str]) -> Iterator[Text]:
    """Yield the comments of a JavaScript file that have lines of their own."""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("//"):
            yield Text(number, "prose", line.lstrip("/ "))


TEXTS = {
    ".md": markdown_texts,
    ".rs": rust_texts,
    ".py": python_texts,
    ".js": javascript_texts,
    ".mjs": javascript_texts,
}


def texts(suffix: str, lines: Sequence[str]) -> Iterator[Text]:
    """Yield the texts in which patterns are searched for: prose without code, and names of functions."""
    for piece in TEXTS[suffix](lines):
        # A blank replaces code, so that the words around it do not become neighbors.
        yield Text(piece.line, piece.place, NOT_PROSE.sub("`", piece.text))
    for number, line in enumerate(lines, 1):
        if suffix in FUNCTION and (named := FUNCTION[suffix].search(line)):
            yield Text(number, "function", next(name for name in named.groups() if name))


def faults(path: str, lines: Sequence[str], changed: set[int], rejected: Sequence[Pattern]) -> list[Fault]:
    """Return the wordings that the patterns reject on changed lines, in the order of the lines."""
    found = [
        Fault(path, piece.line, match[0], pattern.instead)
        for piece in texts(Path(path).suffix, lines)
        if piece.line in changed
        for pattern in rejected
        if pattern.place == piece.place and (match := pattern.found.search(piece.text))
    ]
    return sorted(found, key=lambda piece: piece.line)


def git(root: Path, *arguments: str) -> str | None:
    """Return the output of git, or `None` if git fails.

    Raises:
        NothingToCompareError: there is no git.

    """
    line = ["git", "-c", "core.quotePath=off", *arguments]
    try:
        ended = subprocess.run(line, cwd=root, capture_output=True, check=False)
    except OSError as error:
        raise NothingToCompareError("git is not installed") from error
    return ended.stdout.decode("utf-8", "replace") if ended.returncode == 0 else None


def base(root: Path, since: str | None) -> str:
    """Return the commit with which lines are compared.

    Raises:
        NothingToCompareError: there is no repository or no earlier commit.
        ValueError: there is no commit `since`.

    """
    head = git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head is None:
        raise NothingToCompareError("this is not a git checkout with a commit")
    if since is not None:
        if git(root, "rev-parse", "--verify", "--quiet", f"{since}^{{commit}}") is None:
            raise ValueError(f"--since {since}: there is no such commit; name a branch, a tag or a hash")
        return (git(root, "merge-base", since, "HEAD") or since).strip()
    shared = [git(root, "merge-base", branch, "HEAD") for branch in ("origin/main", "main")]
    starts = [commit.strip() for commit in shared if commit and commit != head]
    if not starts:
        # HEAD is on the main branch, or the clone has no main branch.
        known = git(root, "rev-list", "--first-parent", f"--max-count={ANCESTORS + 1}", "HEAD") or ""
        starts = known.split()[1:][-1:]
    if not starts:
        raise NothingToCompareError("the checkout has no earlier commit")
    starts += (git(root, "log", "--diff-filter=A", "--format=%H", "--", PAGE.as_posix()) or "").split()[:1]
    return min(starts, key=lambda start: int(git(root, "rev-list", "--count", f"{start}..HEAD") or 0))


def added_lines(diff: str) -> dict[str, set[int]]:
    """Return the numbers of added lines by file, without lines that only moved."""
    added: list[tuple[str, int, str]] = []
    removed: Counter[str] = Counter()
    path = ""
    number = to_remove = to_add = 0
    for line in diff.split("\n"):
        if line.startswith("\\"):
            continue  # `\ No newline at end of file`
        if to_remove > 0:
            removed[line[1:].strip()] += 1
            to_remove -= 1
        elif to_add > 0:
            added.append((path, number, line[1:].strip()))
            number, to_add = number + 1, to_add - 1
        elif hunk := HUNK.match(line):
            number, to_remove, to_add = (
                int(hunk["first"]),
                int(hunk["removed"] or 1),
                int(hunk["added"] or 1),
            )
        elif line.startswith("+++ "):
            path = line.removeprefix("+++ ").removeprefix("b/").rstrip("\t")
    lines: dict[str, set[int]] = {}
    for file, at, text in added:
        if removed[text] > 0:
            removed[text] -= 1
        else:
            lines.setdefault(file, set()).add(at)
    return lines


def changes(root: Path, since: str | None) -> dict[str, set[int]]:
    """Return the numbers of changed lines by file, including untracked files."""
    commit = base(root, since)
    plain = ("--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", "--relative")
    diff = git(root, "diff", "--unified=0", "--find-renames", *plain, commit)
    found = added_lines(diff or "")
    for path in (git(root, "ls-files", "--others", "--exclude-standard") or "").splitlines():
        if Path(path).suffix in SUFFIXES:
            count = len((root / path).read_text(encoding="utf-8").splitlines())
            found[path] = set(range(1, count + 1))
    return found


def is_checked(root: Path, path: str) -> bool:
    """Whether a changed file exists and contains prose that is not generated."""
    is_built = any(path.startswith(f"{folder}/") for folder in BUILT)
    is_prose = Path(path).suffix in SUFFIXES and path not in WRITTEN_PAGES
    return is_prose and not is_built and (root / path).is_file()


def check(root: Path, since: str | None) -> list[Fault]:
    """Return the rejected wordings on the changed lines of a checkout."""
    rejected = patterns((root / PAGE).read_text(encoding="utf-8"))
    found: list[Fault] = []
    for path, changed in sorted(changes(root, since).items()):
        if is_checked(root, path):
            lines = (root / path).read_text(encoding="utf-8").split("\n")
            found += faults(path, lines, changed, rejected)
    return found


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Check the changed lines; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--since", metavar="REV", help="check the lines that were added since this commit or branch"
    )
    given = parser.parse_args(arguments)
    try:
        found = check(root, given.since)
    except NothingToCompareError as error:
        sys.stderr.write(f"skipped: the style of changed lines, since {error}\n")
        return 0
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if found:
        sys.stderr.write(f"error: docs/style.md rejects {len(found)} wordings on changed lines\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
