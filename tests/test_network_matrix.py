"""`perhop trace FOLDER --matrix` and a walk of a packet agree on the fate of each codepoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from network_faults.networks import networks
from network_faults.planting import faults, plant
from perhop.network import Network, packet_between
from seeds import drawing

NETWORKS = networks()
#: Pairs of sites of each network.
PAIRS = 6
# Kinds of faults, and the fate that packets have with them.
KINDS = {
    "mark-reset": "changed",
    "tunnel-destination": "lost",
    "route-missing": "lost",
}


def changed() -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Generate the healthy networks, and one fault of each existing kind."""
    for name, files in NETWORKS.items():
        yield name, name, files
    first = {change.kind: change for change in reversed(faults()) if change.kind in KINDS}
    for kind, change in first.items():
        yield kind, change.network, plant(change, NETWORKS[change.network]).files


CHANGED = list(changed())


def fate(walk: Mapping[str, Any], sent: str) -> str:
    """Return the worst fate of the paths of a packet."""
    ends = {path["end"] for path in walk["paths"]}
    if ends != {"delivered"}:
        return "lost"
    return "kept" if {path["dscp"] for path in walk["paths"]} == {sent} else "changed"


@pytest.mark.parametrize(("name", "network", "files"), CHANGED, ids=[name for name, *_ in CHANGED])
def test_matrix_fates_match_single_walks(
    name: str, network: str, files: Mapping[str, str], tmp_path: Path
) -> None:
    """The matrix computes the effect of a port once for all pairs; a walk follows one packet."""
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    read = Network.read(tmp_path)
    addresses = {site["name"]: site["address"] for site in read.summary()["sites"]}
    rows = list(read.matrix())
    pairs = sorted({(row["from"], row["to"]) for row in rows})
    chosen = set(drawing(f"matrix {name}").sample(pairs, min(PAIRS, len(pairs))))
    wanted = KINDS.get(name)
    special = sorted({(row["from"], row["to"]) for row in rows if row["fate"] == wanted})
    assert special or wanted is None
    chosen |= set(special[:2])
    for row in rows:
        if (row["from"], row["to"]) not in chosen:
            continue
        ends = addresses[row["from"]], addresses[row["to"]]
        for dscp in row["dscp"]:
            walk = read.walk(packet_between(*ends, f"udp dscp {dscp} len 200"))
            assert fate(walk, dscp) == row["fate"], (row["from"], row["to"], dscp)
