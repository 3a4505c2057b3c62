"""Findings of the rules that need several devices, by file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perhop import _core
from perhop.checking import Checked, Finding
from perhop.configuration import Detail
from perhop.core_types import RouterReport
from perhop.network import Network
from perhop.network.written import FACTS


@dataclass
class Between:
    """The networks of folders, and the findings about them by the file to which each finding belongs."""

    networks: list[Network] = field(default_factory=list)
    findings: dict[Path, list[Finding]] = field(default_factory=dict)

    def report(self, file: Path, detail: Detail) -> RouterReport | None:
        """Return the report of a file that a network has parsed; `None` for other files.

        With the detail `policies`, the report has only remarks, because `report_members` has the rest.
        """
        kept: Detail = "remarks" if detail == "policies" else detail
        for core, own in self._parsed(file):
            if (written := core.report(own, kept)) is not None:
                found: RouterReport = json.loads(written)
                return found
        return None

    def report_members(self, file: Path) -> str | None:
        """Return the members of a report with policies, as `json.dumps` writes them."""
        written = (core.report_members(own) for core, own in self._parsed(file))
        return next((members for members in written if members is not None), None)

    def _parsed(self, file: Path) -> Iterator[tuple[_core.Network, str]]:
        """Generate the networks that may have parsed a file, with the path of the file in the network."""
        for network in self.networks:
            if network.folder not in file.parents:
                continue
            own = file.relative_to(network.folder)
            # Skip a device whose platform network.yaml sets, because `perhop check` may use another platform.
            if not network.facts.device_of(own)[1]:
                yield network.core, own.as_posix()

    def add_to(self, checked: Checked) -> Checked:
        """Add the findings about a network to the findings of a file; comments of the file suppress rules."""
        hidden = checked.hidden
        own = self.findings.get(checked.file, [])
        checked.between = [finding for finding in own if not hidden.hides(finding.rule, finding.line)]
        checked.between.sort(key=_place)
        checked.findings = sorted([*checked.findings, *checked.between], key=_place)
        return checked


def _place(finding: Finding) -> tuple[int, str]:
    return finding.line or 0, finding.rule


def between_devices(
    folders: Iterable[Path],
    files: Iterable[Path],
    *,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Between:
    """Return the networks of folders with their findings.

    `files` are the files that `perhop check` reads. A folder with one configuration is not a network, unless
    it has a network.yaml.

    Raises:
        InvalidInputError: network.yaml has a key of the wrong type, or names something that does not exist.

    """
    known = list(files)
    found = Between()
    for folder in folders:
        inside = [file for file in known if folder in file.parents and file.suffix not in (".yaml", ".yml")]
        if len(inside) < 2 and not (folder / FACTS).exists():
            continue
        network = Network.read(folder, platform=platform, assume=assume)
        found.networks.append(network)
        for diagnostic in json.loads(network.core.findings()):
            finding = Finding(
                diagnostic["rule"],
                diagnostic["severity"],
                diagnostic["line"],
                None,
                diagnostic["message"],
                diagnostic["router"],
            )
            found.findings.setdefault(folder / diagnostic["file"], []).append(finding)
    return found
