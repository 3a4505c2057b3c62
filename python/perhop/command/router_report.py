"""The report of `perhop check` on a router configuration."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from perhop.configuration import checked, platform_words, unsupported
from perhop.core_types import RouterReport
from perhop.quantity import counted

# The states in the order of the report, and their meanings.
MEANINGS = {
    "suspicious": "valid, but probably a mistake",
    "not-recognized": "commands that perhop does not know",
    "not-modelled": "known commands that affect packets, but that perhop does not model",
    "modelled": "part of the policy that perhop runs",
    "irrelevant": "known commands that do not affect packets",
}
# The states in the order of the counts.
_COUNTED = ("modelled", "irrelevant", "not-modelled", "suspicious", "not-recognized")
# The states of lines that can make a simulation differ from the router.
_CHANGING = ("suspicious", "not-recognized", "not-modelled")
# Lines of an interface that say nothing about its policies.
_NOT_OF_POLICIES = ("ip address", "ipv6 address")
# The diagnostic for a file without commands.
_EMPTY = {
    "severity": "warning",
    "message": "nothing to check: the file has no commands",
    "router": "a router without commands has no interface that is up",
}


def findings(
    file: Path,
    text: str,
    *,
    strict: bool,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
    policies: bool = True,
) -> dict[str, Any]:
    """Return the findings about the configuration `text` of `file`, with the resulting `policies` or without.

    It is not valid if an error affects a policy of an interface, or if perhop does not model its dialect.
    """
    report = checked(text, platform, assume, policies=policies)
    found: dict[str, Any] = {**report}
    changing = sum(found["counts"][state] for state in _CHANGING) or _is_empty(found)
    if _is_empty(found):
        found["diagnostics"] = [{"line": 1, **_EMPTY}]
    attached = _of_policies(report)
    valid = not (attached or unsupported(report.get("platform")) or (strict and changing))
    return {"file": str(file), "valid": valid, "holds": "router", "attached_errors": attached, **found}


def _of_policies(report: RouterReport) -> list[dict[str, Any]]:
    """Return the errors that affect policies of interfaces: their lines, and the interfaces."""
    texts = {line["number"]: line["text"].strip() for line in report["lines"]}
    return [
        {"line": one["line"], "interfaces": one["interfaces"]}
        for one in report["diagnostics"]
        if one["severity"] == "error" and one["interfaces"]
        if not texts[one["line"]].startswith(_NOT_OF_POLICIES)
    ]


def report(found: dict[str, Any], *, lines: bool) -> str:
    """Return the report: the lines by state (all of them with `lines`) and their diagnostics."""
    wrong: dict[int, list[dict[str, Any]]] = {}
    for diagnostic in found["diagnostics"]:
        wrong.setdefault(diagnostic["line"], []).append(diagnostic)
    counts = ", ".join(f"{found['counts'][state]} {_word(state)}" for state in _COUNTED)
    total = sum(found["counts"].values())
    summary = _EMPTY["message"] if _is_empty(found) else f"{counted(total, 'line')}: {counts}"
    platform = platform_words(found.get("platform"))
    text = [f"{found['file']}: {platform}"] if platform else []
    text.append(f"{found['file']}: router, {_verdict(found)}: {summary}")
    for state in MEANINGS if lines else _CHANGING:
        of_state = [line for line in found["lines"] if line["state"] == state]
        if of_state:
            text += ["", f"{_word(state)}: {MEANINGS[state]}"]
            for note, several in groupby(of_state, key=lambda line: line.get("note")):
                text += [row for line in several for row in _line(line, wrong)]
                text += [f"        {note}"] if note else []
    return "\n".join([*text, *_last(found)])


def _verdict(found: Mapping[str, Any]) -> str:
    """Return the verdict: no `ok` stands beside an error."""
    if unsupported(found.get("platform")):
        return "not supported"
    if not found["valid"]:
        return "not ok"
    return "errors in unused parts" if _errors(found) else "ok"


def _last(found: Mapping[str, Any]) -> list[str]:
    """Return what the errors mean for a run."""
    errors, policies = _errors(found), found["attached_errors"]
    if not errors:
        return []
    if not policies:
        return ["", f"{counted(errors, 'error')}, none in a policy of an interface: perhop runs the others"]
    interfaces = sorted({name for one in policies for name in one["interfaces"]})
    shown = ", ".join(interfaces[:4]) + (", …" if len(interfaces) > 4 else "")
    return ["", f"{counted(errors, 'error')}; perhop does not run what has one: {shown}"]


def _errors(found: Mapping[str, Any]) -> int:
    return sum(diagnostic["severity"] == "error" for diagnostic in found["diagnostics"])


def _is_empty(found: Mapping[str, Any]) -> bool:
    return not any(found["counts"].values())


def _line(line: dict[str, Any], wrong: dict[int, list[dict[str, Any]]]) -> list[str]:
    rows = [f"{line['number']:>6}  {line['text'].strip()}"]
    for diagnostic in wrong.get(line["number"], []):
        rows += [
            f"        {diagnostic['severity']}: {diagnostic['message']}",
            f"        {diagnostic['router']}",
        ]
    return rows


def _word(state: str) -> str:
    return state.replace("-", " ")
