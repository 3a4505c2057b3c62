"""Intended differences between classes have no warnings, and the faults next to them still have one."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_healthy_classes import NETWORKS
from network_warnings import changed, found
from perhop.network.findings import between_devices


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, the file and line at fault, and the rule.
FAULTS = {
    "rate of a tunnel": (
        "tunnels of a hub with the rates of sites",
        [("hub.cfg", " bandwidth 4000", " bandwidth 40000")],
        ("hub.cfg", "bandwidth 40000", "network-circuit-rate-differs"),
    ),
    "subnet of another site": (
        "lists of two sites",
        [("acc1.cfg", "10.1.30.0 0.0.0.255 any range 2326", "10.9.30.0 0.0.0.255 any range 2326")],
        ("acc1.cfg", "permit udp 10.9.30.0 0.0.0.255 any range 2326 2485", "network-peers-disagree"),
    ),
    "class for routing protocols": (
        "class for the packets of the core",
        [("pe1.cfg", " class CONTROL\n  set mpls experimental imposition 6\n", "")],
        ("pe1.cfg", "set mpls experimental imposition 0", "network-mark-changed"),
    ),
    "undefined forwarding class": (
        "class that a site does not need",
        [("fw.conf", "forwarding-class RT;", "forwarding-class VID;")],
        ("fw.conf", "queue 0 BE;", "network-map-differs"),
    ),
    "server of no customer": (
        "servers of two customers",
        [("ce4.cfg", "192.168.71.5", "192.168.71.9")],
        ("ce4.cfg", "ip helper-address 192.168.71.9", "network-peers-disagree"),
    ),
    "labels without a protocol": (
        "carrier without labels",
        [("pe3.cfg", " no ip proxy-arp", " mpls ip")],
        ("pe3.cfg", "hostname pe3", "network-peers-disagree"),
    ),
    "criterion of lower effort": (
        "policy without lower effort",
        [("r3.cfg", "match dscp cs1", "match dscp cs5")],
        ("r3.cfg", "match dscp cs5", "network-class-missing"),
    ),
    "fast port of a provider": (
        "fast ports of a border",
        [("border.cfg", "interface GigabitEthernet0/0/2", "interface TenGigabitEthernet0/0/2")],
        ("border.cfg", "interface TenGigabitEthernet0/0/0", "network-policy-missing"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected in found(tmp_path, changed(NETWORKS[network], *edits))


def test_one_cause_has_one_warning(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "network"
    files = {path.name: path.read_text() for path in example.glob("*.cfg")}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    named = between_devices([tmp_path], [tmp_path / name for name in files]).findings
    [finding] = [finding for finding in named[tmp_path / "core.cfg"] if finding.severity != "note"]
    assert (finding.line, finding.rule) == (31, "network-policy-missing")
    assert "has no inner policy" in finding.message
    assert "also found by this rule once more" in (finding.remedy or "")
    # A wrong rate at the same line is another cause.
    shaper = "NEW-LINE-10M\n class class-default\n  shape average "
    faulty = changed(files, ("core.cfg", f"{shaper}10000000", f"{shaper}100000"))
    rules = {rule for file, line, rule in found(tmp_path, faulty) if line == "shape average 100000"}
    assert rules == {"network-policy-missing", "network-circuit-rate-differs"}
