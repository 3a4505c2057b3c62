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

# Every third file: their conversions and proofs take a minute together.
FILES = WITH_POLICIES[::3]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_policies_of_ios_are_treated_alike_or_the_list_says_why_not(file: Path) -> None:
    converted = convert.convert(file, to="junos")
    report = checked(converted.text)
    assert report["platform"]["profile"] == "junos-mx"
    assert [one for one in report["diagnostics"] if one["severity"] == "error"] == []
    assert [one for one in report["lines"] if one["state"] == "not recognized"] == []
    differing = [one.where for one in converted.proofs if one.proof["verdict"] == "differ"]
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
    # The schedulers differ; fate and marks of every packet are the same.
    [proof] = json.loads(ended.out)["proofs"]
    differing = {one["what"] for one in proof["counterexample"]["treatment"] if one["first"] != one["second"]}
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
        assert [one["message"] for one in report["diagnostics"] if one["severity"] == "error"] == []
        assert convert.convert(file, to="junos", rate="10Mb/s") == converted
    assert written > 15
