"""`perhop trace`: where a device sends a packet, the header that classes see, and one path for one packet.

Configurations are small, and the assertions contain the expected paths. Route, tunnel and control plane
follow Cisco's documents; `qos pre-classify` is document 10106 on quality of service on GRE tunnel interfaces.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command

POLICIES = """\
version 15.4
class-map match-any VOICE
 match dscp ef
class-map match-any TELNET
 match access-group name TELNET
ip access-list extended TELNET
 permit tcp any any eq telnet
policy-map WAN
 class VOICE
  priority 1000
policy-map PORT
 class TELNET
  police 128000
 class VOICE
  police 256000
"""
EDGE = (
    POLICIES
    + """\
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.0
interface GigabitEthernet0/2
 ip address 10.0.2.1 255.255.255.0
ip route 0.0.0.0 0.0.0.0 192.0.2.2
"""
)
TUNNEL = (
    POLICIES
    + """\
interface Tunnel0
 ip address 192.168.13.1 255.255.255.0
 tunnel source 192.168.12.1
 tunnel destination 192.168.23.3
interface GigabitEthernet0/1
 ip address 192.168.12.1 255.255.255.0
 service-policy output PORT
interface GigabitEthernet0/2
 ip address 10.0.1.1 255.255.255.0
ip route 192.168.23.0 255.255.255.0 192.168.12.2
ip route 3.3.3.3 255.255.255.255 192.168.13.3
"""
)

Answer = dict[str, Any]


@pytest.fixture
def answer(perhop: Command, tmp_path: Path) -> Any:
    def ask(text: str, packet: str, *options: str) -> Answer:
        file = tmp_path / "router.cfg"
        file.write_text(text)
        ended = perhop("trace", file, "--packet", packet, "--json", *options)
        assert ended.code == 0, ended.err
        found: Answer = ended.json()["packets"][0]
        return found

    return ask


def stages(path: Answer, kind: str) -> list[Answer]:
    """Return the stages of one kind."""
    return [stage for stage in path["stages"] if stage["stage"] == kind]


def classes(path: Answer, side: str) -> list[str]:
    """Return the classes of a path on one side."""
    return [stage["class"] for stage in stages(path, "class") if stage["side"] == side]


@pytest.mark.parametrize(
    ("packet", "route", "leaves", "queue"),
    [
        ("10.0.1.5:1 > 10.0.2.9:2", "connected", "GigabitEthernet0/2", "fifo"),
        ("198.51.100.9:1 > 10.0.1.7:2", "connected", "GigabitEthernet0/1", "fifo"),
        ("10.0.1.5:1 > 10.0.1.1:2", "own", None, None),
        ("10.0.1.5:1 > 198.51.100.9:2", "static", "GigabitEthernet0/0", "VOICE"),
    ],
)
def test_forwarding_decides_where_a_packet_leaves(
    answer: Any, packet: str, route: str, leaves: str | None, queue: str | None
) -> None:
    (path,) = answer(EDGE, f"udp {packet} dscp ef")["paths"]
    (decision,) = stages(path, "forwarding")
    assert (decision["route"], path["leaves"], path["queue"]) == (route, leaves, queue)
    assert decision["lines"], "the route and its line"


TAGGED = """\
version 15.4
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
interface GigabitEthernet0/1.10
 encapsulation dot1Q 10
 ip address 10.0.10.1 255.255.255.0
interface GigabitEthernet0/1.20
 encapsulation dot1Q 20
 ip address 10.0.20.1 255.255.255.0
interface GigabitEthernet0/2
 no ip address
interface GigabitEthernet0/2.20
 encapsulation dot1Q 20
 ip address 10.2.20.1 255.255.255.0
"""


@pytest.mark.parametrize(
    ("tag", "enters"),
    [
        ("vlan 10", "GigabitEthernet0/1.10"),
        ("vlan 20 in gi0/2", "GigabitEthernet0/2.20"),
        ("in gi0/1.20 vlan 20", "GigabitEthernet0/1.20"),
    ],
)
def test_the_tag_of_a_vlan_chooses_the_entrance(answer: Any, tag: str, enters: str) -> None:
    (path,) = answer(TAGGED, f"udp 10.9.9.9:1 > 192.0.2.2:2 {tag}")["paths"]
    assert stages(path, "entrance")[0]["interface"] == enters


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("vlan 30", "VLANs: 10 (GigabitEthernet0/1.10), 20 (GigabitEthernet0/1.20)"),
        ("vlan 20", "several interfaces receive packets of VLAN 20"),
        ("vlan 10 in gi0/2.20", "no interface at GigabitEthernet0/2.20 receives packets of VLAN 10"),
        ("vlan 0", "vlan 0: write a number from 1 to 4094"),
    ],
)
def test_a_tag_that_no_interface_takes_is_refused(
    perhop: Command, tmp_path: Path, tag: str, words: str
) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(TAGGED)
    ended = perhop("trace", file, "--packet", f"udp 10.9.9.9:1 > 192.0.2.2:2 {tag}")
    assert (ended.code, words in ended.err) == (2, True), ended.err


def test_the_longest_prefix_that_can_be_used_wins(answer: Any) -> None:
    """A route to an unknown next hop is not used; a discarding route drops; `--route` is marked as given."""
    more = "ip route 198.51.100.0 255.255.255.0 10.0.1.9\nip route 203.0.113.0 255.255.255.0 172.16.0.1\n"
    text = f"{EDGE}{more}ip route 198.18.0.0 255.254.0.0 Null0\n"
    found = {
        to: answer(text, f"udp 10.0.2.5:1 > {to}:2")["paths"][0]
        for to in ("198.51.100.1", "203.0.113.1", "198.18.0.1")
    }
    assert found["198.51.100.1"]["leaves"] == "GigabitEthernet0/1"
    assert found["203.0.113.1"]["leaves"] == "GigabitEthernet0/0", "by the default route"
    assert (found["198.18.0.1"]["end"], found["198.18.0.1"]["cause"]) == ("dropped", "route")
    (given,) = answer(text, "udp 10.0.2.5:1 > 198.51.100.1:2", "--route", "198.51.100.0/25 = Gi0/2")["paths"]
    assert (stages(given, "forwarding")[0]["route"], given["leaves"]) == ("given", "GigabitEthernet0/2")


def test_an_unknown_destination_is_reported_with_the_chosen_output(answer: Any, perhop: Command) -> None:
    text = EDGE.replace("ip route 0.0.0.0 0.0.0.0 192.0.2.2\n", "router ospf 1\n")
    found = answer(text, "udp 10.0.1.5:1 > 198.51.100.9:2")
    assert found["paths"][0]["leaves"] == "GigabitEthernet0/0"
    assert any("no route to 198.51.100.9 is known" in assumption for assumption in found["assumed"])
    assert any("router ospf 1" in line for line in found["not_looked_at"])


def test_routes_of_another_table_do_not_count(answer: Any) -> None:
    """The VRF of the input port decides."""
    text = EDGE.replace(
        "interface GigabitEthernet0/1\n", "interface GigabitEthernet0/1\n vrf forwarding RED\n"
    )
    found = answer(text, "udp 10.0.1.5:1 > 10.0.2.9:2")
    assert stages(found["paths"][0], "forwarding")[0]["route"] == "unknown"
    more = "ip route vrf RED 10.0.2.0 255.255.255.0 GigabitEthernet0/2\n"
    found = answer(text + more, "udp 10.0.1.5:1 > 10.0.2.9:2")
    assert found["paths"][0]["leaves"] == "GigabitEthernet0/2"


def test_a_packet_to_the_device_meets_the_policers_of_the_control_plane(answer: Any) -> None:
    text = EDGE + "policy-map CoPP\n class TELNET\n  police 8000\ncontrol-plane\n service-policy input CoPP\n"
    conforming, exceeding = answer(text, "tcp 10.0.1.5:9 > 10.0.1.1:23")["paths"]
    assert (conforming["end"], exceeding["end"]) == ("delivered", "dropped")
    assert classes(conforming, "control-plane") == ["TELNET"]
    (meter,) = stages(exceeding, "conditioner")
    assert "8kb/s" in str(meter["meter"])
    assert meter["side"] == "control-plane"


def test_access_lists_and_rate_limits_are_stages(answer: Any) -> None:
    text = EDGE.replace(
        " ip address 10.0.1.1 255.255.255.0\n",
        " ip address 10.0.1.1 255.255.255.0\n ip access-group IN in\n"
        " rate-limit input 64000 8000 8000 conform-action transmit exceed-action drop\n",
    )
    text += "ip access-list extended IN\n deny udp any any eq 9\n permit ip any any\n"
    (denied,) = answer(text, "udp 10.0.1.5:1 > 198.51.100.9:9")["paths"]
    assert (denied["end"], denied["cause"]) == ("dropped", "access-list")
    assert [line["text"] for line in stages(denied, "access-list")[0]["lines"]] == [
        "ip access-group IN in",
        "deny udp any any eq 9",
    ]
    paths = answer(text, "udp 10.0.1.5:1 > 198.51.100.9:10")["paths"]
    assert [path["end"] for path in paths] == ["queued", "dropped"]
    (limit,) = stages(paths[1], "conditioner")
    assert limit["lines"][0]["text"].startswith("rate-limit input")


@pytest.mark.parametrize(
    ("line", "seen", "expected"), [("", "outer", []), (" qos pre-classify\n", "inner", ["TELNET"])]
)
def test_the_port_below_a_tunnel_sees_the_outer_header(
    answer: Any, line: str, seen: str, expected: list[str]
) -> None:
    text = TUNNEL.replace(" tunnel destination 192.168.23.3\n", f" tunnel destination 192.168.23.3\n{line}")
    found = answer(text, "tcp 10.0.1.5:40000 > 3.3.3.3:23")["paths"]
    (wrapped,) = stages(found[0], "encapsulation")
    assert wrapped["classified_by"] == seen
    assert wrapped["packet"].startswith("47 192.168.12.1 > 192.168.23.3 ")
    assert wrapped["packet"].endswith("len 524")
    assert classes(found[0], "output") == (expected or ["class-default"])
    assert len(stages(found[0], "forwarding")) == 2, "the inner and the outer destination"


def test_the_ds_field_of_a_tunnel_is_copied_from_the_inner_packet(answer: Any) -> None:
    """The inner header is hidden, but the copied field still classifies."""
    for mode in ("", " tunnel mode ipip\n", " tunnel mode ipsec ipv4\n"):
        text = TUNNEL.replace(" tunnel source", f"{mode} tunnel source")
        path = answer(text, "tcp 10.0.1.5:40000 > 3.3.3.3:23 dscp ef")["paths"][0]
        assert classes(path, "output") == ["VOICE"]


def test_a_tunnel_whose_other_end_is_learned_is_stated(answer: Any) -> None:
    """The output is the port of the tunnel's source, and the unknown fields are listed."""
    text = TUNNEL.replace(" tunnel destination 192.168.23.3\n", " tunnel mode gre multipoint\n")
    found = answer(text, "tcp 10.0.1.5:40000 > 3.3.3.3:23 dscp ef")
    assert found["paths"][0]["leaves"] == "GigabitEthernet0/1"
    assert any("outer destination of Tunnel0" in line for line in found["not_looked_at"])


def test_unknown_fields_of_an_outer_packet_are_listed(answer: Any) -> None:
    """The length after encryption is listed, and the port's access list, which some platforms apply."""
    packet = "tcp 10.0.1.5:40000 > 3.3.3.3:23 dscp ef"
    assert answer(TUNNEL, packet)["not_looked_at"] == []
    attached = " service-policy output PORT\n"
    filtered = TUNNEL.replace(attached, f"{attached} ip access-group 7 out\n")
    [line] = answer(filtered, packet)["not_looked_at"]
    assert "`ip access-group 7 out`: platforms differ" in line
    encrypted = TUNNEL.replace(" tunnel source", " tunnel mode ipsec ipv4\n tunnel source")
    [line] = answer(encrypted, packet)["not_looked_at"]
    assert line.startswith("the bytes that the encryption of Tunnel0 adds")


MARKING = (
    POLICIES
    + """\
policy-map IN
 class VOICE
  set dscp af41
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.252
 service-policy input IN
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.0
 service-policy output WAN
"""
)


def test_the_output_class_follows_from_input_marks(answer: Any) -> None:
    (path,) = answer(MARKING, "udp 10.0.0.2:1 > 10.0.1.9:2 dscp ef")["paths"]
    assert (classes(path, "input"), classes(path, "output")) == (["VOICE"], ["class-default"])
    assert path["queue"] == "others/class-default"
    assert " dscp af41 " in path["packet"]


def test_the_output_class_follows_from_a_group_set_on_input(answer: Any) -> None:
    """The group is a mark that does not leave the device."""
    text = MARKING.replace("set dscp af41", "set qos-group 3").replace(
        "class-map match-any VOICE\n",
        "class-map match-any GROUP\n match qos-group 3\nclass-map match-any VOICE\n",
    )
    text = text.replace("policy-map WAN\n class VOICE", "policy-map WAN\n class GROUP")
    (path,) = answer(text, "udp 10.0.0.2:1 > 10.0.1.9:2 dscp ef")["paths"]
    assert (classes(path, "output"), path["queue"]) == (["GROUP"], "GROUP")


def test_the_source_or_the_only_input_policy_determines_the_entrance(answer: Any) -> None:
    for source, because in (("10.0.0.2", "10.0.0.0/30"), ("172.16.0.1", "the only interface with an input")):
        found = answer(MARKING, f"udp {source}:1 > 10.0.1.9:2 dscp ef")
        (entrance,) = stages(found["paths"][0], "entrance")
        assert entrance["interface"] == "GigabitEthernet0/0"
        assert because in entrance["because"]
    found = answer(MARKING, "udp 10.0.1.1:1 > 10.0.0.2:2 dscp ef")
    assert "the device itself sends the packet" in stages(found["paths"][0], "entrance")[0]["because"]


def test_neighbors_of_a_single_file_are_listed(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(EDGE)
    ended = perhop("trace", file, "--packet", "udp 10.0.1.5:1 > 10.0.2.9:2", "--json")
    neighbors = ended.json()["neighbors"]
    assert [(neighbor["interface"], neighbor["address"]) for neighbor in neighbors] == [
        ("GigabitEthernet0/0", "192.0.2.2"),
        ("GigabitEthernet0/1", None),
        ("GigabitEthernet0/2", None),
    ]


def test_lines_near_the_path_that_are_not_modeled_are_listed(answer: Any) -> None:
    text = EDGE.replace(
        " ip address 10.0.1.1 255.255.255.0\n", " ip address 10.0.1.1 255.255.255.0\n ip policy route-map X\n"
    )
    found = answer(text, "udp 10.0.1.5:1 > 10.0.2.9:2")
    assert any("`ip policy route-map X`" in line for line in found["not_looked_at"])
    found = answer(text, "udp 198.51.100.9:1 > 10.0.2.9:2")
    assert not found["not_looked_at"], "the packet does not cross that interface"


FILTERS = """\
tc qdisc add dev eth1 root handle 1: htb default 20
tc class add dev eth1 parent 1: classid 1:10 htb rate 40mbit
tc class add dev eth1 parent 1: classid 1:20 htb rate 60mbit
tc filter add dev eth1 parent 1: protocol ip prio 1 basic match 'meta(vlan mask 0xfff eq 7)' flowid 1:10
tc qdisc add dev eth2 root handle 2: htb default 1
tc class add dev eth2 parent 2: classid 2:1 htb rate 60mbit
tc filter add dev eth2 parent 2: protocol ip prio 1 basic match 'meta(nf_mark eq 7)' flowid 2:1
"""


def test_a_filter_that_is_not_read_is_listed(perhop: Command, tmp_path: Path) -> None:
    """The filter's class would get packets that the answer shows in another class."""
    file = tmp_path / "uplink.tc"
    file.write_text(FILTERS)
    packet = ("--packet", "udp 10.0.0.1:1 > 10.1.0.1:2")
    [answer] = perhop("trace", file, *packet, "--out", "eth1", "--json").json()["packets"]
    assert [line.partition(",")[0] for line in answer["not_looked_at"]] == ["line 4"]
    ended = perhop("trace", file, "--reach", "all", "--out", "eth1")
    assert "not looked at: line 4, `tc filter add dev eth1" in ended.out
    assert "eth2" not in ended.out


UNREAD_CRITERION = """\
version 15.2
class-map match-any CALLS
 match protocol rtp audio
class-map match-any OTHER
 match protocol rtp video
policy-map WAN
 class CALLS
  priority 100
policy-map ELSEWHERE
 class OTHER
  bandwidth 100
interface Serial0/0
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
interface Serial0/1
 ip address 192.0.2.5 255.255.255.252
 service-policy output ELSEWHERE
"""


def test_a_criterion_that_is_not_modeled_is_listed(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(UNREAD_CRITERION)
    packet = ("--packet", "udp 10.0.0.1:16384 > 192.0.2.2:16384 dscp ef")
    [answer] = perhop("trace", file, *packet, "--json").json()["packets"]
    assert [line.partition(",")[0] for line in answer["not_looked_at"]] == ["line 3"]


MARKED_BEFORE = """\
version 16.9
class-map match-any EF
 match dscp ef
class-map match-any GROUP-5
 match qos-group 5
class-map match-any GROUP-6
 match qos-group 6
policy-map IN
 class EF
  set qos-group 5
policy-map OUT
 class GROUP-5
  priority percent 10
 class GROUP-6
  bandwidth percent 10
interface GigabitEthernet0/0/0
 ip address 10.0.0.1 255.255.255.0
 service-policy input IN
interface GigabitEthernet0/0/1
 ip address 10.0.1.1 255.255.255.0
 service-policy output OUT
"""


def test_a_queue_is_reached_by_the_input_policy_that_leads_there(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(MARKED_BEFORE)
    found = perhop("trace", file, "--reach", "all", "--json").json()["reach"]
    assert found["GROUP-5"].endswith("in GigabitEthernet0/0/0")
    assert "dscp ef" in found["GROUP-5"]
    assert found["others/GROUP-6"] is None, "nothing sets group 6"
