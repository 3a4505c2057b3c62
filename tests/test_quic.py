"""The profile `quic` on the command line: the packets that it sends and the keys that it refuses."""

from __future__ import annotations

from pathlib import Path

from conftest import Command

SCENARIO = """\
perhop: 1
name: QUIC
duration: 10s
hosts: { client: {}, server: {} }
links: [{ between: [client, server], rate: 10Mb/s, delay: 10ms, loss: LOSS }]
traffic:
  - { name: bulk, from: client, to: server, source: { bulk: { tcp: { profile: quic, EXTRA } } } }
"""


def written(folder: Path, loss: str, extra: str) -> Path:
    file = folder / "quic.perhop.yaml"
    file.write_text(SCENARIO.replace("LOSS", loss).replace("EXTRA", extra))
    return file


def measured(perhop: Command, file: Path) -> dict[str, float]:
    ended = perhop("run", file, "--json")
    assert ended.code == 0, ended.err
    [bulk] = [row for row in ended.json()["classes"] if row["class"] == "bulk"]
    return {name: value["mean"] for name, value in bulk.items() if isinstance(value, dict)}


def test_quic_fills_a_link_with_datagrams_of_1200_bytes(perhop: Command, tmp_path: Path) -> None:
    bulk = measured(perhop, written(tmp_path, "0.0", "congestion: cubic"))
    # 28 bytes of UDP and IP around each; 10 Mb/s for 10 s, except in the first round trips.
    assert 1227 < bulk["delivered_bytes"] / bulk["delivered_packets"] <= 1228
    assert 0.9 * 12_500_000 < bulk["delivered_bytes"] < 12_500_000


def test_random_losses_reduce_quic_as_newreno(perhop: Command, tmp_path: Path) -> None:
    bulk = measured(perhop, written(tmp_path, "0.01", "congestion: reno"))
    # Mathis et al. 1997: 1.22 / sqrt(p) datagrams per round trip of 20 ms, 0.87 of it with an acknowledgment
    # for every second packet; and a queue on the path.
    per_round_trip = bulk["delivered_packets"] / (10 / 0.02)
    assert 0.5 * 12.2 < per_round_trip < 1.1 * 12.2
    assert bulk["dropped_lost"] > 30


def test_pages_over_quic_are_refused(perhop: Command, tmp_path: Path) -> None:
    """Users would mistake one request at a time on each connection for HTTP/3."""
    file = written(tmp_path, "0.0", "congestion: cubic")
    file.write_text(file.read_text().replace("bulk: { tcp", "page-load: { tcp"))
    ended = perhop("run", file)
    assert ended.code == 2
    assert "perhop does not model the streams of HTTP/3" in ended.err and f"{file.name}:7" in ended.err


def test_parts_of_tcp_are_refused(perhop: Command, tmp_path: Path) -> None:
    file = written(tmp_path, "0.0", "undo: true")
    ended = perhop("check", file)
    assert ended.code != 0
    assert "`recovery: quic` is not possible with `undo: true`" in ended.err
    assert f"{file.name}:7" in ended.err
