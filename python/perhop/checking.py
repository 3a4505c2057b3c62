"""Findings of the rules in files, scenarios and configurations of routers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.configuration import (
    NOT_SUPPORTED,
    Detail,
    configured,
    examined,
    examined_as,
    is_supported,
    read,
    router_text,
)
from perhop.errors import Diagnostic, InvalidInputError, ScenarioError, UnknownNameError
from perhop.inputs import SCENARIO, read_rest, regular_file
from perhop.rules import Severity, named, rules
from perhop.suppression import Suppression, suppression
from perhop.tables import Cell, Column, Table

if TYPE_CHECKING:
    import polars as pl

    from perhop.core_types import RouterReport

# The states of lines that can make a simulation differ from the router, with their rules.
STATE_RULES = {"not-recognized": "command-unknown", "not-modelled": "command-not-modelled"}
# The first key of a file of tests.
_TESTS = re.compile(rb"^perhop-tests:", re.MULTILINE)
# The minimum share of known commands in a configuration.
_LITTLE = 0.5


@dataclass
class Finding:
    """A finding of a rule in a file."""

    rule: str
    severity: Severity
    #: The line number, from 1; `None` if the finding is about the whole file.
    line: int | None
    column: int | None
    message: str
    #: The behavior of the router, or the correction.
    remedy: str | None
    #: The corrected line, if one line is enough.
    fixed: str | None = None


@dataclass
class Checked:
    """A file and its findings."""

    file: Path
    #: `scenario`, `policies`, `tests` or `router`; `None` if the file cannot be read.
    kind: str | None
    findings: list[Finding]
    #: The report of a router's configuration.
    router: RouterReport | None = None
    #: The findings of the extension module in a scenario, with paths and overrides.
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: The rendered errors of a scenario, plain and colored.
    rendered: tuple[str, str] | None = None
    #: The suppressed lines of a configuration, with their rules.
    hidden: Suppression = field(default_factory=Suppression)
    #: The part of the file in the document of `--json`, if it is written in advance. `router` then has only
    #: the platform, because the lines and policies as objects take ten times the memory of the text.
    document: str | None = None
    #: The findings that need the other devices of a network.
    between: list[Finding] = field(default_factory=list)

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def forget_lines(self) -> None:
        """Drop the lines of the report, which need ten times the memory of the text."""
        if self.router is not None:
            self.router = {**self.router, "lines": []}


#: Returns the report of a file that was parsed before.
Reported = Callable[[Path, Detail], "RouterReport | None"]


def check_file(
    file: Path,
    *,
    detail: Detail = "lines",
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
    ignore: frozenset[str] = frozenset(),
    reported: Reported | None = None,
) -> Checked:
    """Return the findings in a file, without the rules in `ignore`.

    `reported` returns the report of a file that was parsed before. If it returns None, this function parses
    the file.

    Raises:
        UnknownNameError: a comment of the file suppresses a rule that does not exist.
        UnreadableFileError: the file cannot be read.

    """
    text = router_text(file)
    if text is not None:
        report = reported(file, detail) if reported else None
        report = report or examined(text, platform, assume, detail=detail)
        is_clear = report["has_interface_up"] or not is_supported(report)
        further = [] if is_clear else _without_way(text, platform, assume)
        return _router(file, text, report, ignore, further)
    content = _content(file)
    if _TESTS.search(content):
        return _tests(file)
    return _scenario(file, content.decode("utf-8", "replace"), ignore)


def _tests(file: Path) -> Checked:
    """Check a file of tests as `perhop test` reads it, without running the tests."""
    from perhop.policy_tests import read_tests  # lazy: PyYAML, which only files of tests need

    try:
        read_tests(file)
    except InvalidInputError as error:
        return Checked(file, None, [Finding("scenario-invalid", "error", None, None, str(error), error.help)])
    return Checked(file, "tests", [])


def _hidden(file: Path, text: str, ignore: frozenset[str]) -> Suppression:
    try:
        return suppression(text, ignore)
    except UnknownNameError as error:
        raise UnknownNameError(f"{file}, {error}", error.help) from error


def _router(
    file: Path, text: str, report: RouterReport, ignore: frozenset[str], further: Iterable[Finding] = ()
) -> Checked:
    hidden = _hidden(file, text, ignore)
    found = [
        Finding(
            diagnostic["rule"],
            diagnostic["severity"],
            # A finding about an assumption has line 0, which is not in the file. A refusal of the system is
            # about the whole file.
            None if diagnostic["rule"] == NOT_SUPPORTED else diagnostic["line"] or None,
            None,
            diagnostic["message"],
            diagnostic["router"],
            diagnostic.get("fixed"),
        )
        for diagnostic in report["diagnostics"]
    ]
    for line in report["lines"]:
        if (rule := STATE_RULES.get(line["state"])) is not None and is_supported(report):
            text_of = line["text"].strip()
            found.append(Finding(rule, "warning", line["number"], None, f"`{text_of}`", line.get("note")))
    found += [*_findings_about_file(report), *further]
    kept = [finding for finding in found if not hidden.hides(finding.rule, finding.line)]
    kept.sort(key=lambda finding: (finding.line or 0, finding.rule))
    return Checked(file, "router", kept, router=report, hidden=hidden)


def _findings_about_file(report: RouterReport) -> list[Finding]:
    """Return the findings about the whole file."""
    counts, found = report["counts"], []
    total = sum(counts.values())
    known = counts["modelled"] + counts["irrelevant"] + counts["suspicious"] + counts["not-modelled"]
    if total == 0:
        found.append(_of_file("little-recognized", "nothing to check: the file has no commands", None))
    elif known < _LITTLE * total and is_supported(report):
        message = f"{known} of {total} lines are commands that perhop knows"
        remedy = "`perhop check --help` names the languages that it reads"
        commands = sum(line["text"].split()[:1] == ["tc"] for line in report["lines"])
        if commands > total / 2:
            remedy = "the lines are commands of Linux: --platform linux"
        found.append(_of_file("little-recognized", message, remedy))
    return found


def _without_way(text: str, platform: str | None, assume: Mapping[str, str] | None) -> list[Finding]:
    """Return the finding that no packet can reach an interface or a class, in the words of `perhop run`."""
    from perhop.inference import require_way  # lazy: most configurations need no trial

    try:
        require_way(text, configured({"text": text}, platform, assume))
    except InvalidInputError as error:
        return [_of_file("scenario-invalid", str(error), error.help)]
    return []


def _of_file(rule: str, message: str, remedy: str | None) -> Finding:
    return Finding(rule, rules()[rule].severity, None, None, message, remedy)


def findings_of(scenario: Mapping[str, Any], base: str | os.PathLike[str] = "") -> dict[str, list[Finding]]:
    """Return the findings in a saved scenario, by router with a configuration, and under `""`.

    The key `""` has the findings in the scenario's own policies and traffic; these messages begin with the
    path of the part. Comments suppress rules in configurations; a saved scenario has no comments.

    Raises:
        ScenarioError: the scenario cannot be resolved.

    """
    found: dict[str, list[Finding]] = {}
    for name, router in scenario.get("routers", {}).items():
        configuration = router.get("configuration")
        if not configuration:
            continue
        text = configuration.get("text") or read(Path(base) / configuration["file"])
        found[name] = _router(Path(name), text, examined_as(text, configuration), frozenset()).findings
    own = _core.findings(json.dumps(dict(scenario)), base).diagnostics
    found[""] = [
        Finding(
            finding["rule"],
            finding["severity"],
            None,
            None,
            f"{finding['path']}: {finding['message']}",
            finding["help"],
        )
        for finding in own
    ]
    return found


def findings_table(found: Mapping[str, Iterable[Finding]]) -> Table:
    """Return the findings of `findings_of`, a row per finding."""
    columns = [
        Column("where"),
        Column("line", numeric=True),
        *map(Column, ("severity", "rule", "what", "then")),
    ]
    rows = [
        [
            Cell(where or "scenario"),
            Cell("" if finding.line is None else str(finding.line), sort=finding.line),
            Cell(finding.severity),
            *map(Cell, (finding.rule, finding.message, finding.remedy or "")),
        ]
        for where, several in found.items()
        for finding in several
    ]
    return Table(
        "Findings of `perhop check`; `perhop explain RULE` shows the reason and the remedy.", columns, rows
    )


def _content(file: Path) -> bytes:
    """Return the content of a file of policies; empty if the file cannot be read.

    The check of the scenario reports an unreadable file.
    """
    try:
        with regular_file(file) as stream:
            return read_rest(stream, SCENARIO, file)
    except OSError:
        return b""


def _scenario(file: Path, text: str, ignore: frozenset[str]) -> Checked:
    rendered = None
    try:
        kind: str | None
        kind, warnings = _core.check(file)
        diagnostics = warnings.diagnostics
        if warnings:
            rendered = (str(warnings), warnings.colored)
    except ScenarioError as error:
        kind, diagnostics, rendered = None, error.diagnostics, (str(error), error.colored)
    hidden = _hidden(file, text, ignore)
    found = [
        Finding(
            diagnostic["rule"],
            diagnostic["severity"],
            diagnostic["line"],
            diagnostic["column"],
            diagnostic["message"],
            diagnostic["help"],
        )
        for diagnostic in diagnostics
    ]
    kept = [
        finding
        for finding in found
        if finding.severity == "error" or not hidden.hides(finding.rule, finding.line)
    ]
    if len(kept) < len(found):
        rendered = None
    return Checked(file, kind, kept, diagnostics=diagnostics, rendered=rendered, hidden=hidden)


def check(
    *files: str | os.PathLike[str],
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
    ignore: Iterable[str] = (),
) -> pl.DataFrame:
    """Return the findings of the rules in scenarios, policies and router configurations.

    A row per finding: `file`, `line` (from 1; null for the whole file), `column`, `severity`, `rule`,
    `message`, `remedy` and `fixed`, the corrected line. `platform` and `assume` are as in `perhop check`;
    rules in `ignore` are skipped.

    Raises:
        UnknownNameError: there is no such rule.
        UnreadableFileError: a file cannot be read.

    """
    import polars as pl  # lazy: `perhop check` shows its findings without it

    from perhop.frames import TableFrame  # lazy: polars

    left_out = named(ignore)
    rows = []
    for file in map(Path, files):
        found = check_file(file, platform=platform, assume=assume, ignore=left_out)
        rows += [{"file": str(file), **vars(finding)} for finding in found.findings]
    schema = {
        "file": pl.String,
        "line": pl.Int64,
        "column": pl.Int64,
        "severity": pl.String,
        "rule": pl.String,
        "message": pl.String,
        "remedy": pl.String,
        "fixed": pl.String,
    }
    return TableFrame(rows, schema=schema)
