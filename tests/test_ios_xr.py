"""A router with IOS XR in the commands of perhop."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import ROOT, Command

CORE = ROOT / "vectors" / "ios" / "xr-core.cfg"
EDGE = ROOT / "vectors" / "ios" / "xr-edge.cfg"
PLATFORM = "platform: ncs-5500 (line 6: hw-module profile qos hqos-enable)"


def test_check_accounts_for_every_line(perhop: Command) -> None:
    ended = perhop("check", CORE)
    assert ended.code == 0
    assert ended.out.splitlines()[0] == f"{CORE}: {PLATFORM}"
    assert "router, ok: 106 lines: 72 modelled" in ended.out
    assert "0 not recognized" in ended.out


def test_a_platform_that_is_assumed_is_named(perhop: Command) -> None:
    ended = perhop("check", EDGE)
    first = ended.out.splitlines()[0]
    assert first.endswith(
        "platform: asr-9000 (likely from line 1: RP/0/RSP0/CPU0:edge-2#show running-config; "
        "--platform sets it)"
    )
    assert "warning[platform-assumed]: no line names the hardware: perhop assumes asr-9000" in ended.out
    assert "not recognized" in ended.out and "frobnicate 7" in ended.out
    chosen = perhop("check", EDGE, "--platform", "asr-9000").out
    assert "platform: asr-9000 (--platform)" in chosen and "platform-assumed" not in chosen


def test_a_packet_takes_its_traffic_class_to_its_queue(perhop: Command) -> None:
    packet = "udp 198.51.100.7:20000 > 203.0.113.9:5004 dscp ef"
    ended = perhop("trace", CORE, "--at", "Bundle-Ether10", "--packet", packet, "--json")
    assert ended.code == 0, ended.err
    assert "tc-voice" in ended.out and "HundredGigE0/0/1/0" in ended.out


def test_rates_have_the_shaped_priority_and_the_excess(perhop: Command) -> None:
    rows = perhop("rates", CORE).out.splitlines()
    voice = next(row.split() for row in rows if row.startswith("tc-voice"))
    assert voice == ["tc-voice", "(priority)", "20", "20", "20", "-"]
    assert any(row.startswith("others/tc-video") and row.endswith("40 %") for row in rows)
    assert any("38 bytes more" in row for row in rows), "preamble, gap and check sequence count"


def test_run_names_what_it_leaves_out(perhop: Command) -> None:
    ended = perhop("run", CORE)
    assert ended.code == 0, ended.err
    assert ended.out.count("tc-voice") >= 2
    text = ended.out + ended.err
    assert PLATFORM in text
    assert "not run: line 113, `ipv4 access-group video-servers egress`" in text


def test_diff_shows_a_changed_limit(perhop: Command, tmp_path: Path) -> None:
    changed = tmp_path / "changed.cfg"
    changed.write_text(CORE.read_text().replace("queue-limit 500 us", "queue-limit 900 us"))
    ended = perhop("diff", CORE, changed)
    assert "queue-limit 900 us" in ended.out or "900" in ended.out
    assert ended.code in (0, 1)
    same = perhop("diff", CORE, CORE)
    assert "nothing differs" in same.out


def test_the_output_has_the_layout_of_ios_xr(perhop: Command) -> None:
    ended = perhop("show", "policy-map", "interface", CORE, "HundredGigE0/0/1/0")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert "HundredGigE0/0/1/0 output: core-out" in lines
    assert "Class tc-voice" in lines
    assert "  Queueing statistics" in lines
    assert any(line.startswith("    Taildropped(packets/bytes)") for line in lines)
    assert "Class-map:" not in ended.out


def test_a_profile_has_its_sources(perhop: Command) -> None:
    rows = perhop("explain", "--platform", "ncs-5500").out.splitlines()
    limit = next(row for row in rows if row.startswith("class-queue-limit"))
    assert "service-time, microseconds 10000" in limit and "printed" in limit and "NCS 5508" in limit


def test_a_router_with_ios_xr_is_part_of_a_network(perhop: Command, tmp_path: Path) -> None:
    for file in (ROOT / "examples" / "network").glob("*.cfg"):
        shutil.copy(file, tmp_path)
    shutil.copy(CORE, tmp_path / "backbone.cfg")
    ended = perhop("check", tmp_path)
    assert f"{tmp_path / 'backbone.cfg'}: router, ok" in ended.out
    assert "core.cfg" in ended.out


@pytest.mark.parametrize("platform", ["asr-9000", "ncs-5500"])
def test_ios_xr_is_not_written(perhop: Command, platform: str) -> None:
    refused = perhop("convert", CORE, "--to", "ios", "--platform", platform)
    assert refused.code == 2
    assert "does not write it" in refused.err or "differently" in refused.err
