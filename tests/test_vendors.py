"""Vendors are known to their front ends and to the list of front ends alone, and crates import downwards."""

from __future__ import annotations

import re
import tomllib

from programs import ROOT

#: The crates that read a vendor's text.
FRONT_ENDS = {"perhop-ios", "perhop-tc"}
#: The list, and the fuzz targets, each of which drives one front end.
MAY_NAME = {*FRONT_ENDS, "perhop-front-ends", "perhop-fuzz-targets"}
# Below what a layer may use: itself and all that stand lower in the table of ARCHITECTURE.md.
_HEAD = "| layer | crates | knows |"


def _dependencies(crate: str) -> set[str]:
    """The crates of the workspace that a crate depends on, tests left out."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    return {name for name in manifest.get("dependencies", {}) if name.startswith("perhop-")}


def _layers() -> list[list[str]]:
    _, _, table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition(f"{_HEAD}\n")
    rows, _, _ = table.partition("\n\n")
    return [re.findall(r"`(perhop-[\w-]+)`", row.split("|")[2]) for row in rows.splitlines()[1:]]


def _crates() -> list[str]:
    return sorted(folder.name for folder in (ROOT / "crates").iterdir() if (folder / "Cargo.toml").exists())


def test_no_other_crate_names_a_vendor() -> None:
    naming = [
        str(file.relative_to(ROOT))
        for crate in _crates()
        if crate not in MAY_NAME
        for file in [*(ROOT / "crates" / crate).rglob("*.rs"), ROOT / "crates" / crate / "Cargo.toml"]
        if re.search(r"perhop[-_](ios|tc)\b", file.read_text(encoding="utf-8"))
    ]
    assert not naming, "use the list of perhop-front-ends"


def test_front_ends_do_not_know_each_other_scenarios_or_engines() -> None:
    below = {"perhop-device", "perhop-analysis", "perhop-lint", "perhop-qos"}
    assert {crate: _dependencies(crate) - below for crate in FRONT_ENDS} == {
        crate: set() for crate in FRONT_ENDS
    }


def test_the_table_of_layers_has_every_crate_and_dependencies_go_down() -> None:
    layers = _layers()
    places = {crate: place for place, crates in enumerate(layers) for crate in crates}
    # It drives all layers, and the program does not contain it.
    assert sorted(places) == [crate for crate in _crates() if crate != "perhop-fuzz-targets"]
    upward = {
        f"{crate} depends on {other}"
        for crate, place in places.items()
        for other in _dependencies(crate)
        if places[other] < place
    }
    assert not upward
