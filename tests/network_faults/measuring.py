"""Measure the share of planted faults that `perhop check` names with their line, and its false alarms.

    PYTHONPATH=python:tests python -m network_faults.measuring [--every N]

A fault is named if there is a finding at its line that the healthy network does not have. A fault is found at
the other end if such a finding is at one of the fault's other lines. A harmless change is a false alarm if it
causes a new finding above notes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from network_faults.networks import networks
from network_faults.planting import Planted, faults, harmless, plant
from perhop.checking import Finding, check_file
from perhop.network.findings import between_devices

#: Findings of a file, by its name and text: most files of a network do not change.
_OF_FILES: dict[tuple[str, str], list[Finding]] = {}


def findings(folder: Path, files: dict[str, str]) -> dict[str, list[Finding]]:
    """Return all findings about a network, by the name of the file."""
    for name, text in files.items():
        (folder / name).write_text(text)
    between = between_devices([folder], [folder / name for name in files]).findings
    for name, text in files.items():
        if (name, text) not in _OF_FILES:
            _OF_FILES[name, text] = check_file(folder / name).findings
    return {name: [*_OF_FILES[name, text], *between.get(folder / name, [])] for name, text in files.items()}


def messages(found: dict[str, list[Finding]]) -> set[tuple[str, str, str]]:
    """Return findings without their lines, because lines move."""
    return {(file, finding.rule, finding.message) for file, several in found.items() for finding in several}


def new_findings(
    found: dict[str, list[Finding]], healthy: set[tuple[str, str, str]]
) -> list[tuple[str, Finding]]:
    """Return the findings that the healthy network does not have, with their file."""
    return [
        (file, finding)
        for file, several in found.items()
        for finding in several
        if (file, finding.rule, finding.message) not in healthy
    ]


def is_named(planted: Planted, new: list[tuple[str, Finding]]) -> bool:
    """Return whether a finding names the line of the fault."""
    return (planted.file, planted.line) in {(file, finding.line) for file, finding in new}


def is_at_other_end(planted: Planted, new: list[tuple[str, Finding]]) -> bool:
    """Return whether a finding names one of the other lines of the fault."""
    return not {(file, finding.line) for file, finding in new}.isdisjoint(planted.also)


def main() -> None:
    """Print the shares of each kind and of all faults together."""
    parser = argparse.ArgumentParser(description="the share of planted faults that perhop check names")
    parser.add_argument("--every", type=int, default=1, help="measure only each N-th fault")
    every = parser.parse_args().every
    texts = networks()
    total, named, ends, found = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        healthy = {}
        for name, files in texts.items():
            (place / name).mkdir()
            healthy[name] = messages(findings(place / name, files))
        for fault in faults()[::every]:
            planted = plant(fault, texts[fault.network])
            new = new_findings(findings(place / fault.network, planted.files), healthy[fault.network])
            total[fault.kind] += 1
            named[fault.kind] += is_named(planted, new)
            ends[fault.kind] += is_named(planted, new) or is_at_other_end(planted, new)
            found[fault.kind] += bool(new)
        alarms = 0
        for change in harmless():
            planted = plant(change, texts[change.network])
            new = new_findings(findings(place / change.network, planted.files), healthy[change.network])
            alarms += any(finding.severity != "note" for _, finding in new)
    for kind, count in sorted(total.items()):
        line = f"{kind}: {named[kind]} of {count} named, {ends[kind]} at either end, {found[kind]} found"
        sys.stdout.write(line + "\n")
    sys.stdout.write(
        f"all: {named.total()} of {total.total()} named ({named.total() / total.total():.1%}), "
        f"{ends.total()} at either end, {found.total()} found; {alarms} false alarms of {len(harmless())}\n"
    )


if __name__ == "__main__":
    main()
