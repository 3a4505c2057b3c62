"""`perhop check` of folders and patterns, its formats, its exit codes and `perhop.toml`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conftest import SCENARIO, Command

GOOD = """\
version 15.4
class-map match-any VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority 128
interface Serial0/0
 bandwidth 512
 ip address 10.1.1.1 255.255.255.252
 service-policy output WAN
"""
BAD = GOOD.replace(" class VOICE", " class VOIC")
SWITCH = "version 15.0\ninterface GigabitEthernet0/1\n switchport access vlan 2\n tx-queue 3\n"


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    """A folder as backup tools write it: configurations, notes, hidden files, binary files."""
    folder = tmp_path / "sites"
    (folder / "north").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "a.cfg").write_text(GOOD)
    (folder / "north" / "b").write_text(BAD)
    (folder / "north" / "lab.perhop.yaml").write_text(SCENARIO)
    (folder / "README").write_text("Configurations of our sites.\n")
    (folder / "photo.png").write_bytes(b"\x89PNG\0\0")
    (folder / ".git" / "c.cfg").write_text(BAD)
    return folder


def test_a_folder_gives_a_line_for_each_file_and_a_total(sites: Path, perhop: Command) -> None:
    ended = perhop("check", sites)
    assert ended.code == 1
    *files, total = ended.out.splitlines()
    assert [line.split(":")[0] for line in files] == [
        str(sites / name) for name in ("a.cfg", "north/b", "north/lab.perhop.yaml")
    ]
    assert files[0].startswith(f"{sites}/a.cfg: router, ok")
    assert ": router, not ok: 1 error" in files[1]
    assert files[1].endswith("class-map VOIC is not defined [class-map-undefined]")
    assert files[2] == f"{sites}/north/lab.perhop.yaml: scenario, ok"
    assert total.startswith("Found ") and " in 3 files (1 error" in total
    assert total.endswith("; skipped: 2 other files")


def test_a_pattern_names_files(sites: Path, perhop: Command) -> None:
    ended = perhop("check", f"{sites}/**/*.cfg")
    assert (ended.code, len(ended.out.splitlines())) == (0, 2)
    refused = perhop("check", f"{sites}/*.conf")
    assert refused.code == 2
    assert f"no file matches `{sites}/*.conf`" in refused.err
    (sites / "empty").mkdir()
    assert "the folder has no configurations" in perhop("check", sites / "empty").err


def test_each_file_is_checked_once(sites: Path, perhop: Command) -> None:
    found = perhop("check", sites, sites / "a.cfg", f"{sites}/*.cfg", "--json").json()["files"]
    assert [Path(report["file"]).name for report in found] == ["a.cfg", "b", "lab.perhop.yaml"]


def test_order_and_content_do_not_depend_on_threads(sites: Path, perhop: Command) -> None:
    for number in range(30):
        (sites / f"{number:02}.cfg").write_text(GOOD if number % 3 else BAD)
    whole = perhop("check", sites, "--json").json()["files"]
    assert [report["file"] for report in whole] == sorted(report["file"] for report in whole)
    for report in whole:
        (alone,) = perhop("check", report["file"], "--json").json()["files"]
        assert alone == report


def test_reports_of_a_network_are_written_as_by_python(sites: Path, perhop: Command) -> None:
    # The extension module writes these reports, and Python the reports of single files.
    strange = GOOD.replace(" bandwidth 512", ' description "é"\\ ,:{\t\x01\n bandwidth 512')
    shares = strange.replace(
        "  priority 128", "  bandwidth percent 7\n class class-default\n  shape average 96000"
    )
    (sites / "north" / "c.cfg").write_text(shares)
    printed = perhop("check", sites, "--json").out
    document = json.loads(printed)
    numbers = re.findall(r"[0-9.]+e[-+0-9]+|[0-9]+[.][0-9]+", printed)
    assert "\\u0001" in printed or "␁" in printed
    assert numbers, "no number with a fraction is compared"
    assert printed == json.dumps(document, ensure_ascii=False) + "\n"


def test_an_unsupported_system_has_exit_code_2_and_other_files_are_checked(
    sites: Path, perhop: Command
) -> None:
    (sites / "switch.cfg").write_text(SWITCH)
    ended = perhop("check", sites)
    assert ended.code == 2
    assert f"{sites}/switch.cfg: router, not supported: 1 error" in ended.out
    assert f"{sites}/north/b: router, not ok" in ended.out


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_an_error_and_the_others_are_checked(
    sites: Path, perhop: Command
) -> None:
    (sites / "secret.cfg").write_text(GOOD)
    (sites / "secret.cfg").chmod(0)
    ended = perhop("check", sites)
    assert ended.code == 2
    assert "secret.cfg" in ended.err and "a.cfg: router, ok" in ended.out


def test_a_file_beyond_the_limits_is_an_error_and_the_others_are_checked(
    sites: Path, perhop: Command
) -> None:
    (sites / "long.cfg").write_text("hostname a\n" + "x" * 5_000_000)
    ended = perhop("check", sites)
    assert ended.code == 2
    assert "long.cfg` has more than 4194304 bytes in line 2" in ended.err
    assert "a.cfg: router, ok" in ended.out


def test_the_least_severity_that_fails(sites: Path, perhop: Command) -> None:
    doubtful = sites / "doubtful.cfg"
    doubtful.write_text(GOOD + " ip nat outside\n")
    assert perhop("check", doubtful).code == 0
    for options in (("--strict",), ("--fail-on", "warning"), ("--fail-on", "note")):
        assert perhop("check", doubtful, *options).code == 1, options
    assert perhop("check", doubtful, "--fail-on", "error", "--strict").code == 0, "what is more exact decides"


def test_selected_rules_only(sites: Path, perhop: Command) -> None:
    both = perhop("check", sites / "north" / "b", "--json").json()["files"][0]["findings"]
    assert {finding["rule"] for finding in both} > {"class-map-undefined"}
    only = perhop("check", sites / "north" / "b", "--json", "--select", "class-map-undefined")
    assert {finding["rule"] for finding in only.json()["files"][0]["findings"]} == {"class-map-undefined"}
    assert perhop("check", sites / "north" / "b", "--select", "queue-delay").code == 0
    assert perhop("check", sites / "a.cfg", "--select", "queue-dealy").code == 2
    (sites / "switch.cfg").write_text(SWITCH)
    assert perhop("check", sites / "switch.cfg", "--select", "queue-delay").code == 2, (
        "not looked at is not ok"
    )


def test_concise_and_github_have_a_line_for_each_finding(sites: Path, perhop: Command) -> None:
    findings = perhop("check", sites, "--json").json()["files"]
    number = sum(len(report["findings"]) for report in findings)
    concise = perhop("check", sites, "--output-format", "concise").out.splitlines()
    assert len(concise) == number
    assert f"{sites}/north/b:5: error[class-map-undefined] class-map VOIC is not defined" in concise
    github = perhop("check", sites, "--output-format", "github").out.splitlines()
    assert len(github) == number
    (error,) = (line for line in github if line.startswith("::error "))
    assert error.startswith(f"::error file={sites}/north/b,title=class-map-undefined,line=5::class-map VOIC")


def test_github_escapes_what_ends_a_property_or_a_command(tmp_path: Path, perhop: Command) -> None:
    file = tmp_path / "a,b:c%.cfg"
    file.write_text(BAD)
    line = perhop("check", file, "--output-format", "github", "--select", "class-map-undefined").out
    assert "a%2Cb%3Ac%25.cfg," in line


def test_gitlab_has_one_fingerprint_for_each_finding(sites: Path, perhop: Command) -> None:
    report = json.loads(perhop("check", sites, "--output-format", "gitlab").out)
    assert len({finding["fingerprint"] for finding in report}) == len(report) > 1
    (error,) = (finding for finding in report if finding["severity"] == "critical")
    assert error["location"] == {"path": f"{sites}/north/b", "lines": {"begin": 5}}
    # A line above the finding moves it, but its fingerprint remains.
    (sites / "north" / "b").write_text("!\n" + BAD)
    again = json.loads(perhop("check", sites, "--output-format", "gitlab").out)
    assert {finding["fingerprint"] for finding in again} == {finding["fingerprint"] for finding in report}


def test_junit_fails_where_check_fails(sites: Path, perhop: Command) -> None:
    root = ET.fromstring(perhop("check", sites, "--output-format", "junit").out)
    suites = {suite.get("name"): suite for suite in root}
    assert [suites[f"{sites}/{name}"].get("failures") for name in ("a.cfg", "north/b")] == ["0", "1"]
    (case,) = suites[f"{sites}/north/lab.perhop.yaml"]
    assert (case.get("name"), len(case)) == ("no finding", 0)
    strict = ET.fromstring(perhop("check", sites, "--output-format", "junit", "--fail-on", "note").out)
    assert sum(int(suite.get("failures", 0)) for suite in strict) > 1


def test_settings_of_the_nearest_file(sites: Path, perhop: Command) -> None:
    (sites.parent / "perhop.toml").write_text(
        '[check]\nignore = ["class-map-undefined"]\nfail-on = "error"\n'
    )
    settings = sites.parent / "perhop.toml"
    quiet = perhop("check", "sites/north/b")
    assert (quiet.code, quiet.err) == (0, f"settings: {settings}\n")
    assert perhop("check", "sites/north/b", "--json").json()["settings"] == str(settings)
    (sites.parent / "perhop.toml").write_text('[check]\noutput-format = "concise"\n')
    assert ": error[class-map-undefined] " in perhop("check", "sites/north/b").out
    assert "router, not ok" in perhop("check", "sites/north/b", "--output-format", "full").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[check", "perhop.toml: "),
        ("[chek]\n", "unknown key `chek`"),
        ("check = 1\n", "`check` must be a table"),
        ("[check]\nignored = []\n", "unknown key `ignored`"),
        ('[check]\nignore = "a"\n', "`ignore` must be a list of rules"),
        ("[check]\nfail-on = 1\n", "`fail-on` must be a string"),
        ('[check]\nfail-on = "fatal"\n', "`fail-on` is `fatal`"),
        ('[check]\noutput-format = "xml"\n', "`output-format` is `xml`"),
        ('[check]\nignore = ["nonsense"]\n', "there is no rule `nonsense`"),
    ],
)
def test_wrong_settings_are_one_error(text: str, words: str, sites: Path, perhop: Command) -> None:
    (sites.parent / "perhop.toml").write_text(text)
    ended = perhop("check", "sites/a.cfg")
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
