"""The hosts' traffic programs between two namespaces: sent, received and counted packets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import perhop
from live_testbed import WITHIN_S, needs_rights
from perhop import _core
from perhop.results import Results
from perhop.scenario import Scenario
from programs import needs

pytestmark = [needs_rights, needs("ip", "tc")]

# A program starts and opens all sockets in less time, even on a busy machine.
LEAD_NS = 3_000_000_000
SHAPED = ["rate", "20mbit", "burst", "20kb", "latency", "200ms"]
HOST = """
import sys
from perhop import _core
host, start, result = sys.argv[1:4]
_core.live_host(sys.stdin.read(), "/", host, 1, int(start), result)
"""


def tcp(name: str, port: int, source: str, application: dict[str, Any]) -> dict[str, Any]:
    application = {"tcp": {"profile": "linux-modern"}} | application
    back = {"a": "b", "b": "a"}[source]
    kind = name.partition(" ")[0]
    return {
        "name": name,
        "from": source,
        "to": back,
        "destination-port": port,
        "source": {kind: application},
        "stop": "1500ms",
    }


TRAFFIC = [
    {"name": "cbr", "source": {"cbr": {"rate": "1Mb/s", "packet": {"ip": "250B"}}}, "dscp": "ef"},
    {"name": "poisson", "source": {"poisson": {"rate": "1Mb/s", "packet": {"ip": "500B"}}}, "dscp": "af12"},
    {
        "name": "on-off",
        "count": 3,
        "start-within": "300ms",
        "source": {
            "on-off": {
                "rate": "2Mb/s",
                "packet": {"payload": "100B"},
                "on-time": "50ms",
                "off-time": "100ms",
                "law": "exponential",
            }
        },
    },
]
APPLICATIONS = [
    tcp("request-response", 5001, "a", {"request": "100B", "response": "2000B"}),
    tcp("connect-request-response", 5002, "b", {"request": "100B", "response": "2000B"}),
    tcp("file-transfer", 5003, "a", {"size": "50kB", "connection": "per-file"}),
    tcp("web", 80, "b", {"mean-gap": "20ms", "mean-size": "10kB"}),
]


def scenario(traffic: list[dict[str, Any]], addresses: tuple[str, str], **measure: object) -> Scenario:
    # Packets that a busy machine sends late still arrive before the end.
    traffic = [{"from": "a", "to": "b", "stop": "1600ms"} | flow for flow in traffic]
    hosts = dict(zip("ab", ({"address": address} for address in addresses), strict=True))
    data = {
        "perhop": 1,
        "name": "hosts",
        "duration": "2s",
        "hosts": hosts,
        "links": [{"between": ["a", "b"], "rate": "100Mb/s"}],
        "traffic": traffic,
        "measure": {"warmup": "500ms", **measure},
    }
    return Scenario(data).embedded()


@pytest.fixture
def pair() -> Iterator[tuple[str, str]]:
    """Two namespaces with a cable between them."""
    names = tuple(f"perhop-test-{os.getpid()}-{end}" for end in "ab")
    try:
        for name in names:
            ip("netns", "add", name)
        ip("-n", names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", names[1])
        yield names[0], names[1]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def play(wanted: Scenario, names: tuple[str, str], tmp_path: Path) -> Results:
    """Run both hosts' programs; return the results of their records."""
    for name, host in zip(names, "ab", strict=True):
        address = wanted["hosts"][host]["address"]
        length, options = ("64", ["nodad"]) if ":" in address else ("24", [])
        ip("-n", name, "address", "add", f"{address}/{length}", "dev", "eth0", *options)
        # A testbed has no segmentation offload, so each captured frame is one packet.
        ip("-n", name, "link", "set", "eth0", "gso_max_segs", "1", "up")
        # A rate that a busy machine can capture packet by packet.
        subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", *SHAPED], check=True)
    start = time.monotonic_ns() + LEAD_NS
    files = [tmp_path / f"{host}.json" for host in "ab"]
    programs = [
        subprocess.Popen(
            ["ip", "netns", "exec", name, sys.executable, "-c", HOST, host, str(start), str(file)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, host, file in zip(names, "ab", files, strict=True)
    ]
    reports = []
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(wanted.to_json())
        program.stdin.close()
        program.stdin = None
    for program in programs:
        reports.append(program.communicate(timeout=WITHIN_S)[1])
    assert [program.returncode for program in programs] == [0, 0], reports
    runs = json.dumps([{"hosts": [str(file) for file in files], "forwarders": []}])
    summary, tables, units = _core.live_results(wanted.to_json(), "/", 1, runs)
    return Results(json.loads(summary), dict(wanted), 1, 1, units, tables)


@pytest.mark.parametrize("addresses", [("10.9.0.1", "10.9.0.2"), ("fd00::1", "fd00::2")])
def test_hosts_send_the_packets_of_the_simulator(
    pair: tuple[str, str], addresses: tuple[str, str], tmp_path: Path
) -> None:
    wanted = scenario(TRAFFIC, addresses, packets=["cbr", "poisson", "on-off"])
    live, simulated = play(wanted, pair, tmp_path), perhop.run(wanted, seed=1)
    assert live.summary["kind"] == "live"
    keys = ["flow", "number"]
    columns = [*keys, "sent_s", "bytes"]
    both = [
        results.packets.select(columns).with_columns(pl.col("flow").cast(pl.String))
        for results in (live, simulated)
    ]
    joined = both[1].join(both[0], on=keys, how="left", suffix="_live")
    assert joined.height > 500 and joined["sent_s_live"].null_count() == 0
    early = (joined["sent_s_live"] - joined["sent_s"]).min()
    assert isinstance(early, float) and early > -2e-9, "nothing is sent before it is due"
    late = (joined["sent_s_live"] - joined["sent_s"]).median()
    # The machine determines how late packets are; the program must keep the order of magnitude.
    assert isinstance(late, float) and late < 50e-3
    headers = 20 if ":" in addresses[0] else 0
    assert (joined["bytes_live"] - joined["bytes"]).is_in([0, headers]).all()


def test_datagrams_arrive_with_number_color_and_delay(pair: tuple[str, str], tmp_path: Path) -> None:
    live = play(scenario(TRAFFIC, ("10.9.0.1", "10.9.0.2"), **{"throughput-every": "500ms"}), pair, tmp_path)
    # 1 Mb/s of 250-byte packets from the end of the warm-up to 1.6 s: 550 packets. If the machine stopped the
    # sender during the warm-up, the delayed packets count as well: at most those of 1.6 s.
    cbr = live.classes.row(by_predicate=pl.col("class") == "cbr", named=True)
    assert 549 <= cbr["offered_packets"] <= 800 and cbr["delivered_packets"] == cbr["offered_packets"]
    assert 0 < cbr["delay_min_s"] <= cbr["delay_p50_s"] <= cbr["delay_max_s"] < 1
    assert cbr["ipdv_mean_abs_s"] > 0 and cbr["dropped_packets"] == 0
    colors = {(row["class"], row["color"]) for row in live.colors.iter_rows(named=True)}
    assert colors == {("cbr", "green"), ("poisson", "yellow"), ("on-off", "green")}
    assert live.throughput.height == 3 * 3
    packets = live.summary["live"][0]["packets"]
    assert (
        packets["unmatched"] == packets["missing"] == 0
        and packets["arrived"] + packets["late"] == packets["sent"]
    )


def test_tcp_applications_follow_the_scenario(pair: tuple[str, str], tmp_path: Path) -> None:
    probe = {"connections": [{"traffic": "request-response", "every": "100ms"}]}
    live = play(scenario(APPLICATIONS, ("10.9.0.1", "10.9.0.2"), **probe), pair, tmp_path)
    rows = {row["class"]: row for row in live.tcp.iter_rows(named=True)}
    assert all(row["transactions"] > 3 for row in rows.values())
    assert all(row["completion_mean_s"] > 0 for row in rows.values())
    answered, connected = rows["request-response"], rows["connect-request-response"]
    assert answered["connections"] == 0, "its only one was made in the warm-up"
    assert connected["connections"] >= connected["transactions"] - 1
    for row in (answered, connected):
        # A request of 100 bytes is answered by 2000; one may be under way at either end of the measurement.
        assert abs(row["reply_bytes"] / 2000 - row["transactions"]) <= 2
        assert abs(row["received_bytes"] / 100 - row["transactions"]) <= 2
    files = rows["file-transfer"]
    # The first transfers that end within the measured time may have received their bytes before.
    assert files["received_bytes"] >= 50_000 * (files["transactions"] - 2)
    assert files["reply_bytes"] >= files["transactions"] - 2
    # The capture contains leaving and arriving packets, including acknowledgments; nothing is lost here.
    assert set(live.classes["class"]) == {name for row in rows for name in (row, f"{row} (back)")}
    assert (live.classes["delivered_packets"] > 0).all() and (live.classes["delay_mean_s"] > 0).all()
    packets = live.summary["live"][0]["packets"]
    assert packets["unmatched"] == packets["missing"] == 0, live.summary["live"]
    # One sample every 100 ms; a busy machine samples late or skips a sample.
    assert live.connections.height >= 3 and (live.connections["cwnd_segments"] >= 1).all()


def test_bulk_fills_its_window_without_blocking_others(pair: tuple[str, str], tmp_path: Path) -> None:
    bulk = tcp("bulk", 5004, "a", {"tcp": {"profile": "linux-modern", "window": "64KiB"}}) | {"count": 2}
    live = play(scenario([bulk, APPLICATIONS[0]], ("10.9.0.1", "10.9.0.2")), pair, tmp_path)
    rows = {row["class"]: row for row in live.transactions.iter_rows(named=True)}
    assert rows["bulk"]["goodput_bps"] > 5e6 and rows["bulk"]["reply_goodput_bps"] == 0
    assert rows["request-response"]["transactions"] > 3


def test_an_address_without_a_listener_is_an_error(tmp_path: Path) -> None:
    # This machine has no such address.
    wanted = scenario(TRAFFIC, ("203.0.113.1", "203.0.113.2"))
    with pytest.raises(OSError, match="cannot open a socket"):
        _core.live_host(wanted.to_json(), "/", "b", 1, time.monotonic_ns(), tmp_path / "b.json")


def test_an_unknown_congestion_control_is_an_error(tmp_path: Path) -> None:
    wanted = scenario(APPLICATIONS, ("127.0.0.1", "127.0.0.2"))
    with pytest.raises(OSError, match="congestion control `nobody`"):
        _core.live_host(wanted.to_json(), "/", "b", 1, time.monotonic_ns(), tmp_path / "b.json", 0, "nobody")
