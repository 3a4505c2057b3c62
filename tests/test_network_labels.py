"""Packets with MPLS labels between routers of a folder.

The tables of hops are computed by hand: imposition copies the precedence to the EXP (RFC 3270 §2.6.3), a
swap copies the EXP, and the last router but one removes the label (RFC 3031 §3.16), so that the last router
receives the header below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from label_network import (
    CORE_ROUTES,
    JUNOS_P2,
    VPN_ROUTES,
    XR_PE2,
    files,
    hops,
    operations,
    vpn_files,
    walk,
    write,
)

TO_PE2 = "10.0.0.4/32"


def test_a_label_switched_path_of_the_global_table(perhop: Command, tmp_path: Path) -> None:
    """The codepoint EF has precedence 5. Behind P2, packets are IP packets again."""
    path = walk(perhop, write(tmp_path, files()))
    assert hops(path) == [
        ("CE1", "", "fifo"),
        ("PE1", f"{TO_PE2} exp 5", "EXP5"),
        ("P1", f"{TO_PE2} exp 5", "EXP5"),
        ("P2", "", "DSCP-EF"),
        ("PE2", "", "DSCP-EF"),
        ("CE2", "", "fifo"),
    ]
    assert operations(path) == [("PE1", "impose"), ("P1", "swap"), ("P2", "pop")]
    assert (path["end"], path["dscp"], path["changes"], path["exp_changes"]) == ("delivered", "ef", [], [])


def test_explicit_null_keeps_a_label_to_the_last_router(perhop: Command, tmp_path: Path) -> None:
    """RFC 3032 §2.1: label 0 carries the EXP to PE2, which removes it and looks up the IP header."""
    configurations = files()
    configurations["pe2"] += "mpls ldp explicit-null\n"
    path = walk(perhop, write(tmp_path, configurations))
    assert hops(path)[2:5] == [
        ("P1", f"{TO_PE2} exp 5", "EXP5"),
        ("P2", "explicit null exp 5", "EXP5"),
        ("PE2", "", "DSCP-EF"),
    ]
    assert operations(path) == [("PE1", "impose"), ("P1", "swap"), ("P2", "swap"), ("PE2", "pop")]


def marking(action: str, match: str) -> str:
    """Return a policy for arriving packets, to be attached at the end of a port."""
    return f"class-map match-all ARRIVES\n {match}\npolicy-map IN\n class ARRIVES\n  {action}\n"


def with_input(text: str, interface: str, action: str, match: str) -> str:
    policy = marking(action, match)
    return text.replace(
        f"interface {interface}\n", f"{policy}interface {interface}\n service-policy input IN\n"
    )


def test_the_edge_sets_the_exp_of_new_labels(perhop: Command, tmp_path: Path) -> None:
    configurations = files()
    configurations["pe1"] = with_input(
        configurations["pe1"], "GigabitEthernet0/1", "set mpls experimental imposition 1", "match dscp ef"
    )
    path = walk(perhop, write(tmp_path, configurations))
    assert hops(path)[1:4] == [
        ("PE1", f"{TO_PE2} exp 1", "EXP1"),
        ("P1", f"{TO_PE2} exp 1", "EXP1"),
        ("P2", "", "DSCP-EF"),
    ]
    assert (path["dscp"], path["exp_changes"]) == ("ef", [])


def test_a_router_of_the_core_changes_the_exp_but_not_the_codepoint(perhop: Command, tmp_path: Path) -> None:
    configurations = files()
    text = with_input(
        configurations["p1"],
        "GigabitEthernet0/0",
        "set mpls experimental topmost 1",
        "match mpls experimental topmost 5",
    )
    configurations["p1"] = text
    path = walk(perhop, write(tmp_path, configurations))
    assert hops(path)[1:4] == [
        ("PE1", f"{TO_PE2} exp 5", "EXP5"),
        ("P1", f"{TO_PE2} exp 1", "EXP1"),
        ("P2", "", "DSCP-EF"),
    ]
    assert (path["dscp"], path["changes"]) == ("ef", [])
    (change,) = path["exp_changes"]
    assert (change["device"], change["from"], change["to"]) == ("P1", 5, 1)
    assert text.splitlines()[change["lines"][0]["line"] - 1].strip() in {
        "class ARRIVES",
        "set mpls experimental topmost 1",
    }


def test_a_policy_cannot_write_a_hidden_codepoint(perhop: Command, tmp_path: Path) -> None:
    """P1 matches all packets, but `set dscp` does not reach the header behind the label."""
    configurations = files()
    configurations["p1"] = with_input(
        configurations["p1"], "GigabitEthernet0/0", "set dscp cs1", "match mpls experimental topmost 5"
    )
    path = walk(perhop, write(tmp_path, configurations))
    assert (path["end"], path["dscp"], path["changes"]) == ("delivered", "ef", [])


@pytest.mark.parametrize(("without", "unlabeled_at", "ends_at"), [("p2", "P1", "P2"), ("p1", "PE1", "P1")])
def test_without_labels_a_router_of_the_core_has_no_route(
    perhop: Command, tmp_path: Path, without: str, unlabeled_at: str, ends_at: str
) -> None:
    """One end of a link has no LDP: packets leave without a label, and the next router has no route."""
    configurations = files()
    configurations[without] = configurations[without].replace(" mpls ip\n", "", 1)
    path = walk(perhop, write(tmp_path, configurations))
    assert (path["end"], path["device"]) == ("path-unknown", ends_at)
    assert operations(path)[-1] == (unlabeled_at, "unlabeled")
    (reason,) = [
        stage["because"]
        for hop in path["hops"]
        for stage in hop["stages"]
        if stage["stage"] == "labels" and stage["operation"] == "unlabeled"
    ]
    assert f"GigabitEthernet0/0 of {without.upper()} has no LDP" in reason


def test_a_loopback_of_another_length_has_no_label(perhop: Command, tmp_path: Path) -> None:
    """OSPF announces the host 10.0.0.4/32, but PE2 has a label only for its subnet (RFC 5036 §3.5.7.1)."""
    configurations = files()
    configurations["pe2"] = configurations["pe2"].replace(
        "10.0.0.4 255.255.255.255", "10.0.0.4 255.255.255.252"
    )
    path = walk(perhop, write(tmp_path, configurations))
    (stage,) = [
        stage
        for hop in path["hops"]
        for stage in hop["stages"]
        if stage["stage"] == "labels" and hop["device"] == "P2"
    ]
    assert stage["operation"] == "unlabeled"
    assert f"PE2 has no route to exactly {TO_PE2}" in stage["because"]


def test_a_policy_of_the_last_router_copies_the_exp(perhop: Command, tmp_path: Path) -> None:
    """The uniform model: PE2 receives EXP 1 with explicit null, and writes it into the codepoint."""
    configurations = files()
    configurations["pe1"] = with_input(
        configurations["pe1"], "GigabitEthernet0/1", "set mpls experimental imposition 1", "match dscp ef"
    )
    arriving = with_input(
        configurations["pe2"],
        "GigabitEthernet0/0",
        "set qos-group 1",
        "match mpls experimental topmost 1",
    )
    leaving = (
        "class-map match-all GROUP1\n match qos-group 1\npolicy-map OUT\n class GROUP1\n  set dscp cs1\n"
    )
    head, interface, tail = arriving.partition("interface GigabitEthernet0/1\n")
    tail = tail.replace("service-policy output CORE", "service-policy output OUT", 1)
    configurations["pe2"] = f"{head}{leaving}{interface}{tail}mpls ldp explicit-null\n"
    path = walk(perhop, write(tmp_path, configurations))
    assert (path["end"], path["dscp"]) == ("delivered", "cs1")
    assert [change["device"] for change in path["changes"]] == ["PE2"]
    assert path["exp_changes"] == []


def test_a_filter_of_labels_is_an_assumption(perhop: Command, tmp_path: Path) -> None:
    configurations = files()
    configurations["p1"] += "mpls ldp label\n allocate global host-routes\n"
    path = walk(perhop, write(tmp_path, configurations))
    assert any(
        "of P1, `mpls ldp label`, does not change the label for 10.0.0.4/32" in text
        for text in path["assumed"]
    )


def test_labels_are_off_for_the_whole_router(perhop: Command, tmp_path: Path) -> None:
    configurations = files()
    configurations["p1"] += "no mpls ip\n"
    path = walk(perhop, write(tmp_path, configurations))
    assert (path["end"], path["device"], operations(path)) == ("path-unknown", "P1", [("PE1", "unlabeled")])


def test_ldp_by_the_process_of_ospf(perhop: Command, tmp_path: Path) -> None:
    """`mpls ldp autoconfig` includes all ports of the process."""
    configurations = {
        name: text.replace(" mpls ip\n", "").replace(
            "router ospf 1\n", "router ospf 1\n mpls ldp autoconfig\n"
        )
        for name, text in files().items()
    }
    path = walk(perhop, write(tmp_path, configurations))
    assert operations(path) == [("PE1", "impose"), ("P1", "swap"), ("P2", "pop")]


VPN = "VRF RED of PE2"


def test_a_packet_of_a_vpn_has_two_labels(perhop: Command, tmp_path: Path) -> None:
    """RFC 4364 §5: the label of the VPN is below, and reaches PE2 with its EXP."""
    path = walk(perhop, write(tmp_path, vpn_files(), VPN_ROUTES))
    assert hops(path) == [
        ("CE1", "", "fifo"),
        ("PE1", f"{TO_PE2} exp 5, {VPN} exp 5", "EXP5"),
        ("P1", f"{TO_PE2} exp 5, {VPN} exp 5", "EXP5"),
        ("P2", f"{VPN} exp 5", "EXP5"),
        ("PE2", "", "DSCP-EF"),
        ("CE2", "", "fifo"),
    ]
    assert operations(path) == [("PE1", "impose"), ("P1", "swap"), ("P2", "pop"), ("PE2", "pop")]
    assert (path["end"], path["exp_changes"]) == ("delivered", [])
    assert any("leads to the VRF RED, which has the same name" in text for text in path["assumed"])


def test_the_label_below_keeps_its_exp(perhop: Command, tmp_path: Path) -> None:
    """P1 changes only the label at the top, which P2 removes: PE2 receives the EXP of the imposition."""
    configurations = vpn_files()
    configurations["p1"] = with_input(
        configurations["p1"],
        "GigabitEthernet0/0",
        "set mpls experimental topmost 1",
        "match mpls experimental topmost 5",
    )
    path = walk(perhop, write(tmp_path, configurations, VPN_ROUTES))
    assert hops(path)[2:5] == [
        ("P1", f"{TO_PE2} exp 1, {VPN} exp 5", "EXP1"),
        ("P2", f"{VPN} exp 5", "EXP5"),
        ("PE2", "", "DSCP-EF"),
    ]
    changes = [(change["device"], change["from"], change["to"]) for change in path["exp_changes"]]
    assert changes == [("P1", 5, 1), ("P2", 1, 5)]


def test_a_vpn_needs_labels_on_the_whole_path(perhop: Command, tmp_path: Path) -> None:
    configurations = vpn_files()
    configurations["p2"] = configurations["p2"].replace(" mpls ip\n", "", 1)
    path = walk(perhop, write(tmp_path, configurations, VPN_ROUTES))
    assert (path["end"], path["device"]) == ("path-unknown", "P1")
    assert "GigabitEthernet0/0 of P2 has no LDP" in path["because"]


def test_a_vpn_without_routes_is_not_guessed(perhop: Command, tmp_path: Path) -> None:
    path = walk(perhop, write(tmp_path, vpn_files()))
    assert (path["end"], path["device"]) == ("path-unknown", "PE1")
    assert "show ip route vrf RED" in path["help"]


def test_the_text_shows_labels_and_exp(perhop: Command, tmp_path: Path) -> None:
    folder = write(tmp_path, vpn_files(), VPN_ROUTES)
    ended = perhop("trace", folder, "--from", "10.1.0.5", "--to", "10.2.0.9", "--packet", "udp dscp ef")
    there = ended.out.partition("back:")[0]
    assert f"adds labels {TO_PE2}, {VPN}: 10.2.0.0/24 in the VRF RED is behind 10.0.0.4 of PE2" in there
    assert f"leaves with labels: {TO_PE2} exp 5, {VPN} exp 5" in there
    assert "exp: 5, kept" in there


def test_the_matrix_shows_the_fate_of_codepoint_and_exp(perhop: Command, tmp_path: Path) -> None:
    configurations = files()
    configurations["p1"] = with_input(
        configurations["p1"],
        "GigabitEthernet0/0",
        "set mpls experimental topmost 1",
        "match mpls experimental topmost 5",
    )
    folder = write(tmp_path, configurations)
    rows: list[dict[str, Any]] = perhop("trace", folder, "--matrix", "--json").json()["matrix"]
    there = [row for row in rows if row["from"].startswith("CE1")]
    assert {row["fate"] for row in there} == {"kept"}
    exp = {dscp: row["exp"] for row in there for dscp in row["dscp"]}
    assert exp["ef"]["fate"] == "changed"
    assert (exp["ef"]["at"]["device"], exp["ef"]["at"]["to"]) == ("P1", 1)
    assert exp["af41"] == {"fate": "kept"}
    back = [row for row in rows if row["from"].startswith("CE2")]
    assert [row["exp"] for row in back] == [{"fate": "kept"}]
    text = perhop("trace", folder, "--matrix").out
    assert "kept, exp changed to 1 at P1" in text


def test_a_run_names_the_missing_labels(perhop: Command, tmp_path: Path) -> None:
    found = perhop("run", write(tmp_path, files()), "--duration", "1s", "--json", "-q").json()
    assert any(
        text.startswith("PE1: packets leave with MPLS labels, but packets of a run have none")
        for text in found["not_modeled"]
    )


def test_a_router_of_junos_classifies_by_exp_at_the_input(perhop: Command, tmp_path: Path) -> None:
    """The forwarding class of EXP 5 decides the queue, also after the removal of the label."""
    configurations = files()
    del configurations["p2"]
    folder = write(tmp_path, configurations, CORE_ROUTES)
    (folder / "p2.conf").write_text(JUNOS_P2)
    path = walk(perhop, folder)
    assert hops(path)[2:5] == [
        ("P1", f"{TO_PE2} exp 5", "EXP5"),
        ("P2", "", "expedited-forwarding"),
        ("PE2", "", "DSCP-EF"),
    ]
    assert operations(path) == [("PE1", "impose"), ("P1", "swap"), ("P2", "pop")]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("set interfaces ge-0/0/0 unit 0 family mpls\n", "ge-0/0/0.0 of P2 has no LDP"),
        ("set protocols ldp interface ge-0/0/0.0\n", "ge-0/0/0.0 of P2 has no LDP"),
        # Ordered control: P2 has a label for P1 only if PE2 has sent one (RFC 5036 §2.6.1.2).
        ("set protocols ldp interface ge-0/0/1.0\n", "P2 announces no label without a label of its next hop"),
    ],
)
def test_junos_needs_all_statements_for_labels(
    perhop: Command, tmp_path: Path, statement: str, reason: str
) -> None:
    configurations = files()
    del configurations["p2"]
    folder = write(tmp_path, configurations, CORE_ROUTES)
    (folder / "p2.conf").write_text(JUNOS_P2.replace(statement, ""))
    path = walk(perhop, folder)
    assert operations(path)[-1] == ("P1", "unlabeled")
    assert any(reason in stage.get("because", "") for hop in path["hops"] for stage in hop["stages"])


def test_an_edge_of_ios_xr_receives_explicit_null(perhop: Command, tmp_path: Path) -> None:
    """The input policy of PE2 sees the label, and classifies by its EXP."""
    folder = write(tmp_path, {**files(), "pe2": XR_PE2}, CORE_ROUTES)
    path = walk(perhop, folder)
    assert hops(path)[3] == ("P2", "explicit null exp 5", "EXP5")
    classes = [
        stage["class"]
        for hop in path["hops"]
        for stage in hop["stages"]
        if stage["stage"] == "class" and hop["device"] == "PE2"
    ]
    assert (classes, path["end"], path["dscp"]) == (["EXP5"], "delivered", "ef")
