"""`perhop check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from perhop import _core
from perhop.command import router_report
from perhop.command.options import Assume, Json, Platform, assumptions
from perhop.command.terminal import colors, print_json, show_warnings
from perhop.configuration import router_text
from perhop.errors import Exit, ScenarioError
from perhop.printable import printable

Lines = Annotated[bool, Parameter(name=["--lines", "--all"])]


def check(
    files: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    json: Json = False,
    strict: bool = False,
    lines: Lines = False,
    platform: Platform = None,
    assume: Assume = None,
) -> Exit:
    """Check scenarios and router configurations without running them.

    Parameters
    ----------
    files
        Scenario files, or running configurations of Cisco IOS routers; - is standard input.
    json
        Print all findings as one JSON document.
    strict
        Treat warnings as errors, and also lines of a router configuration that are suspicious, not
        recognized or not modelled.
    lines
        List every line of a router configuration, including modelled and irrelevant ones.
    platform
        The platform whose rules apply to router configurations; by default recognized.
    assume
        What a class-map matches, as in 'VOICE = dscp ef', in place of its own criteria; may be given several
        times.

    """
    assumed = assumptions(assume)
    findings: list[dict[str, Any]] = []
    for file in files:
        text = router_text(file)
        if text is None:
            findings.append(_check_scenario(file, json=json, strict=strict))
        else:
            findings.append(
                router_report.findings(
                    file, text, strict=strict, platform=platform, assume=assumed, policies=json
                )
            )
            if not json:
                print(router_report.report(findings[-1], lines=lines))
    if json:
        print_json({"schema_version": 1, "files": findings})
    return Exit.OK if all(finding["valid"] for finding in findings) else Exit.INVALID_INPUT


def _check_scenario(file: Path, *, json: bool, strict: bool) -> dict[str, Any]:

    try:
        kind: str | None
        kind, warnings = _core.check(file)
        show_warnings(warnings)
        diagnostics, valid = warnings.diagnostics, not (strict and len(warnings))
    except ScenarioError as error:
        kind, diagnostics, valid = None, error.diagnostics, False
        print(error.colored if colors(sys.stderr) else error, file=sys.stderr)
    if not json:
        print(printable(f"{file}: {f'{kind}, ok' if valid else 'not ok'}"))
    return {"file": str(file), "valid": valid, "holds": kind, "diagnostics": diagnostics}
