"""The parts of the benchmarks: the equivalent programs work, and the tables are written to their page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from engines import find_ns3  # noqa: E402
from networks import find_ns3_networks  # noqa: E402
from quoting import quote  # noqa: E402


def has_ns3() -> bool:
    tools = all(shutil.which(tool) for tool in ("g++", "pkg-config"))
    return tools and subprocess.run(["pkg-config", "--exists", "ns3-internet"], check=False).returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(not has_ns3(), reason="needs libns3-dev")
def test_ns3_carries_the_rate_of_the_bottleneck() -> None:
    run = find_ns3(rounds=1).run
    # A run of six seconds is a long run, which computes its routes differently from a short run.
    for length in (1, 6):
        datagrams = run("udp-4", length).packet_hops
        # 15,000 packets arrive at the bottleneck in a second, and 12,500 leave it over two links.
        assert 0.97 < datagrams / (length * (15_000 + 2 * 12_500)) < 1.01
        # Four windows of 68 packets in 44 ms: 6182 packets in a second, and as many acknowledgments, each by
        # three links; less while they start slowly.
        segments = run("tcp-4", length).packet_hops
        assert 0.6 < segments / (length * 2 * 3 * 4 * 68 / 0.044) < 1.01


@pytest.mark.thorough
@pytest.mark.skipif(not has_ns3(), reason="needs libns3-dev")
def test_ns3_carries_the_packets_of_large_networks() -> None:
    run = find_ns3_networks(rounds=1).run
    # Four flows of 6000 packets a second cross the links of the hosts and four links between five routers.
    assert 0.97 < run("chain-5", 2).packet_hops / (2 * 4 * 6000 * 6) < 1.03
    # Each of 45 hosts sends 250 packets a second; a ring with chords links any two of 5 routers.
    assert 0.9 < run("topology-50", 2).packet_hops / (2 * 45 * 250 * 3) < 1.1
    # The bottleneck of 4 Mb/s carries 500 packets a second once the windows have grown.
    assert 0.4 < run("tcp-4", 4).packet_hops / (4 * 2 * 3 * 500) < 1.05


FOUND: dict[str, Any] = {
    "rounds": 3,
    "machine": {"processor": "a processor", "processors": 2, "load_before": 0.25},
    "engine": [
        {
            "scenario": "udp-50",
            "simulator": "ns-3",
            "rounds": 1,
            "seconds": 20.0,
            "first_result_seconds": 0.25,
            "packet_hops": 4_000_000,
            "million_packet_hops_per_second": 0.2,
            "peak_megabytes": 20.4,
            "times_as_long": 100.0,
            "times_as_long_per_packet_hop": 99.0,
        }
    ],
    "start_of_the_command_line_seconds": None,
    "networks": [
        {
            "network": "chain-50",
            "simulator": "ns-3",
            "rounds": 1,
            "seconds": 10.0,
            "packet_hops": 2_400_000,
            "peak_megabytes": 20.4,
            "times_as_long": 300.0,
            "times_as_long_per_packet_hop": 299.0,
        }
    ],
    "data_plane": [
        {"case": "meter/srtcm-blind/1", "perhop": 10.0, "dpdk": 20.0, "ratio": 0.5},
        {"case": "scheduler/wf2q+", "perhop": 30.0},
    ],
}


def test_tables_are_written_between_their_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "speed.md"
    before = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    page.write_text(before, encoding="utf-8")
    quote(FOUND, page)
    once = page.read_text(encoding="utf-8")
    assert "| udp-50 | ns-3 | 1 | 20.00 | 0.250 | 4,000,000 | 0.20 | 20 | 100.0 | 99.0 |" in once
    assert "| chain-50 | ns-3 | 1 | 10.00 | 2,400,000 | 20 | 300.0 | 299.0 |" in once
    assert "| meter: srTCM color-blind, one | 10.0 | 20.0 | 0.50 |\n| scheduler: WF2Q+ | 30.0 | | |" in once
    quote(FOUND, page)
    assert page.read_text(encoding="utf-8") == once, "the second time nothing changes"
    measured = re.compile(r"<!-- measured: .*?<!-- end of what was measured", re.DOTALL)
    assert measured.sub("", once) == measured.sub("", before), "the text around the tables stays"
    assert "written to" in capsys.readouterr().out


def test_a_page_without_a_place_for_a_table_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text("# Speed\n", encoding="utf-8")
    with pytest.raises(ValueError, match="engine"):
        quote(FOUND, page)
    assert page.read_text(encoding="utf-8") == "# Speed\n"
