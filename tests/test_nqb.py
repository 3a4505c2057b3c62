"""`perhop check` on traffic that builds no queue (RFC 9956): its codepoint 45 has the IP precedence of EF."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

POLICE = "police 64000 8000 exceed-action set-dscp-transmit {}"
# The match of voice, its mark, and whether the configuration contains 45 itself.
ROUTER = """\
version 15.1
class-map match-all VOICE
 match {match}
class-map match-all GAMES
 match dscp 45
policy-map IN
 class VOICE
  {mark}
policy-map WAN
 class VOICE
  priority 400
 class {second}
  bandwidth 300
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.0
 service-policy input IN
interface Serial0/0
 bandwidth 2000
 ip address 198.51.100.1 255.255.255.252
 service-policy output WAN
"""
CASES = [
    # Alone, the codepoint is only possible, not certain.
    ("precedence 5", "set dscp ef", "class-default", {"nqb-may-get-priority"}),
    ("ip precedence critical", "set cos 5", "class-default", {"nqb-may-get-priority"}),
    ("dscp 45", "set cos 5", "class-default", {"nqb-may-get-priority"}),
    ("dscp ef", "set dscp ef", "class-default", set()),
    ("ip rtp 16384 16383", "set dscp ef", "class-default", set()),
    # The codepoint is expected if the router has a class for it.
    ("precedence 5", "set cos 5", "GAMES", {"nqb-gets-priority"}),
    ("precedence 5", "set precedence 5", "GAMES", {"nqb-gets-priority", "nqb-remarked"}),
    ("precedence 5", "set dscp ef", "GAMES", {"nqb-gets-priority", "nqb-remarked"}),
    ("ip rtp 16384 16383", "set precedence 5", "GAMES", {"nqb-remarked"}),
    ("dscp ef", "set precedence 5", "GAMES", set()),
    # Packets above a rate may be marked only as default traffic.
    ("ip rtp 16384 16383", POLICE.format("default"), "GAMES", set()),
    (
        "ip rtp 16384 16383",
        POLICE.format("af11"),
        "GAMES",
        {"nqb-remarked"},
    ),
]


def _nqb(perhop: Command, file: Path) -> set[str]:
    (found,) = perhop("check", file, "--json").json()["files"]
    return {finding["rule"] for finding in found["findings"] if finding["rule"].startswith("nqb")}


@pytest.mark.parametrize(("match", "mark", "second", "rules"), CASES)
def test_classifiers_of_routers(
    perhop: Command, tmp_path: Path, match: str, mark: str, second: str, rules: set[str]
) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(ROUTER.format(match=match, mark=mark, second=second))
    assert _nqb(perhop, file) == rules


SCENARIO = """\
perhop: 1
name: games beside voice
duration: 1s
hosts: {{a: {{}}, b: {{}}}}
routers: {{r: {{}}}}
links:
  - between: [a, r]
    rate: 10Mb/s
    interfaces: {{r: {{input: {input}}}}}
  - between: [r, b]
    rate: 2Mb/s
    interfaces: {{r: {{output: wan}}}}
policies:
  trust: {{conditioners: [{{match: {{dscp: cs7}}, actions: [{{mark: cs6}}]}}]}}
  bleach: {{conditioners: [{{name: edge, actions: [{{mark: default}}]}}]}}
  selector: {{conditioners: [{{match: {{precedence: 5}}, actions: [{{mark-precedence: 5}}]}}]}}
  copied:
    conditioners:
      - actions: [{{copy: {{from: precedence, to: precedence}}}}]
  wan:
    queueing:
      scheduler: {scheduler}
      classes:
        - {{name: voice, match: {{precedence: 5}}, {voice}}}
        - {{name: rest, {rest}}}
traffic:
  - {{name: game, from: a, to: b, dscp: {dscp}, source: {{cbr: {{rate: 64kb/s, packet: {{ip: 200B}}}}}}}}
"""
PRIORITY = {
    "scheduler": "priority",
    "voice": "share: {level: 0}, police: {rate: 1Mb/s, burst: 8kB}",
    "rest": "share: {level: 1}",
}
TURNS = {"scheduler": "drr", "voice": "share: {quantum: 1500B}", "rest": "share: {quantum: 1500B}"}
TOKENS = {
    "scheduler": "htb",
    "voice": "share: {rate: 1Mb/s, level: 0}",
    "rest": "share: {rate: 1Mb/s, level: 1}",
}


@pytest.mark.parametrize(
    ("dscp", "policy", "shares", "rules"),
    [
        ("nqb", "trust", PRIORITY, {"nqb-gets-priority"}),
        ("nqb", "trust", TOKENS, {"nqb-gets-priority"}),
        # RFC 9956 recommends equal turns.
        ("nqb", "trust", TURNS, set()),
        ("ef", "trust", PRIORITY, {"nqb-may-get-priority"}),
        ("ef", "bleach", PRIORITY, {"nqb-may-get-priority"}),
        # The codepoint is no longer 45 when the packet is queued.
        ("nqb", "bleach", PRIORITY, {"nqb-remarked"}),
        ("nqb", "selector", TURNS, {"nqb-remarked"}),
        ("nqb", "copied", TURNS, {"nqb-remarked"}),
    ],
)
def test_traffic_of_scenarios(
    perhop: Command, tmp_path: Path, dscp: str, policy: str, shares: dict[str, str], rules: set[str]
) -> None:
    file = tmp_path / "games.perhop.yaml"
    file.write_text(SCENARIO.format(dscp=dscp, input=policy, **shares))
    assert _nqb(perhop, file) == rules


def test_a_configuration_in_a_scenario_meets_its_traffic(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "router.cfg").write_text(
        ROUTER.format(match="precedence 5", mark="set cos 5", second="class-default")
    )
    text = """\
perhop: 1
name: games
duration: 1s
hosts: {a: {address: 192.0.2.2}, b: {address: 203.0.113.2}}
routers: {r: {configuration: {file: router.cfg}}, p: {}}
links:
  - {between: [a, r], rate: 1Gb/s, interfaces: {r: {name: GigabitEthernet0/0}}}
  - {between: [r, p], rate: 2Mb/s, interfaces: {r: {name: Serial0/0}}}
  - {between: [p, b], rate: 10Mb/s}
traffic:
  - {name: game, from: a, to: b, dscp: DSCP, source: {cbr: {rate: 64kb/s, packet: {ip: 200B}}}}
"""
    file = tmp_path / "games.perhop.yaml"
    for dscp, rules in (("nqb", {"nqb-gets-priority"}), ("ef", set())):
        file.write_text(text.replace("DSCP", dscp))
        assert _nqb(perhop, file) == rules


@pytest.mark.parametrize(
    ("filters", "rules", "line"),
    [
        ("u32 match ip tos 0xa0 0xe0 flowid 1:1", {"nqb-may-get-priority"}, 2),
        ("u32 match ip dsfield 0xb8 0xfc flowid 1:1", set(), None),
        # The inner policy has a class for it.
        (
            "u32 match ip dsfield 0xa0 0xe0 flowid 1:1\n"
            "tc filter add dev eth0 parent 1: pref 2 protocol ip u32 match ip dsfield 0xb4 0xfc flowid 1:2",
            {"nqb-gets-priority"},
            2,
        ),
    ],
)
def test_filters_of_tc(
    perhop: Command, tmp_path: Path, filters: str, rules: set[str], line: int | None
) -> None:
    file = tmp_path / "uplink.tc"
    file.write_text(
        "tc qdisc add dev eth0 root handle 1: prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n"
        f"tc filter add dev eth0 parent 1: pref 1 protocol ip {filters}\n"
    )
    (found,) = perhop("check", file, "--json").json()["files"]
    nqb = [finding for finding in found["findings"] if finding["rule"].startswith("nqb")]
    assert {finding["rule"] for finding in nqb} == rules
    assert [finding["line"] for finding in nqb] == ([line] if line else [])


def test_the_type_of_service_of_prio_is_reported(perhop: Command, tmp_path: Path) -> None:
    """45 is 101101: its three low bits, the old type of service, mean interactive, the first band."""
    file = tmp_path / "plain.tc"
    file.write_text("tc qdisc add dev eth0 root handle 1: prio\n")
    (found,) = perhop("check", file, "--json").json()["files"]
    messages = [
        finding["message"] for finding in found["findings"] if finding["rule"] == "nqb-may-get-priority"
    ]
    assert messages == [
        "class 1:1 has priority and would match nqb (45) by the low bits of its codepoint, on eth0"
    ]


def test_nqb_has_no_priority_and_little_wait_in_the_template(perhop: Command) -> None:
    assert perhop("init", "lab", "--template", "rfc4594").code == 0
    found = perhop("run", "lab", "--json").json()["classes"]
    waits = {row["class"]: row["delay_mean_s"]["mean"] for row in found}
    lost = {row["class"]: row["dropped_packets"]["mean"] for row in found}
    assert lost["lookups"] == 0
    assert waits["lookups"] < waits["standard"] - 0.01
