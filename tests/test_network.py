"""A folder of configurations as a network: `perhop network`, `perhop trace DIR`, `perhop check DIR`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

CLASSES = """\
class-map match-any VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority percent 20
 class class-default
  fair-queue
"""


def branch(number: int, further: str = "") -> str:
    """Return a branch router with a LAN 10.NUMBER.0.0/24 and a line to the hub."""
    return (
        f"hostname B{number}\n{CLASSES}"
        "interface GigabitEthernet0/0\n"
        f" ip address 192.0.2.{4 * number + 1} 255.255.255.252\n"
        " service-policy output WAN\n"
        "interface GigabitEthernet0/1\n"
        f" ip address 10.{number}.0.1 255.255.255.0\n"
        "router ospf 1\n passive-interface GigabitEthernet0/1\n"
        f" network 0.0.0.0 255.255.255.255 area 0\n{further}"
    )


def hub(branches: int, further: str = "") -> str:
    """Return the hub, whose port 0/N leads to branch N."""
    ports = "".join(
        f"interface GigabitEthernet0/{number}\n ip address 192.0.2.{4 * number + 2} 255.255.255.252\n"
        f" service-policy output WAN\n{further if number == 1 else ''}"
        for number in range(1, branches + 1)
    )
    return f"hostname HUB\n{CLASSES}{ports}router ospf 7\n network 192.0.2.0 0.0.0.255 area 0\n"


def network(folder: Path, **files: str) -> Path:
    (folder / "configs").mkdir()
    for name, text in files.items():
        (folder / "configs" / f"{name}.cfg").write_text(text)
    return folder


@pytest.fixture
def star(tmp_path: Path) -> Path:
    return network(tmp_path, b1=branch(1), b2=branch(2), b3=branch(3), hub=hub(3))


def walked(perhop: Command, folder: Path, *arguments: str) -> dict[str, Any]:
    ended = perhop("trace", folder, "--json", *arguments)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = ended.json()["walks"][0]
    return found


def test_links_are_the_subnets_that_devices_share(perhop: Command, star: Path) -> None:
    found = perhop("network", star, "--json").json()
    assert [device["name"] for device in found["devices"]] == ["B1", "B2", "B3", "HUB"]
    ends = [[f"{end['device']}:{end['interface']}" for end in link["ends"]] for link in found["links"]]
    assert ends == [
        [f"B{number}:GigabitEthernet0/0", f"HUB:GigabitEthernet0/{number}"] for number in (1, 2, 3)
    ]
    assert [link["subnet"] for link in found["links"]] == [f"192.0.2.{4 * number}/30" for number in (1, 2, 3)]
    assert [site["subnet"] for site in found["sites"]] == [f"10.{number}.0.0/24" for number in (1, 2, 3)]
    printed = perhop("network", star).out
    assert "B1:GigabitEthernet0/0 - HUB:GigabitEthernet0/1  (both in 192.0.2.4/30)" in printed


def test_a_packet_is_traced_to_its_host_and_back(perhop: Command, star: Path) -> None:
    walk = walked(
        perhop, star, "--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp 16384 > 16385 dscp ef"
    )
    (there,), (back,) = walk["there"]["paths"], walk["back"]["paths"]
    assert [hop["device"] for hop in there["hops"]] == ["B1", "HUB", "B3"]
    assert [hop["queue"] for hop in there["hops"]] == ["VOICE", "VOICE", "fifo"]
    assert (there["end"], there["device"], there["interface"]) == ("delivered", "B3", "GigabitEthernet0/1")
    assert [hop["device"] for hop in back["hops"]] == ["B3", "HUB", "B1"]
    assert walk["back"]["packet"].startswith("udp 10.3.0.9:16385 > 10.1.0.5:16384 dscp ef")
    assert (there["dscp"], there["changes"]) == ("ef", [])


def test_an_error_of_the_reply_names_the_option_of_its_sender(perhop: Command, star: Path) -> None:
    ended = perhop("trace", star, "--from", "10.1.0.5", "--to", "10.9.0.20")
    assert ended.code == 2
    reply = "the reply from --to 10.9.0.20: udp 10.9.0.20:49152 > 10.1.0.5:49152"
    assert f"{reply} dscp default: no device" in ended.err or f"{reply}: no device" in ended.err


def test_a_mark_that_changes_is_named_with_its_line(perhop: Command, tmp_path: Path) -> None:
    reset = "policy-map RESET\n class class-default\n  set dscp default\n"
    changed = reset + hub(2, " service-policy input RESET\n")
    folder = network(tmp_path, b1=branch(1), b2=branch(2), hub=changed)
    ended = perhop("trace", folder, "--from", "10.1.0.5", "--to", "10.2.0.9", "--packet", "udp dscp ef")
    assert "mark: dscp default, changed: ef -> default at HUB, line 2, line 3" in ended.out
    rows = perhop("trace", folder, "--matrix", "--json").json()["matrix"]
    voice = {(row["from"], row["to"]): row["fate"] for row in rows if "ef" in row["dscp"]}
    assert voice["B1 10.1.0.0/24", "B2 10.2.0.0/24"] == "changed"
    assert voice["B2 10.2.0.0/24", "B1 10.1.0.0/24"] == "kept"
    checked = perhop("check", folder, "--json").json()
    found = [
        (finding["file"], finding["line"])
        for finding in findings(checked)
        if finding["rule"] == "network-mark-changed"
    ]
    # The policy would be correct at a port towards hosts: its attachment is the fault.
    attached = changed.split("\n").index(" service-policy input RESET") + 1
    assert found == [(str(folder / "configs" / "hub.cfg"), attached)]


def findings(checked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all findings of `perhop check --json`, each with its file."""
    return [{"file": file["file"], **finding} for file in checked["files"] for finding in file["findings"]]


def test_a_shorter_path_is_taken_and_an_equal_one_is_named(perhop: Command, tmp_path: Path) -> None:
    """A triangle: the direct path costs 100, the path over the third router 1 + 1."""
    lines = {"r1": ("1.1", "2.1"), "r2": ("1.2", "3.1"), "r3": ("2.2", "3.2")}
    files = {}
    for name, (first, second) in lines.items():
        cost = " ip ospf cost 100\n" if name == "r1" else ""
        files[name] = (
            f"hostname {name}\n"
            f"interface GigabitEthernet0/0\n ip address 10.255.{first} 255.255.255.0\n{cost}"
            f"interface GigabitEthernet0/1\n ip address 10.255.{second} 255.255.255.0\n"
            f"interface GigabitEthernet0/2\n ip address 10.{name[1]}.0.1 255.255.255.0\n"
            "router ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n"
        )
    folder = network(tmp_path, **files)
    (there,) = walked(perhop, folder, "--from", "10.1.0.5", "--to", "10.2.0.5")["there"]["paths"]
    assert [hop["device"] for hop in there["hops"]] == ["r1", "r3", "r2"]
    back = walked(perhop, folder, "--from", "10.1.0.5", "--to", "10.2.0.5")["back"]["paths"][0]
    assert [hop["device"] for hop in back["hops"]] == ["r2", "r1"]


def test_a_route_that_is_not_computed_ends_the_walk(perhop: Command, tmp_path: Path) -> None:
    by_eigrp = branch(1).replace("router ospf 1", "ip route 0.0.0.0 0.0.0.0 192.0.2.6\nrouter eigrp 1")
    folder = network(tmp_path, b1=by_eigrp, b2=branch(2), hub=hub(2))
    arguments = ("--from", "10.1.0.5", "--to", "10.2.0.9")
    there = walked(perhop, folder, *arguments)["there"]["paths"][0]
    assert (there["end"], there["device"]) == ("path-unknown", "B1")
    assert "router eigrp 1" in there["because"]
    routes = tmp_path / "routes.csv"
    routes.write_text("device,prefix,next_hop\nB1,10.2.0.0/24,192.0.2.6\n")
    there = walked(perhop, folder, *arguments, "--routes", str(routes))["there"]["paths"][0]
    assert (there["end"], [hop["device"] for hop in there["hops"]]) == ("delivered", ["B1", "HUB", "B2"])


def test_a_tunnel_hides_the_mark_and_its_end_shows_it_again(perhop: Command, tmp_path: Path) -> None:
    def ends(own: int, other: int) -> str:
        return (
            f"interface Tunnel0\n ip address 172.16.0.{own} 255.255.255.252\n"
            f" tunnel source GigabitEthernet0/0\n tunnel destination 192.0.2.{4 * other + 1}\n"
            f"ip route 10.{other}.0.0 255.255.255.0 Tunnel0\n"
        )

    folder = network(tmp_path, b1=branch(1, ends(1, 2)), b2=branch(2, ends(2, 1)), hub=hub(2))
    there = walked(
        perhop, folder, "--from", "10.1.0.5", "--to", "10.2.0.9", "--packet", "udp dscp ef len 200"
    )["there"]["paths"][0]
    assert [hop["device"] for hop in there["hops"]] == ["B1", "HUB", "B2", "B2"]
    assert there["hops"][0]["packet"].startswith("47 192.0.2.5 > 192.0.2.9 dscp ef len 224")
    assert there["hops"][2]["arrives"] == "GigabitEthernet0/0"
    assert (there["hops"][3]["arrives"], there["end"]) == ("Tunnel0", "delivered")


def test_facts_are_written_and_read_again(perhop: Command, star: Path) -> None:
    before = perhop("network", star, "--json").json()
    assert perhop("network", star, "--write").code == 0
    after = perhop("network", star, "--json").json()
    ends = [[end["interface"] for end in link["ends"]] for link in before["links"]]
    assert [[end["interface"] for end in link["ends"]] for link in after["links"]] == ends
    assert {link["reason"] for link in after["links"]} == {"written"}
    refused = perhop("network", star, "--write")
    assert (refused.code, "exists" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("links: [[R9:Gi0/0, HUB:Gi0/1]]\n", "there is no device `R9`"),
        ("links: [[B1:Gi9/9, HUB:Gi0/1]]\n", "device B1 has no interface `Gi9/9`"),
        ("linkz: []\n", "there is no key `linkz`"),
        ("routes: { R9: [10.0.0.0/8 = 192.0.2.1] }\n", "there is no device `R9`"),
        ("hosts: [phone]\n", "`hosts` has the wrong type or keys"),
        ("links: [\n", "network.yaml, line 2"),
    ],
)
def test_wrong_facts_are_refused(perhop: Command, star: Path, text: str, message: str) -> None:
    (star / "network.yaml").write_text(text)
    ended = perhop("network", star)
    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_a_lab_of_containerlab_names_devices_and_links(perhop: Command, tmp_path: Path) -> None:
    folder = network(tmp_path, b1=branch(1).replace("hostname B1\n", ""), hub=hub(1))
    lab = {
        "name": "lab",
        "topology": {
            "nodes": {
                "edge": {"startup-config": "configs/b1.cfg"},
                "core": {"startup-config": "configs/hub.cfg"},
            },
            "links": [
                {"endpoints": ["edge:GigabitEthernet0/0", "core:GigabitEthernet0/1"]},
                {"endpoints": ["edge:eth9", "core:eth9"]},
            ],
        },
    }
    (tmp_path / "lab.clab.yml").write_text(json.dumps(lab))
    found = perhop("network", folder, "--json").json()
    assert [device["name"] for device in found["devices"]] == ["core", "edge"]
    assert [(link["reason"], link["source"]) for link in found["links"]] == [("cable", "lab.clab.yml")]
    assert any("eth9" in remark for remark in found["remarks"])


def test_a_folder_without_a_configuration_is_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here\n")
    ended = perhop("network", tmp_path)
    assert (ended.code, "no file below it is a configuration" in ended.err) == (2, True)


def test_a_switch_that_is_not_simulated_is_read(perhop: Command, tmp_path: Path) -> None:
    """A switch's routes do not depend on queues; a walk names the queues that are not simulated."""
    switch = f"switch 1 provision ws-c4500x-32\n{branch(1)}"
    folder = network(tmp_path, b1=switch, b2=branch(2), hub=hub(2))
    read = perhop("network", folder)
    reason = "this is a configuration of Catalyst 4500, which perhop does not simulate"
    assert "the queues of B1 are not simulated" in read.out and reason in read.out
    walked = perhop("trace", folder, "--from", "10.1.0.5", "--to", "10.2.0.9", "--packet", "udp dscp ef")
    assert walked.code == 0 and reason in walked.out, walked.out
    ran = perhop("run", folder, "--load", "busy")
    assert ran.code == 2 and reason in ran.err, ran.out


def test_options_of_a_device_and_of_a_network_are_not_mixed(perhop: Command, star: Path) -> None:
    ended = perhop("trace", star, "--from", "10.1.0.5", "--to", "10.2.0.9", "--reach", "all")
    assert (ended.code, "--reach" in ended.err, "--matrix" in ended.err) == (2, True, True)
    file = star / "configs" / "b1.cfg"
    ended = perhop("trace", file, "--packet", "udp 10.1.0.5:1 > 10.2.0.9:1", "--matrix")
    assert (ended.code, "--matrix" in ended.err, "--reach" in ended.err) == (2, True, True)


def test_check_shows_findings_between_devices_in_every_format(perhop: Command, tmp_path: Path) -> None:
    """A count alone names no line; the report of each file lists them with its others."""
    policed = "policy-map IN\n class VOICE\n  police cir 5000000\n"
    ports = hub(2, " service-policy input IN\n").replace("interface", policed + "interface", 1)
    folder = network(tmp_path, b1=branch(1), b2=branch(2), hub=ports)
    short = perhop("check", folder)
    assert re.search(r"hub\.cfg:\d+: warning\[network-policer-below-guarantee\]", short.out), short.out
    full = perhop("check", folder, "--output-format", "full")
    assert full.out.count("between devices:") == 2 and "network-policer-below-guarantee" in full.out
    ignored = perhop("check", folder, "--ignore", "network-policer-below-guarantee")
    assert "network-policer-below-guarantee" not in ignored.out
    assert perhop("check", folder, "--strict").code == 1
