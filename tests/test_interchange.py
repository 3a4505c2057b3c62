"""Results in the formats of other programs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest

import perhop
from conftest import Command, files_in
from perhop import interchange

SAMPLED = {"measure.throughput-every": "500ms", "measure.delay-every": "500ms"}


@pytest.fixture
def results(scenario: Path) -> perhop.Results:
    return perhop.run(scenario, replications=2, set=SAMPLED)


def test_saved_results_are_read_again(results: perhop.Results, tmp_path: Path) -> None:
    results.save(tmp_path / "out")
    again = perhop.Results.load(tmp_path / "out")
    assert (again.seed, again.replications, again.summary) == (
        results.seed,
        results.replications,
        results.summary,
    )
    assert again.names == results.names
    for name in results.names:
        assert again.table(name).equals(results.table(name))
    again.save(tmp_path / "again")
    assert files_in(tmp_path / "again") == files_in(tmp_path / "out")
    # The stored form of an empty table equals the form that would be written.
    assert any(results.table(name).is_empty() for name in results.names)
    results.save(tmp_path / "kept")
    assert files_in(tmp_path / "kept") == files_in(tmp_path / "again")


def test_csv_holds_every_table(results: perhop.Results, tmp_path: Path) -> None:
    interchange.write_csv(results, tmp_path / "csv")
    names = {f"{name}.csv" for name in results.names} | {"manifest.json"}
    assert {file.name for file in (tmp_path / "csv").iterdir()} == names
    flows = pl.read_csv(tmp_path / "csv" / "flows.csv")
    assert flows["offered_packets"].to_list() == results.flows["offered_packets"].to_list()


def test_iperf3_counts_like_the_tables(results: perhop.Results) -> None:
    document = interchange.iperf3_document(results, replication=1)
    flows = results.flows.filter(pl.col("replication") == 1)
    end = document["end"]
    assert [stream["udp"]["packets"] for stream in end["streams"]] == flows["offered_packets"].to_list()
    assert end["sum"]["lost_packets"] == flows["dropped_packets"].sum()
    assert end["sum"]["bits_per_second"] == pytest.approx(flows["offered_bytes"].sum() * 8 / 4)
    assert document["start"]["test_start"]["protocol"] == "UDP"
    assert len(document["intervals"]) == 8
    received = sum(interval["sum"]["bytes"] for interval in document["intervals"])
    rates = results.throughput.filter(pl.col("replication") == 1)["throughput_bps"]
    assert received == pytest.approx(rates.sum() * 0.5 / 8)


def test_iperf3_distinguishes_tcp_and_udp(scenario: Path) -> None:
    scenario.write_text(
        scenario.read_text().replace(
            "cbr: { rate: 800kb/s, packet: { ip: 1000B } }", "bulk: { tcp: { profile: linux-modern } }"
        )
    )
    results = perhop.run(scenario)
    tcp, udp = interchange.iperf3_document(results)["end"]["streams"]
    assert tcp["sender"]["retransmits"] == results.tcp["retransmissions"][0]
    assert 0 < tcp["receiver"]["bytes"] <= tcp["sender"]["bytes"]
    assert udp["udp"]["packets"] > 0


BOTH_WAYS = """\
perhop: 1
name: home
duration: 6s
measure: {warmup: 1s, throughput-every: 500ms, delay-every: 500ms}
hosts: {home: {}, server: {}}
routers: {edge: {}}
links:
  - {between: [home, edge], rate: 100Mb/s, delay: 2ms}
  - {between: [edge, server], rate: 4Mb/s, delay: 8ms}
traffic:
  - {name: up, from: home, to: server, source: {bulk: {tcp: {profile: linux-6}}}}
  - {name: down, from: server, to: home, source: {bulk: {tcp: {profile: linux-6}}}}
  - {name: call, from: home, to: server, dscp: ef, source: {voice: {codec: g711}}}
  - {name: callee, from: server, to: home, dscp: ef, source: {voice: {codec: g711}}}
  - {name: beacon, from: server, to: home, source: {cbr: {rate: 8kb/s, packet: {ip: 100B}}}}
"""


def flent_document(file: Path) -> dict[str, Any]:
    """Return the content of a file of flent."""
    found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return found


@pytest.fixture
def home(tmp_path: Path) -> perhop.Results:
    (tmp_path / "home.perhop.yaml").write_text(BOTH_WAYS)
    return perhop.run(tmp_path / "home.perhop.yaml")


def test_flent_data_has_the_format_of_flent(results: perhop.Results, tmp_path: Path) -> None:
    """The keys and types that flent's `ResultSet.unserialise` reads (flent 2.3, resultset.py)."""
    file = tmp_path / "overload.flent.gz"
    date = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    interchange.write_flent(results, file, replication=1, date=date)
    data = flent_document(file)
    assert data["version"] == 4
    metadata = data["metadata"]
    assert metadata["NAME"] == "rrul_var"
    assert metadata["TEST_PARAMETERS"] == {"bidir_streams": "2", "labels": "steady,random"}
    assert metadata["TITLE"] == f"{results.summary['scenario']}, replication 1"
    assert metadata["TIME"] == metadata["T0"] == "2026-03-04T05:06:07.000000Z"
    for name, line in data["results"].items():
        assert len(line) == len(data["x_values"]) == 8
        raw = data["raw_values"][name]
        assert [sample["val"] for sample in raw] == [value for value in line if value is not None]
        assert not raw or raw[0]["t"] == pytest.approx(date.timestamp() + data["x_values"][0])
    least, most = results.classes["delay_min_s"].min() * 1e3, results.classes["delay_max_s"].max() * 1e3
    assert all(least <= delay <= most for delay in data["results"]["Ping (ms)::ICMP"])
    again = tmp_path / "again.flent.gz"
    interchange.write_flent(results, again, replication=1, date=date)
    assert again.read_bytes() == file.read_bytes()


def test_flent_has_classes_by_direction(home: perhop.Results, tmp_path: Path) -> None:
    file = tmp_path / "home.flent.gz"
    interchange.write_flent(home, file)
    found = flent_document(file)["results"]
    assert {name for name in found if name.startswith("TCP") and "::" in name} == {
        "TCP upload::up", "TCP download::down", "TCP upload::call", "TCP download::callee",
        "TCP download::beacon",
    }  # fmt: skip
    rates = home.throughput.with_columns(pl.col("class").cast(pl.String))

    def line(*classes: str) -> list[float]:
        rows = rates.filter(pl.col("class").is_in(classes))
        return (rows.group_by("time_s").agg(pl.col("throughput_bps").sum()).sort("time_s"))[
            "throughput_bps"
        ].to_list()

    uploads, downloads = line("up", "call"), line("down", "callee", "beacon")
    assert found["TCP upload sum"] == pytest.approx([rate / 1e6 for rate in uploads])
    assert found["TCP download sum"] == pytest.approx([rate / 1e6 for rate in downloads])
    assert found["TCP upload avg"] == pytest.approx([rate / 2e6 for rate in uploads])
    assert found["TCP totals"] == pytest.approx(
        [(up + down) / 1e6 for up, down in zip(uploads, downloads, strict=True)]
    )


def test_the_ping_of_flent_is_the_delay_of_calls(home: perhop.Results, tmp_path: Path) -> None:
    file = tmp_path / "home.flent.gz"
    interchange.write_flent(home, file)
    data = flent_document(file)
    delays = home.delays.with_columns(pl.col("class").cast(pl.String)).sort("time_s")
    there, back = (
        delays.filter(pl.col("class") == name)["delay_mean_s"].to_list() for name in ("call", "callee")
    )
    assert data["results"]["Ping (ms)::ICMP"] == pytest.approx(
        [1e3 * (first + other) for first, other in zip(there, back, strict=True)]
    )
    assert "Ping (ms)::UDP beacon" in data["results"]
    assert not any("up" in name or "down" in name for name in data["results"] if name.startswith("Ping"))
    assert "Ping (ms)::ICMP is the delay of call, callee, there and back" in data["metadata"]["NOTE"]


def test_a_class_with_both_directions_is_divided(home: perhop.Results, tmp_path: Path) -> None:
    one_class = BOTH_WAYS.replace("name: callee,", "name: callee, class: call,")
    (tmp_path / "one.perhop.yaml").write_text(one_class)
    for name, results in {"two": home, "one": perhop.run(tmp_path / "one.perhop.yaml")}.items():
        interchange.write_flent(results, tmp_path / f"{name}.flent.gz")
    separate, joint = (flent_document(tmp_path / f"{name}.flent.gz")["results"] for name in ("two", "one"))
    # At an instant one direction may have more packets than the other, but the means are equal.
    for name, same in (
        ("TCP upload::call", "TCP upload::call"),
        ("TCP download::call", "TCP download::callee"),
    ):
        assert fmean(joint[name]) == pytest.approx(fmean(separate[same]), rel=0.01), name
    assert fmean(joint["Ping (ms)::ICMP"]) == pytest.approx(fmean(separate["Ping (ms)::ICMP"]), rel=0.05)


def test_the_replies_that_carry_data_are_downloads(tmp_path: Path) -> None:
    video = """\
  - name: film
    from: home
    to: server
    source: {video: {tcp: {profile: linux-6}, ladder: [1Mb/s], segment: 2s, buffer: 10s, starts-with: 2s}}
"""
    (tmp_path / "film.perhop.yaml").write_text(BOTH_WAYS + video)
    interchange.write_flent(perhop.run(tmp_path / "film.perhop.yaml"), tmp_path / "film.flent.gz")
    found = flent_document(tmp_path / "film.flent.gz")["results"]
    assert "TCP download::film" in found
    assert "TCP upload::film" not in found


def test_a_file_of_flent_has_name_and_date_of_its_run(
    perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    written = {}
    for name in ("cake", "fifo"):
        sampled = [f"--set={path}={value}" for path, value in SAMPLED.items()]
        assert perhop("run", scenario, "-o", name, "-q", *sampled).code == 0
        os.utime(tmp_path / name / "manifest.json", (1_700_000_000, 1_700_000_000))
        assert perhop("export", "flent", name).code == 0
        written[name] = flent_document(tmp_path / f"{name}.flent.gz")["metadata"]
    assert [metadata["TITLE"] for metadata in written.values()] == ["cake", "fifo"]
    assert written["cake"]["TIME"] == "2023-11-14T22:13:20.000000Z"


@pytest.mark.skipif(
    shutil.which("flent") is None, reason="no flent: pip install flent, in an environment of its own"
)
def test_flent_itself_reads_it(home: perhop.Results, tmp_path: Path) -> None:
    file = tmp_path / "overload.flent.gz"
    interchange.write_flent(home, file)
    ended = subprocess.run(
        ["flent", "-i", file, "-f", "csv", "-p", "all", "-o", tmp_path / "out.csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    table = pl.read_csv(tmp_path / "out.csv")
    data = flent_document(file)["results"]
    for name in ("TCP upload::up", "TCP download sum", "Ping (ms)::ICMP"):
        assert table[name].to_list() == pytest.approx(data[name])


@pytest.mark.parametrize(
    ("format", "name"), [("csv", "out.csv"), ("iperf3", "out.iperf3.json"), ("flent", "out.flent.gz")]
)
def test_the_command(perhop: Command, scenario: Path, tmp_path: Path, format: str, name: str) -> None:
    assert perhop("run", scenario, "-o", "out", "-q").code == 0
    ended = perhop("export", format, "out")
    assert ended.code == 0, ended.err
    assert (tmp_path / name).exists()
    assert perhop("export", format, "nowhere").code == 2
