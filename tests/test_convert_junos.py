"""`perhop convert --to junos`: policies of IOS, Linux and perhop as a configuration of an MX."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command
from perhop import convert
from perhop.configuration import checked
from perhop.errors import InvalidInputError, ScenarioError
from test_convert import WITH_POLICIES
from test_convert_random import Policies

# Every third file: their conversions and proofs last a minute in total.
FILES = WITH_POLICIES[::3]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_policies_of_ios_are_treated_alike_or_the_list_says_why_not(file: Path) -> None:
    converted = convert.convert(file, to="junos")
    report = checked(converted.text)
    assert report["platform"]["profile"] == "junos-mx"
    assert [finding for finding in report["diagnostics"] if finding["severity"] == "error"] == []
    assert [line for line in report["lines"] if line["state"] == "not recognized"] == []
    differing = [proof.where for proof in converted.proofs if proof.proof["verdict"] == "differ"]
    listed = {remark.where for remark in converted.remarks}
    assert all(any(place.startswith(where) for place in listed) for where in differing)


LLQ = """\
version 15.4
hostname edge
class-map match-all VOICE
 match dscp ef
class-map match-all DATA
 match dscp af21
policy-map WAN
 class VOICE
  priority 2000
 class DATA
  bandwidth 5000
 class class-default
  bandwidth 2000
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.0
 bandwidth 10000
 service-policy output WAN
"""


def test_classes_keep_their_packets_and_rates(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "r.cfg").write_text(LLQ)
    ended = perhop("convert", "r.cfg", "--to", "junos", "-o", "r.conf", "--json")
    # The schedulers differ; every packet has the same fate and marks.
    [proof] = json.loads(ended.out)["proofs"]
    differing = {
        difference["what"]
        for difference in proof["counterexample"]["treatment"]
        if difference["first"] != difference["second"]
    }
    assert "schedulers" in differing and not differing & {"fate", "marks"}
    text = (tmp_path / "r.conf").read_text()
    assert "filter WAN term 1 from dscp 46" in text
    assert "scheduler-maps WAN forwarding-class VOICE" in text
    shown = perhop("rates", "r.conf").out
    [row] = [line.split() for line in shown.splitlines() if line.startswith("port/DATA")]
    assert row[1] == "5"


def test_a_platform_of_junos_other_than_mx_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text(json.dumps({"policies": {"p": {"conditioners": [{"actions": ["drop"]}]}}}))
    with pytest.raises(InvalidInputError, match="does not write"):
        convert.convert(file, to="junos", platform="junos-qfx5120")


def test_random_policies_are_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    policies = Policies("to junos")
    written = 0
    for _ in range(40):
        file.write_text(json.dumps({"policies": {"random": policies.policy()}}))
        try:
            converted = convert.convert(file, to="junos", rate="10Mb/s")
        except ScenarioError:
            # Policies that perhop itself refuses.
            continue
        written += 1
        report = checked(converted.text)
        assert [
            finding["message"] for finding in report["diagnostics"] if finding["severity"] == "error"
        ] == []
        assert convert.convert(file, to="junos", rate="10Mb/s") == converted
    assert written > 15


def test_a_platform_names_the_language_that_is_written(tmp_path: Path) -> None:
    file = tmp_path / "r.cfg"
    file.write_text(LLQ)
    plain = convert.convert(file, to="junos")
    assert convert.convert(file, to="junos", platform="junos-mx") == plain
    assert plain.text
    # A text in Junos is read by its own platform.
    (tmp_path / "r.conf").write_text(plain.text)
    assert "policy-map" in convert.convert(tmp_path / "r.conf", to="ios", platform="junos-mx").text


EDGE = """\
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 10.1.0.1/24
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24
set class-of-service classifiers dscp c forwarding-class best-effort loss-priority low code-points be
set class-of-service classifiers dscp c forwarding-class expedited-forwarding loss-priority low code-points ef
set class-of-service classifiers dscp c forwarding-class network-control loss-priority low code-points cs6
set class-of-service schedulers be transmit-rate percent 75
set class-of-service schedulers ef transmit-rate percent 20 rate-limit
set class-of-service schedulers ef priority strict-high
set class-of-service schedulers nc transmit-rate percent 5
set class-of-service scheduler-maps m forwarding-class best-effort scheduler be
set class-of-service scheduler-maps m forwarding-class expedited-forwarding scheduler ef
set class-of-service scheduler-maps m forwarding-class network-control scheduler nc
set class-of-service interfaces ge-0/0/1 unit 0 classifiers dscp c
set class-of-service interfaces ge-0/0/1 scheduler-map m
set class-of-service interfaces ge-0/0/1 shaping-rate 100m
"""


def test_queues_of_junos_are_classes_of_one_ios_interface(tmp_path: Path) -> None:
    (tmp_path / "edge.conf").write_text(EDGE)
    converted = convert.convert(tmp_path / "edge.conf", to="ios", interface="ge-0/0/1.0")
    report = checked(converted.text)
    assert [finding["message"] for finding in report["diagnostics"] if finding["severity"] == "error"] == []
    [port] = report["router"]["ports"]
    lines = converted.text.splitlines()
    place = lines.index(" class expedited-forwarding")
    assert lines[place + 1 : place + 5] == [
        "  police cir 20000000 bc 15000",
        "    conform-action transmit",
        "    exceed-action drop",
        "  priority",
    ]
    assert "  bandwidth 75000" in lines and " match qos-group 1" in lines
    # Classification is the same; schedulers differ.
    input_, output = converted.proofs
    assert (input_.where, input_.proof["verdict"]) == ("policy ge-0/0/1.0 input at ge-0/0/1.0 input", "equal")
    assert output.proof["verdict"] == "differ"
    assert [remark.construct for remark in converted.remarks] == [
        "scheduler guarantee-excess",
        "rates that count 38 bytes in addition to IP",
        "queue assured-forwarding without a guarantee",
    ]
    assert port["name"] == "GigabitEthernet0/0"


def test_policies_of_ios_return_from_junos(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "r.cfg").write_text(LLQ)
    (tmp_path / "r.conf").write_text(convert.convert(tmp_path / "r.cfg", to="junos").text)
    ended = perhop("convert", "r.conf", "--to", "ios", "-o", "again.cfg")
    assert ended.code == 0, ended.err
    again = (tmp_path / "again.cfg").read_text()
    # The terms of the output filter are read back as conditions of the classes.
    for lines in (
        "class-map match-all VOICE\n match dscp ef\n",
        "class-map match-all DATA\n match dscp af21\n",
        " class DATA\n  bandwidth 5000\n",
        " class class-default\n  bandwidth 2000\n",
    ):
        assert lines in again, again
    assert "queue network-control: no packet reaches the queue" in ended.err
    # Every packet has the same queue and marks again; limits have bytes, and the policer is always active.
    found = json.loads(perhop("prove", "r.cfg", "again.cfg", "--json").out)
    differing = {
        difference["what"]
        for difference in found["counterexample"]["treatment"]
        if difference["first"] != difference["second"]
    }
    assert differing <= {"buffer", "limits"}, differing


MARKING = """\
version 15.4
hostname edge
class-map match-any DATA
 match dscp af21 af22
policy-map OUT
 class DATA
  set dscp cs1
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.0
 service-policy output OUT
"""


def test_marks_on_the_way_to_junos_are_proved(tmp_path: Path) -> None:
    (tmp_path / "r.cfg").write_text(MARKING)
    converted = convert.convert(tmp_path / "r.cfg", to="junos")
    marks = [proof.proof for proof in converted.proofs]
    assert [mark["verdict"] for mark in marks] == ["differ"]
    differing = {
        difference["what"]
        for difference in marks[0]["counterexample"]["treatment"]
        if difference["first"] != difference["second"]
    }
    # Without queues the router has one queue, an MX its default queues.
    assert "marks" not in differing and "fate" not in differing


def test_classes_of_junos_are_classes_of_htb(tmp_path: Path) -> None:
    (tmp_path / "edge.conf").write_text(EDGE)
    converted = convert.convert(tmp_path / "edge.conf", to="tc", interface="ge-0/0/1.0")
    classes = [line for line in converted.text.splitlines() if line.startswith("tc class add")]
    rates = [line.partition(" rate ")[2].split()[0] for line in classes]
    assert "75000000bit" in rates and "5000000bit" in rates
    constructs = {remark.construct for remark in converted.remarks}
    assert "scheduler guarantee-excess" in constructs


def test_a_classifier_and_a_filter_are_classes_together(tmp_path: Path) -> None:
    filter_ = """\
set firewall family inet filter f term bulk from protocol tcp
set firewall family inet filter f term bulk from destination-port 873
set firewall family inet filter f term bulk then loss-priority high
set firewall family inet filter f term rest then accept
set interfaces ge-0/0/1 unit 0 family inet filter input f
"""
    (tmp_path / "edge.conf").write_text(EDGE + filter_)
    converted = convert.convert(tmp_path / "edge.conf", to="ios", interface="ge-0/0/1.0")
    input_ = converted.proofs[0]
    assert (input_.where, input_.proof["verdict"]) == ("policy ge-0/0/1.0 input at ge-0/0/1.0 input", "equal")
    lines = converted.text.splitlines()
    # Bulk data remains in its class and gets the loss priority of the filter.
    place = next(
        index for index, line in enumerate(lines) if line.startswith(" class f-bulk-dscp-best-effort")
    )
    assert lines[place + 1 : place + 3] == ["  set qos-group 0", "  set discard-class 3"]
