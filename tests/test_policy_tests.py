"""`perhop test`: files of tests, their outcomes, JUnit XML, and the errors of an invalid file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import perhop
from conftest import ROOT, Command
from perhop import testing

GOOD = """\
perhop-tests: 1
defaults: { replications: 2, set: { duration: 3s } }
tests:
  - name: enough for all
    scenario: overload.perhop.yaml
    set: { traffic.random.source.poisson.rate: 1Mb/s }
    assert: [ '*.loss == 0', steady.mos > 4 ]
  - name: overload
    scenario: overload.perhop.yaml
    seed: 7
    replications: 1
    assert:
      - random.loss < 1%
      - steady.offered > 100
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "policy.tests.yaml"
    file.write_text(text)
    return file


def test_the_tests_of_the_examples_pass(perhop: Command) -> None:
    ended = perhop("test", ROOT / "examples" / "policy.tests.yaml")
    assert ended.code == 0, ended.out + ended.err
    assert "4 tests: 4 passed" in ended.out
    assert "FAIL" not in ended.out


def test_a_failure_is_shown_with_what_was_measured(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    ended = perhop("test", "policy.tests.yaml")
    assert ended.code == 4, ended.err
    assert "2 tests: 1 passed, 1 failed" in ended.out
    (line,) = [line for line in ended.out.splitlines() if line.lstrip().startswith("FAIL")]
    options = ("--seed", "7", "--duration", "3s", "--replications", "1", "--assert", "random.loss < 1%")
    measured = perhop("run", scenario, *options).out
    shown = [line.split() for line in measured.splitlines()]
    assert line.split() in shown, "a test is the run that its keys say"
    # Compare the names, but not the columns, because their width depends on the terminal.
    rows = [row.split() for row in ended.out.partition("2 tests:")[2].splitlines()]
    assert ["enough", "for", "all", "passed", "3", "of", "3", "2"] in [row[:8] for row in rows]
    assert ["overload", "failed", "1", "of", "2", "1"] in [row[:6] for row in rows]


def test_json_is_one_document(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    document = perhop("test", "policy.tests.yaml", "--json").json()
    assert (document["passed"], document["failed"], document["error"]) == (1, 1, 0)
    enough, overload = document["tests"]
    assert (enough["name"], enough["outcome"], enough["line"]) == ("enough for all", "passed", 4)
    assert (enough["seed"], enough["replications"]) == (1, 2)
    assert (overload["seed"], overload["replications"]) == (7, 1)
    assert [assertion["passed"] for assertion in overload["assertions"]] == [False, True]
    assert [verdict["class"] for verdict in overload["verdicts"]] == ["steady", "random"]


def test_quiet_prints_failures(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    ended = perhop("test", "policy.tests.yaml", "-q")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith("failed: overload: random.loss < 1%: ")
    assert len(ended.err.splitlines()) == 1


def test_only_some_tests_may_be_run(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert perhop("test", "policy.tests.yaml", "--only", "enough*").code == 0
    ended = perhop("test", "policy.tests.yaml", "--only", "nothing")
    assert ended.code == 2
    assert "no test is named `nothing`\nhelp: tests: enough for all, overload" in ended.err


def test_junit_has_a_case_for_each_assertion(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    write(tmp_path, GOOD + "  - { name: gone, scenario: gone.perhop.yaml, assert: [ a.loss < 1 ] }\n")
    ended = perhop("test", "policy.tests.yaml", "--junit", "report.xml")
    assert ended.code == 2, "a test that cannot run weighs more than one that fails"
    root = ET.parse(tmp_path / "report.xml").getroot()
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == (
        "testsuites",
        "6",
        "1",
        "1",
    )
    suites = {suite.get("name"): suite for suite in root.findall("testsuite")}
    cases = [case.get("name") for case in suites["enough for all"].findall("testcase")]
    assert cases == ["steady.loss == 0", "random.loss == 0", "steady.mos > 4"]
    (failure,) = suites["overload"].iter("failure")
    assert (failure.get("message") or "").startswith("random.loss < 1%: ")
    (error,) = suites["gone"].iter("error")
    assert "gone.perhop.yaml" in (error.get("message") or "")


def test_a_router_is_tested_with_its_options(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(
        "class,rate,packet_bytes,kind\nvoice,100kb/s,200,voice\nclass-default,1Mb/s,1000,poisson\n"
    )
    router = ROOT / "examples" / "router.cfg"
    write(
        tmp_path,
        "perhop-tests: 1\n"
        "tests:\n"
        "  - name: with traffic of its own\n"
        f"    scenario: {router}\n"
        "    duration: 10s\n"
        "    interface: Serial0/0\n"
        "    traffic: flows.csv\n"
        "    codec: g729a-vad\n"
        "    jitter-buffer: 40ms\n"
        "    assert: [ 'voice.throughput < 110kb/s', 'voice.r > 70', 'voice.r < 83' ]\n",
    )
    ended = perhop("test", "policy.tests.yaml")
    assert ended.code == 0, ended.out + ended.err


def test_a_test_that_cannot_run_does_not_stop_the_others(
    perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    write(
        tmp_path,
        "perhop-tests: 1\n"
        "tests:\n"
        "  - { name: wrong path, scenario: overload.perhop.yaml, set: { links.9.rate: 1Mb/s },"
        " assert: [ steady.loss < 1 ] }\n"
        "  - { name: wrong class, scenario: overload.perhop.yaml, assert: [ stedy.loss < 1 ] }\n"
        "  - { name: good, scenario: overload.perhop.yaml, assert: [ steady.offered > 1 ] }\n",
    )
    ended = perhop("test", "policy.tests.yaml")
    assert ended.code == 2
    assert "3 tests: 1 passed, 2 error" in ended.out
    assert "there is no class `stedy`\nhelp: did you mean `steady`?" in ended.out
    assert "links" in ended.out
    assert "PASS  steady.offered > 1" in ended.out


HEAD = "perhop-tests: 1\ntests:\n"
TEST = "  - { name: a, scenario: s.yaml, assert: [ v.loss < 1 ]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "`policy.tests.yaml` is empty"),
        ("- a\n", "policy.tests.yaml:1:1: a file of tests is a mapping, not a list"),
        ("tests: []\n", "policy.tests.yaml:1:1: `perhop-tests` is missing"),
        (
            "perhop-tests: 2\ntests: []\n",
            ":1:15: `perhop-tests: 2` is not a version that perhop reads",
        ),
        ("perhop-tests: 1\n", ":1:1: `tests` is missing"),
        ("perhop-tests: 1\ntests: {}\n", ":2:8: `tests` is a list, not a mapping"),
        ("perhop-tests: 1\ntests: []\n", ":2:8: there is no test"),
        (
            "perhop-tests: 1\ntest: []\n",
            ":2:1: `test` is not a key of a file of tests\nhelp: did you mean `tests`?",
        ),
        (HEAD + "  - { name: a }\n", ":3:5: `scenario` of the test is missing"),
        (HEAD + TEST + ", sed: 1 }\n", "`sed` is not a key of a test\nhelp: did you mean"),
        (
            HEAD + TEST + ", seed: many }\n",
            "`seed` is a whole number from 0 to 18446744073709551615, not `many`",
        ),
        (HEAD + TEST + ", seed: 99999999999999999999 }\n", "`seed` is a whole number"),
        (HEAD + TEST + ", replications: 0 }\n", "`replications` is a whole number from 1 to"),
        (HEAD + TEST + ", set: 5 }\n", "`set` is a mapping, not `5`"),
        (HEAD + TEST + ", load: full }\n", "there is no load `full`\nhelp: loads: quiet, busy, overload"),
        (HEAD + TEST + ", codec: g728a }\n", "there is no codec `g728a`\nhelp: did you mean `g728`?"),
        (HEAD + TEST + ", jitter-buffer: 5 }\n", "`5` is not a de-jitter buffer"),
        (HEAD + TEST + ", name: b }\n", "`name` appears twice"),
        (HEAD + TEST + " }\n" + TEST + " }\n", ":4:5: two tests are called `a`"),
        (HEAD + "  - { name: a, scenario: s, assert: [] }\n", ":3:37: there is no assertion"),
        (HEAD + "  - { name: a, scenario: s, assert: v.loss }\n", "`assert` is a list, not `v.loss`"),
        (
            HEAD + "  - { name: a, scenario: s, assert: [ v.los < 1 ] }\n",
            ":3:39: `v.los < 1`: there is no quantity",
        ),
        (HEAD + "  - { name: a, scenario: s, assert: [ '@none' ] }\n", ":3:39: cannot read `none`"),
        (HEAD + "  - { name: a\n", "policy.tests.yaml:4:1: "),
        (HEAD + '  - { name: "a\\0" }\n', ":3:13: the text has a control character"),
        (HEAD + '  - { name: "\\uD800" }\n', "policy.tests.yaml:3:"),
        ("a: &x [ *x ]\n", "nested more than 64 levels deep"),
        ("[" * 5000, "nested more than 64 levels deep"),
        ("[" * 65 + "]" * 65, "nested more than 64 levels deep"),
        ("a: 1\n--- \nb: 2\n", "but found another document"),
        ("a: \x01\n", "`policy.tests.yaml`: "),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(
    perhop: Command, tmp_path: Path, text: str, said: str
) -> None:
    write(tmp_path, text)
    ended = perhop("test", "policy.tests.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert said in ended.err


def test_aliases_that_expand_too_far_are_refused(perhop: Command, tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    write(tmp_path, "\n".join(["a0: &a0 [x]", *levels]) + "\n")
    ended = perhop("test", "policy.tests.yaml")
    assert ended.code == 2
    assert "with aliases" in ended.err


@pytest.mark.parametrize(
    ("name", "said"),
    [("missing.yaml", "cannot read `missing.yaml`: there is no such file"), (".", "it is a directory")],
)
def test_a_file_that_cannot_be_read(perhop: Command, name: str, said: str) -> None:
    ended = perhop("test", name)
    assert ended.code == 2
    assert said in ended.err


def test_a_file_that_is_not_text(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "policy.tests.yaml").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in perhop("test", "policy.tests.yaml").err


def test_the_junit_file_is_refused_before_the_tests_run(
    perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    write(tmp_path, GOOD)
    ended = perhop("test", "policy.tests.yaml", "--junit", "nowhere/report.xml")
    assert (ended.code, ended.out) == (2, "")
    assert "nowhere` is not a folder" in ended.err
    assert perhop("test", "policy.tests.yaml", "--junit", ".").code == 2


def test_paths_start_from_the_folder_of_the_file(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "sla.txt").write_text("steady.offered > 100\n")
    file = tmp_path / "inner" / "policy.tests.yaml"
    file.write_text(
        "perhop-tests: 1\ntests:\n"
        "  - { name: a, scenario: ../overload.perhop.yaml, assert: [ '@sla.txt' ] }\n"
    )
    (outcome,) = (testing.run(test) for test in testing.read_tests(file))
    assert outcome.passed
    assert [assertion.text for assertion in outcome.judged] == ["steady.offered > 100"]


def test_values_of_set_are_parsed_as_on_the_command_line(scenario: Path, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "perhop-tests: 1\n"
        "defaults: { set: { duration: 4s, seed: 3 } }\n"
        "tests:\n"
        "  - name: a\n"
        "    scenario: overload.perhop.yaml\n"
        "    set:\n"
        "      duration: 2s\n"
        "      measure.queues: [ { from: router, to: sink, every: 50ms } ]\n"
        "      name: 'off'\n"
        "    assert: [ steady.offered > 1 ]\n",
    )
    (test,) = testing.read_tests(file)
    assert test.changes == {
        "duration": "2s",
        "seed": "3",
        "measure.queues": '[{"from": "router", "to": "sink", "every": "50ms"}]',
        "name": "off",
    }
    assert perhop.Scenario.load(test.scenario, test.changes)["seed"] == 3


def test_suspicious_parts_of_a_scenario_are_reported(perhop: Command, tmp_path: Path) -> None:
    router = ROOT / "tests" / "configurations" / "undefined-elsewhere.cfg"
    write(
        tmp_path,
        "perhop-tests: 1\ndefaults: { interface: Serial0/0, duration: 4s }\ntests:\n"
        f"  - {{ name: a, scenario: {router}, assert: [ '*.loss < 1' ] }}\n",
    )
    ended = perhop("test", "policy.tests.yaml")
    assert ended.code in (0, 4), ended.err
    assert "warning[access-list-undefined]: access list PARTNER-NETS is not defined" in ended.err
    (test,) = perhop("test", "policy.tests.yaml", "--json").json()["tests"]
    assert "PARTNER-NETS" in test["warnings"]
