"""A folder with routers of several vendors is one network."""

from __future__ import annotations

from pathlib import Path

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
