"""Results in the formats of other programs."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

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
    # What was kept of empty tables is what would be written of them.
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
    assert [one["udp"]["packets"] for one in end["streams"]] == flows["offered_packets"].to_list()
    assert end["sum"]["lost_packets"] == flows["dropped_packets"].sum()
    assert end["sum"]["bits_per_second"] == pytest.approx(flows["offered_bytes"].sum() * 8 / 4)
    assert document["start"]["test_start"]["protocol"] == "UDP"
    assert len(document["intervals"]) == 8
    received = sum(one["sum"]["bytes"] for one in document["intervals"])
    rates = results.throughput.filter(pl.col("replication") == 1)["throughput_bps"]
    assert received == pytest.approx(rates.sum() * 0.5 / 8)


def test_iperf3_tells_tcp_from_udp(scenario: Path) -> None:
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


def test_flent_data_is_what_flent_wants(results: perhop.Results, tmp_path: Path) -> None:
    """The keys and types that flent's `ResultSet.unserialise` reads (flent 2.3, resultset.py)."""
    file = tmp_path / "overload.flent.gz"
    interchange.write_flent(results, file)
    data = json.loads(gzip.decompress(file.read_bytes()))
    assert data["version"] == 4
    assert data["metadata"]["NAME"] == "tcp_nup"
    assert data["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "2"}
    assert "1 steady, 2 random" in data["metadata"]["NOTE"]
    for name, line in data["results"].items():
        assert len(line) == len(data["x_values"]) == 8
        assert [one["val"] for one in data["raw_values"][name]] == line
    assert data["results"]["TCP upload sum"] == pytest.approx(
        [
            a + b
            for a, b in zip(data["results"]["TCP upload::1"], data["results"]["TCP upload::2"], strict=True)
        ]
    )
    least, most = results.classes["delay_min_s"].min() * 1e3, results.classes["delay_max_s"].max() * 1e3
    assert all(least <= delay <= most for delay in data["results"]["Ping (ms) ICMP"])


@pytest.mark.skipif(
    shutil.which("flent") is None, reason="no flent: pip install flent, in an environment of its own"
)
def test_flent_itself_reads_it(results: perhop.Results, tmp_path: Path) -> None:
    file = tmp_path / "overload.flent.gz"
    interchange.write_flent(results, file)
    ended = subprocess.run(
        ["flent", "-i", file, "-f", "csv", "-p", "totals", "-o", tmp_path / "out.csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    table = pl.read_csv(tmp_path / "out.csv")
    data = json.loads(gzip.decompress(file.read_bytes()))
    assert table["TCP upload sum"].to_list() == pytest.approx(data["results"]["TCP upload sum"])
    assert table["Ping (ms) ICMP"].to_list() == pytest.approx(data["results"]["Ping (ms) ICMP"])


@pytest.mark.parametrize(
    ("format", "name"), [("csv", "out.csv"), ("iperf3", "out.iperf3.json"), ("flent", "out.flent.gz")]
)
def test_the_command(perhop: Command, scenario: Path, tmp_path: Path, format: str, name: str) -> None:
    assert perhop("run", scenario, "-o", "out", "-q").code == 0
    ended = perhop("export", format, "out")
    assert ended.code == 0, ended.err
    assert (tmp_path / name).exists()
    assert perhop("export", format, "nowhere").code == 2
