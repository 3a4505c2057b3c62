"""Rules about networks: no findings in healthy networks, and the right line for each planted fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_faults.measuring import findings, is_named, messages, new_findings
from network_faults.networks import networks
from network_faults.planting import Change, faults, harmless, plant
from perhop.checking import Finding
from perhop.network.findings import between_devices

NETWORKS = networks()
#: The findings of the healthy networks, to recognize new ones.
HEALTHY: dict[str, set[tuple[str, str, str]]] = {}
#: Kinds of faults of which perhop does not name the line of the first one, and why.
NOT_NAMED: dict[str, str] = {}
KINDS = sorted({change.kind for change in faults()} - set(NOT_NAMED))


def found(folder: Path, files: dict[str, str]) -> dict[str, list[Finding]]:
    """Return the findings about a network, by the name of the file."""
    for name, text in files.items():
        (folder / name).write_text(text)
    between = between_devices([folder], [folder / name for name in files])
    return {file.name: findings for file, findings in between.findings.items()}


def alarms(findings: dict[str, list[Finding]]) -> set[tuple[str, str, str]]:
    """Return the findings above notes, without their lines, because lines move."""
    return {
        (file, finding.rule, finding.message)
        for file, several in findings.items()
        for finding in several
        if finding.severity != "note"
    }


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_alarm(tmp_path: Path, name: str) -> None:
    assert alarms(found(tmp_path, NETWORKS[name])) == set()


@pytest.mark.parametrize("change", harmless(), ids=lambda change: change.id)
def test_a_harmless_change_has_no_alarm(tmp_path: Path, change: Change) -> None:
    assert alarms(found(tmp_path, plant(change, NETWORKS[change.network]).files)) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_fault_of_a_kind_is_named_with_its_line(tmp_path: Path, kind: str) -> None:
    change = next(change for change in faults() if change.kind == kind)
    network = NETWORKS[change.network]
    if change.network not in HEALTHY:
        HEALTHY[change.network] = messages(findings(tmp_path, network))
    planted = plant(change, network)
    new = new_findings(findings(tmp_path, planted.files), HEALTHY[change.network])
    assert is_named(planted, new), new
