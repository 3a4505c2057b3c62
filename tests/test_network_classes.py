"""Rules about rates, priorities, maps and names of classes: each fault is named, and no other line is."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_classes_data import NETWORKS
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, and the warnings.
FAULTS = {
    "half of a rate": (
        "lines",
        [("site4.cfg", "shape average 38000000", "shape average 19000000")],
        {("site4.cfg", "shape average 19000000", "network-circuit-rate-differs")},
    ),
    "policy of another line": (
        "lines",
        [
            ("site4.cfg", "policy-map WAN-40M", "policy-map WAN-20M"),
            ("site4.cfg", "shape average 38000000", "shape average 19000000"),
            ("site4.cfg", "service-policy output WAN-40M", "service-policy output WAN-20M"),
        ],
        {("site4.cfg", "service-policy output WAN-20M", "network-circuit-rate-differs")},
    ),
    "priority of video": (
        "queues",
        [
            ("r1.cfg", "priority percent 20", "bandwidth percent 20"),
            ("r1.cfg", "bandwidth percent 30", "priority percent 30"),
        ],
        {("r1.cfg", "bandwidth percent 20", "network-priority-inverted")},
    ),
    "list of another class": (
        "marks",
        [("r1.cfg", "match access-group name LAN-TIME", "match access-group name LAN-BULK")],
        {("r1.cfg", "match access-group name LAN-BULK", "network-name-crossed")},
    ),
    "protocol of time": (
        "marks",
        [("r1.cfg", "permit udp any any eq ntp", "permit tcp any any eq ntp")],
        {("r1.cfg", "permit tcp any any eq ntp", "network-service-differs")},
    ),
    "protocol of voice": (
        "marks",
        [("r1.cfg", "permit udp any any range", "permit tcp any any range")],
        {("r1.cfg", "permit tcp any any range 16384 32767", "network-service-differs")},
    ),
    "sum of shares": (
        "plans",
        [("r2.cfg", "remaining percent 50", "remaining percent 5")],
        {("r2.cfg", "bandwidth remaining percent 5", "network-queue-differs")},
    ),
    "digit of a priority": (
        "plans",
        [("r2.cfg", "priority percent 20", "priority percent 2")],
        {("r2.cfg", "priority percent 2", "network-queue-differs")},
    ),
    "policy of the control plane": (
        "plans",
        [("r2.cfg", "input CONTROL", "input PLAN-2")],
        {("r2.cfg", "service-policy input PLAN-2", "network-attachment-unusual")},
    ),
    "map out of order": (
        "maps",
        [("r1.cfg", "32 46 48 56", "32 10 48 56")],
        {("r1.cfg", "mls qos map cos-dscp 0 8 16 24 32 10 48 56", "network-map-differs")},
    ),
    "label of another class": (
        "core",
        [
            ("p2.conf", "loss-priority low code-points 101;", "loss-priority low code-points 010;"),
            ("p2.conf", "loss-priority low code-points 011;", "loss-priority low code-points 101;"),
        ],
        {("p2.conf", "loss-priority low code-points 101;", "network-map-differs")},
    ),
    "scheduler of another class": (
        "single core",
        [("p1.conf", "forwarding-class CRIT scheduler S-CRIT;", "forwarding-class CRIT scheduler S-BE;")],
        {("p1.conf", "forwarding-class CRIT scheduler S-BE;", "network-name-crossed")},
    ),
    "priority of voice (Junos)": (
        "single core",
        [("p1.conf", "priority high;", "priority low;")],
        {("p1.conf", "priority low;", "network-priority-inverted")},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_at_its_line(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert expected <= found(tmp_path, changed(NETWORKS[network], *edits))
