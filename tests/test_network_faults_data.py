"""Networks are healthy without their planted faults, and the text of each fault and change occurs once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from network_faults.networks import networks
from network_faults.planting import Change, Edit, faults, harmless, plant
from perhop.checking import check_file

NETWORKS = networks()
FILES = [(network, name) for network, files in NETWORKS.items() for name in files]


def test_three_networks_of_a_realistic_size() -> None:
    assert set(NETWORKS) == {"hub", "campus", "provider"}
    assert all(5 <= len(files) <= 40 for files in NETWORKS.values())
    assert networks() == NETWORKS


def test_two_hundred_faults_of_many_kinds() -> None:
    found = faults()
    assert len(found) >= 200
    assert len({fault.kind for fault in found}) >= 15
    assert set(Counter(fault.network for fault in found)) == set(NETWORKS)
    assert all(fault.feels.endswith(".") for fault in found)


def test_forty_harmless_changes() -> None:
    assert len(harmless()) == 40


def test_every_change_has_a_unique_id() -> None:
    ids = Counter(change.id for change in [*faults(), *harmless()])
    assert [name for name, number in ids.items() if number > 1] == []


def test_every_fault_is_unique() -> None:
    edits = Counter((fault.network, fault.file, fault.edits) for fault in faults())
    assert [key for key, number in edits.items() if number > 1] == []


@pytest.mark.parametrize("change", [*faults(), *harmless()], ids=lambda change: change.id)
def test_a_change_fits_exactly_once(change: Change) -> None:
    files = NETWORKS[change.network]
    planted = plant(change, files)
    assert [name for name in files if planted.files[name] != files[name]] == [change.file]
    assert planted.files[planted.file].split("\n")[planted.line - 1] == change.place.line


@pytest.mark.parametrize("fault", [fault for fault in faults() if fault.also], ids=lambda fault: fault.id)
def test_the_other_places_of_a_fault_are_other_lines(fault: Change) -> None:
    planted = plant(fault, NETWORKS[fault.network])
    assert (planted.file, planted.line) not in planted.also
    for (file, line), place in zip(planted.also, fault.also, strict=True):
        assert planted.files[file].split("\n")[line - 1] == place.line


def test_an_edit_that_does_not_fit_exactly_once_is_refused() -> None:
    change = faults()[0]
    files = NETWORKS[change.network]
    for edit in (Edit((), ("no such line",), ()), Edit((), ("!",), ()), Edit(("no such block",), ("!",), ())):
        with pytest.raises(ValueError, match=change.id):
            plant(replace(change, edits=(edit,)), files)
    with pytest.raises(ValueError, match="no file"):
        plant(replace(change, file="none.cfg"), files)


@pytest.mark.parametrize(("network", "name"), FILES, ids=[f"{network}-{name}" for network, name in FILES])
def test_each_router_of_a_healthy_network_has_no_error(network: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(NETWORKS[network][name], encoding="utf-8")
    assert [finding for finding in check_file(file).findings if finding.severity == "error"] == []
