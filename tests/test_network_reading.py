"""Reading a network: outputs of devices, descriptions of labs, virtual routing tables, bundles, tunnels.

The layouts of outputs are those of Cisco's command references; their contents are written here.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

CODES = "Codes: L - local, C - connected, S - static, B - BGP, O - OSPF, D - EIGRP\n"


def router(name: str, further: str = "", **ports: str) -> str:
    """Return a router; ports have addresses `10.0.0.1/24`, and `_` is `/` in their names."""
    text = f"hostname {name}\n"
    for port, address in ports.items():
        number, _, length = address.partition("/")
        mask = {"24": "255.255.255.0", "30": "255.255.255.252", "32": "255.255.255.255"}[length]
        text += f"interface {port.replace('_', '/')}\n ip address {number} {mask}\n"
    return text + further


def network(folder: Path, **files: str) -> Path:
    """Write configurations."""
    (folder / "configs").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "configs" / f"{name}.cfg").write_text(text)
    return folder


def line_of_three(folder: Path, further: str = "") -> Path:
    """Write R1 - R2 - R3, with hosts in 10.1.0.0/24 at R1 and 10.3.0.0/24 at R3."""
    return network(
        folder,
        r1=router("R1", further, Gi0_0="192.0.2.1/30", Gi0_1="10.1.0.1/24"),
        r2=router("R2", further, Gi0_0="192.0.2.2/30", Gi0_1="192.0.2.5/30"),
        r3=router("R3", further, Gi0_0="192.0.2.6/30", Gi0_1="10.3.0.1/24"),
    )


def summary(perhop: Command, folder: Path) -> dict[str, Any]:
    ended = perhop("network", folder, "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = ended.json()
    return found


def links(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the ends of each link, and its reason, in order of the ends."""
    return sorted(
        (" - ".join(f"{end['device']}:{end['interface']}" for end in link["ends"]), link["reason"])
        for link in found["links"]
    )


def walked(perhop: Command, folder: Path, source: str, destination: str, *options: str) -> dict[str, Any]:
    """Return the first path to a destination."""
    ended = perhop("trace", folder, "--from", source, "--to", destination, "--json", *options)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = ended.json()["walks"][0]["there"]["paths"][0]
    return found


def hops(path: dict[str, Any]) -> list[str]:
    return [hop["device"] for hop in path["hops"]]


R1_ROUTES = f"""\
R1#show ip route
{CODES}
Gateway of last resort is not set

      10.0.0.0/8 is variably subnetted, 3 subnets, 2 masks
C        10.1.0.0/24 is directly connected, GigabitEthernet0/1
L        10.1.0.1/32 is directly connected, GigabitEthernet0/1
D        10.3.0.0/24
           [90/3072] via 192.0.2.2, 1d02h, GigabitEthernet0/0
      192.0.2.0/24 is variably subnetted, 2 subnets, 2 masks
C        192.0.2.0/30 is directly connected, GigabitEthernet0/0
"""
R2_ROUTES = (
    R1_ROUTES.replace("R1#", "R2#").replace("192.0.2.2,", "192.0.2.6,").replace("0/0\n   ", "0/1\n   ")
)


def test_routes_that_devices_print_lead_through_a_protocol_that_is_not_computed(
    perhop: Command, tmp_path: Path
) -> None:
    folder = line_of_three(tmp_path, "router eigrp 1\n network 0.0.0.0\n")
    before = walked(perhop, folder, "10.1.0.5", "10.3.0.9")
    assert (before["end"], before["device"]) == ("path-unknown", "R1")
    assert "show ip route" in before["help"]
    (folder / "R1-routes.txt").write_text(R1_ROUTES)
    r2 = R2_ROUTES.replace(
        "192.0.2.0/30 is directly connected, GigabitEthernet0/0",
        "192.0.2.4/30 is directly connected, GigabitEthernet0/1",
    )
    (folder / "R2-routes.txt").write_text(
        r2.replace("1d02h, GigabitEthernet0/0", "1d02h, GigabitEthernet0/1")
    )
    path = walked(perhop, folder, "10.1.0.5", "10.3.0.9")
    assert (path["end"], hops(path)) == ("delivered", ["R1", "R2", "R3"])


@pytest.mark.parametrize("place", ["file", "folder", "name of the file"])
def test_routes_are_given_by_an_option(perhop: Command, tmp_path: Path, place: str) -> None:
    folder = line_of_three(tmp_path / "net", "") if (tmp_path / "net").mkdir() is None else tmp_path
    given = tmp_path / "given"
    given.mkdir()
    text = R1_ROUTES if place != "name of the file" else R1_ROUTES.partition("\n")[2]
    (given / "r1.txt").write_text(text)
    option = given if place == "folder" else given / "r1.txt"
    path = walked(perhop, folder, "10.1.0.5", "10.3.0.9", "--routes", str(option))
    # R2 has no route to the hosts of R3, so that the path ends at R2.
    assert (path["end"], path["device"], hops(path)) == ("path-unknown", "R2", ["R1"])


def test_a_printed_table_replaces_computed_routes(perhop: Command, tmp_path: Path) -> None:
    """A static route that is not in the table, and an interface that is not up, are not used."""
    static = "ip route 10.3.0.0 255.255.255.0 192.0.2.2\n"
    folder = network(
        tmp_path,
        r1=router("R1", static, Gi0_0="192.0.2.1/30", Gi0_1="10.1.0.1/24"),
        r2=router("R2", Gi0_0="192.0.2.2/30", Gi0_1="10.3.0.1/24"),
    )
    assert walked(perhop, folder, "10.1.0.5", "10.3.0.9")["end"] == "delivered"
    table = "\n".join(line for line in R1_ROUTES.splitlines() if "10.3" not in line and "[90" not in line)
    (folder / "R1.txt").write_text(table)
    assert walked(perhop, folder, "10.1.0.5", "10.3.0.9")["end"] == "path-unknown"


def test_an_output_of_an_unknown_device_is_named(perhop: Command, tmp_path: Path) -> None:
    folder = line_of_three(tmp_path)
    (folder / "other.txt").write_text(R1_ROUTES.replace("R1#", "R9#"))
    left_out = summary(perhop, folder)["left_out"]
    assert [output["file"] for output in left_out] == ["other.txt"]
    assert "begin the name with that of the device" in left_out[0]["because"]


CDP = """\
Capability Codes: R - Router, T - Trans Bridge, B - Source Route Bridge

Device ID        Local Intrfce     Holdtme    Capability  Platform  Port ID
R2.example.com   Gig 0/0           137              R S I  CISCO2911 Gig 0/0
"""
LLDP = """\
R3#show lldp neighbors detail
------------------------------------------------
Local Intf: Gi0/0
Chassis id: 0011.2233.4455
Port id: Gi0/1
Port Description: to R3
System Name: R2.example.com

Total entries displayed: 1
"""


def test_neighbors_that_devices_print_are_links(perhop: Command, tmp_path: Path) -> None:
    """Printed neighbors are links even if the subnets differ, and take precedence over equal subnets."""
    folder = line_of_three(tmp_path)
    network(folder, r4=router("R4", Gi0_0="192.0.2.1/30"))
    assert summary(perhop, folder)["links"][0]["reason"] == "subnet", "before: a guess, with R4 left out"
    (folder / "R1-cdp.txt").write_text(CDP)
    (folder / "session.txt").write_text(LLDP)
    found = summary(perhop, folder)
    assert ("R1:GigabitEthernet0/0 - R2:GigabitEthernet0/0", "cable") in links(found)
    assert ("R2:GigabitEthernet0/1 - R3:GigabitEthernet0/0", "cable") in links(found)
    assert {link.get("source") for link in found["links"]} == {"R1-cdp.txt (CDP)", "session.txt (LLDP)"}
    assert "cable of R1-cdp.txt (CDP), both in 192.0.2.0/30" in perhop("network", folder).out


def gns3(*cables: tuple[str, str], switches: tuple[str, ...] = ()) -> str:
    """Return a project of GNS3 2.2 with the keys that it writes for nodes and links."""
    names = sorted({end.partition(":")[0] for cable in cables for end in cable})
    nodes = [
        {
            "name": name,
            "node_id": f"0000-{name}",
            "node_type": "ethernet_switch" if name in switches else "dynamips",
            "properties": {} if name in switches else {"slot0": "C7200-IO-FE", "slot1": "PA-8T"},
        }
        for name in names
    ]

    def end(written: str) -> dict[str, Any]:
        name, _, label = written.partition(":")
        adapter, _, port = label[1:].partition("/")
        # A label that the author moved away has another text.
        text = label if label[0] != "x" else "to the core"
        return {
            "node_id": f"0000-{name}",
            "adapter_number": int(adapter),
            "port_number": int(port or 0),
            "label": {"text": text},
        }

    links = [{"nodes": [end(near), end(other)]} for near, other in cables]
    return json.dumps({"name": "lab", "version": "2.2.46", "topology": {"nodes": nodes, "links": links}})


def test_a_project_of_gns3_names_devices_and_cables(perhop: Command, tmp_path: Path) -> None:
    """Two labs in one project have the same subnets; their cables distinguish them."""
    for name, address in (("R1", "1"), ("R2", "2"), ("R3", "1"), ("R4", "2")):
        inside = tmp_path / "project-files" / "dynamips" / f"0000-{name}" / "configs"
        inside.mkdir(parents=True)
        lines = router("Router", Fa0_0=f"192.0.2.{address}/30", Serial1_0=f"198.51.100.{address}/30")
        (inside / "i1_startup-config.cfg").write_text(lines)
        (inside / "i1_private-config.cfg").write_text("\nend\n")
    cables = (("R1:f0/0", "R2:f0/0"), ("R3:f0/0", "R4:f0/0"), ("R1:x1/0", "R3:s1/0"))
    (tmp_path / "lab.gns3").write_text(gns3(*cables))
    found = summary(perhop, tmp_path)
    assert [device["name"] for device in found["devices"]] == ["R1", "R2", "R3", "R4"]
    assert links(found) == [
        ("R1:FastEthernet0/0 - R2:FastEthernet0/0", "cable"),
        ("R1:Serial1/0 - R3:Serial1/0", "cable"),
        ("R3:FastEthernet0/0 - R4:FastEthernet0/0", "cable"),
    ]
    assert found["left_out"] == []


def test_a_switch_of_a_lab_connects_the_ports_of_one_subnet(perhop: Command, tmp_path: Path) -> None:
    for name, address in (("R1", "1"), ("R2", "2"), ("R3", "3")):
        text = router(name, Fa0_0=f"10.0.0.{address}/24")
        (tmp_path / f"{name}_startup-config.cfg").write_text(text)
    cables = (("R1:f0/0", "SW:e0"), ("R2:f0/0", "SW:e1"), ("R3:f0/0", "HUB:e0"))
    (tmp_path / "lab.gns3").write_text(gns3(*cables, switches=("SW", "HUB")))
    found = summary(perhop, tmp_path)
    assert links(found) == [("R1:FastEthernet0/0 - R2:FastEthernet0/0", "cable")]


UNL = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<lab name="lab" version="1">
  <topology>
    <nodes>
      <node id="1" name="R1" type="iol" template="iol">
        <interface id="0" name="e0/0" type="ethernet" network_id="1"/>
        <interface id="2" name="s2/0" type="serial" remote_id="3" remote_if="2"/>
      </node>
      <node id="2" name="R2" type="iol" template="iol">
        <interface id="0" name="e0/1" type="ethernet" network_id="1"/>
      </node>
      <node id="3" name="R3" type="iol" template="iol">
        <interface id="2" name="s2/0" type="serial" remote_id="1" remote_if="2"/>
      </node>
    </nodes>
    <networks><network id="1" type="bridge" name="Net-1" left="1" top="1"/></networks>
  </topology>
</lab>
"""


def test_a_lab_of_eve_ng_names_cables(perhop: Command, tmp_path: Path) -> None:
    ports = {"R1": {"Ethernet0_0": "192.0.2.1/30", "Serial2_0": "192.0.2.5/30"}}
    ports |= {"R2": {"Ethernet0_1": "192.0.2.2/30"}, "R3": {"Serial2_0": "192.0.2.6/30"}}
    for name, own in ports.items():
        (tmp_path / f"{name}_startup-config.cfg").write_text(router(name, **own))
    (tmp_path / "lab.unl").write_text(UNL)
    assert links(summary(perhop, tmp_path)) == [
        ("R1:Ethernet0/0 - R2:Ethernet0/1", "cable"),
        ("R1:Serial2/0 - R3:Serial2/0", "cable"),
    ]


def test_configurations_inside_a_lab_of_eve_ng_are_read(perhop: Command, tmp_path: Path) -> None:
    """An exported configuration takes precedence over the one inside."""
    configs = ""
    for number, port in ((1, "Ethernet0_0"), (2, "Ethernet0_1")):
        text = router(f"R{number}", **{port: f"192.0.2.{number}/30"})
        configs += f'<config id="{number}">{base64.b64encode(text.encode()).decode()}</config>'
    unl = UNL.replace("</lab>", f"<objects><configs>{configs}</configs></objects></lab>")
    (tmp_path / "lab.unl").write_text(unl)
    (tmp_path / "R2_startup-config.cfg").write_text(router("R2", Ethernet0_1="192.0.2.2/30"))
    found = summary(perhop, tmp_path)
    files = {device["name"]: device["file"] for device in found["devices"]}
    assert files == {"R1": "lab.unl/R1", "R2": "R2_startup-config.cfg"}
    assert links(found) == [("R1:Ethernet0/0 - R2:Ethernet0/1", "cable")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("lab.gns3", "{}[", "not a project of GNS3"), ("lab.unl", "<lab>", "not a lab of EVE-NG")],
)
def test_a_damaged_lab_is_refused(
    perhop: Command, tmp_path: Path, name: str, text: str, message: str
) -> None:
    (line_of_three(tmp_path) / name).write_text(text)
    ended = perhop("network", tmp_path)
    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_trees_of_rancid_and_oxidized_are_read(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "router.db").write_text("r1.example.com;cisco;up\n")
    rancid = "!RANCID-CONTENT-TYPE: cisco\n!\n!Chassis type: 2911 - a 2900 router\n!\nversion 15.4\n!\n"
    (tmp_path / "configs" / "r1.example.com").write_text(
        rancid + router("R1", Gi0_0="192.0.2.1/30") + "end\n"
    )
    oxidized = (
        "R2#show running-config\nBuilding configuration...\n\nCurrent configuration : 1234 bytes\n!\n"
        "! Last configuration change at 10:00:00 UTC Mon Jan 1 2024\nversion 15.4\n"
    )
    (tmp_path / "r2").write_text(oxidized + router("R2", Gi0_0="192.0.2.2/30") + "end\n\nR2#\n")
    found = summary(perhop, tmp_path)
    assert [device["name"] for device in found["devices"]] == ["R1", "R2"]
    assert links(found) == [("R1:GigabitEthernet0/0 - R2:GigabitEthernet0/0", "subnet")]
    assert (found["passed_over"], found["left_out"]) == (1, [])


def provider(further: str = "") -> dict[str, str]:
    """Return two provider routers with the customers RED and BLUE at each, whose addresses overlap."""
    texts = {}
    for number in (1, 2):
        other = 3 - number
        text = f"hostname PE{number}\nvrf definition RED\nvrf definition BLUE\n"
        text += f"interface Loopback0\n ip address 203.0.113.{number} 255.255.255.255\n"
        text += f"interface Gi0/0\n ip address 192.0.2.{number} 255.255.255.252\n"
        for port, vrf in ((1, "RED"), (2, "BLUE")):
            text += f"interface Gi0/{port}\n vrf forwarding {vrf}\n"
            text += f" ip address 10.{number if vrf == 'RED' else 8 + number}.0.1 255.255.255.0\n"
        text += f"ip route 203.0.113.{other} 255.255.255.255 192.0.2.{other}\nrouter bgp 65000\n{further}"
        texts[f"pe{number}"] = text
    return texts


def test_a_site_in_a_vrf_reaches_another_only_by_a_route(perhop: Command, tmp_path: Path) -> None:
    folder = network(tmp_path, **provider())
    lost = walked(perhop, folder, "10.1.0.5", "10.9.0.9")
    assert (lost["end"], lost["device"]) == ("path-unknown", "PE1")
    assert "in the VRF RED" in lost["because"]
    assert "router bgp 65000" in lost["because"]
    assert "show ip route vrf RED" in lost["help"]
    (folder / "network.yaml").write_text("routes: {PE1: [vrf RED 10.9.0.0/24 = Gi0/2]}\n")
    path = walked(perhop, folder, "10.1.0.5", "10.9.0.9")
    assert (path["end"], path["interface"]) == ("delivered", "GigabitEthernet0/2")


def test_a_vpn_path_needs_labels_between_the_edges(perhop: Command, tmp_path: Path) -> None:
    folder = network(tmp_path, **provider())
    table = (
        f"PE1#show ip route vrf RED\n\nRouting Table: RED\n{CODES}\nGateway of last resort is not set\n\n"
        "      10.0.0.0/8 is variably subnetted, 3 subnets, 2 masks\n"
        "C        10.1.0.0/24 is directly connected, GigabitEthernet0/1\n"
        "B        10.2.0.0/24 [200/0] via 203.0.113.2, 00:08:01\n"
    )
    (folder / "PE1.txt").write_text(table)
    path = walked(perhop, folder, "10.1.0.5", "10.2.0.9")
    assert (path["end"], path["device"]) == ("path-unknown", "PE1")
    assert "203.0.113.2 of PE2" in path["because"]
    assert "GigabitEthernet0/0 of PE1 has no LDP" in path["because"]
    for file in (folder / "configs").iterdir():
        file.write_text(file.read_text().replace("255.255.255.252\n", "255.255.255.252\n mpls ip\n"))
    path = walked(perhop, folder, "10.1.0.5", "10.2.0.9")
    assert (path["end"], path["device"]) == ("delivered", "PE2")
    assert [label["label"] for label in path["hops"][0]["labels"]] == ["VRF RED of PE2"]


def test_the_members_of_a_bundle_are_one_link(perhop: Command, tmp_path: Path) -> None:
    files = {}
    for number in (1, 2):
        members = "".join(f"interface Gi0/{port}\n channel-group 1 mode active\n" for port in (1, 2))
        files[f"r{number}"] = router(f"R{number}", members, **{"Port-channel1": f"192.0.2.{number}/30"})
    folder = network(tmp_path, **files)
    (folder / "R1.txt").write_text(
        CDP.replace(".example.com", "            ").replace("Gig 0/0", "Gig 0/1")
        + "R2               Gig 0/2           137              R S I  CISCO2911 Gig 0/2\n"
    )
    assert links(summary(perhop, folder)) == [("R1:Port-channel1 - R2:Port-channel1", "cable")]


def test_a_dialer_is_linked_by_the_cable_of_its_line(perhop: Command, tmp_path: Path) -> None:
    """The addresses are negotiated, so that only the cable shows the link."""
    client = (
        "interface Gi0/0\n pppoe-client dial-pool-number 1\n"
        "interface Dialer1\n ip address negotiated\n encapsulation ppp\n dialer pool 1\n"
        "ip route 0.0.0.0 0.0.0.0 Dialer1\n"
    )
    server = (
        "interface Gi0/0\n pppoe enable group global\n"
        "interface Virtual-Template1\n ip unnumbered Loopback0\n"
        "ip route 10.1.0.0 255.255.255.0 Virtual-Template1\n"
    )
    folder = network(
        tmp_path,
        cpe=router("CPE", client, Gi0_1="10.1.0.1/24"),
        bras=router("BRAS", server, Loopback0="203.0.113.1/32", Gi0_1="10.3.0.1/24"),
    )
    (folder / "lab.clab.yml").write_text(
        json.dumps({"topology": {"nodes": {}, "links": [{"endpoints": ["CPE:Gi0/0", "BRAS:Gi0/0"]}]}})
    )
    assert links(summary(perhop, folder)) == [("BRAS:Virtual-Template1 - CPE:Dialer1", "cable")]
    path = walked(perhop, folder, "10.1.0.5", "10.3.0.9")
    assert (path["end"], hops(path)) == ("delivered", ["CPE", "BRAS"])


def dmvpn() -> dict[str, str]:
    """Return a hub and two spokes of a multipoint tunnel, whose outer addresses are in 192.0.2.0/24."""

    def tunnel(number: int, maps: str) -> str:
        return (
            f"interface Tunnel0\n ip address 172.16.0.{number} 255.255.255.0\n{maps}"
            " tunnel source GigabitEthernet0/0\n tunnel mode gre multipoint\n"
        )

    texts = {}
    for number in (1, 2, 3):
        maps = " ip nhrp map multicast dynamic\n"
        if number > 1:
            maps = " ip nhrp map 172.16.0.1 192.0.2.1\n ip nhrp nhs 172.16.0.1\n"
        others = [other for other in (1, 2, 3) if other != number]
        routes = "".join(
            f"ip route 10.{other}.0.0 255.255.255.0 172.16.0.{other if number == 1 else 1}\n"
            for other in others
        )
        ports = {"Gi0_0": f"192.0.2.{number}/24", "Gi0_1": f"10.{number}.0.1/24"}
        texts[f"r{number}"] = router(f"R{number}", tunnel(number, maps) + routes, **ports)
    return texts


def test_a_tunnel_with_several_ends_leads_to_the_next_hop(perhop: Command, tmp_path: Path) -> None:
    folder = network(tmp_path, **dmvpn())
    path = walked(perhop, folder, "10.2.0.5", "10.3.0.9", "--packet", "udp dscp ef len 200")
    assert (path["end"], path["device"]) == ("delivered", "R3")
    assert hops(path) == ["R2", "R1", "R1", "R3", "R3"]
    assert path["hops"][0]["packet"].startswith("47 192.0.2.2 > 192.0.2.1 dscp ef")
    assert path["hops"][2]["packet"].startswith("47 192.0.2.1 > 192.0.2.3 dscp ef")
