"""Junos configurations on the command line, and documented shares out of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT, Command
from perhop.configuration import checked

#: DSCP of the packets of each queue.
CODEPOINTS = [0, 8, 16, 24]


def router(schedulers: list[str], *, speed: str = "10m") -> str:
    """A router that sends packets of four codepoints to four queues."""
    lines = [
        f"set interfaces ge-0/0/1 speed {speed}",
        "set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24",
        "set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24",
        "set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp c",
        "set class-of-service interfaces ge-0/0/1 scheduler-map m",
    ]
    for queue, statements in enumerate(schedulers):
        lines += [
            f"set class-of-service forwarding-classes class q{queue} queue-num {queue}",
            f"set class-of-service scheduler-maps m forwarding-class q{queue} scheduler q{queue}",
            f"set class-of-service classifiers dscp c forwarding-class q{queue} loss-priority low "
            f"code-points {CODEPOINTS[queue]:06b}",
        ]
        lines += [
            f"set class-of-service schedulers q{queue} {statement}" for statement in statements.split(", ")
        ]
    return "\n".join(lines) + "\n"


def delivered(folder: Path, perhop: Command, text: str, platform: str, offered: list[float]) -> list[float]:
    """Return the rates of the queues for given offered rates, in Mb/s of wire bytes."""
    (folder / "r.conf").write_text(text)
    flows = "\n".join(
        f"""  - name: q{queue}
    from: a
    to: b
    dscp: {CODEPOINTS[queue]}
    source: {{ cbr: {{ rate: {round(rate * 1462 * 1e6 / 1500)}b/s, packet: {{ ip: 1462B }} }} }}"""
        for queue, rate in enumerate(offered)
        if rate
    )
    (folder / "s.perhop.yaml").write_text(
        f"""perhop: 1
name: Junos
duration: 12s
hosts:
  a: {{ address: 10.1.0.2 }}
  b: {{ address: 10.2.0.2 }}
routers:
  r:
    configuration: {{ file: r.conf, platform: {{ profile: {platform} }} }}
links:
  - between: [a, r]
    rate: 1Gb/s
    interfaces: {{ r: {{ name: ge-0/0/0 }} }}
  - between: [r, b]
    rate: 10Mb/s
    framing: ethernet-wire
    interfaces: {{ r: {{ name: ge-0/0/1 }} }}
traffic:
{flows}
measure:
  warmup: 4s
"""
    )
    ended = perhop("run", "s.perhop.yaml", "--replications", "1", "--json")
    rows = {row["class"]: row for row in ended.json()["classes"]}
    return [
        rows[f"q{queue}"]["throughput_bps"]["mean"] / 1e6 * 1500 / 1462 if rate else 0.0
        for queue, rate in enumerate(offered)
    ]


#: Platform, schedulers, offered and documented rates, Mb/s, with 10 Mb/s in place of the documented line.
SHARES = [
    # TechLibrary bw-sharing-excess-examples-cos-config-guide, tables 1 and 2.
    pytest.param(
        "junos-mx",
        [
            "transmit-rate percent 20, priority high, excess-priority high",
            "transmit-rate percent 10, priority high, excess-priority high",
            "transmit-rate percent 10, priority low, excess-priority low",
            "transmit-rate percent 5, priority low, excess-priority low",
        ],
        [6, 5, 5, 5],
        [5.6667, 2.8333, 1.0, 0.5],
        id="excess by priority",
    ),
    pytest.param(
        "junos-mx",
        [f"transmit-rate percent {rate}, priority high, excess-priority high" for rate in (20, 10, 10, 5)],
        [5, 5, 5, 5],
        [4.4444, 2.2222, 2.2222, 1.1111],
        id="excess by rate",
    ),
    # TechLibrary schedulers-priority-platforms-cos-config-guide: leftover in the ratio of rates.
    pytest.param(
        "junos-srx",
        [f"transmit-rate percent {rate}" for rate in (20, 40, 10, 10)],
        [10, 10, 10, 10],
        [2.5, 5.0, 1.25, 1.25],
        id="leftover by rate",
    ),
]


@pytest.mark.parametrize(("platform", "schedulers", "offered", "documented"), SHARES)
def test_documented_shares(
    tmp_path: Path,
    perhop: Command,
    platform: str,
    schedulers: list[str],
    offered: list[float],
    documented: list[float],
) -> None:
    found = delivered(tmp_path, perhop, router(schedulers), platform, offered)
    assert found == pytest.approx(documented, rel=0.01)


def test_the_family_is_asked_for_and_rules_are_explained(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "r.conf").write_text(router(["transmit-rate percent 20"]))
    ended = perhop("check", "r.conf")
    assert ended.code == 2
    assert "does not show the family" in ended.out and "--platform junos-mx" in ended.out
    found = perhop("check", "r.conf", "--platform", "junos-mx")
    assert found.code == 0 and "0 not modelled, 1 suspicious, 0 not recognized" in found.out
    refused = perhop("check", "r.conf", "--platform", "junos-qfx")
    assert refused.code == 2 and "--platform junos-qfx5100" in refused.out
    assert "excess-priority" in perhop("explain", "--platform", "junos-mx").out


def test_rates_and_trace(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "r.conf").write_text(router(["transmit-rate percent 80", "transmit-rate percent 20"]))
    rates = perhop("rates", "r.conf", "--platform", "junos-mx").out
    assert "port/q0" in rates
    assert "the IP bytes of a packet and 38 bytes more" in " ".join(rates.split())
    traced = perhop(
        "trace",
        "r.conf",
        "--platform",
        "junos-mx",
        "--at",
        "ge-0/0/0.0",
        "--packet",
        "udp 10.1.0.2:1 > 10.2.0.2:2 dscp cs1 len 200",
    )
    assert "in queue port/q1" in traced.out


def test_the_output_with_a_scheduler_map_is_run(tmp_path: Path, perhop: Command) -> None:
    """Each port has the default queues; only the second port has a scheduler map."""
    text = router(["transmit-rate percent 40", "transmit-rate percent 60"], speed="1g")
    (tmp_path / "r.conf").write_text(text)
    ended = perhop("init", "--from", "r.conf", "--platform", "junos-mx")
    assert ended.code == 0, ended.err
    assert "to ge-0/0/1.0, 1 Gb/s" in ended.err


#: Two units with guarantees of 30 and 10 Mb/s under a port of 60 Mb/s.
UNITS = """\
set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24
set interfaces ge-0/0/1 hierarchical-scheduler
set interfaces ge-0/0/1 flexible-vlan-tagging
set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp c
set class-of-service classifiers dscp c forwarding-class be loss-priority low code-points 000000
set class-of-service classifiers dscp c forwarding-class ef loss-priority low code-points 101110
set class-of-service forwarding-classes class be queue-num 0
set class-of-service forwarding-classes class ef queue-num 1
set class-of-service schedulers be transmit-rate percent 100
set class-of-service schedulers ef priority strict-high
set class-of-service scheduler-maps m forwarding-class be scheduler be
set class-of-service scheduler-maps m forwarding-class ef scheduler ef
set class-of-service traffic-control-profiles p shaping-rate 60m
set class-of-service interfaces ge-0/0/1 output-traffic-control-profile p
""" + "".join(
    f"set interfaces ge-0/0/1 unit {unit} vlan-id {unit}\n"
    f"set interfaces ge-0/0/1 unit {unit} family inet address 10.2.{unit}.1/24\n"
    f"set class-of-service traffic-control-profiles t{unit} scheduler-map m\n"
    f"set class-of-service traffic-control-profiles t{unit} shaping-rate 50m\n"
    f"set class-of-service traffic-control-profiles t{unit} guaranteed-rate {rate}m\n"
    f"set class-of-service interfaces ge-0/0/1 unit {unit} output-traffic-control-profile t{unit}\n"
    for unit, rate in ((1, 30), (2, 10))
)


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        # The excess of 20 Mb/s is shared in the ratio of the guarantees; queues within their guarantees share
        # one level.
        ({("be", 1): 100, ("be", 2): 100}, {("be", 1): 45, ("be", 2): 15}),
        ({("be", 1): 100, ("be", 2): 20}, {("be", 1): 45, ("be", 2): 15}),
        # Strict-high sends up to the rate of its unit, also above the guarantee of the unit.
        ({("be", 1): 100, ("ef", 2): 40, ("be", 2): 100}, {("be", 1): 20, ("ef", 2): 40, ("be", 2): 0}),
        ({("ef", 1): 20, ("be", 1): 100}, {("ef", 1): 20, ("be", 1): 30}),
    ],
)
def test_units_share_their_port(
    tmp_path: Path, perhop: Command, offered: dict[tuple[str, int], int], expected: dict[tuple[str, int], int]
) -> None:
    (tmp_path / "r.conf").write_text(UNITS)
    codepoints = {"be": 0, "ef": 46}
    flows = "\n".join(
        f"  - {{ name: {name}{unit}, from: a, to: b{unit}, dscp: {codepoints[name]}, "
        f"source: {{ cbr: {{ rate: {round(rate * 1458 / 1500 * 1e6)}b/s, packet: {{ ip: 1458B }} }} }} }}"
        for (name, unit), rate in offered.items()
    )
    (tmp_path / "s.perhop.yaml").write_text(
        f"""perhop: 1
name: units
duration: 3s
hosts: {{ a: {{ address: 10.1.0.2 }}, b1: {{ address: 10.2.1.2 }}, b2: {{ address: 10.2.2.2 }} }}
routers:
  r: {{ configuration: {{ file: r.conf, platform: {{ profile: junos-mx }} }} }}
  far: {{}}
links:
  - {{ between: [a, r], rate: 1Gb/s, interfaces: {{ r: {{ name: ge-0/0/0 }} }} }}
  - between: [r, far]
    rate: 1Gb/s
    interfaces:
      r: {{ name: ge-0/0/1, carries: {{ ge-0/0/1.1: [10.2.1.0/24], ge-0/0/1.2: [10.2.2.0/24] }} }}
  - {{ between: [far, b1], rate: 1Gb/s }}
  - {{ between: [far, b2], rate: 1Gb/s }}
traffic:
{flows}
measure: {{ warmup: 1s }}
"""
    )
    ended = perhop("run", "s.perhop.yaml", "--replications", "1", "--json")
    assert ended.code == 0, ended.err
    rows = {
        row["class"]: row["throughput_bps"]["mean"] / 1e6 * 1500 / 1458 for row in ended.json()["classes"]
    }
    wanted = {f"{name}{unit}": float(rate) for (name, unit), rate in expected.items()}
    assert rows == pytest.approx(wanted, rel=0.02, abs=0.1)


def test_every_line_of_the_example_is_read_and_its_filter_counts(perhop: Command) -> None:
    example = ROOT / "examples" / "edge.conf"
    states = {line["state"] for line in checked(example.read_text())["lines"]}
    assert states == {"modelled", "irrelevant"}
    shown = perhop("show", "firewall", example, "--duration", "3s", "--json", "-q").json()
    [filter_] = shown["routers"][0]["interfaces"]
    counted = {row["name"]: row["packets"] for row in filter_["counters"]}
    assert set(counted) == {"voice", "business", "rest"} and all(counted.values())


def test_a_similar_name_is_suggested_but_not_written(tmp_path: Path, perhop: Command) -> None:
    text = (ROOT / "examples" / "edge.conf").read_text().replace("scheduler business;", "scheduler busines;")
    (tmp_path / "edge.conf").write_text(text)
    ended = perhop("check", "edge.conf", "--fix", "fixed.conf")
    assert ended.code == 1 and "there is no scheduler `busines`" in ended.out
    assert "the commit fails; did you mean `business`?" in ended.out
    assert (tmp_path / "fixed.conf").read_text() == text
