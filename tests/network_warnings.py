"""The warnings between the devices of a folder, and folders with a fault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perhop.network.findings import between_devices

Files = dict[str, str]


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, str]]:
    """Return the files, lines and rules of the findings between devices that are warnings."""
    for name, text in files.items():
        (folder / name).write_text(text)
    named = between_devices([folder], [folder / name for name in files]).findings
    return {
        (file.name, files[file.name].splitlines()[(finding.line or 1) - 1].strip(), finding.rule)
        for file, findings in named.items()
        for finding in findings
        if finding.severity != "note"
    }


def changed(files: Mapping[str, str], *edits: tuple[str, str, str]) -> Files:
    """Return the files after edits: a file, a text in it, and the text that replaces its first occurrence."""
    result = dict(files)
    for name, old, new in edits:
        assert old in result[name], old
        result[name] = result[name].replace(old, new, 1)
    return result
