"""Routes of MPLS VPNs that follow from configurations: route targets, and BGP sessions for routes of VPNs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Command
from label_network import ANNOUNCES, announced_files, bgp, hops, targets, vpn_files, walk, write

LABELED = [
    ("PE1", "10.0.0.4/32 exp 5, VRF RED of PE2 exp 5", "EXP5"),
    ("P1", "10.0.0.4/32 exp 5, VRF RED of PE2 exp 5", "EXP5"),
    ("P2", "VRF RED of PE2 exp 5", "EXP5"),
    ("PE2", "", "DSCP-EF"),
]


def test_an_edge_has_the_routes_that_the_other_edge_announces(perhop: Command, tmp_path: Path) -> None:
    path = walk(perhop, write(tmp_path, announced_files()))
    assert (path["end"], hops(path)[1:5]) == ("delivered", LABELED)
    (route,) = [
        stage
        for hop in path["hops"]
        for stage in hop["stages"]
        if stage["stage"] == "forwarding" and hop["device"] == "PE1"
    ]
    assert (route["route"], route["prefix"], route["next_hop"]) == ("vpn", "10.2.0.0/24", "10.0.0.4")
    (assumed,) = [text for text in path["assumed"] if "route target" in text]
    assert "the VRF RED has the routes of the VRF RED of PE2 with route target 65000:1" in assumed
    assert "over the BGP sessions PE2 - PE1; perhop found" in assumed
    assert "no unknown route of the VPN with a longer prefix" in assumed


def reflected(of_family: str) -> dict[str, str]:
    found = vpn_files()
    for name in ("pe1", "pe2"):
        found[name] += targets() + bgp("10.0.0.2", announces=ANNOUNCES)
    found["p1"] += bgp("10.0.0.1", "10.0.0.4", of_family=of_family)
    return found


CLIENTS = "  neighbor 10.0.0.1 route-reflector-client\n  neighbor 10.0.0.4 route-reflector-client\n"


@pytest.mark.parametrize(
    ("clients", "is_known"),
    # RFC 4456 §6: one client is sufficient in both directions; without clients nothing is reflected.
    [(CLIENTS, True), ("  neighbor 10.0.0.4 route-reflector-client\n", True), ("", False)],
)
def test_a_reflector_passes_on_the_routes_of_clients_and_to_clients(
    perhop: Command, tmp_path: Path, clients: str, is_known: bool
) -> None:
    path = walk(perhop, write(tmp_path, reflected(clients)))
    assert (path["end"], path["device"]) == (("delivered", "CE2") if is_known else ("path-unknown", "PE1"))
    if is_known:
        assert hops(path)[1:5] == LABELED, "the next hop is PE2, not the reflector"
        assert any("PE2 - P1 - PE1" in text for text in path["assumed"])


def with_import(target: str) -> dict[str, str]:
    found = announced_files()
    found["pe1"] = found["pe1"].replace("route-target import 65000:1", f"route-target import {target}")
    return found


def with_pe2(old: str, new: str) -> Callable[[], dict[str, str]]:
    def files() -> dict[str, str]:
        found = announced_files()
        assert old in found["pe2"]
        return {**found, "pe2": found["pe2"].replace(old, new)}

    return files


def two_edges() -> dict[str, str]:
    """P2 announces the prefix of PE2, too."""
    found = announced_files()
    found["p2"] += (
        "interface GigabitEthernet0/2\n ip vrf forwarding RED\n ip address 10.2.0.1 255.255.255.0\n"
    )
    found["p2"] += targets() + bgp("10.0.0.1", announces=ANNOUNCES)
    found["pe1"] += bgp("10.0.0.4", "10.0.0.3", announces=ANNOUNCES)
    found["pe1"] = found["pe1"].replace(bgp("10.0.0.4", announces=ANNOUNCES), "", 1)
    return found


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(lambda: with_import("65000:2"), id="another route target"),
        pytest.param(with_pe2("  neighbor 10.0.0.1 activate\n", ""), id="one end of the session"),
        pytest.param(with_pe2("update-source Loopback0", "update-source Gi0/0"), id="another source"),
        pytest.param(with_pe2("  redistribute static\n", ""), id="no announcement"),
        pytest.param(
            with_pe2("  redistribute static\n", "  redistribute static route-map F\n"),
            id="a policy of routes",
        ),
        pytest.param(with_pe2(" rd 65000:1\n", " rd 65000:1\n export map F\n"), id="a map of the VRF"),
        pytest.param(
            with_pe2(
                "  neighbor 10.0.0.1 activate\n",
                "  neighbor 10.0.0.1 activate\n  neighbor 10.0.0.1 route-map F out\n",
            ),
            id="a policy of the session",
        ),
        pytest.param(two_edges, id="two edges"),
    ],
)
def test_a_route_that_does_not_follow_from_the_lines_is_unknown(
    perhop: Command, tmp_path: Path, files: Callable[[], dict[str, str]]
) -> None:
    path = walk(perhop, write(tmp_path, files()))
    assert (path["end"], path["device"]) == ("path-unknown", "PE1")
    assert "show ip route vrf RED" in path["help"]


def test_an_uncertain_route_hides_a_shorter_one(perhop: Command, tmp_path: Path) -> None:
    """A packet may follow the route with a policy, so the default route of the VRF is not followed."""
    found = with_pe2("  redistribute static\n", "  redistribute static route-map F\n")()
    found["pe1"] += "ip route vrf RED 10.0.0.0 255.0.0.0 198.51.100.2\n"
    path = walk(perhop, write(tmp_path, found))
    assert (path["end"], path["device"]) == ("path-unknown", "PE1")


def test_the_longer_of_a_static_route_and_a_route_of_the_vpn_wins(perhop: Command, tmp_path: Path) -> None:
    found = announced_files()
    found["pe1"] += "ip route vrf RED 0.0.0.0 0.0.0.0 198.51.100.2\n"
    assert hops(walk(perhop, write(tmp_path, found)))[1:5] == LABELED


def test_given_routes_replace_computed_ones(perhop: Command, tmp_path: Path) -> None:
    facts = "routes: {PE1: [vrf RED 10.9.0.0/24 = 10.0.0.4]}\n"
    path = walk(perhop, write(tmp_path, announced_files(), facts))
    assert (path["end"], path["device"]) == ("path-unknown", "PE1")
