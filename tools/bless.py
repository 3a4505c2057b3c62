"""Regenerate every committed file that a program writes, and list those that changed: `make bless`.

    python tools/bless.py [--only PART]... [--list]

Read the changed files before you commit them: a test compares each file with its source, and `make bless`
makes all those tests pass. `studies` takes minutes, `instructions` needs valgrind.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PYTHON = sys.executable


@dataclass(frozen=True)
class Part:
    """Generated files, and the commands that write them."""

    name: str
    what: str
    lines: tuple[tuple[str, ...], ...]


def _cargo_test(package: str) -> tuple[str, ...]:
    return ("cargo", "test", "--package", package, "--locked", "--quiet", "--test", "it")


#: The parts. A part that reads the files of another part comes after it.
PARTS = (
    Part("schema", "schema/ and the diagnostics of scenarios", (_cargo_test("perhop-scenario"),)),
    Part("answers", "schema/perhop-*.schema.json of answers", ((_PYTHON, "schema/write_answers.py"),)),
    Part("types", "python/perhop/schema_types.py", ((_PYTHON, "schema/generate_types.py"),)),
    Part("ios", "docs/ios.md and the tables of vectors/ios", (_cargo_test("perhop-ios"),)),
    Part("tc", "docs/tc.md", (_cargo_test("perhop-tc"),)),
    Part("show", "docs/show.md", (("make", "test-setup"), (_PYTHON, "docs/quote_show.py"))),
    Part("studies", "the READMEs of the studies", (("make", "quote-reports"),)),
    Part(
        "instructions", "benchmarks/instructions.json", ((_PYTHON, "benchmarks/instructions.py", "--bless"),)
    ),
)


def _state() -> dict[str, str]:
    """Return the hash of every file that git tracks or does not ignore."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    names = [name for name in names if (ROOT / name).is_file()]
    line = ["git", "hash-object", "--stdin-paths"]
    hashes = subprocess.run(
        line, cwd=ROOT, input="\n".join(names), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return dict(zip(names, hashes, strict=True))


def main() -> int:
    """Write the selected parts; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=[part.name for part in PARTS])
    parser.add_argument("--list", action="store_true", help="print the parts")
    arguments = parser.parse_args()
    if arguments.list:
        sys.stdout.write("".join(f"{part.name:<14} {part.what}\n" for part in PARTS))
        return 0
    before = _state()
    failed = []
    for part in PARTS:
        if arguments.only and part.name not in arguments.only:
            continue
        sys.stdout.write(f"{part.name}: {part.what}\n")
        sys.stdout.flush()
        environment = {**os.environ, "BLESS": "1"}
        for line in part.lines:
            if subprocess.run(line, cwd=ROOT, env=environment, check=False).returncode != 0:
                failed.append(part.name)
                break
    after = _state()
    moved = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    sys.stdout.write("".join(f"moved: {name}\n" for name in moved) or "nothing moved\n")
    if failed:
        sys.stderr.write(f"error: {', '.join(failed)} failed, and not everything is written\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
