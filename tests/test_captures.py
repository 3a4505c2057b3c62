"""Captures: tshark reads them without complaint and counts as perhop does; a replay sends the same
packets."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import perhop
from conftest import ROOT, Command, files_in, leftovers
from tshark import assert_no_complaint, count, fields, fields_without_complaint, needs_tshark

# With these options, tshark reads whole packets and validates their checksums.
WHOLE = 65_535

LINKS = """\
perhop: 1
name: Captured
duration: 10s
hosts: { client: {}, server: {} }
routers: { edge: {}, core: {} }
links:
  - between: [client, edge]
    rate: 100Mb/s
    delay: 1ms
    framing: ethernet-frame
    interfaces: { edge: { input: INPUT } }
  - between: [edge, core]
    rate: 4Mb/s
    delay: 10ms
    framing: ppp
    interfaces: { edge: { output: OUTPUT } }
  - { between: [core, server], rate: 100Mb/s, delay: 1ms }
"""

POLICIES = """\
policies:
  marking:
    conditioners:
      - meter: { token-bucket: { rate: 2Mb/s, burst: 10kB, excess: yellow } }
        green: [{ mark: af11 }]
        yellow: [{ mark: af12 }]
  policing:
    conditioners:
      - meter: { token-bucket: { rate: 1Mb/s, burst: 8kB } }
        green: [{ mark: ef }]
        red: [drop]
"""
WRED = """\
  NAME:
    queueing:
      classes:
        - name: af1
          buffer:
            wred:
              precedences:
                - { min: 20 packets, max: 40 packets, max-probability: 0.02 }
                - { min: 5 packets, max: 20 packets, max-probability: 0.1 }
              averaging: { weight: 0.02 }
              limit: 60 packets
              ecn: ECN
"""


def written(folder: Path, policies: tuple[str, str], traffic: str) -> Path:
    """Write a scenario whose edge has these policies on input and output, and this traffic."""
    links = LINKS.replace("INPUT", policies[0]).replace("OUTPUT", policies[1])
    wred = [
        WRED.replace("NAME", name).replace("ECN", ecn) for name, ecn in (("wred", "ignore"), ("ecn", "mark"))
    ]
    file = folder / "captured.perhop.yaml"
    file.write_text(links + POLICIES + "".join(wred) + traffic)
    return file


UDP = """\
traffic:
  - name: video
    from: client
    to: server
    count: 3
    source: { poisson: { rate: 2Mb/s, packet: { ip: 900B } } }
"""
TCP = """\
traffic:
  - { name: bulk, from: client, to: server, count: 4, source: { bulk: { tcp: { profile: linux-modern } } } }
"""


def drops(results: perhop.Results, port: str) -> dict[str, int]:
    """Return the drops at a port by cause."""
    rows = results.ports.filter(pl.col("port").cast(str) == port)
    causes = [name for name in rows.columns if name.startswith("dropped_")]
    counted = {cause.removeprefix("dropped_").replace("_", "-"): int(rows[cause].sum()) for cause in causes}
    return {cause: n for cause, n in counted.items() if n and cause not in {"packets", "bytes", "percent"}}


def sent_on_wire(results: perhop.Results, port: str) -> dict[int, int]:
    """Return the packets that left a port's queues, by drop precedence."""
    rows = results.ports.filter(
        (pl.col("port").cast(str) == port) & ~pl.col("queue").cast(str).str.starts_with("(")
    )
    return dict(zip(rows["precedence"].to_list(), rows["sent_packets"].to_list(), strict=True))


@needs_tshark
def test_udp_under_wred(tmp_path: Path) -> None:
    file = written(tmp_path, ("marking", "wred"), UDP)
    results = perhop.run(file, pcap=tmp_path / "pcap", snap_length=WHOLE)
    access, wire = (tmp_path / "pcap" / f"{name}.pcapng" for name in ("client--edge", "edge--core"))
    assert sorted((tmp_path / "pcap").glob("*.pcapng")) == [access, wire]
    packets = fields_without_complaint(wire, "frame.comment", "ip.dsfield.dscp", "ip.ttl", "udp.dstport")
    # By DSCP: AF11 is green, AF12 is yellow.
    sent = Counter(dscp for comment, dscp, _, _ in packets if not comment)
    assert {0: sent["10"], 1: sent["12"]} == sent_on_wire(results, "edge->core")
    comments = Counter(comment for comment, _, _, _ in packets if comment)
    by_cause = Counter[str]()
    for comment, number in comments.items():
        by_cause[comment.partition(",")[0].removeprefix("dropped: ")] += number
    assert by_cause == drops(results, "edge->core")
    assert by_cause["early-random"] > 100
    assert "dropped: early-random, queue af1, yellow" in comments
    # Packets are unmarked before the router's policy, and the router decrements the TTL by one.
    assert {(ttl, port) for _, _, ttl, port in packets} == {("63", "9")}
    offered = Counter(fields_without_complaint(access, "ip.dsfield.dscp", "ip.ttl"))
    assert offered["0", "64"] == results.flows["offered_packets"].sum()


@needs_tshark
def test_tcp_with_retransmissions(tmp_path: Path) -> None:
    file = written(tmp_path, ("marking", "wred"), TCP)
    # Before the first loss, the sender's window is the receiver's: 64 KiB, which fit into the header.
    change = {"traffic.bulk.source.bulk.tcp.window": "64000B"}
    results = perhop.run(file, pcap=tmp_path / "pcap", snap_length=WHOLE, set=change)
    access = tmp_path / "pcap" / "client--edge.pcapng"
    assert_no_complaint(access)
    # tshark divides retransmissions by their presumed reason; perhop counts all of them.
    again = " || ".join(
        f"tcp.analysis.{kind}"
        for kind in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
    )
    assert count(access, again) == results.tcp["retransmissions"].sum() > 20
    assert count(access, "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment") == 0
    assert count(access, "tcp.len > 0 || tcp.flags.fin == 1") == results.tcp["segments"].sum()
    assert count(access, "tcp.flags.syn == 1") == 2 * 4
    assert count(access, "tcp.options.sack.count > 0") > 20
    wire = tmp_path / "pcap" / "edge--core.pcapng"
    assert_no_complaint(wire)
    assert count(wire, "frame.comment") == sum(drops(results, "edge->core").values()) > 20
    # The round trip of the handshake, from the option MSS and the timestamps of the simulated TCP.
    synack = fields(access, "tcp.options.mss_val", "tcp.analysis.initial_rtt", where="tcp.flags == 0x012")
    # 24 ms of propagation, and 60 and 56 bytes on four links and two of 4 Mb/s.
    assert {mss for mss, _ in synack} == {"1460"}


@needs_tshark
def test_ecn(tmp_path: Path) -> None:
    file = written(tmp_path, ("marking", "ecn"), TCP)
    # At the end the queues are empty, so all marked packets were sent.
    change = {"traffic.bulk.source.bulk.tcp.ecn": "true", "traffic.bulk.stop": "9s"}
    results = perhop.run(file, pcap=tmp_path / "pcap", set=change)
    wire = tmp_path / "pcap" / "edge--core.pcapng"
    assert_no_complaint(wire)
    marked = int(results.ports["marked_packets"].sum())
    assert count(wire, "ip.dsfield.ecn == 3 && !frame.comment") == marked > 20
    # The receiver echoes marks, and the sender answers the echo; the handshake negotiates ECN (RFC 3168
    # §6.1.1).
    assert (
        count(wire, "tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.flags.ece == 1 && tcp.flags.cwr == 1")
        == 4
    )
    assert count(wire, "tcp.flags.syn == 0 && tcp.flags.ece == 1") >= marked
    reductions = int(results.tcp["congestion_marks"].sum())
    assert (
        0
        < count(wire, "tcp.flags.syn == 0 && tcp.flags.cwr == 1")
        <= reductions + results.tcp["retransmissions"].sum()
    )


@needs_tshark
def test_policed(tmp_path: Path) -> None:
    file = written(tmp_path, ("policing", "wred"), UDP)
    results = perhop.run(file, pcap=tmp_path / "pcap")
    access, wire = (tmp_path / "pcap" / f"{name}.pcapng" for name in ("client--edge", "edge--core"))
    policed = count(access, 'frame.comment == "dropped: policed, input of edge"')
    assert policed == results.flows["dropped_policed"].sum() > 1000
    stages = results.conditioners.filter(pl.col("color").cast(str) == "red")
    assert policed == stages["packets"].sum()
    assert (
        count(wire, "ip.dsfield.dscp == 46")
        == count(wire, "ip")
        == sum(sent_on_wire(results, "edge->core").values())
    )


@needs_tshark
@pytest.mark.parametrize(
    "framing",
    ["raw", "ethernet-header", "ethernet-frame", "ethernet-wire", "ppp", "hdlc", "aal5-mux", "aal5-snap"],
)
@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
def test_every_framing_in_both_families(tmp_path: Path, framing: str, family: str) -> None:
    file = written(tmp_path, ("marking", "wred"), UDP + TCP.partition("\n")[2])
    scenario = perhop.Scenario.load(file, {"duration": "500ms", "links.*.framing": framing})
    if family == "IPv6":
        scenario["hosts"] = {"client": {"address": "2001:db8::1"}, "server": {"address": "2001:db8::2"}}
    results = scenario.run(pcap=tmp_path / "pcap", snap_length=WHOLE)
    captures = sorted((tmp_path / "pcap").glob("*.pcapng"))
    assert len(captures) == 2
    for capture in captures:
        versions = fields_without_complaint(capture, "ipv6.version" if family == "IPv6" else "ip.version")
        assert versions.count(("6" if family == "IPv6" else "4",)) > 100
    assert sum(row["dropped"] for row in results.captured) == results.flows["dropped_packets"].sum()


@needs_tshark
def test_sequential_and_parallel_connections_are_distinguished(tmp_path: Path) -> None:
    tcp = "{ profile: linux-modern }"
    traffic = f"""\
traffic:
  - name: web
    from: client
    to: server
    count: 2
    source: {{ web: {{ mean-gap: 200ms, mean-size: 20kB, tcp: {tcp} }} }}
  - name: requests
    from: client
    to: server
    destination-port: 80
    source: {{ connect-request-response: {{ request: 300B, response: 20kB, tcp: {tcp} }} }}
"""
    results = perhop.run(
        written(tmp_path, ("marking", "wred"), traffic), pcap=tmp_path / "pcap", duration="5s"
    )
    access = tmp_path / "pcap" / "client--edge.pcapng"
    assert_no_complaint(access)
    begun = results.tcp["connections"].sum()
    streams = {stream for (stream,) in fields(access, "tcp.stream")}
    assert len(streams) == begun > 60
    assert count(access, "tcp.analysis.reused_ports") == 0


@needs_tshark
def test_flows_of_several_entries_are_conversations_of_their_own(tmp_path: Path) -> None:
    """Entries without ports had equal ports earlier, so tshark counted two of their flows as one."""
    traffic = UDP + UDP.partition("\n")[2].replace("video", "voice").replace("count: 3", "count: 2")
    tcp = "source: { bulk: { tcp: { profile: linux-modern } } }"
    for name in ("bulk", "more"):
        traffic += f"  - {{ name: {name}, from: client, to: server, count: 2, {tcp} }}\n"
    written(tmp_path, ("marking", "wred"), traffic)
    perhop.run(tmp_path / "captured.perhop.yaml", pcap=tmp_path / "pcap", duration="3s")
    access = tmp_path / "pcap" / "client--edge.pcapng"
    assert_no_complaint(access)
    forth = "ip.src < ip.dst"
    datagrams = {row for row in fields(access, "udp.stream") if row[0]}
    assert len(datagrams) == 3 + 2
    assert len({row for row in fields(access, "tcp.stream") if row[0]}) == 2 + 2
    ports = set(fields(access, "udp.srcport", where=f"udp && {forth}"))
    assert ports == {(str(49152 + number),) for number in range(5)}


@needs_tshark
def test_the_headers_that_ns2_takes_out_of_its_packets_leave_no_gaps(tmp_path: Path) -> None:
    file = written(tmp_path, ("marking", "wred"), TCP.replace("linux-modern", "ns2-reno-1999"))
    perhop.run(file, pcap=tmp_path / "pcap", duration="5s")
    access = tmp_path / "pcap" / "client--edge.pcapng"
    assert_no_complaint(access)
    assert count(access, "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment") == 0
    assert count(access, "tcp") > 500


def test_the_same_run_gives_the_same_folder(scenario: Path, tmp_path: Path, perhop: Command) -> None:
    for name, threads in (("one", "1"), ("two", "2")):
        ended = perhop("run", scenario, "--pcap", name, "--replications", "3", "--threads", threads)
        assert ended.code == 0, ended.err
        assert "captured in" in ended.err
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert [capture["file"] for capture in manifest["captures"]] == [
        "source--router.pcapng",
        "router--sink.pcapng",
    ]
    assert manifest["captures"][1]["dropped"] > 0


def test_links_are_chosen_by_their_direction(scenario: Path, tmp_path: Path, perhop: Command) -> None:
    ended = perhop("run", scenario, "--pcap", "pcap", "--pcap-link", "router->sink", "-q")
    assert (ended.code, ended.err) == (0, "")
    (capture,) = json.loads((tmp_path / "pcap" / "manifest.json").read_text())["captures"]
    assert (capture["file"], capture["interfaces"]) == ("router--sink.pcapng", ["router->sink"])
    for links, words in (
        (["router->snik"], "there is no node `snik`"),
        (["source->sink"], "`source` has no port to `sink`"),
        (["router-"], "quoted"),
    ):
        arguments = [argument for link in links for argument in ("--pcap-link", link)]
        ended = perhop("run", scenario, "--pcap", "other", *arguments)
        assert ended.code == 2
        assert words in ended.err
    ended = perhop("run", scenario, "--pcap-link", "router->sink")
    assert ended.code == 2
    assert "--pcap" in ended.err
    assert not (tmp_path / "other").exists()


def test_captures_may_be_part_of_the_results(scenario: Path, tmp_path: Path, perhop: Command) -> None:
    for _ in range(2):
        ended = perhop("run", scenario, "-o", "out", "--pcap", "out/captures")
        assert ended.code == 0, ended.err
        names = {path.name for path in (tmp_path / "out").iterdir()}
        assert {"summary.json", "captures"} <= names
        assert (tmp_path / "out" / "captures" / "router--sink.pcapng").stat().st_size > 1000
        assert leftovers(tmp_path) == leftovers(tmp_path / "out") == []
    assert perhop("run", scenario, "-o", "out", "--pcap", "out").code == 2


def test_a_failed_capture_leaves_no_files(scenario: Path, tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    ended = perhop("run", scenario, "--pcap", "mine")
    assert ended.code == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    for length in ("0", "-3", "65600"):
        ended = perhop("run", scenario, "--pcap", "new", "--snap-length", length)
        assert ended.code == 2
        assert "--snap-length" in ended.err
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "new").exists()


def test_a_capture_is_a_source(tmp_path: Path, perhop: Command) -> None:
    once = ("--replications", "1", "--json")
    perhop_run = perhop("run", written(tmp_path, ("marking", "wred"), UDP), "--pcap", "pcap", *once)
    replayed = (
        "traffic:\n"
        "  - { name: again, class: video, from: client, to: server, "
        "source: { pcap: { file: pcap/client--edge.pcapng } } }\n"
    )
    file = written(tmp_path, ("marking", "wred"), replayed)
    assert perhop("check", file).code == 0
    again = perhop("run", file, *once)
    (before,), (after,) = (ended.json()["classes"] for ended in (perhop_run, again))
    for column in ("delivered_packets", "dropped_packets"):
        # The capture contains the times at the wire, in nanoseconds, so packets arrive at the policy at the
        # same times as before.
        assert after[column]["mean"] == pytest.approx(before[column]["mean"], abs=2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"time,size\n0,40\n", "neither pcap nor pcapng"),
        (b"\xd4\xc3\xb2\xa1\x02\x00", "is truncated after 0 packets"),
        (None, "there is no capture"),
    ],
)
def test_a_broken_capture_is_named(
    tmp_path: Path, perhop: Command, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "mine.pcap").write_bytes(content)
    traffic = (
        "traffic:\n  - { name: mine, from: client, to: server, source: { pcap: { file: mine.pcap } } }\n"
    )
    file = written(tmp_path, ("marking", "wred"), traffic)
    for command in ("check", "run"):
        ended = perhop(command, file)
        assert ended.code == 2
        assert words in ended.err
        assert "mine.pcap" in ended.err


@needs_tshark
def test_the_example_replays_a_capture_that_tshark_reads() -> None:
    assert_no_complaint(ROOT / "examples" / "replay.pcapng")
