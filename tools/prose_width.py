"""Report lines of prose with more than 110 characters: comments of Rust, and Markdown. `--fix` wraps them.

    python tools/prose_width.py [--fix] [FILE ...]

Without FILE arguments, the tool reads every such file of the tree. It does not report code, tables, headings,
generated text, and lines that cannot be broken. Ruff checks Python (E501), and rustfmt checks Rust code.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WIDTH = 110
ROOT = Path(__file__).resolve().parent.parent
# `BLESS=1 cargo test -p perhop-ios` writes it.
GENERATED = {"docs/ios.md", "docs/ios-xr.md", "docs/nx-os.md"}
# Folders that `make` writes, as .gitignore lists them.
BUILT = {"results", "dist", "docs/_build", "docs/reference/generated"}

COMMENT = re.compile(r"(?P<indent>\s*)(?P<mark>//[/!]?)(?P<text>(?: .*)?)")
# A line with code and then a comment. Strings and characters are skipped, because a `//` in them does not
# begin a comment.
TRAILING = re.compile(
    r"""(?P<code>\s*(?:[^"'/]|/(?!/)|'(?:[^'\\]|\\.)'|'|"(?:[^"\\]|\\.)*")*?\S)\s+(?P<comment>//\s.*)"""
)
FENCE = re.compile(r"\s*(?:>\s*)?(```+|~~~+|\$\$|:::+)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
# Lines that are not wrapped: headings, tables, quotes, HTML, definitions of links, rules.
FIXED = re.compile(r"\s*(?:#{1,6} |\||>|<|\[[^\]]+\]: |\([\w-]+\)=|---|===)")
# A word that has a meaning in Markdown or Rust at the start of a line.
STARTER = re.compile(r"(?:[-*+>|=]+|#{1,6}|\d+[.)]|//[/!]?)$|[<|]")
# Parts that stay on one line: code, formulas, the end of a link.
WORD = re.compile(r"(?:`[^`]*`|\$[^$]+\$|\]\([^)]*\)|\S)+")


@dataclass
class Block:
    """Consecutive lines with the same prefix: a comment, or a whole page of Markdown."""

    first: int
    prefix: str
    lines: list[str]


def words(text: str) -> list[str]:
    """Return the parts of a line between which it may break."""
    return WORD.findall(text)


def is_over(prefix: str, line: str) -> bool:
    """Whether a line is too long and can be broken."""
    if len(prefix + line) <= WIDTH:
        return False
    item = ITEM.match(line)
    start = item.end() if item else len(line) - len(line.lstrip())
    room = WIDTH - len(prefix) - start
    return len(words(line[start:])) > 1 and all(len(word) <= room for word in words(line[start:]))


def wrap(text: list[str], prefix: str, first: str, rest: str) -> list[str]:
    """Fill lines with words; no line begins with a word that Markdown would read as a mark."""
    lines: list[list[str]] = [[]]
    for word in text:
        indent = first if len(lines) == 1 else rest
        if lines[-1] and len(prefix + indent + " ".join([*lines[-1], word])) > WIDTH:
            carried = [word]
            while STARTER.match(carried[0]) and len(lines[-1]) > 1:
                carried.insert(0, lines[-1].pop())
            lines.append(carried)
        else:
            lines[-1].append(word)
    return [(rest if number else first) + " ".join(line) for number, line in enumerate(lines)]


def paragraphs(lines: list[str], is_page: bool) -> Iterator[tuple[int, int]]:
    """Yield the beginning and end of each paragraph of a text; code, tables and headings belong to none."""
    fence: str | None = None
    begin: int | None = None
    is_generated = False
    for number, line in enumerate([*lines, ""]):
        mark = FENCE.match(line)
        is_open = fence is not None
        if mark and fence is None:
            is_one_line = mark[1] == "$$" and line.rstrip().endswith("$$") and len(line.strip()) > 2
            fence = None if is_one_line else mark[1]
            is_open = True
        elif mark and fence is not None and mark[1].startswith(fence):
            fence = None
        is_generated = (is_generated or "report: begin" in line) and "report: end" not in line
        is_code = begin is None and re.match(r" {4,}(?![-*+] )" if is_page else r" {5,}", line) is not None
        outside = is_open or is_generated or is_code or not line.strip() or FIXED.match(line) is not None
        if begin is not None and (outside or ITEM.match(line) or lines[number - 1].endswith("  ")):
            yield begin, number
            begin = None
        if not outside and begin is None:
            begin = number


def blocks(path: Path, text: list[str]) -> Iterator[Block]:
    """Split a file into blocks, each of which is wrapped with one prefix."""
    if path.suffix == ".md":
        yield Block(0, "", text)
        return
    current: Block | None = None
    for number, line in enumerate(text):
        comment = COMMENT.fullmatch(line)
        prefix = f"{comment['indent']}{comment['mark']}" if comment else None
        if current is not None and prefix != current.prefix:
            yield current
            current = None
        if comment and prefix is not None:
            current = current or Block(number, prefix, [])
            current.lines.append(comment["text"])
    if current is not None:
        yield current


def faults(path: Path, text: list[str]) -> Iterator[int]:
    """Yield the numbers of lines that are too long, from 0."""
    for block in blocks(path, text):
        for begin, end in paragraphs(block.lines, is_page=path.suffix == ".md"):
            for number in range(begin, end):
                if is_over(block.prefix, block.lines[number]):
                    yield block.first + number
    if path.suffix == ".rs":
        for number, line in enumerate(text):
            if len(line) > WIDTH and not COMMENT.fullmatch(line) and TRAILING.fullmatch(line):
                yield number


def lifted(text: list[str]) -> list[str]:
    """Move a trailing comment that is too far to the right to the line above."""
    lines: list[str] = []
    for line in text:
        found = TRAILING.fullmatch(line) if len(line) > WIDTH and not COMMENT.fullmatch(line) else None
        if found:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + found["comment"], found["code"].rstrip()]
        else:
            lines.append(line)
    return lines


def wrapped(path: Path, text: list[str]) -> list[str]:
    """Return the lines of a file with its prose wrapped, each paragraph from its first long line on."""
    if path.suffix == ".rs":
        text = lifted(text)
    lines = list(text)
    for block in reversed(list(blocks(path, text))):
        for begin, end in reversed(list(paragraphs(block.lines, is_page=path.suffix == ".md"))):
            over = [number for number in range(begin, end) if is_over(block.prefix, block.lines[number])]
            if not over:
                continue
            start = over[0]
            line = block.lines[start]
            item = ITEM.match(line)
            first = item[0] if item else line[: len(line) - len(line.lstrip())]
            if item:
                rest = " " * len(first)
            elif start == begin and start + 1 < end:
                following = block.lines[start + 1]
                rest = following[: len(following) - len(following.lstrip())]
            else:
                rest = first
            content = " ".join(
                part[len(first) :] if part is line else part.strip() for part in block.lines[start:end]
            )
            filled = wrap(words(content), block.prefix, first, rest)
            lines[block.first + start : block.first + end] = [block.prefix + part for part in filled]
    return lines


def files() -> list[Path]:
    """Return the files of the tree that contain prose."""
    found = []
    for folder, inner, names in os.walk(ROOT):
        place = Path(folder).relative_to(ROOT)
        inner[:] = [
            name
            for name in inner
            if (place / name).as_posix() not in BUILT
            and name not in ("target", "node_modules")
            and (name == ".github" or not name.startswith("."))
        ]
        found += [Path(folder, name) for name in names if Path(name).suffix in {".rs", ".md"}]
    return sorted(path for path in found if path.relative_to(ROOT).as_posix() not in GENERATED)


def main() -> int:
    """Check or wrap; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fix", action="store_true", help="wrap the lines that are too long")
    parser.add_argument("files", nargs="*", type=Path, help="files to read instead of the whole tree")
    arguments = parser.parse_args()
    count = 0
    for path in arguments.files or files():
        text = path.read_text(encoding="utf-8").split("\n")
        if arguments.fix:
            new = wrapped(path, text)
            if new != text:
                path.write_text("\n".join(new), encoding="utf-8")
                text = new
        for number in faults(path, text):
            count += 1
            sys.stderr.write(f"{path}:{number + 1}: {len(text[number])} characters; at most {WIDTH}\n")
    if count:
        sys.stderr.write(
            f"error: {count} lines of prose are too long; `{Path(sys.argv[0]).name} --fix` wraps them\n"
        )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
