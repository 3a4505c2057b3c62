"""`perhop trace`: paths of a packet through policies, packets of a capture by class, packets for a class."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT, Command
from perhop.tracing import node, traced

EXAMPLES = ROOT / "examples"
EDGE = """\
version 15.1
ip access-list extended PHONES
 deny udp host 10.1.0.66 any
 permit udp 10.1.0.0 0.0.255.255 any range 16384 32767
class-map match-all PHONES
 match access-group name PHONES
class-map match-all VOICE
 match dscp ef
class-map match-any DATA
 match dscp af21 af22
policy-map IN
 class PHONES
  set dscp ef
 class class-default
  police cir 1000000 conform-action set-dscp-transmit af21 exceed-action set-dscp-transmit default
policy-map WAN
 class VOICE
  priority 400
 class DATA
  bandwidth 500
interface GigabitEthernet0/0
 ip address 10.1.0.1 255.255.0.0
 service-policy input IN
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
"""
PHONE = "udp 10.1.0.5:20000 > 10.2.0.9:16384 dscp default len 200"


@pytest.fixture
def edge(tmp_path: Path) -> Path:
    file = tmp_path / "edge.cfg"
    file.write_text(EDGE)
    return file


def test_a_packet_is_traced_line_by_line(perhop: Command, edge: Path) -> None:
    ended = perhop("trace", edge, "--packet", PHONE, "--at", "Gi0/0")
    assert ended.code == 0
    for line in (
        "input policy IN: class PHONES, line 12",
        "    line 6: match access-group name PHONES",
        "    line 4: permit udp 10.1.0.0 0.0.255.255 any range 16384 32767",
        "waits at Serial0/0 in queue VOICE",
    ):
        assert f"{line}\n" in ended.out
    assert "dscp ef" in ended.out


def test_a_meter_makes_several_paths(perhop: Command, edge: Path) -> None:
    other = PHONE.replace("10.1.0.5", "10.1.0.66")
    found = perhop("trace", edge, "--packet", other, "--at", "Gi0/0", "--json").json()["packets"][0]
    paths = [({stage["stage"]: stage for stage in path["stages"]}, path["queue"]) for path in found["paths"]]
    assert [(stages["conditioner"]["color"], queue) for stages, queue in paths] == [
        ("green", "others/DATA"),
        ("red", "others/class-default"),
    ]
    classes = [
        [stage["class"] for stage in path["stages"] if stage["stage"] == "class"] for path in found["paths"]
    ]
    assert classes == [["class-default", "DATA"], ["class-default", "class-default"]]


def test_an_example_packet_reaches_every_queue(edge: Path) -> None:
    place = node(edge, at="Gi0/0")
    reached = place.reach()
    assert set(reached) == {"VOICE", "others/DATA", "others/class-default"}
    for queue, packet in reached.items():
        assert packet is not None
        assert queue in [path["queue"] for path in traced(edge).answer(packet)["paths"]]


def test_an_unreachable_class_is_proved_unreachable(perhop: Command, edge: Path) -> None:
    """All arriving packets are marked af21, ef or default; none is af22, the only codepoint of DATA."""
    edge.write_text(EDGE.replace("match dscp af21 af22", "match dscp af22"))
    assert perhop("trace", edge, "--reach", "DATA").out.startswith("others/DATA: udp ")
    ended = perhop("trace", edge, "--reach", "DATA", "--at", "Gi0/0")
    assert ended.out == "others/DATA: no packet reaches this queue\n"


def test_packets_of_a_capture_by_class(perhop: Command, edge: Path) -> None:
    ended = perhop("trace", edge, "--pcap", EXAMPLES / "replay.pcapng", "--json")
    classes = ended.json()["classes"]
    total = sum(row["packets"] for row in classes)
    shown = perhop("trace", edge, "--pcap", EXAMPLES / "replay.pcapng").out
    assert shown.startswith(f"{total:,} packets".replace(",", "")) or f"{total}" in shown.splitlines()[0]
    assert total > 0
    assert sum(row["share"] for row in classes) == pytest.approx(1.0)


def test_a_scenario_is_traced_between_neighbors(perhop: Command) -> None:
    file = EXAMPLES / "class-based-wfq.perhop.yaml"
    refused = perhop("trace", file, "--packet", PHONE)
    assert refused.code == 2
    assert "--at is missing: NODE:NEIGHBOR" in refused.err
    nodes = refused.err.partition("nodes: ")[2].split()
    assert nodes


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        ("tcp 10.0.0.1:80", "`>` is missing"),
        ("udp 10.0.0.1:1 > 10.0.0.2:2 len 70000", "IP bytes from 20 to 65535"),
        ("udp 10.0.0.1:1 > 10.0.0.2:2 in Gi9/9", "there is no interface `Gi9/9`"),
    ],
)
def test_a_packet_that_cannot_be_read_is_refused(perhop: Command, edge: Path, packet: str, said: str) -> None:
    ended = perhop("trace", edge, "--packet", packet)
    assert ended.code == 2
    assert said in ended.err


def test_missing_and_unknown_arguments_are_reported(perhop: Command, edge: Path) -> None:
    assert "nothing to trace" in perhop("trace", edge).err
    assert "there is no interface `Gi7/7`" in perhop("trace", edge, "--reach", "all", "--at", "Gi7/7").err
    assert "there is no queue `GOLD`" in perhop("trace", edge, "--reach", "GOLD").err
    ended = perhop("trace", edge, "--pcap", edge)
    assert ended.code == 2
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("destination", "said"),
    [
        ("10.1.255.255", "10.1.255.255 is an address of the device"),
        ("10.1.0.0", "10.1.0.0 is an address of the device"),
        ("255.255.255.255", "255.255.255.255 is in 255.255.255.255/32, which the device receives"),
        ("224.0.0.5", "224.0.0.5 is in 224.0.0.0/24, which the device receives"),
    ],
)
def test_packets_to_the_device_take_no_route(
    perhop: Command, tmp_path: Path, destination: str, said: str
) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(EDGE + "ip route 0.0.0.0 0.0.0.0 192.0.2.2\n")
    ended = perhop("trace", file, "--packet", f"udp 10.1.0.5:68 > {destination}:67 dscp ef len 300")
    assert said in ended.out
    assert "delivered: the packet is for the device itself" in ended.out
    assert "Serial0/0" not in ended.out


def test_multicast_takes_no_unicast_route(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(EDGE + "ip route 0.0.0.0 0.0.0.0 192.0.2.2\n")
    ended = perhop("trace", file, "--packet", "udp 10.1.0.5:5000 > 239.1.2.3:5000 dscp ef len 300")
    assert "no route to 239.1.2.3" in ended.out
    assert "waits" not in ended.out
    assert "not looked at: the receivers of 239.1.2.3: multicast routing determines them" in ended.out


def test_the_first_address_of_a_subnet_of_two_is_a_host(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(EDGE.replace("192.0.2.1 255.255.255.252", "192.0.2.1 255.255.255.254"))
    ended = perhop("trace", file, "--packet", "udp 10.1.0.5:5000 > 192.0.2.0:5000 dscp ef len 300")
    assert "192.0.2.0 is in 192.0.2.0/31: out via Serial0/0" in ended.out


OWN_STAGES = """\
version 15.4
class-map V
 match dscp ef
class-map DC
 match discard-class 2
policy-map IN
 class V
  set discard-class 2
policy-map OUT
 class DC
  bandwidth 300
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
 service-policy input IN
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.0
interface GigabitEthernet0/2
 ip address 192.0.2.1 255.255.255.252
 service-policy output OUT
interface GigabitEthernet0/3.7
 encapsulation dot1Q 7
 ip address 10.0.7.1 255.255.255.0
"""


@pytest.mark.parametrize("asks", ["discard-class 2", "cos 5"])
def test_stages_of_the_router_itself_are_not_policies(perhop: Command, tmp_path: Path, asks: str) -> None:
    """Each interface resets the drop precedence of arriving packets, and each new tag has a CoS."""
    file = tmp_path / "edge.cfg"
    file.write_text(OWN_STAGES.replace("discard-class 2", asks))
    (answer,) = perhop("trace", file, "--packet", "udp 172.16.1.1:9 > 172.17.2.2:9 dscp ef", "--json").json()[
        "packets"
    ]
    assert (
        "packets arrive on GigabitEthernet0/0, the only interface with an input policy" in answer["assumed"]
    )
    leaves = "leaves via GigabitEthernet0/2, the only interface with an output policy"
    assert any(leaves in assumption for assumption in answer["assumed"]), answer["assumed"]
    ended = perhop("run", file, "--duration", "100ms")
    assert "the input policy of GigabitEthernet0/2" not in ended.err
