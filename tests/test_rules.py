"""The rules of `perhop check`: each reports the bad example of its page, and not the good one."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import perhop
from conftest import ROOT
from perhop.checking import Finding, check_file
from perhop.network.findings import between_devices
from perhop.rules import rules

# Rules without small examples, and the reason.
WITHOUT_EXAMPLE = {
    "conditions-too-complex": "takes two million nodes",
    "junos-groups-cut": "takes millions of statements",
    "headers-unusable": "takes a stack of headers that no configuration here has",
    "object-group-too-large": "takes thousands of members",
    "scenario-doubtful": "each of its messages has a test of its own in crates/perhop-scenario",
    "too-many-classes": "takes thousands of classes",
}
SHOWN = [rule for rule in rules().values() if rule.bad is not None]


# A line that begins the configuration of a device, in the examples of rules about networks.
DEVICE = re.compile(r"^! --- (\S+)$", re.MULTILINE)


def _findings(folder: Path, text: str) -> list[Finding]:
    parts = DEVICE.split(text)[1:]
    if not parts:
        return check_file(_written(folder, text)).findings
    network = folder / hashlib.sha256(text.encode()).hexdigest()[:8]
    network.mkdir()
    files = [network / name for name in parts[::2]]
    for file, content in zip(files, parts[1::2], strict=True):
        file.write_text(content)
    between = between_devices([network], files)
    return [finding for file in files for finding in between.add_to(check_file(file)).findings]


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.id)
def test_bad_examples_have_the_finding_and_good_ones_do_not(tmp_path: Path, rule: perhop.rules.Rule) -> None:
    assert rule.bad is not None
    assert rule.good is not None
    assert rule.id in [finding.rule for finding in _findings(tmp_path, rule.bad)]
    found = _findings(tmp_path, rule.good)
    assert rule.id not in [finding.rule for finding in found]
    assert [finding for finding in found if finding.severity == "error"] == []


def _written(folder: Path, text: str) -> Path:
    file = folder / ("policy.perhop.yaml" if text.startswith(("policies:", "perhop:")) else "router.cfg")
    file.write_text(text)
    return file


def test_there_are_enough_rules_and_each_has_an_example() -> None:
    assert len(rules()) >= 50
    assert {rule.id for rule in rules().values() if rule.bad is None} == set(WITHOUT_EXAMPLE)


# Findings about the examples and the papers' configurations, without notes, and why they are true. Examples
# with priority and no limit, and one with a long ring, name the rule in a comment.
TRUE_ALARMS = {
    # The headings in this file are not comments.
    "vectors/ios/wred-bottleneck.cfg": {"command-unknown"},
}
PAPERS = ("car-wfq", "ef-star", "mred-af", "wred-bottleneck", "drop-precedence")


def test_examples_and_papers_have_no_findings() -> None:
    files = [*(ROOT / "examples").glob("*.perhop.yaml"), ROOT / "examples" / "router.cfg"]
    files += [file for file in (ROOT / "vectors" / "ios").glob("*.cfg") if file.name.startswith(PAPERS)]
    assert len(files) > 25
    found = {}
    for file in files:
        rules_of = {finding.rule for finding in check_file(file).findings if finding.severity != "note"}
        if rules_of:
            found[file.relative_to(ROOT).as_posix()] = rules_of
    assert found == TRUE_ALARMS
