"""Policers of Junos in runs: hierarchical policers, and buckets that several uses of a policer share."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

ROUTER = """\
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24
set interfaces ge-0/0/0 unit 0 family inet filter input F
set class-of-service forwarding-classes class voice queue-num 5 policing-priority premium
set class-of-service classifiers dscp C forwarding-class voice loss-priority low code-points ef
set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp C
"""
HIERARCHICAL = """\
set firewall hierarchical-policer H aggregate if-exceeding bandwidth-limit 10m burst-size-limit 30k
set firewall hierarchical-policer H aggregate then discard
set firewall hierarchical-policer H premium if-exceeding bandwidth-limit 2m burst-size-limit 15k
set firewall hierarchical-policer H premium then discard
set firewall family inet filter F term all then hierarchical-policer H
"""
TERMS = """\
set firewall policer P if-exceeding bandwidth-limit 4m burst-size-limit 30k
set firewall policer P then discard
set firewall family inet filter F term voice from dscp ef
set firewall family inet filter F term voice then policer P
set firewall family inet filter F term rest then policer P
"""


REGULAR = "cbr: { rate: 20Mb/s, packet: { ip: 1500B }, jitter: 0.1 }"
RANDOM = "poisson: { rate: 20Mb/s, packet: { ip: 1500B } }"


def write(folder: Path, text: str, voice: str, data: str) -> None:
    """Write a scenario of voice and data through a router."""
    (folder / "r.conf").write_text(ROUTER + text)
    (folder / "s.perhop.yaml").write_text(
        f"""perhop: 1
name: policers
duration: 6s
hosts:
  a: {{ address: 10.1.0.2 }}
  b: {{ address: 10.2.0.2 }}
routers:
  r:
    configuration: {{ file: r.conf }}
links:
  - between: [a, r]
    rate: 1Gb/s
    interfaces: {{ r: {{ name: ge-0/0/0 }} }}
  - between: [r, b]
    rate: 1Gb/s
    interfaces: {{ r: {{ name: ge-0/0/1 }} }}
traffic:
  - name: voice
    from: a
    to: b
    dscp: ef
    source: {{ cbr: {{ rate: {voice}, packet: {{ ip: 200B }} }} }}
  - name: data
    from: a
    to: b
    source: {{ {data} }}
measure:
  warmup: 2s
"""
    )


def passed(folder: Path, perhop: Command, text: str, voice: str) -> list[float]:
    """Return the IP rates of voice and of 20 Mb/s of data after the policers, Mb/s."""
    write(folder, text, voice, REGULAR)
    ended = perhop("run", "s.perhop.yaml", "--replications", "1", "--json")
    rows = {row["class"]: row["throughput_bps"]["mean"] / 1e6 for row in ended.json()["classes"]}
    return [rows["voice"], rows["data"]]


@pytest.mark.parametrize(("voice", "expected"), [("3Mb/s", [2.0, 8.0]), ("1Mb/s", [1.0, 9.0])])
def test_other_packets_get_the_rate_that_premium_packets_leave(
    tmp_path: Path, perhop: Command, voice: str, expected: list[float]
) -> None:
    # Juniper, "Hierarchical Policer Overview": 2 of 10 Mb/s premium leave 8.
    assert passed(tmp_path, perhop, HIERARCHICAL, voice) == pytest.approx(expected, rel=0.01)


def test_the_terms_of_a_filter_share_a_bucket_on_request(tmp_path: Path, perhop: Command) -> None:
    # Each term has its own policer: 3 Mb/s of voice conform, and 4 Mb/s of data.
    assert passed(tmp_path, perhop, TERMS, "3Mb/s") == pytest.approx([3.0, 4.0], rel=0.01)
    together = passed(tmp_path, perhop, TERMS + "set firewall policer P filter-specific\n", "3Mb/s")
    assert sum(together) == pytest.approx(4.0, rel=0.01)


def test_queues_of_a_router_have_bounds(tmp_path: Path, perhop: Command) -> None:
    queues = """\
set class-of-service schedulers V transmit-rate percent 20
set class-of-service schedulers V priority high
set class-of-service schedulers D transmit-rate percent 75
set class-of-service scheduler-maps M forwarding-class voice scheduler V
set class-of-service scheduler-maps M forwarding-class best-effort scheduler D
set class-of-service interfaces ge-0/0/1 scheduler-map M
set firewall family inet filter F term all then accept
"""
    # The traffic of data has no bound, so that only the guarantee remains.
    write(tmp_path, queues, "3Mb/s", RANDOM)
    found = perhop("bounds", "s.perhop.yaml", "--json").json()
    rows = {row["queue"]: row for row in found["queues"] if row["port"] == "r->b"}
    voice = rows["port/voice"]
    # 20 % of 1 Gb/s, in bytes with layers 1 and 2: 238 for each 200.
    assert voice["guaranteed_bps"] == pytest.approx(0.2e9 * 200 / 238, rel=0.001)
    assert [step["rule"] for step in voice["rules"]] == ["guaranteed-rate"]
    # A queue of a higher level waits for the packet on the wire, of 1538 bytes, and for its own packet.
    assert 12.3e-6 < voice["delay_s"] < 40e-6
