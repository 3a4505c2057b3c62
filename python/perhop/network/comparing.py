"""Two snapshots of a network: the changes by pair of sites, and whether all packets are treated equally."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop.configuration import refused_option
from perhop.errors import InvalidInputError
from perhop.network import CODEPOINTS, Network
from perhop.proving import Proof


def opened(
    old: Path,
    new: Path,
    routes: Path | None = None,
    *,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> tuple[Network, Network]:
    """Return the networks of two folders of configurations; `routes` applies to both.

    Raises:
        InvalidInputError: an argument is not a folder of configurations, or has an invalid fact.

    """
    for folder, other in ((old, new), (new, old)):
        if not folder.is_dir():
            raise InvalidInputError(
                f"{folder} is not a folder, but {other} is one",
                "give two configurations, or two folders of them",
            )
    first, second = (Network.read(folder, routes, platform=platform, assume=assume) for folder in (old, new))
    return first, second


def compared(old: Network, new: Network) -> dict[str, Any]:
    """Return the differences between two networks, as `perhop diff --json` prints them."""
    try:
        text = old.core.compare(new.core, (str(old.folder), str(new.folder)), list(CODEPOINTS))
    except ValueError as error:
        raise refused_option(error) from error
    found: dict[str, Any] = json.loads(text)
    return found


def proved(
    first: Path, second: Path, *, platform: str | None = None, assume: Mapping[str, str] | None = None
) -> Proof:
    """Return whether two networks treat all packets between all sites equally."""
    found = compared(*opened(first, second, platform=platform, assume=assume))
    proof: Proof = found["proof"]
    for key in ("assumed", "not_looked_at"):
        proof[key] = [*proof[key], *found[key]]
    # Paths that leave the folder or stop are not compared, so the proof does not cover them.
    if proof["verdict"] == "equal" and found["not_compared"]:
        proof["not_looked_at"] = [*found["not_compared"], *proof["not_looked_at"]]
    return proof
