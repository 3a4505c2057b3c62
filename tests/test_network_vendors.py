"""A folder with routers of several vendors is one network."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

IOS = """\
version 15.4
hostname branch
class-map match-all VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority 500
interface GigabitEthernet0/0
 ip address 10.1.0.1 255.255.255.0
interface GigabitEthernet0/1
 bandwidth 10000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
ip route 10.2.0.0 255.255.255.0 192.0.2.2
end
"""
JUNOS = """\
set system host-name core
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.2/30
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24
set routing-options static route 10.1.0.0/24 next-hop 192.0.2.1
set class-of-service classifiers dscp c import default
set class-of-service classifiers dscp c forwarding-class expedited-forwarding loss-priority low code-points ef
edit class-of-service rewrite-rules dscp r
set forwarding-class expedited-forwarding loss-priority low code-point cs5
top
set class-of-service schedulers ef transmit-rate 1m rate-limit
set class-of-service schedulers ef priority strict-high
set class-of-service schedulers be transmit-rate remainder
set class-of-service scheduler-maps m forwarding-class expedited-forwarding scheduler ef
set class-of-service scheduler-maps m forwarding-class best-effort scheduler be
set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp c
set class-of-service interfaces ge-0/0/1 scheduler-map m
set class-of-service interfaces ge-0/0/1 shaping-rate 20m
set class-of-service interfaces ge-0/0/1 unit 0 rewrite-rules dscp r
"""


def folder(tmp_path: Path) -> Path:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "branch.cfg").write_text(IOS)
    (tmp_path / "lab" / "core.conf").write_text(JUNOS)
    return tmp_path / "lab"


def test_devices_of_two_vendors_have_links(tmp_path: Path, perhop: Command) -> None:
    found = perhop("network", folder(tmp_path), "--json").json()
    assert {device["name"] for device in found["devices"]} == {"branch", "core"}
    [link] = found["links"]
    ends = {(end["device"], end["interface"]) for end in link["ends"]}
    assert ends == {("branch", "GigabitEthernet0/1"), ("core", "ge-0/0/0.0")}


def test_a_link_with_two_families_is_one(tmp_path: Path, perhop: Command) -> None:
    lab = folder(tmp_path)
    (lab / "branch.cfg").write_text(
        IOS.replace(
            "192.0.2.1 255.255.255.252\n", "192.0.2.1 255.255.255.252\n ipv6 address 2001:db8::1/126\n"
        )
    )
    (lab / "core.conf").write_text(
        JUNOS + "set interfaces ge-0/0/0 unit 0 family inet6 address 2001:db8::2/126\n"
    )
    [link] = perhop("network", lab, "--json").json()["links"]
    assert len(link["ends"]) == 2


def test_a_packet_is_traced_through_both(tmp_path: Path, perhop: Command) -> None:
    ends = ("--from", "10.1.0.5", "--to", "10.2.0.9")
    ended = perhop("trace", folder(tmp_path), *ends, "--packet", "udp dscp ef")
    assert ended.code == 0, ended.err
    there, _, back = ended.out.partition("back:")
    assert "output policy WAN: class VOICE" in there
    assert "waits in queue port/expedited-forwarding" in there
    # The rewrite rule of the second device marks the packet.
    assert "changed: ef -> cs5 at core" in there
    assert "static route 10.1.0.0/24, next hop 192.0.2.1" in back


def test_the_network_runs(tmp_path: Path, perhop: Command) -> None:
    ended = perhop("run", folder(tmp_path), "--duration", "2s", "--json", "-q")
    assert ended.code == 0, ended.err
    assert "VOICE" in ended.out and "expedited-forwarding" in ended.out


#: Three routers in a ring; the direct link from the first to the last has a high cost.
RING = {
    "p1.conf": """\
set system host-name p1
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.1/30
set interfaces ge-0/0/1 unit 0 family inet address 192.0.2.5/30
set interfaces ge-0/0/2 unit 0 family inet address 10.1.0.1/24
set protocols ospf area 0.0.0.0 interface ge-0/0/0.0 metric 10
set protocols ospf area 0.0.0.0 interface ge-0/0/1.0 metric 100
set protocols ospf area 0.0.0.0 interface ge-0/0/2.0 passive
""",
    "p2.conf": """\
set system host-name p2
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.2/30
set interfaces ge-0/0/1 unit 0 family inet address 192.0.2.9/30
set protocols ospf area 0 interface all
""",
    "r3.cfg": """\
version 15.4
hostname r3
interface GigabitEthernet0/0
 ip address 192.0.2.6 255.255.255.252
 ip ospf cost 100
interface GigabitEthernet0/1
 ip address 192.0.2.10 255.255.255.252
interface GigabitEthernet0/2
 ip address 10.3.0.1 255.255.255.0
router ospf 1
 network 0.0.0.0 255.255.255.255 area 0
end
""",
}


def path(lab: Path, perhop: Command) -> list[str]:
    ends = ("--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp dscp ef", "--json")
    [walk] = perhop("trace", lab, *ends).json()["walks"]
    [only] = walk["there"]["paths"]
    return [hop["device"] for hop in only["hops"]]


def test_the_shortest_path_of_ospf_leads_through_both_vendors(tmp_path: Path, perhop: Command) -> None:
    lab = tmp_path / "ring"
    lab.mkdir()
    for name, text in RING.items():
        (lab / name).write_text(text)
    assert path(lab, perhop) == ["p1", "p2", "r3"]
    (lab / "p1.conf").write_text(RING["p1.conf"].replace("metric 100", "metric 5"))
    assert path(lab, perhop) == ["p1", "r3"]
    # A policy can add routes that perhop does not compute, so a default route is not certain.
    exported = RING["p1.conf"] + "set protocols ospf export STATIC\n"
    default = "set routing-options static route 0.0.0.0/0 next-hop 192.0.2.6\n"
    (lab / "p1.conf").write_text(exported.replace("set protocols ospf area 0.0.0.0", "#") + default)
    ended = perhop(
        "trace", lab, "--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp dscp ef", "--json"
    )
    assert "may add a better route" in ended.out


def test_an_area_of_another_vendor_prevents_neighbors(tmp_path: Path, perhop: Command) -> None:
    lab = tmp_path / "ring"
    lab.mkdir()
    for name, text in RING.items():
        (lab / name).write_text(text.replace("area 0 interface all", "area 0.0.0.1 interface all"))
    found = perhop("check", lab).out
    assert "p2.conf:5: warning[network-neighbors-missing]: p2:ge-0/0/0.0 and p1:ge-0/0/0.0" in found
    assert "areas 0.0.0.1 and 0.0.0.0" in found


NX_OS = """\
version 9.3(5)
hostname n1
feature ospf
interface Ethernet1/1
  no switchport
  ip address 10.1.0.1/24
  ip router ospf 1 area 0.0.0.0
interface Ethernet1/3
  no switchport
  ip address 192.0.2.1/30
ip route 0.0.0.0/0 192.0.2.2
router ospf 1
"""
EOS = """\
hostname e1
interface Ethernet1
 ip address 10.1.0.1 255.255.255.0
 ip ospf area 0.0.0.0
interface Ethernet3
 ip address 192.0.2.1 255.255.255.252
ip route 0.0.0.0 0.0.0.0 192.0.2.2
router ospf 1
 max-lsa 12000
end
"""


def test_a_default_route_is_no_guess_where_the_ports_of_ospf_are_not_read(
    tmp_path: Path, perhop: Command
) -> None:
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "e1.cfg").write_text(EOS)
    (lab / "r3.cfg").write_text(RING["r3.cfg"].replace("192.0.2.6", "192.0.2.2"))
    ended = perhop("trace", lab, "--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp dscp ef")
    assert "path unknown at e1: only the default route leads to 10.3.0.9" in ended.out
    assert "`router ospf 1`, may add a better route" in ended.out


@pytest.mark.parametrize("command", ["ip router isis CORE", "isis enable CORE"])
def test_ports_of_isis_that_are_not_read_are_not_missing_neighbors(
    command: str, tmp_path: Path, perhop: Command
) -> None:
    lab = tmp_path / "lab"
    lab.mkdir()
    text = NX_OS.replace("ip router ospf 1 area 0.0.0.0", command).replace(
        "router ospf 1", "router isis CORE"
    )
    (lab / "n1.cfg").write_text(text.replace("10.1.0.1/24", "192.0.2.5/30"))
    juniper = RING["p1.conf"].replace("192.0.2.5/30", "192.0.2.6/30").replace("area 0.0.0.0 ", "")
    juniper = juniper.replace("protocols ospf", "protocols isis").replace(" metric 1", " level 2 metric 1")
    (lab / "p1.conf").write_text(juniper + "set interfaces ge-0/0/1 unit 0 family iso\n")
    assert "network-neighbors-missing" not in perhop("check", lab).out
    without = (lab / "n1.cfg").read_text().replace(f"  {command}\n", "")
    (lab / "n1.cfg").write_text(without)
    assert "n1.cfg:4: warning[network-neighbors-missing]" in perhop("check", lab).out
