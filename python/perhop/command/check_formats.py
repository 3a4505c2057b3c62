"""Findings of `perhop check` in the formats of other tools, one line or element per finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perhop.checking import Checked, Finding
from perhop.printable import printable

# Code Quality reports of GitLab know five severities.
_GITLAB_SEVERITY = {"error": "critical", "warning": "minor", "note": "info"}
# Workflow commands of GitHub, which show a message next to a line.
_GITHUB_COMMAND = {"error": "error", "warning": "warning", "note": "notice"}


def concise(checked: Sequence[Checked]) -> str:
    """Return a line for each finding: `FILE:LINE: SEVERITY[RULE] MESSAGE`, as compilers print them."""
    return "\n".join(
        printable(f"{_place(found, finding)}: {finding.severity}[{finding.rule}] {finding.message}")
        for found in checked
        for finding in found.findings
    )


def _place(found: Checked, finding: Finding) -> str:
    column = "" if finding.column is None else f":{finding.column}"
    return str(found.file) if finding.line is None else f"{found.file}:{finding.line}{column}"


def github(checked: Sequence[Checked]) -> str:
    """Return workflow commands of GitHub Actions.

    Source: docs.github.com, "Workflow commands for GitHub Actions", setting an error message; the escapes
    come from its toolkit (packages/core/src/command.ts).
    """
    return "\n".join(_github(found, finding) for found in checked for finding in found.findings)


def _github(found: Checked, finding: Finding) -> str:
    properties = {"file": found.file.as_posix(), "title": finding.rule}
    if finding.line is not None:
        properties["line"] = str(finding.line)
    if finding.column is not None:
        properties["col"] = str(finding.column)
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_GITHUB_COMMAND[finding.severity]} {written}::{_data(_full_message(finding))}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _full_message(finding: Finding) -> str:
    return finding.message + (f" ({finding.remedy})" if finding.remedy else "")


def gitlab(checked: Sequence[Checked]) -> list[dict[str, Any]]:
    """Return a Code Quality report.

    Source: docs.gitlab.com, "Code Quality", code quality report format. A fingerprint depends on rule, file
    and text of a finding; equal fingerprints get a number.
    """
    import hashlib  # lazy: only for this format

    seen: dict[str, int] = {}
    report = []
    for found in checked:
        for finding in found.findings:
            text = f"{found.file.as_posix()}\n{finding.rule}\n{finding.message}"
            seen[text] = seen.get(text, 0) + 1
            report.append(
                {
                    "description": printable(_full_message(finding)),
                    "check_name": finding.rule,
                    "fingerprint": hashlib.sha256(f"{text}\n{seen[text]}".encode()).hexdigest(),
                    "severity": _GITLAB_SEVERITY[finding.severity],
                    "location": {"path": found.file.as_posix(), "lines": {"begin": finding.line or 1}},
                }
            )
    return report


def junit(checked: Sequence[Checked], failing: Sequence[str]) -> str:
    """Return JUnit XML: a suite for each file, a case for each finding, a failure if its severity fails.

    A file without a finding has one case that passes.
    """
    from xml.etree import ElementTree as ET  # lazy: only for this format

    root = ET.Element("testsuites", {"name": "perhop check"})
    for found in checked:
        failures = sum(finding.severity in failing for finding in found.findings)
        counts = {"tests": str(max(len(found.findings), 1)), "failures": str(failures), "errors": "0"}
        suite = ET.SubElement(root, "testsuite", {"name": printable(str(found.file)), **counts})
        for finding in found.findings:
            place = "" if finding.line is None else f" line {finding.line}"
            case = ET.SubElement(
                suite, "testcase", name=printable(finding.rule + place), classname=printable(str(found.file))
            )
            text = printable(f"{_place(found, finding)}: {_full_message(finding)}")
            if finding.severity in failing:
                message = printable(finding.message)
                ET.SubElement(case, "failure", message=message, type=finding.severity).text = text
            else:
                ET.SubElement(case, "system-out").text = text
        if not found.findings:
            ET.SubElement(suite, "testcase", name="no finding", classname=printable(str(found.file)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}'
