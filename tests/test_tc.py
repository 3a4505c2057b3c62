"""Commands and output of Linux' tc: checked, run, converted, and compared with the program itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import perhop as library
from cables import Namespace, missing_right
from conftest import ROOT, Command
from perhop import convert
from perhop.configuration import checked, examined
from perhop.convert.policies import read_source
from tc_commands import commands, verdicts
from test_convert import WITH_POLICIES

SCRIPT = ROOT / "examples" / "uplink.tc"
EXAMPLE = ROOT / "examples" / "linux-tc.perhop.yaml"

needs_tc = pytest.mark.skipif(
    (reason := missing_right() or ("" if shutil.which("tc") else "the program tc is missing")) != "",
    reason=f"{reason}",
)


def test_check_accounts_for_every_line(perhop: Command) -> None:
    ended = perhop("check", SCRIPT, "--json")
    assert ended.code == 0
    (found,) = ended.json()["files"]
    assert found["platform"]["profile"] == "linux"
    assert found["counts"]["not-modelled"] + found["counts"]["not-recognized"] == 0
    assert found["counts"]["suspicious"] == 0


def test_errors_have_a_line_and_a_remedy(tmp_path: Path, perhop: Command) -> None:
    file = tmp_path / "wrong.tc"
    file.write_text("DEV=eth0\ntc qdisc add dev $DEV root tbf rate 10mbps burst 15k limits 30k\n")
    ended = perhop("check", file)
    assert ended.code == 1
    assert "did you mean `limit`?" in ended.out
    file.write_text("tc qdisc add dev eth0 root tbf rate 10mbps burst 15k limit 30k\n")
    (found,) = perhop("check", file, "--json").json()["files"]
    (finding,) = found["findings"]
    assert (finding["rule"], finding["line"], finding["fixed"]) == ("tc-rate-in-bytes", 1, None)
    assert "did you mean `10mbit`?" in finding["remedy"]


def test_the_platform_selects_the_language(tmp_path: Path, perhop: Command) -> None:
    file = tmp_path / "commands.txt"
    file.write_text("qdisc add dev eth0 root fq_codel\n")
    (found,) = perhop("check", file, "--platform", "linux", "--json").json()["files"]
    assert found["router"]["ports"][0]["name"] == "eth0"


def test_help_mentions_tc(perhop: Command) -> None:
    for command, example in (
        ("check", "tc -j -d qdisc show | perhop check -"),
        ("run", "perhop run uplink.tc"),
    ):
        help_text = perhop("help", command).out
        assert "tc" in help_text and "linux" in help_text
        assert example in help_text


SHOWN = """\
[{"kind":"fq_codel","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":600,"target":4000}},\
{"kind":"codel","handle":"2:","dev":"eth1","root":true,"options":{"limits":1000}}]
"""


@pytest.mark.parametrize("name", ["shown.json", "shown.txt", "shown.tc"])
def test_json_of_tc_is_read_under_any_file_name(tmp_path: Path, perhop: Command, name: str) -> None:
    file = tmp_path / name
    file.write_text(SHOWN)
    ended = perhop("check", file, "--json")
    assert ended.code == 1
    (found,) = ended.json()["files"]
    assert found["platform"]["profile"] == "linux"
    # Both faults are in one line; the message names their numbers.
    assert [(finding["line"], finding["rule"]) for finding in found["findings"]] == [
        (2, "tc-command-refused")
    ]
    assert "did you mean `limit`?" in found["findings"][0]["message"]
    buffer = found["router"]["ports"][0]["output"]["queueing"]["classes"][0]["buffer"]
    assert (buffer["fq-codel"]["limit"], buffer["fq-codel"]["target"]) == ("600 packets", "4ms")


@needs_tc
def test_json_of_this_machine_is_its_text(tmp_path: Path) -> None:
    near = Namespace()
    try:
        near.run("ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0")
        near.run("ip", "link", "set", "near0", "up")
        for words in (
            "tbf rate 10mbit burst 15k latency 50ms",
            "handle 1: htb default 20 r2q 5 direct_qlen 50",
            "bfifo limit 50k",
            "pfifo_fast",
            "prio",
            "fq_codel limit 400",
            "cake bandwidth 20mbit diffserv4 ack-filter",
        ):
            # A kernel may lack a discipline. The previous discipline then remains, which suffices for the
            # test.
            replace = near.within("tc", "qdisc", "replace", "dev", "near0", "root", *words.split())
            subprocess.run(replace, capture_output=True, check=False)
            texts = [near.run("tc", *options, "-s", "-d", "qdisc", "show") for options in ([], ["-j"])]
            plain, json_ = (checked(text, "linux") for text in texts)
            assert texts[1].startswith("[{")
            assert [port["output"] for port in plain["router"]["ports"]] == [
                port["output"] for port in json_["router"]["ports"]
            ], words
            assert json_["counts"]["not-recognized"] == 0
    finally:
        near.end()


def test_traffic_is_inferred_for_queueing_of_linux(perhop: Command) -> None:
    ended = perhop("run", SCRIPT, "--interface", "eth1", "--duration", "2s", "--json")
    assert ended.code == 0, ended.err
    classes = {row["class"]: row for row in ended.json()["classes"]}
    assert {"10:1", "10:2", "10:3"} <= set(classes)
    assert all(row["delivered_packets"]["mean"] > 0 for row in classes.values())


def test_a_class_without_a_slope_of_link_sharing_leaves_the_rest(tmp_path: Path, perhop: Command) -> None:
    # 1 bit/s is 0 bytes/s: no class uses the rate that 1:1 may not use.
    (tmp_path / "hfsc.tc").write_text(
        "tc qdisc add dev eth0 root handle 1: hfsc default 2\n"
        "tc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 2mbit ul rate 9mbit\n"
        "tc class add dev eth0 parent 1: classid 1:2 hfsc ls m1 8mbit d 10ms m2 1\n"
    )
    ended = perhop("init", "hfsc", "--from", "hfsc.tc", "--load", "overload")
    assert ended.code == 0, ended.err
    # A class without a guarantee is offered 1 % of the line.
    assert "1:2  > " in ended.err and "1:2  > 0 kb/s" not in ended.err


def test_traffic_is_inferred_from_the_rest_of_service_curves(tmp_path: Path, perhop: Command) -> None:
    """Real-time curves reserve 4 of 10 Mb/s.

    Of the other 6 Mb/s, class 1:3 has a share of 1.5, but reserves 3, so 1:12 gets 3.
    """
    (tmp_path / "hfsc.tc").write_text(
        "tc qdisc add dev eth0 root handle 1: hfsc default 3\n"
        "tc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 10mbit ul rate 10mbit\n"
        "tc class add dev eth0 parent 1:1 classid 1:11 hfsc rt m2 4mbit\n"
        "tc class add dev eth0 parent 1:1 classid 1:12 hfsc ls m2 3mbit rt m2 1mbit\n"
        "tc class add dev eth0 parent 1:1 classid 1:3 hfsc ls m2 1mbit rt m2 3mbit\n"
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:11\n"
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos 0x28 0xfc flowid 1:12\n"
    )
    ended = perhop("run", "hfsc.tc", "--load", "overload", "--duration", "10s", "--json")
    assert ended.code == 0, ended.err
    for load in ("1:11    4,486 kb/s  voice", "1:12  > 3,567 kb/s  bulk", "1:3   > 3,567 kb/s  best effort"):
        assert load in ended.err
    obtained = {row["queue"]: row["obtained_bps"]["mean"] for row in ended.json()["rates"]}
    # The rate that HFSC shares includes the Ethernet headers; the obtained rate does not.
    assert 3.6e6 < obtained["1:1/1:11"] < 4e6
    assert 2.8e6 < obtained["1:1/1:12"] < 3e6
    assert 2.8e6 < obtained["1:1/1:3"] < 3e6


def test_the_script_becomes_behavior() -> None:
    """Voice has priority; a single FIFO queue removes it."""

    def delay_ms(**options: object) -> float:
        rows = library.run(EXAMPLE, duration="6s", **options).classes.filter(**{"class": "voice"})
        return float(1e3 * rows["delay_mean_s"].mean())

    add = ["tc qdisc replace dev eth1 root pfifo limit 1000"]
    usual, without = delay_ms(), delay_ms(set={"routers.home.configuration.add": add})
    # 10 ms of propagation, and two frames of 1514 bytes at 2 Mb/s before it at most.
    assert 10 < usual < 10 + 2 * 6.1 + 2
    assert without > usual + 50


def test_policies_survive_a_conversion_through_tc(tmp_path: Path) -> None:
    """Converted commands are read back: the same shapers, policers and marks."""
    met = 0
    for file in WITH_POLICIES:
        for attached in read_source(file).attached:
            if attached.direction != "input" or not attached.policy.get("conditioners"):
                continue
            converted = convert.convert(file, to="tc", interface=attached.interface)
            if converted.remarks:
                continue
            report = checked(converted.text, "linux")
            assert report["counts"]["not-recognized"] == 0, converted.text
            assert not [found for found in report["diagnostics"] if found["severity"] == "error"]
            (port,) = report["router"]["ports"]
            assert len(port["input"]["conditioners"]) >= len(attached.policy["conditioners"])
            met += 1
    assert met > 5


def test_commands_of_convert_are_read_whole() -> None:
    """perhop reads every option that it writes."""
    for file in WITH_POLICIES[:40]:
        for interface in {attached.interface for attached in read_source(file).attached}:
            text = convert.convert(file, to="tc", interface=interface).text
            report = checked(text, "linux")
            assert report["counts"]["not-recognized"] == 0, text
            wrong = [found["message"] for found in report["diagnostics"] if found["severity"] == "error"]
            assert wrong == [], text


@needs_tc
def test_tc_accepts_the_commands_that_perhop_accepts() -> None:
    """For valid and invalid values of each option, perhop agrees with the program."""
    near = Namespace()
    try:
        near.run("ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0")
        near.run("ip", "link", "set", "near0", "up")
        judged = verdicts(near.within(), list(commands()))
    finally:
        near.end()
    report = {}
    for command, verdict in judged.items():
        if verdict is None:
            continue
        found = examined(command, "linux", detail="remarks")
        report[command] = not any(diagnostic["severity"] == "error" for diagnostic in found["diagnostics"])
    differ = {command: judged[command] for command, taken in report.items() if taken != judged[command]}
    assert differ == {}, json.dumps(differ, indent=1)
    assert len(report) > 300
