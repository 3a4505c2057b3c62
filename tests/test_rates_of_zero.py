"""Rates, intervals and counts of zero: classes without remaining bandwidth, and files with zeros."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

# The wire is slower than the limit of the priority class, so the other classes send nothing.
STARVED = """\
version 15.2
class-map match-any CALLS
 match dscp ef
class-map match-any ORDERS
 match dscp af31
policy-map UPLINK
 class CALLS
  priority 1000
 class ORDERS
  bandwidth 300
interface Serial0/1/0
 clock rate 64000
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output UPLINK
"""

# Flow records, and averages of counters, need a plain configuration.
PLAIN = STARVED.replace(" clock rate 64000\n", "")


@pytest.fixture
def router(tmp_path: Path) -> Path:
    return tmp_path / "router.cfg"


def test_starved_classes_are_offered_traffic(perhop: Command, router: Path) -> None:
    router.write_text(STARVED)
    ran = perhop("run", router, "--duration", "10s")
    assert ran.code == 0, ran.err
    assert "because the other classes leave no rate" in ran.err


def test_a_load_interval_of_zero_is_ignored(perhop: Command, router: Path) -> None:
    router.write_text(PLAIN.replace(" bandwidth 2000\n", " bandwidth 2000\n load-interval 0\n"))
    shown = perhop("show", "policy-map", "interface", router, "--after", "2min")
    assert shown.code == 0, shown.err


def test_flow_records_without_bytes_are_refused(perhop: Command, router: Path) -> None:
    router.write_text(PLAIN)
    flows = router.with_name("flows.csv")
    flows.write_text("src,dst,proto,bytes,first,last\n198.51.100.9,203.0.113.9,udp,0,0,1\n")
    refused = perhop("run", router, "--traffic", flows)
    assert refused.code == 2
    assert "no flow that leaves via this interface has bytes" in refused.err
