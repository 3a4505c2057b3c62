"""Captures: pcapng files of the packets on chosen links."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from perhop import manifest
from perhop.document import Document
from perhop.errors import InvalidInputError


@dataclass(frozen=True)
class Captures:
    """The links to capture, and the folder for the files."""

    #: The folder, which appears complete or not at all. It replaces an earlier one.
    folder: Path
    #: Directions of links, as `C1->E3`; by default `measure.captures` of the scenario.
    links: tuple[str, ...] = ()
    #: Bytes kept of each frame; by default its headers. The length on the wire is always recorded.
    snap_length: int | None = None
    #: Packets after which a file ends.
    most_packets: int | None = None
    #: Whether a folder with other content is renamed.
    force: bool = False

    @classmethod
    def from_options(
        cls,
        folder: str | PathLike[str] | None,
        links: Sequence[str] | None = None,
        snap_length: int | None = None,
        *,
        force: bool = False,
    ) -> Captures | None:
        """Return the captures that the arguments of a run select; `None` without a folder.

        Raises:
            InvalidInputError: links or a snap length are given without a folder.

        """
        if folder is not None:
            return cls(Path(folder), tuple(links or ()), snap_length, force=force)
        if links or snap_length is not None:
            raise InvalidInputError(
                "links to capture but no folder to write to", "give a folder, for example --pcap captures"
            )
        return None

    def chosen_in(self, scenario: Document) -> Document:
        """Return the scenario with the chosen links in its `measure.captures`."""
        if not self.links:
            return scenario
        changed = Document(json.loads(scenario.to_json()), scenario.base)
        changed["measure"] = {**changed.get("measure", {}), "captures": [_ends(link) for link in self.links]}
        return changed

    def seal(self, folder: Path, scenario: Document, captured: list[dict[str, Any]]) -> None:
        """Write the manifest of a folder of captures; it contains neither date nor machine."""
        about = {
            "scenario": scenario["name"],
            "seed": scenario["seed"],
            "replication": 0,
            "captures": captured,
        }
        manifest.seal(folder, "captures", about)


def _ends(link: str) -> dict[str, str]:
    before, arrow, after = link.partition("->")
    if not (before and arrow and after):
        raise InvalidInputError(
            f"`{link}` is not a direction of a link",
            "write from->to, for example 'C1->E3' (quoted, because of the >)",
        )
    return {"from": before.strip(), "to": after.strip()}
