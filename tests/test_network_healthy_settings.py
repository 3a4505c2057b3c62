"""Settings by default or by inheritance have no warnings, and the faults next to them still have one."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_healthy_settings import NETWORKS, edges, labels, path, rewriting, shares, terms, unit
from network_warnings import changed, found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network with a fault, and the file and line at fault with the rule.
FAULTS = {
    "MTU of a switch": (
        changed(NETWORKS["MTU of a switch"], ("r2.cfg", "mtu 9198", "mtu 1500")),
        ("r2.cfg", "mtu 1500", "network-mtu-differs"),
    ),
    "MTU of a family": (
        changed(NETWORKS["MTU of a family"], ("r1.conf", "mtu 1500", "mtu 1400")),
        ("r1.conf", "mtu 1400;", "network-mtu-differs"),
    ),
    "port without the input policy": (
        edges(),
        ("edge.cfg", "interface GigabitEthernet0/9", "network-policy-missing"),
    ),
    "client by a template": (
        changed(
            NETWORKS["clients by templates"],
            ("r2.cfg", " neighbor 10.255.0.4 inherit peer-policy CLIENT\n", ""),
        ),
        ("r2.cfg", "neighbor 10.255.0.4 remote-as 65000", "network-neighbor-incomplete"),
    ),
    "label of another class": (
        {**NETWORKS["aliases of labels"], "r3.conf": rewriting(3, "exp", "nc1")},
        ("r3.conf", "loss-priority low code-point nc1;", "network-map-differs"),
    ),
    "data before voice": (
        changed(
            NETWORKS["network control first"],
            ("r1.conf", "forwarding-class network-control", "forwarding-class DATA"),
        ),
        ("r1.conf", "priority high;", "network-priority-inverted"),
    ),
    "digit of a priority": (
        {**NETWORKS["priority of a slow line"], "r3.cfg": shares(3, 50, 100000)},
        ("r3.cfg", "priority percent 50", "network-queue-differs"),
    ),
    "sum of shares": (
        changed(
            NETWORKS["default class without a share"],
            ("r3.cfg", "  fair-queue", "  bandwidth remaining percent 4"),
        ),
        ("r3.cfg", "bandwidth remaining percent 4", "network-queue-differs"),
    ),
    "family of a port with one level": (
        {
            "r1.conf": labels(1, "", "            point-to-point;\n"),
            "r2.conf": labels(2, "            family iso;\n", "            point-to-point;\n"),
        },
        ("r1.conf", "unit 0 {", "network-block-incomplete"),
    ),
    "hop behind the next router": (
        path("10.0.34.2"),
        ("r1.cfg", "next-address 10.0.34.2", "network-next-hop-unknown"),
    ),
    "rendezvous point of no router": (
        changed(
            NETWORKS["rendezvous point of several routers"],
            ("r2.cfg", "rp-address 10.255.0.8", "rp-address 10.255.0.7"),
        ),
        ("r2.cfg", "ip pim rp-address 10.255.0.7", "network-setting-differs"),
    ),
    "protocol of a term": (
        {"r1.conf": terms("static"), "r2.conf": unit(2, "")},
        ("r1.conf", "protocol static;", "network-route-missing"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    files, expected = FAULTS[name]
    assert expected in found(tmp_path, files)
