"""`perhop check` as a linter: rules, suppression, SARIF, corrected lines; `perhop explain`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import perhop
from conftest import ROOT, Command

EXAMPLES = ROOT / "examples"
SWAPPED = """\
class-map match-all DATA
 match dscp af21
policy-map WAN
 class DATA
  bandwidth 500
  random-detect dscp-based
  random-detect dscp 18 40 30 10
 class DTAA
  bandwidth 200
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
"""


@pytest.fixture
def router(tmp_path: Path) -> Path:
    file = tmp_path / "router.cfg"
    file.write_text(SWAPPED)
    return file


def test_each_finding_names_its_rule(perhop: Command, router: Path) -> None:
    ended = perhop("check", router)
    assert ended.code == 1
    assert "error[wred-thresholds-crossed]: the minimum threshold, 40 packets" in ended.out
    assert "better: random-detect dscp 18 30 40 10" in ended.out
    assert "error[class-map-undefined]: class-map DTAA is not defined" in ended.out
    assert "so the policy has no such class; did you mean `DATA`?" in ended.out
    assert "better: class DATA" not in ended.out


def test_rules_are_ignored_by_option_and_by_comment(perhop: Command, router: Path) -> None:
    both = "wred-thresholds-crossed,class-map-undefined"
    assert perhop("check", router, "--ignore", both).code == 0
    text = SWAPPED.replace(" class DTAA", " ! perhop: ignore class-map-undefined\n class DTAA")
    router.write_text(
        text.replace("  bandwidth 500\n", "  bandwidth 500\n! perhop: ignore-file wred-thresholds-crossed\n")
    )
    ended = perhop("check", router)
    assert ended.code == 0
    assert "[class-map-undefined]" not in ended.out
    assert "[wred-thresholds-crossed]" not in ended.out


def test_a_comment_applies_to_the_lines_below_it(perhop: Command, router: Path) -> None:
    comment = "! perhop: ignore wred-thresholds-crossed\n"
    router.write_text(SWAPPED.replace("policy-map WAN\n", f"{comment}policy-map WAN\n"))
    assert "[wred-thresholds-crossed]" not in perhop("check", router).out
    router.write_text(SWAPPED.replace(" class DATA\n  bandwidth", f" {comment} class DATA\n  bandwidth"))
    assert "[wred-thresholds-crossed]" not in perhop("check", router).out
    router.write_text(SWAPPED.replace("interface", f"{comment}interface"))
    assert "[wred-thresholds-crossed]" in perhop("check", router).out


def test_a_rule_that_does_not_exist_is_refused(perhop: Command, router: Path) -> None:
    ended = perhop("check", router, "--ignore", "class-shadow")
    assert ended.code == 2
    assert "there is no rule `class-shadow`" in ended.err
    assert "did you mean `class-shadowed`?" in ended.err
    router.write_text("! perhop: ignore nonsense\n" + SWAPPED)
    ended = perhop("check", router)
    assert ended.code == 2
    assert "line 1: there is no rule `nonsense`" in ended.err
    assert perhop("explain", "nonsense").code == 2


def test_corrected_lines_go_to_a_new_file(perhop: Command, router: Path) -> None:
    corrected = router.with_name("corrected.cfg")
    ended = perhop("check", router, "--fix", corrected)
    assert ended.code == 1, "what was checked has errors"
    for row in ("-  random-detect dscp 18 40 30 10", "+  random-detect dscp 18 30 40 10"):
        assert row in ended.out.splitlines()
    assert corrected.read_text() == SWAPPED.replace("18 40 30", "18 30 40"), "a similar name is a guess"
    assert router.read_text() == SWAPPED
    again = perhop("check", router, "--fix", corrected)
    assert again.code == 2
    assert "exists" in again.err
    assert perhop("check", EXAMPLES / "tcp.perhop.yaml", "--fix", router.with_name("x")).code == 2


def test_a_line_with_errors_is_not_reported_as_valid(perhop: Command, router: Path) -> None:
    ended = perhop("check", router)
    assert "suspicious: refused by the device, or accepted but probably a mistake\n" in ended.out


def test_sarif_has_rules_places_and_fixes(perhop: Command, router: Path) -> None:
    log = json.loads(perhop("check", router, "--sarif").out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert "class-map-undefined" in names
    for result in run["results"]:
        assert names[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
    wred = next(finding for finding in run["results"] if finding["ruleId"] == "wred-thresholds-crossed")
    assert wred["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}
    (change,) = wred["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "  random-detect dscp 18 30 40 10"


def test_findings_are_a_data_frame(router: Path) -> None:
    found = perhop.check(router, EXAMPLES / "strict-priority.perhop.yaml", ignore=["class-map-undefined"])
    assert found.columns[:5] == ["file", "line", "column", "severity", "rule"]
    errors = found.filter(pl.col("severity") == "error")
    assert errors["rule"].to_list() == ["wred-thresholds-crossed"]
    assert errors["fixed"].to_list() == ["  random-detect dscp 18 30 40 10"]


def test_a_file_of_another_kind_is_reported_with_its_kind(perhop: Command, router: Path) -> None:
    router.write_text("sysname R1\ntraffic classifier voice\n if-match dscp ef\n")
    ended = perhop("check", router, "--strict")
    assert ended.code == 1
    assert "warning[little-recognized]: 0 of 3 lines are commands that perhop knows" in ended.out


def test_explain_lists_rules_and_shows_a_page(perhop: Command) -> None:
    listed = perhop("explain").out.splitlines()
    assert any(line.startswith("error    class-map-undefined") for line in listed)
    page = perhop("explain", "class-shadowed").out
    for part in ("class-shadowed (warning)", "Why: ", "Source: ", "Remedy: ", "Bad:", "Good:"):
        assert part in page
    rules = perhop("explain", "--json").json()["rules"]
    assert len(rules) == len(listed)
    assert {"id", "severity", "what", "why", "source", "remedy", "bad", "good"} <= set(rules[0])


def test_explain_prints_the_profile_of_a_platform(perhop: Command) -> None:
    head, *rows = perhop("explain", "--platform", "ios-xe").out.splitlines()
    assert head.split() == ["rule", "value", "certainty", "source"]
    limit = next(row.split() for row in rows if row.startswith("priority-queue-limit"))
    assert limit[1:5] == ["fixed,", "packets", "512", "documented"]
    found = perhop("explain", "--platform", "cisco-7200-pa-a3", "--json").json()
    assert found["platform"] == "cisco-7200-pa-a3"
    assert len(found["rules"]) == len(rows)
    assert all(rule["source"] and rule["certainty"] for rule in found["rules"])
    queue = next(rule["value"] for rule in found["rules"] if rule["rule"] == "class-queue-limit")
    assert queue == {"kind": "fixed", "packets": 64}


def test_explain_refuses_a_platform_that_does_not_exist(perhop: Command) -> None:
    ended = perhop("explain", "--platform", "ios-xr")
    assert ended.code == 2
    assert "there is no profile `ios-xr`" in ended.err
    assert "pre-hqf, 7500-vip, hqf, iosv, ios-xe" in ended.err
    assert perhop("explain", "class-shadowed", "--platform", "hqf").code == 2


def test_policies_of_a_scenario_get_findings(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "policies:\n  wan:\n    queueing:\n      scheduler: priority\n      classes:\n"
        "        - name: voice\n          match: { dscp: ef }\n        - name: rest\n"
    )
    ended = perhop("check", file)
    assert ended.code == 0
    assert "class voice has priority without a limit" in ended.err
    found = perhop("check", file, "--json").json()["files"][0]
    assert [finding["rule"] for finding in found["findings"]] == ["priority-unbounded"]
    assert found["findings"][0]["line"] == 6
    assert perhop("check", file, "--strict").code == 1
    file.write_text(
        file.read_text().replace(
            "        - name: voice", "        - name: voice # perhop: ignore priority-unbounded"
        )
    )
    assert perhop("check", file, "--strict").code == 0


def test_a_file_of_tests_is_checked_as_one(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("check", EXAMPLES / "policy.tests.yaml")
    assert (ended.code, ended.out) == (0, f"{EXAMPLES / 'policy.tests.yaml'}: tests, ok\n")
    wrong = tmp_path / "wrong.tests.yaml"
    wrong.write_text(
        "perhop-tests: 1\ntests:\n  - name: one\n    scenario: a.yaml\n    asert: [a.loss == 0]\n"
    )
    ended = perhop("check", wrong)
    assert ended.code == 2
    assert f"{wrong}:5" in ended.err
    assert "asert" in ended.err


def test_classes_of_a_router_without_traffic_are_reported(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "r.cfg").write_text(
        "hostname r\nclass-map V\n match dscp ef\nclass-map W\n match dscp af41\n"
        "policy-map P\n class V\n  priority 200\n class W\n  bandwidth 500\n"
        "interface FastEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n"
        "interface Serial0/0\n bandwidth 2000\n ip address 198.51.100.1 255.255.255.0\n"
        " service-policy output P\n"
    )
    scenario = tmp_path / "s.perhop.yaml"
    scenario.write_text(
        "perhop: 1\nname: s\nduration: 1s\nhosts: {a: {address: 192.0.2.9}, b: {address: 198.51.100.9}}\n"
        "routers: {r: {configuration: {file: r.cfg}}}\n"
        "links:\n  - {between: [a, r], rate: 100Mb/s, interfaces: {r: {name: FastEthernet0/0}}}\n"
        "  - {between: [r, b], rate: 2Mb/s, interfaces: {r: {name: Serial0/0}}}\n"
        "traffic:\n  - {name: v, from: a, to: b, dscp: ef, "
        "source: {cbr: {rate: 64kb/s, packet: {payload: 160B}}}}\n"
    )
    ended = perhop("check", scenario, "--json")
    assert ended.code == 0
    (found,) = json.loads(ended.out)["files"][0]["findings"]
    assert found["rule"] == "class-without-traffic"
    assert "class W, which matches" in found["message"]
    assert found["line"] == 5


def test_later_fragments_are_traffic_without_ports(perhop: Command, tmp_path: Path) -> None:
    """Fragments do not match the class that matches a port, so the next class gets them.

    Without an MTU there are no fragments.
    """
    scenario = tmp_path / "s.perhop.yaml"
    text = (
        "perhop: 1\nname: s\nduration: 1s\nhosts: {a: {}, b: {}}\nrouters: {r: {}}\n"
        "links:\n  - {between: [a, r], rate: 10Mb/s}\n"
        "  - {between: [r, b], rate: 2Mb/s, MTU interfaces: {r: {output: wan}}}\n"
        "policies:\n  wan:\n    queueing:\n      scheduler: drr\n      classes:\n"
        "        - {name: port, match: {protocol: udp, destination-port: 9}, share: {quantum: 1500B}}\n"
        "        - {name: rest, match: {protocol: udp}, share: {quantum: 1500B}}\n"
        "        - {name: others, share: {quantum: 1500B}}\n"
        "traffic:\n  - {name: v, from: a, to: b, source: {cbr: {rate: 64kb/s, packet: {payload: 3kB}}}}\n"
    )
    for mtu, expected in (("mtu: 1500B,", []), ("", ["class-without-traffic"])):
        scenario.write_text(text.replace("MTU", mtu))
        (found,) = json.loads(perhop("check", scenario, "--json").out)["files"]
        named = [finding["rule"] for finding in found["findings"]]
        assert named == expected, mtu


def test_lines_of_a_trace_have_codepoints_of_their_own(perhop: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "s.perhop.yaml"
    scenario.write_text(
        "perhop: 1\nname: s\nduration: 1s\nhosts: {a: {}, b: {}}\nrouters: {r: {}}\n"
        "links:\n  - {between: [a, r], rate: 10Mb/s}\n"
        "  - {between: [r, b], rate: 2Mb/s, interfaces: {r: {output: wan}}}\n"
        "policies:\n  wan:\n    queueing:\n      scheduler: drr\n      classes:\n"
        "        - {name: gold, match: {dscp: af11}, share: {quantum: 1500B}}\n"
        "        - {name: tcp, match: {protocol: tcp}, share: {quantum: 1500B}}\n"
        "        - {name: others, share: {quantum: 1500B}}\n"
        "traffic:\n  - {name: v, from: a, to: b, source: {trace: {file: v.csv}}}\n"
    )
    (tmp_path / "v.csv").write_text("time,size,dscp\n0.0,800,10\n")
    (found,) = json.loads(perhop("check", scenario, "--json").out)["files"]
    idle = [finding["message"] for finding in found["findings"] if finding["rule"] == "class-without-traffic"]
    assert len(idle) == 1
    assert "reaches class tcp, which" in idle[0], "a trace sends UDP"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (" match dcsp ef", "unknown word `dcsp`: did you mean `dscp`?"),
        (" match ip dcsp ef", "unknown word `dcsp`: did you mean `dscp`?"),
        ("  prioritty 100", "did you mean `priority`?"),
        ("  bandwith 20", "did you mean `bandwidth`?"),
        (" service-polcy output WAN", "did you mean `service-policy`?"),
        ("polcy-map WAN", "did you mean `policy-map`?"),
    ],
)
def test_a_misspelled_command_of_ios_has_a_suggestion(
    perhop: Command, router: Path, line: str, meant: str
) -> None:
    block = {" match": "class-map match-any X\n", "  ": "policy-map P\n class class-default\n"}
    before = next((head for begin, head in block.items() if line.startswith(begin)), "")
    if line.startswith(" service"):
        before = "interface Serial0/1\n"
    router.write_text(f"{SWAPPED}{before}{line}\n")
    findings = perhop("check", router, "--json").json()["files"][0]["findings"]
    (found,) = (finding for finding in findings if finding["rule"] == "command-unknown")
    assert (found["message"], found["remedy"]) == (f"`{line.strip()}`", meant)


def test_a_known_first_word_is_not_suggested_for_itself(perhop: Command, router: Path) -> None:
    router.write_text(f"{SWAPPED}qos unheard-of\nqos police order parent-first\n")
    (found,) = perhop("check", router, "--json").json()["files"]
    unknown = next(finding for finding in found["findings"] if finding["rule"] == "command-unknown")
    assert (unknown["message"], unknown.get("remedy")) == ("`qos unheard-of`", None)
    order = next(
        finding for finding in found["findings"] if finding["message"].startswith("`qos police order")
    )
    assert order["rule"] == "command-not-modelled"


def test_a_script_of_misspelled_tc_commands_is_recognized_as_tc(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "uplink.txt"
    file.write_text("tc qdisc add dev eth0 root tfb rate 1mbit burst 15k limit 30k\n")
    shown = perhop("check", file).out
    assert "platform: linux" in shown
    assert "`tfb` is not a queueing discipline: did you mean `tbf`?" in shown
