"""Marks of tags and labels between routers with separate configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import genie_parser
import perhop as library
from conftest import Command

#: The first router sets the marks. The last router matches them where packets arrive, and selects the queue
#: by them.
ACCESS = """\
version 15.2
hostname access
class-map match-any VOICE
 match dscp ef
policy-map TAGS
 class VOICE
  set cos 5
 class class-default
  set cos 1
policy-map LABELS
 class VOICE
  set mpls experimental imposition 5
interface GigabitEthernet0/0
 ip address 10.0.1.1 255.255.255.0
 service-policy input LABELS
interface GigabitEthernet0/1
 ip address 10.0.2.1 255.255.255.252
interface GigabitEthernet0/1.20
 encapsulation dot1Q 20
 ip address 10.0.3.1 255.255.255.252
 service-policy output TAGS
"""
CORE = """\
version 15.2
hostname core
class-map match-any PREMIUM-IN
 match cos 5
 match mpls experimental topmost 5
class-map PREMIUM
 match qos-group 5
policy-map CLASSIFY
 class PREMIUM-IN
  set qos-group 5
policy-map QUEUES
 class PREMIUM
  priority percent 30
interface GigabitEthernet0/0
 ip address 10.0.2.2 255.255.255.252
 service-policy input CLASSIFY
interface GigabitEthernet0/0.20
 encapsulation dot1Q 20
 ip address 10.0.3.2 255.255.255.252
interface GigabitEthernet0/0.30
 encapsulation dot1Q 30
 ip address 10.0.4.2 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.0.9.1 255.255.255.252
 service-policy output QUEUES
"""
MIDDLE = """\
version 15.2
hostname middle
interface GigabitEthernet0/0.20
 encapsulation dot1Q 20
 ip address 10.0.3.2 255.255.255.252
interface GigabitEthernet0/1.30
 encapsulation dot1Q 30
 ip address 10.0.4.1 255.255.255.252
"""
COPIES = """\
policy-map COPY
 class class-default
  set cos dscp
interface GigabitEthernet0/1.30
 service-policy output COPY
"""


def link(first: tuple[str, str], second: tuple[str, str], **others: Any) -> dict[str, Any]:
    ends = [first, second]
    interfaces = {node: {"name": name} for node, name in ends if name}
    return {
        "between": [node for node, _ in ends],
        "rate": "1Gb/s",
        "framing": "ethernet-wire",
        "interfaces": interfaces,
        **others,
    }


def scenario(*between: dict[str, Any], middle: str | None = None) -> dict[str, Any]:
    """Return voice and data through the routers; `between` are the links from the first to the last."""
    routers = {"access": ACCESS, "core": CORE} | ({"middle": middle} if middle else {})
    flows = {"voice": ("ef", 200), "data": ("af11", 400)}
    return {
        "perhop": 1,
        "name": "marks",
        "duration": "3s",
        "hosts": {"source": {"address": "10.0.1.2"}, "sink": {"address": "10.0.9.2"}},
        "routers": {name: {"configuration": {"text": text}} for name, text in routers.items()},
        "links": [
            link(("source", ""), ("access", "GigabitEthernet0/0")),
            *between,
            link(("core", "GigabitEthernet0/1"), ("sink", "")),
        ],
        "traffic": [
            {
                "name": name,
                "from": "source",
                "to": "sink",
                "dscp": dscp,
                "source": {"cbr": {"rate": f"{rate}kb/s", "packet": {"ip": "500B"}}},
            }
            for name, (dscp, rate) in flows.items()
        ],
    }


TAGGED = link(("access", "GigabitEthernet0/1.20"), ("core", "GigabitEthernet0/0.20"))
TO_MIDDLE = link(("access", "GigabitEthernet0/1.20"), ("middle", "GigabitEthernet0/0.20"))
FROM_MIDDLE = link(("middle", "GigabitEthernet0/1.30"), ("core", "GigabitEthernet0/0.30"))
PLAIN = link(("access", "GigabitEthernet0/1"), ("core", "GigabitEthernet0/0"))
LABELED = PLAIN | {"headers": [{"mpls": {"labels": 2}}]}


def voice_and_premium(document: dict[str, Any]) -> tuple[int, int]:
    """Return the voice packets that arrived, and the packets of the last router's priority queue."""
    results = library.run(library.Scenario(document))
    voice = results.classes.filter(**{"class": "voice"})["delivered_packets"].sum()
    queues = results.ports.filter(port="core->sink", queue="PREMIUM")
    return int(voice), int(queues["arrived_packets"].sum())


@pytest.mark.parametrize(
    ("document", "matched"),
    [
        (scenario(TAGGED), True),
        (scenario(LABELED), True),
        (scenario(PLAIN), False),
        (scenario(TO_MIDDLE, FROM_MIDDLE, middle=MIDDLE), False),
        (scenario(TO_MIDDLE, FROM_MIDDLE, middle=MIDDLE + COPIES), True),
    ],
    ids=["tag", "labels", "neither", "a new tag in between", "a new tag with the precedence"],
)
def test_the_next_router_matches_marks_that_reach_it(document: dict[str, Any], *, matched: bool) -> None:
    voice, premium = voice_and_premium(document)
    # 200 kb/s in packets of 500 bytes for three seconds; the last are on their way.
    assert 148 <= voice <= 150
    assert premium in ((voice, voice + 1) if matched else (0,))


def test_show_prints_set_and_matched_marks(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "marks.perhop.yaml"
    file.write_text(json.dumps(scenario(TAGGED)))
    shown = perhop("show", "policy-map", "interface", file)
    assert shown.code == 0, shown.err
    found = genie_parser.parse(shown.out)
    tags = found["GigabitEthernet0/1.20"]["service_policy"]["output"]["policy_name"]["TAGS"]["class_map"]
    voice = tags["VOICE"]
    assert voice["qos_set"]["cos"]["5"] == {"packets_marked": voice["packets"]}
    assert voice["packets"] == 150
    lines = [line.strip() for line in shown.out.splitlines()]
    place = lines.index("mpls experimental imposition 5")
    assert lines[place - 1 : place + 2] == ["QoS Set", "mpls experimental imposition 5", "Packets marked 150"]
    assert "Match: mpls experimental topmost 5" in lines
