"""Segmentation offload of a sender, through the command line: bursts, both engines, refusals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from conftest import Command

SCENARIO = """\
perhop: 1
name: bursts
duration: 2s
hosts:
  server: {}
  client: {}
routers:
  router: {}
links:
  - { between: [server, router], rate: 1Gb/s }
  - { between: [router, client], rate: 50Mb/s, delay: 20ms }
traffic:
  - name: flow
    from: server
    to: client
    source:
      bulk:
        tcp:
          profile: linux-6
          pacing: true
          segmentation-offload: { largest: 65215B }
measure:
  packets: [flow]
"""
OFFLOAD = "          segmentation-offload: { largest: 65215B }\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bursts.perhop.yaml"
    path.write_text(SCENARIO)
    return path


def bursts(folder: Path) -> Counter[int]:
    """Count bursts by their number of full segments sent at one instant, after the first 200 ms."""
    sent = pl.read_parquet(folder / "packets.parquet").filter(
        (pl.col("sent_s") > 0.2) & (pl.col("bytes") == 1500)
    )
    return Counter(sent.group_by("sent_s").len()["len"].to_list())


# Bursts are counted in the list of packets of one run.
ONE = ("--replications", "1")


def test_a_paced_sender_sends_segments_together(perhop: Command, file: Path, tmp_path: Path) -> None:
    assert perhop("run", file, *ONE, "-q", "-o", "together").code == 0
    file.write_text(SCENARIO.replace(OFFLOAD, ""))
    assert perhop("run", file, *ONE, "-q", "-o", "single").code == 0
    file.write_text(SCENARIO.replace("65215B", "4500B"))
    assert perhop("run", file, *ONE, "-q", "-o", "three").code == 0
    # 2^-10 s of 1.2 times 50 Mb/s are 7.3 kB, five segments. Two more are a share of the largest burst; a
    # round trip of 40 ms does not reach this share. A retransmission leaves alone.
    together = bursts(tmp_path / "together")
    assert set(bursts(tmp_path / "single")) == {1}
    assert together.most_common(1)[0][0] in (4, 5)
    assert max(bursts(tmp_path / "three")) == 3


def test_both_engines_send_the_same_bursts(perhop: Command, file: Path, tmp_path: Path) -> None:
    for engine in ("fast", "plain"):
        ended = perhop("run", file, "-q", "--engine", engine, "-o", engine)
        assert ended.code == 0, ended.err
    for name in ("packets.parquet", "flows.parquet", "tcp.parquet"):
        assert (tmp_path / "fast" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("65215B", "100B", "`largest` must be from a segment (1448B) to 524280B, got 100B"),
        ("65215B", "1MB", "`largest` must be from a segment (1448B) to 524280B, got 1000000B"),
        ("profile: linux-6", "profile: rfc5681-reno", "needs `accounting: segments`"),
        ("largest: 65215B", "smallest: 2kB", "smallest"),
    ],
)
def test_invalid_bursts_are_refused(
    perhop: Command, file: Path, written: str, instead: str, said: str
) -> None:
    text = SCENARIO.replace(written, instead)
    if "linux-6" in written:
        text = text.replace("          pacing: true\n", "")
    file.write_text(text)
    ended = perhop("check", file)
    assert ended.code == 2
    line = 1 + text[: text.index("segmentation-offload")].count("\n")
    assert said in ended.err, ended.err
    assert f"bursts.perhop.yaml:{line}" in ended.err, ended.err
