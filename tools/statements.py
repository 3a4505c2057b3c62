"""Measure which statements of public configurations perhop recognizes and models.

    PYTHONPATH=python python tools/statements.py DIRECTORY --platform junos-mx --named junos
    PYTHONPATH=python python tools/statements.py DIRECTORY --sample 100 --seed 1

The caller provides the files; perhop does not contain them. The tool counts the lines of some hierarchies, by
default those of class of service and of filters. `--sample` prints random lines with their states, for a
review of the lines that perhop reports as irrelevant.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.errors import InvalidInputError

STATES = ("modelled", "irrelevant", "not-modelled", "suspicious", "not-recognized")
HIERARCHIES = ("class-of-service", "firewall")
#: The size of the largest file that is read, bytes.
MOST_BYTES = 20_000_000


#: The note of lines that belong to another device of the same file.
OTHER_DEVICE = "configuration of another device"


@dataclass(frozen=True)
class Statement:
    """A line of a configuration that has a statement."""

    file: Path
    number: int
    path: tuple[str, ...]
    state: str
    note: str

    @property
    def hierarchy(self) -> str:
        """The first word of the statement's path, without the name of a group."""
        path = self.path[2:] if self.path[:1] == ("groups",) else self.path
        return path[0] if path else ""


def statements(file: Path, platform: str | None) -> Iterator[Statement]:
    """Generate the statements of a file."""
    text = _core.router_text(file.read_bytes())
    report = json.loads(_core.check_router(text, platform))
    lines: dict[int, dict[str, Any]] = {line["number"]: line for line in report["lines"]}
    for line in report["lines"]:
        words = _words(line["text"])
        if not words or words[0] in "#}" or line["text"].strip().startswith(("/*", "*")):
            continue
        yield Statement(
            file, line["number"], _path(line, words, lines), line["state"], line.get("note") or ""
        )


@cache
def platforms() -> tuple[str, ...]:
    """Return the names of all platforms, from the error message for an unknown name."""
    try:
        _core.check_router("", "none")
    except ValueError as error:
        return tuple(str(error.args[1]).removeprefix("platforms: ").split(", "))
    return ()


def named_platform(file: Path, prefix: str | None, platform: str | None) -> str | None:
    """Return the platform of the product in a file's name (`leaf1_qfx5120-48y.conf`), or `platform`."""
    own = [name.removeprefix(f"{prefix}-") for name in platforms() if name.startswith(f"{prefix}-")]
    found = [product for product in own if re.search(rf"(?<![a-z]){product}(?![a-z])", file.name.lower())]
    return f"{prefix}-{max(found, key=len)}" if prefix and found else platform


def _words(text: str) -> list[str]:
    return text.replace("{", " ").replace(";", " ").split()


def _path(line: dict[str, Any], words: list[str], lines: dict[int, dict[str, Any]]) -> tuple[str, ...]:
    """Return the words of a statement, outermost first; for a command, without its first word."""
    if words[0] in ("set", "delete", "deactivate", "activate", "edit"):
        return tuple(words[1:])
    around: list[str] = []
    block = line.get("block")
    while block:
        around = [*_words(lines[block]["text"]), *around]
        block = lines[block].get("block")
    return tuple(around + words)


def files(folder: Path) -> list[Path]:
    """Return the files of a folder that look like a configuration."""
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.stat().st_size < MOST_BYTES:
            text = file.read_text(errors="replace")
            if "class-of-service" in text or "firewall" in text:
                found.append(file)
    return found


def table(counted: Counter[tuple[str, str]], title: str) -> str:
    """Return the shares of states by hierarchy."""
    lines = [f"| {title} | statements | recognized | modelled | {' | '.join(STATES)} |", "|---" * 9 + "|"]
    for name in sorted({name for name, _ in counted}):
        by_state = [counted[name, state] for state in STATES]
        whole = sum(by_state)
        recognized = 100 * (whole - by_state[-1]) / whole
        modelled = 100 * by_state[0] / whole
        numbers = " | ".join(map(str, by_state))
        lines.append(f"| {name} | {whole} | {recognized:.1f} % | {modelled:.1f} % | {numbers} |")
    return "\n".join(lines)


def main() -> None:
    """Print the shares of states, and on demand a sample of statements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--platform", help="the platform of files whose names do not contain a product")
    parser.add_argument("--named", help="prefix of the platforms whose products may be in file names")
    parser.add_argument("--hierarchy", action="append", help="a hierarchy to count; `all` counts all")
    parser.add_argument("--state", choices=STATES, help="the state of the statements in the sample")
    parser.add_argument("--sample", type=int, default=0, help="the number of statements to print")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    wanted = tuple(arguments.hierarchy or HIERARCHIES)
    found: list[Statement] = []
    for file in files(arguments.folder):
        try:
            own = list(statements(file, named_platform(file, arguments.named, arguments.platform)))
        except (ValueError, InvalidInputError) as error:
            sys.stderr.write(f"{file}: {error}\n")
            continue
        own = [statement for statement in own if not statement.note.startswith(OTHER_DEVICE)]
        found.extend(statement for statement in own if statement.hierarchy in wanted or "all" in wanted)
    counted = Counter((statement.hierarchy, statement.state) for statement in found)
    counted.update(("together", statement.state) for statement in found)
    sys.stdout.write(table(counted, "hierarchy") + "\n")
    notes = Counter(
        (statement.state, statement.note or " ".join(statement.path[:4]))
        for statement in found
        if statement.state in STATES[2:]
    )
    for (state, note), count in notes.most_common(40):
        sys.stdout.write(f"{count:8} {state}: {note}\n")
    chosen = [statement for statement in found if arguments.state in (None, statement.state)]
    for statement in random.Random(arguments.seed).sample(chosen, min(arguments.sample, len(chosen))):
        path = " ".join(statement.path)
        sys.stdout.write(
            f"{statement.file.name}:{statement.number}: {statement.state}: {path} ({statement.note})\n"
        )


if __name__ == "__main__":
    main()
