"""Check that a commit can be released: version and changelog agree with each other and with the tag.

    python tools/release_check.py [TAG] [--notes FILE]

Without a tag, the tool checks the rules for every commit: Cargo.toml, Cargo.lock and CITATION.cff have one
version, and CHANGELOG.md has a section of that version. With a tag (v0.1.0), the tool also checks the rules
for a release: the tag is that version, its section has text, and "Unreleased" has no entries. The tool prints
the faults and exits with 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_HEADING = re.compile(r"^## (?P<version>\S+)$", re.MULTILINE)
_UNRELEASED = "Unreleased"


def faults(root: Path, tag: str | None = None) -> list[str]:
    """Return the faults of the tree `root` that prevent a release, or a release with tag `tag`."""
    cargo = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    version = cargo["workspace"]["package"]["version"]
    found = _versions(root, version)
    sections = _sections(root)
    newest = next((name for name in sections if name != _UNRELEASED), None)
    if newest != version:
        found.append(f"CHANGELOG.md: the newest section is for {newest}, Cargo.toml is at {version}")
    if tag is None:
        return found
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, Cargo.toml is at {version}; expected v{version}")
    if not sections.get(version):
        found.append(f"CHANGELOG.md: the section of {version} is empty")
    if re.search(r"^- ", sections.get(_UNRELEASED, ""), re.MULTILINE):
        found.append(f"CHANGELOG.md: {_UNRELEASED} has entries; move them into the section of {version}")
    return found


def notes(root: Path) -> str:
    """Return the section of the newest version without its heading: the notes of the release."""
    return next(text for name, text in _sections(root).items() if name != _UNRELEASED)


def _sections(root: Path) -> dict[str, str]:
    """Return the sections of the changelog by their headings, newest first."""
    parts = _HEADING.split((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _versions(root: Path, version: str) -> list[str]:
    found = []
    cited = _citation(root, "version")
    if cited != version:
        found.append(f"CITATION.cff: version {cited}, Cargo.toml is at {version}")
    lock = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))
    # In the lock, crates of the workspace have no key `source`.
    others = {package["version"] for package in lock["package"] if "source" not in package} - {version}
    if others:
        found.append(f"Cargo.lock: {', '.join(sorted(others))}, Cargo.toml is at {version}; run: cargo check")
    return found


def _citation(root: Path, key: str) -> str | None:
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(rf"^{key}: *[\"']?([^\"'\s]+)", text, re.MULTILINE)
    return found[1] if found else None


def main() -> int:
    """Print the faults, or with `--notes` the notes of the release."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tag", nargs="?", help="the tag of the release, for example v0.1.0")
    parser.add_argument("--notes", type=Path, metavar="FILE", help="write the notes of the release to FILE")
    arguments = parser.parse_args()
    wrong = faults(_ROOT, arguments.tag)
    for fault in wrong:
        sys.stderr.write(f"error: {fault}\n")
    if arguments.notes and not wrong:
        arguments.notes.write_text(notes(_ROOT) + "\n", encoding="utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
