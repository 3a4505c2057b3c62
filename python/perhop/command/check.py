"""`perhop check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from perhop.checking import Checked, check_file
from perhop.command import router_report
from perhop.command.fixing import write_fixed
from perhop.command.options import Assume, Json, Platform, ScenarioFile, assumptions
from perhop.command.sarif import sarif_log
from perhop.command.terminal import colors, print_json
from perhop.configuration import Detail
from perhop.errors import Exit, InvalidInputError
from perhop.printable import printable, without_log_commands
from perhop.rules import named

Lines = Annotated[bool, Parameter(name=["--lines", "--all"])]
Ignore = Annotated[list[str] | None, Parameter(name="--ignore", negative=())]
Fix = Annotated[Path | None, Parameter(name="--fix")]


def check(
    files: Annotated[list[ScenarioFile], Parameter(negative=())],
    /,
    *,
    json: Json = False,
    sarif: Annotated[bool, Parameter(name="--sarif")] = False,
    strict: bool = False,
    lines: Lines = False,
    ignore: Ignore = None,
    fix: Fix = None,
    platform: Platform = None,
    assume: Assume = None,
) -> Exit:
    """Check scenarios and router configurations without running them.

    Each finding names its rule; `perhop explain RULE` says what it is about. The exit code is 2 from the
    first error on. A comment `! perhop: ignore RULE` before a command, or `# perhop: ignore RULE` in a
    scenario, leaves a rule out for it and what stands below it.

    Parameters
    ----------
    files
        Scenario files, running configurations of Cisco IOS routers, or Linux' queueing: commands of tc,
        or what `tc qdisc show`, `tc class show` and `tc filter show` print, with -j as well; - is standard
        input.
    json
        Print all findings as one JSON document.
    sarif
        Print all findings as SARIF 2.1.0, which code hosts show beside the lines of a change.
    strict
        Treat warnings as errors; lines that are not recognized or not modelled are warnings.
    lines
        List every line of a router configuration, including modelled and irrelevant ones, and every note.
    ignore
        Leave out this rule, or several separated by commas; may be given several times.
    fix
        Write the configuration with all lines that can be mended to this new file, and show the changes.
    platform
        The platform whose rules apply to router configurations, `linux` for tc; by default recognized.
    assume
        What a class-map matches, as in 'VOICE = dscp ef', in place of its own criteria; may be given several
        times.

    """
    if json and sarif:
        raise InvalidInputError("--json and --sarif both fill standard output", "give one of them")
    if fix is not None and len(files) != 1:
        raise InvalidInputError(f"--fix takes one configuration, not {len(files)}", "fix them one by one")
    assumed, left_out = assumptions(assume), named(ignore or [])
    detail: Detail = "policies" if json else "lines" if lines or assumed or fix else "remarks"
    options: dict[str, Any] = {"platform": platform, "assume": assumed, "ignore": left_out, "detail": detail}
    checked = []
    for file in files:
        found = check_file(file, **options)
        checked.append(found)
        if not (json or sarif):
            _show(found, lines=lines, strict=strict)
    if fix is not None:
        write_fixed(checked[0], fix, quiet=json or sarif)
    if json:
        print_json({"schema_version": 1, "files": [_document(found, strict=strict) for found in checked]})
    if sarif:
        print_json(sarif_log(checked))
    return Exit.OK if all(found.is_valid(strict=strict) for found in checked) else Exit.INVALID_INPUT


def _show(found: Checked, *, lines: bool, strict: bool) -> None:
    if found.router is not None:
        print(printable(router_report.text(found, found.router, lines=lines, strict=strict)))
        return
    if found.rendered is not None:
        plain, colored = found.rendered
        print(without_log_commands(colored if colors(sys.stderr) else plain), file=sys.stderr)
    else:
        for one in found.findings:
            place = f"{found.file}:{one.line}" if one.line else str(found.file)
            print(printable(f"{place}: {one.severity}[{one.rule}]: {one.message}"), file=sys.stderr)
    verdict = f"{found.kind}, ok" if found.is_valid(strict=strict) else "not ok"
    print(printable(f"{found.file}: {verdict}"))


def _document(found: Checked, *, strict: bool) -> dict[str, Any]:
    """Return what `--json` prints of a file."""
    head = {"file": str(found.file), "valid": found.is_valid(strict=strict), "holds": found.kind}
    findings = [vars(finding) for finding in found.findings]
    if found.router is None:
        return {**head, "diagnostics": found.diagnostics, "findings": findings}
    attached = router_report.attached_errors(found.router)
    return {**head, "attached_errors": attached, **found.router, "findings": findings}
