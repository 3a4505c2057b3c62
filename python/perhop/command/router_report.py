"""The report of `perhop check` on a router configuration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from perhop.checking import STATE_RULES, Checked, Finding
from perhop.configuration import is_supported, platform_words, policy_errors
from perhop.quantity import counted

if TYPE_CHECKING:
    from perhop.core_types import RouterLine, RouterReport

# The states in the order of the report, and their meanings.
MEANINGS = {
    "suspicious": "refused by the device, or accepted but probably a mistake",
    "not-recognized": "commands or values that perhop does not recognize",
    "not-modelled": "known commands that affect packets, but that perhop does not model",
    "modelled": "part of the policy that perhop runs",
    "irrelevant": "known commands that do not affect packets",
}
# The states in the order of the counts.
_COUNTED = ("modelled", "irrelevant", "not-modelled", "suspicious", "not-recognized")
# The states of lines that can make a simulation differ from the router.
_CHANGING = ("suspicious", "not-recognized", "not-modelled")
# The maximum number of shown notes; `--lines` shows all.
_MOST_NOTES = 20


def attached_errors(report: RouterReport) -> list[dict[str, Any]]:
    """Return the errors that affect policies of interfaces: their lines, and the interfaces."""
    return [{"line": error["line"], "interfaces": error["interfaces"]} for error in policy_errors(report)]


def text(found: Checked, report: RouterReport, *, lines: bool, passed: bool) -> str:
    """Return the report: the lines by state (all of them with `lines`) and their findings."""
    wrong: dict[int, list[Finding]] = {}
    for finding in found.findings:
        if finding in found.between:
            continue
        if finding.line is not None and finding.rule not in STATE_RULES.values():
            wrong.setdefault(finding.line, []).append(finding)
    shown = [f"{found.file}: {words}"] if (words := platform_words(report.get("platform"))) else []
    shown.append(f"{found.file}: router, {verdict(found, passed=passed)}: {_summary(report)}")
    for finding in found.findings:
        if finding.line is None:
            shown += ["", *_finding(finding, indentation="")]
    if not is_supported(report):
        # The report has only the parts that perhop reads, and findings that apply to each of the likely
        # systems.
        for line, findings in sorted(wrong.items()):
            for finding in findings:
                shown += ["", f"line {line}:", *_finding(finding)]
        return "\n".join([*shown, *(_line(line) for line in report["lines"] if lines)])
    by_state = _lines_by_state(found, report, wrong)
    for state in MEANINGS if lines else _CHANGING:
        shown += _of_state(by_state.get(state, []), state, wrong)
    shown += _notes(report, wrong, all_of_them=lines)
    return "\n".join([*shown, *_between(found, report), *_last(found, report)])


def _between(found: Checked, report: RouterReport) -> list[str]:
    """Return the findings that need the other devices of a network, with their lines."""
    if not found.between:
        return []
    lines = {line["number"]: line for line in report["lines"]}
    rows = ["", "between devices: findings that concern the rest of the network"]
    for number, findings in groupby(found.between, key=lambda finding: finding.line):
        # If the report lists only suspicious lines, it lacks the text of other lines.
        rows.append(_line(lines[number]) if number in lines else f"{number or '':>6}")
        for finding in findings:
            rows += _finding(finding)
    return rows


def between_devices(checked: Sequence[Checked], *, notes: Literal["all", "counted"]) -> list[str]:
    """Return a paragraph with the findings of a network, each with its place; notes only on request."""
    rows: list[str] = []
    folded = 0
    for found in checked:
        for finding in found.between:
            if finding.severity == "note" and notes == "counted":
                folded += 1
                continue
            place = f"{found.file}:{finding.line}" if finding.line else str(found.file)
            rows.append(f"{place}: {finding.severity}[{finding.rule}]: {finding.message}")
            rows += [f"    {finding.remedy}"] if finding.remedy else []
    if folded:
        rows.append(f"{counted(folded, 'note')} between devices: --lines shows them")
    return rows


def verdict(found: Checked, *, passed: bool) -> str:
    """Return the verdict; a system that perhop does not simulate is not ok."""
    if found.router and not is_supported(found.router):
        return "not supported"
    return "ok" if passed else "not ok"


def _summary(report: RouterReport) -> str:
    total = sum(report["counts"].values())
    counts = ", ".join(f"{report['counts'][state]} {_word(state)}" for state in _COUNTED)
    return f"{counted(total, 'line')}: {counts}"


def _lines_by_state(
    found: Checked, report: RouterReport, wrong: dict[int, list[Finding]]
) -> dict[str, list[RouterLine]]:
    """Return the lines under each state. A line with an error or a warning is suspicious."""
    by_state: dict[str, list[RouterLine]] = {}
    for line in report["lines"]:
        findings = wrong.get(line["number"], [])
        if _is_hidden(found, line, findings):
            continue
        is_wrong = any(finding.severity != "note" for finding in findings)
        state = "suspicious" if is_wrong and line["state"] not in _CHANGING else line["state"]
        by_state.setdefault(state, []).append(line)
    return by_state


def _of_state(of_state: list[RouterLine], state: str, wrong: dict[int, list[Finding]]) -> list[str]:
    if not of_state:
        return []
    rows = ["", f"{_word(state)}: {MEANINGS[state]}"]
    for note, several in groupby(of_state, key=lambda line: line.get("note")):
        for line in several:
            rows.append(_line(line))
            for finding in wrong.get(line["number"], []):
                if finding.severity != "note":
                    rows += _finding(finding)
        rows += [f"        {note}"] if note else []
    return rows


def _is_hidden(found: Checked, line: RouterLine, wrong: list[Finding]) -> bool:
    """Whether all findings of a line are suppressed."""
    if (rule := STATE_RULES.get(line["state"])) is not None:
        return found.hidden.hides(rule, line["number"])
    return line["state"] == "suspicious" and not wrong and "note" not in line


def _notes(report: RouterReport, wrong: dict[int, list[Finding]], *, all_of_them: bool) -> list[str]:
    """Return the notes with their lines."""
    by_line = {
        number: [finding for finding in findings if finding.severity == "note"]
        for number, findings in sorted(wrong.items())
    }
    by_line = {number: notes for number, notes in by_line.items() if notes}
    if not by_line:
        return []
    lines = {line["number"]: line for line in report["lines"]}
    rows = ["", "notes: perhaps intended, but worth knowing"]
    numbers = list(by_line)
    for number in numbers if all_of_them else numbers[:_MOST_NOTES]:
        rows.append(_line(lines[number]))
        for finding in by_line[number]:
            rows += _finding(finding)
    if not all_of_them and len(numbers) > _MOST_NOTES:
        rows.append(f"        and of {len(numbers) - _MOST_NOTES} more lines: --lines shows them")
    return rows


def _last(found: Checked, report: RouterReport) -> list[str]:
    """Return the effect of the errors on a run."""
    errors = found.count("error")
    if not errors:
        return []
    attached = attached_errors(report)
    if not attached:
        return [
            "",
            f"{counted(errors, 'error')}, not in a policy of an interface: "
            "`perhop run` runs all interfaces with a policy",
        ]
    interfaces = sorted({name for error in attached for name in error["interfaces"]})
    shown = ", ".join(interfaces[:4]) + (", …" if len(interfaces) > 4 else "")
    return ["", f"{counted(errors, 'error')}: `perhop run` leaves out the interfaces with errors: {shown}"]


def _line(line: RouterLine) -> str:
    return f"{line['number']:>6}  {line['text'].strip()}"


def _finding(finding: Finding, indentation: str = "        ") -> list[str]:
    rows = [f"{indentation}{finding.severity}[{finding.rule}]: {finding.message}"]
    if finding.remedy:
        rows.append(f"{indentation}{finding.remedy}")
    if finding.fixed is not None:
        rows.append(f"{indentation}better: {finding.fixed.strip()}")
    return rows


def _word(state: str) -> str:
    return state.replace("-", " ")
