"""Findings of the rules that need several devices, by file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from perhop.checking import Checked, Finding
from perhop.network import Network
from perhop.network.written import FACTS


def between_devices(folders: Iterable[Path], files: Iterable[Path]) -> dict[Path, list[Finding]]:
    """Return the findings about the networks of folders, by the file to which each belongs.

    `files` are those that `perhop check` reads. A folder with one configuration is not a network, unless it
    has a network.yaml.

    Raises:
        InvalidInputError: network.yaml is not of its shape, or names what does not exist.

    """
    known = list(files)
    found: dict[Path, list[Finding]] = {}
    for folder in folders:
        inside = [file for file in known if folder in file.parents and file.suffix not in (".yaml", ".yml")]
        if len(inside) < 2 and not (folder / FACTS).exists():
            continue
        network = Network.read(folder)
        for one in json.loads(network.core.findings()):
            finding = Finding(one["rule"], one["severity"], one["line"], None, one["message"], one["router"])
            found.setdefault(folder / one["file"], []).append(finding)
    return found


def with_network(checked: Checked, between: dict[Path, list[Finding]]) -> Checked:
    """Add the findings about the network to those of a file; comments of the file leave rules out."""
    further = [one for one in between.get(checked.file, []) if not checked.hidden.hides(one.rule, one.line)]
    if further:
        checked.findings = sorted([*checked.findings, *further], key=lambda one: (one.line or 0, one.rule))
    return checked
