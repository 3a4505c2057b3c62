"""`perhop show interfaces queue` and `class-of-service`: genie reads them, and a router is compared with a
run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import genie_parser
from conftest import Command
from perhop.show.output import read

# Each class loses packets: to the rate limit, to the drop profile, to the full queue.
ROUTER = """\
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24
set class-of-service classifiers dscp own import default
set class-of-service classifiers dscp own forwarding-class best-effort loss-priority high code-points cs1
set class-of-service drop-profiles early interpolate fill-level 5
set class-of-service drop-profiles early interpolate drop-probability 20
set class-of-service scheduler-maps m forwarding-class expedited-forwarding scheduler ef
set class-of-service scheduler-maps m forwarding-class best-effort scheduler be
set class-of-service scheduler-maps m forwarding-class network-control scheduler nc
set class-of-service schedulers ef transmit-rate percent 30 rate-limit
set class-of-service schedulers ef priority strict-high
set class-of-service schedulers be transmit-rate percent 60
set class-of-service schedulers be buffer-size percent 60
set class-of-service schedulers be drop-profile-map loss-priority any protocol any drop-profile early
set class-of-service schedulers nc transmit-rate percent 5 exact
set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp own
set class-of-service interfaces ge-0/0/1 scheduler-map m
set class-of-service interfaces ge-0/0/1 shaping-rate 10m
set class-of-service interfaces ge-0/0/1 unit 0 rewrite-rules dscp default
"""
SHORT = ("--load", "overload", "--duration", "6s", "-q")
#: The rows of loss priorities.
LOSSES = ("low", "medium-low", "medium-high", "high")


@pytest.fixture
def router(tmp_path: Path) -> Path:
    file = tmp_path / "edge.conf"
    file.write_text(ROUTER)
    return file


def parsed_queue(queue: dict[str, Any]) -> dict[str, str]:
    """The expected result of genie's parser for a queue of our document."""
    found = {"queue-number": str(queue["queue"]), "forwarding-class-name": ", ".join(queue["classes"])}

    def add(kind: str, unit: str, counter: dict[str, int], suffix: str = "") -> None:
        name = f"queue-counters-{kind}-{unit}"
        found[f"{name}{suffix}"] = str(counter[unit])
        found[f"{name}-rate{suffix}"] = str(counter["pps" if unit == "packets" else "bps"])

    for unit in ("packets", "bytes"):
        add("queued", unit, queue["queued"])
        add("trans", unit, queue["transmitted"])
        add("red", unit, queue["red_dropped"])
        for loss in LOSSES:
            add("red", unit, queue["red_dropped_by_loss_priority"][loss], f"-{loss}")
    add("tail-drop", "packets", queue["tail_dropped"])
    add("rl-drop", "packets", queue["rl_dropped"])
    return found


def test_genie_reads_the_queues_of_a_run(perhop: Command, router: Path) -> None:
    text = perhop("show", "interfaces", "queue", router, "ge-0/0/1", *SHORT)
    assert text.code == 0, text.err
    document = perhop("show", "interfaces", "queue", router, "ge-0/0/1", *SHORT, "--json").json()
    [[node]] = [port["nodes"] for device in document["routers"] for port in device["interfaces"]]
    parsed = genie_parser.parse(text.out, "junos/show_interface.py", "ShowInterfacesQueue")
    physical = parsed["interface-information"]["physical-interface"]
    assert (physical["name"], physical["oper-status"]) == ("ge-0/0/1", "Up")
    counters = physical["queue-counters"]
    summary = {
        "intf-cos-forwarding-classes-in-use": "4",
        "intf-cos-forwarding-classes-supported": "16",
        "intf-cos-num-queues-in-use": "4",
        "intf-cos-num-queues-supported": "8",
        "intf-cos-queue-type": "Egress queues",
    }
    assert counters["interface-cos-summary"] == summary
    assert counters["queue"] == [parsed_queue(queue) for queue in node["queues"]]
    be, ef, _, nc = node["queues"]
    assert be["red_dropped"]["packets"] > 0 and ef["rl_dropped"]["packets"] > 0
    assert nc["tail_dropped"]["packets"] > 0


def test_bytes_include_the_frame_and_the_wire(perhop: Command, router: Path) -> None:
    document = perhop("show", "interfaces", "queue", router, "ge-0/0/1", *SHORT, "--json").json()
    [node] = document["routers"][0]["interfaces"][0]["nodes"]
    # Voice has packets of 200 bytes; MX counts 38 more.
    sent = node["queues"][1]["transmitted"]
    assert sent["bytes"] == sent["packets"] * 238


def test_genie_reads_the_interface(perhop: Command, router: Path) -> None:
    text = perhop("show", "class-of-service", "interface", router, "ge-0/0/1")
    assert text.code == 0, text.err
    parsed = genie_parser.parse(
        text.out, "junos/show_class_of_service.py", "ShowClassOfService", interface="ge-0/0/1"
    )
    assert parsed["cos-interface-information"]["interface-map"] == {
        "interface-name": "ge-0/0/1",
        "interface-index": "0",
        "interface-queues-supported": "8",
        "interface-queues-in-use": "4",
        "interface-shaping-rate": "10000000",
        "scheduler-map-name": "m",
        "scheduler-map-index": "0",
        "interface-congestion-notification-map": "Disabled",
        "i-logical-map": {
            "i-logical-name": "ge-0/0/1.0",
            "i-logical-index": "0",
            "cos-objects": {
                "cos-object-type": ["Classifier", "Rewrite"],
                "cos-object-name": ["ipprec-compatibility", "dscp-default"],
                "cos-object-subtype": ["ip", "dscp"],
                "cos-object-index": ["13", "0"],
            },
        },
    }


def test_the_order_of_the_router_is_accepted(perhop: Command, router: Path) -> None:
    ours = perhop("show", "class-of-service", "drop-profile", router, "early")
    theirs = perhop("show", "class-of-service", "drop-profile", "early", router)
    assert ours.out == theirs.out
    assert ours.out.startswith("Drop profile: early, Type: interpolated, Index: 0\n")
    document = perhop("show", "class-of-service", "drop-profile", router, "early", "--json").json()
    [profile] = document["routers"][0]["objects"]
    assert {"fill_level": 5, "drop_probability": 20} in profile["points"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scheduler-map", "none"), "the configuration has no scheduler map `none`"),
        (("interface", "ge-0/0/9"), "the configuration has no interface `ge-0/0/9`"),
    ],
)
def test_an_unknown_object_is_refused(
    perhop: Command, router: Path, arguments: tuple[str, str], message: str
) -> None:
    part, name = arguments
    ended = perhop("show", "class-of-service", part, router, name)
    assert ended.code == 2
    assert message in ended.err


def test_devices_of_others_have_no_such_output(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "uplink.tc"
    file.write_text("tc qdisc add dev eth0 root pfifo limit 10\n")
    ended = perhop("show", "class-of-service", "scheduler-map", file)
    assert ended.code == 2
    assert "have no output `class-of-service scheduler-map`" in ended.err


def test_the_output_is_compared_with_a_run_under_its_load(
    perhop: Command, router: Path, tmp_path: Path
) -> None:
    output = tmp_path / "show.txt"
    output.write_text(perhop("show", "interfaces", "queue", router, *SHORT).out)
    assert read(output.read_text())["commands"] == ["interfaces queue"]
    # The run measures another interval and other traffic: packets at regular intervals.
    ended = perhop(
        "compare", "--router", output, router, "--duration", "6s", "--percent", "10", "--json", "-q"
    )
    assert ended.code == 0, ended.err
    found = ended.json()
    assert found["missing"] == []
    [policy] = [policy for policy in found["policies"] if policy["interface"] == "ge-0/0/1"]
    assert (policy["policy"], policy["only_router"], policy["only_simulated"]) == ("queues", [], [])
    rows = {(row["class"], row["quantity"]): row for row in policy["rows"]}
    for name in ("best-effort", "expedited-forwarding", "network-control"):
        assert rows[name, "queue limit"]["verdict"] == "agrees"
        assert rows[name, "offered rate"]["verdict"] == "agrees"
        assert rows[name, "sent rate"]["verdict"] == "agrees"


def test_a_run_takes_the_load_of_the_output(perhop: Command, router: Path, tmp_path: Path) -> None:
    earlier, later = tmp_path / "earlier.txt", tmp_path / "later.txt"
    for file, packets in ((earlier, 1000), (later, 11000)):
        file.write_text(
            "Physical interface: ge-0/0/1, Enabled, Physical link is Up\n"
            "Egress queues: 8 supported, 4 in use\n"
            "Queue: 1, Forwarding classes: expedited-forwarding\n"
            "  Queued:\n"
            f"    Packets              :{packets:22}{0:22} pps\n"
            f"    Bytes                :{packets * 238:22}{0:22} bps\n"
        )
    ended = perhop("run", router, "--traffic", f"{earlier},{later}", "--over", "10s", "--duration", "2s")
    assert ended.code == 0, ended.err
    # 1000 packets per second of 200 bytes; the router counts 238.
    assert "expedited-forwarding  1,600 kb/s  200-byte packets" in ended.err
