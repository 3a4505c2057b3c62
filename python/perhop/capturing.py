"""Captures: pcapng files of what crossed chosen links."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError

if TYPE_CHECKING:
    from perhop.scenario import Scenario

# What a link-layer frame can be, the largest IP packet and more than any header around it (bytes).
LARGEST_FRAME = 65_535 + 64
# The layout of the manifest in a folder of captures.
_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Captures:
    """What is captured, and where it goes."""

    #: The folder; it appears as a whole or not at all, and an earlier one is replaced.
    folder: Path
    #: Directions of links, as `C1->E3`; by default what the scenario's `measure.captures` says.
    links: tuple[str, ...] = ()
    #: Bytes kept of each frame; by default its headers. Its length on the wire is kept in any case.
    snap_length: int | None = None
    #: Packets after which a file ends.
    most_packets: int | None = None

    @classmethod
    def of(
        cls,
        folder: str | PathLike[str] | None,
        links: Sequence[str] | None = None,
        snap_length: int | None = None,
    ) -> Captures | None:
        """Return what these arguments of a run ask for; refuses links without a folder to go to."""
        if folder is not None:
            return cls(Path(folder), tuple(links or ()), snap_length)
        if links or snap_length is not None:
            raise InvalidInputError(
                "links to capture, and no folder to write to", "name one, as in --pcap captures"
            )
        return None

    def chosen_in(self, scenario: Scenario) -> Scenario:
        """Return the scenario with the chosen links in its `measure.captures`."""
        from perhop.scenario import Scenario

        if not self.links:
            return scenario
        changed = Scenario(json.loads(scenario.to_json()), scenario.base)
        changed["measure"] = {**changed.get("measure", {}), "captures": [_ends(link) for link in self.links]}
        return changed

    def manifest(self, scenario: Scenario, captured: list[dict[str, Any]]) -> str:
        """Return what was captured, as the text of a manifest: neither date nor machine."""
        from perhop import _core

        manifest = {
            "schema_version": _SCHEMA_VERSION,
            "perhop": _core.__version__,
            "scenario": scenario["name"],
            "seed": scenario["seed"],
            "replication": 0,
            "captures": captured,
        }
        return json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"


def _ends(link: str) -> dict[str, str]:
    before, arrow, after = link.partition("->")
    if not (before and arrow and after):
        raise InvalidInputError(
            f"{link!r} is no direction of a link",
            "write from->to as in 'C1->E3', in quotes: a shell takes > for itself",
        )
    return {"from": before.strip(), "to": after.strip()}
