"""`perhop show firewall` and `show interfaces extensive`: genie and a comparison read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import genie_parser
from conftest import Command
from perhop.show.output import read

# The policer drops data; the output filter has its own counters.
ROUTER = """\
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24
set interfaces ge-0/0/0 unit 0 family inet filter input edge
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24
set interfaces ge-0/0/1 unit 0 family inet filter output exit
set firewall policer slow if-exceeding bandwidth-limit 5m
set firewall policer slow if-exceeding burst-size-limit 15k
set firewall policer slow then discard
set firewall family inet filter edge term voice from dscp ef
set firewall family inet filter edge term voice then count voice
set firewall family inet filter edge term voice then forwarding-class expedited-forwarding
set firewall family inet filter edge term rest then policer slow
set firewall family inet filter edge term rest then count rest
set firewall family inet filter exit interface-specific
set firewall family inet filter exit term all then count all
set firewall family inet filter exit term all then accept
set class-of-service scheduler-maps m forwarding-class expedited-forwarding scheduler ef
set class-of-service scheduler-maps m forwarding-class best-effort scheduler be
set class-of-service scheduler-maps m forwarding-class network-control scheduler nc
set class-of-service schedulers ef transmit-rate percent 30 exact
set class-of-service schedulers ef priority high
set class-of-service schedulers ef buffer-size temporal 20k
set class-of-service schedulers be transmit-rate percent 60
set class-of-service schedulers nc transmit-rate 500k
set class-of-service interfaces ge-0/0/1 scheduler-map m
set class-of-service interfaces ge-0/0/1 shaping-rate 10m
"""
SHORT = ("--load", "overload", "--duration", "6s", "-q")


@pytest.fixture
def router(tmp_path: Path) -> Path:
    file = tmp_path / "edge.conf"
    file.write_text(ROUTER)
    return file


def rows(filter_: dict[str, Any], table: str) -> list[tuple[str, int, int]]:
    """Return the rows of a table of our document."""
    return [(row["name"], row["bytes"], row["packets"]) for row in filter_[table]]


def test_genie_reads_counters_and_policers(perhop: Command, router: Path) -> None:
    text = perhop("show", "firewall", router, *SHORT)
    assert text.code == 0, text.err
    document = perhop("show", "firewall", router, *SHORT, "--json").json()
    edge, exit_ = document["routers"][0]["interfaces"]
    parsed = genie_parser.parse(text.out, "junos/show_firewall.py", "ShowFirewall")
    found = parsed["firewall-information"]["filter-information"]
    assert [parsed_filter["filter-name"] for parsed_filter in found] == ["edge", "exit-ge-0/0/1.0-o"]
    for parsed_filter, ours in zip(found, (edge, exit_), strict=True):
        counted = [
            (row["counter-name"], int(row["byte-count"]), int(row["packet-count"]))
            for row in parsed_filter["counter"]
        ]
        assert counted == rows(ours, "counters")
    policer = found[0]["policer"]
    [(name, bytes_, packets)] = rows(edge, "policers")
    expected = {"policer-name": "slow-rest", "byte-count": str(bytes_), "packet-count": str(packets)}
    assert name == "slow-rest" and policer == expected and packets > 0
    # Voice has packets of 200 bytes; filters of IP count IP bytes.
    [voice] = [row for row in rows(edge, "counters") if row[0] == "voice"]
    assert voice[1] == 200 * voice[2] > 0
    # Dropped packets do not reach `count`, and all other packets leave through the output filter.
    assert sum(packets for _, _, packets in rows(edge, "counters")) == rows(exit_, "counters")[0][2]


def test_genie_reads_the_queues_of_an_interface(perhop: Command, router: Path) -> None:
    text = perhop("show", "interfaces", "extensive", router, "ge-0/0/1", *SHORT)
    assert text.code == 0, text.err
    arguments = ("show", "interfaces", "queue", router, "ge-0/0/1", *SHORT, "--json")
    [node] = perhop(*arguments).json()["routers"][0]["interfaces"][0]["nodes"]
    parsed = genie_parser.parse(text.out, "junos/show_interface.py", "ShowInterfacesExtensive")
    [physical] = parsed["interface-information"]["physical-interface"]
    assert (physical["name"], physical["oper-status"]) == ("ge-0/0/1", "Up")
    assert physical["physical-interface-cos-information"] == {
        "physical-interface-cos-hw-max-queues": "8",
        "physical-interface-cos-use-max-queues": "8",
    }
    dropped = ("tail_dropped", "rl_dropped", "red_dropped")
    assert physical["queue-counters"]["queue"] == [
        {
            "queue-number": str(queue["queue"]),
            "forwarding-class-name": ", ".join(queue["classes"]),
            "queue-counters-queued-packets": str(queue["queued"]["packets"]),
            "queue-counters-trans-packets": str(queue["transmitted"]["packets"]),
            "queue-counters-total-drop-packets": str(sum(queue[counter]["packets"] for counter in dropped)),
        }
        for queue in node["queues"]
    ]
    stream = physical["cos-information"]["cos-stream-information"]
    names = ("number", "forwarding-class", "bandwidth", "bandwidth-bps", "buffer", "buffer-bytes", "priority")
    values = [[row[f"cos-queue-{name}"] for name in names] for row in stream["cos-queue-configuration"]]
    # Without `buffer-size` a queue has the share of its transmit rate.
    assert values == [
        ["0", "best-effort", "60", "6000000", "60", "0", "low"],
        ["1", "expedited-forwarding", "30", "3000000", "0", "20000", "high"],
        ["3", "network-control", "5", "500000", "5", "0", "low"],
    ]
    limits = [row["cos-queue-limit"] for row in stream["cos-queue-configuration"]]
    assert limits == ["none", "exact", "none"]


@pytest.mark.parametrize("command", [("firewall",), ("interfaces", "extensive")])
def test_the_output_is_compared_with_a_run(
    perhop: Command, router: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    output = tmp_path / "show.txt"
    output.write_text(perhop("show", *command, router, *SHORT).out)
    assert read(output.read_text())["commands"] == [" ".join(command)]
    compared = ("compare", "--router", output, router, *SHORT, "--json")
    ended = perhop(*compared)
    assert ended.code == 0, ended.err
    found = ended.json()
    # The output is of the same run: all numbers are equal.
    assert found["agrees"] and found["figures"]["agrees"] > 5 and found["missing"] == []
    changed = tmp_path / "other.conf"
    changed.write_text(ROUTER.replace("percent 60", "percent 20").replace("limit 5m", "limit 1m"))
    ended = perhop("compare", "--router", output, changed, *SHORT, "--json")
    assert not ended.json()["agrees"]


def test_a_device_without_filters_has_no_such_output(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "plain.conf"
    file.write_text("\n".join(line for line in ROUTER.splitlines() if " filter " not in line) + "\n")
    ended = perhop("show", "firewall", file, *SHORT)
    assert ended.code == 2
    assert "no interface of the configuration has a filter" in ended.err
