"""Findings as SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perhop._core import __version__
from perhop.checking import Checked, Finding
from perhop.rules import Rule, rules


def sarif_log(checked: Iterable[Checked]) -> dict[str, Any]:
    """Return all findings of files as one log; the log contains the rules with findings."""
    results = [(found, finding) for found in checked for finding in found.findings]
    names = sorted({finding.rule for _, finding in results})
    index = {name: number for number, name in enumerate(names)}
    driver = {
        "name": "perhop",
        "version": __version__,
        "rules": [_rule(rules()[name]) for name in names],
    }
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(found, finding, index[finding.rule]) for found, finding in results],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.why} Source: {rule.source}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(found: Checked, finding: Finding, index: int) -> dict[str, Any]:
    remedy = f" ({finding.remedy})" if finding.remedy else ""
    location: dict[str, Any] = {"artifactLocation": {"uri": found.file.as_posix()}}
    if finding.line is not None:
        column = {} if finding.column is None else {"startColumn": finding.column}
        location["region"] = {"startLine": finding.line, **column}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": finding.message + remedy},
        "locations": [{"physicalLocation": location}],
    }
    if finding.fixed is not None:
        replacement = {
            "deletedRegion": {"startLine": finding.line},
            "insertedContent": {"text": finding.fixed},
        }
        change = {"artifactLocation": location["artifactLocation"], "replacements": [replacement]}
        result["fixes"] = [{"artifactChanges": [change]}]
    return result
