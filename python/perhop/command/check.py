"""`perhop check`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

from perhop.checking import Checked, check_file
from perhop.command import check_formats, router_report
from perhop.command.chosen_files import Chosen, chosen_files
from perhop.command.lines import show_lines
from perhop.command.options import Assume, Json, Platform, assumptions
from perhop.command.parameter import Parameter
from perhop.command.settings import CheckSettings, check_settings
from perhop.command.terminal import colors, json_text, print_json, print_json_texts, print_note
from perhop.configuration import NOT_SUPPORTED, Detail, is_supported
from perhop.errors import Exit, InvalidInputError, UnreadableFileError
from perhop.interrupts import deferred
from perhop.limits import processors
from perhop.printable import without_log_commands
from perhop.quantity import counted
from perhop.rules import Severity, named, rules

if TYPE_CHECKING:
    from perhop.core_types import RouterReport

FailOn = Literal["error", "warning", "note"]
Format = Literal["full", "concise", "github", "gitlab", "sarif", "junit", "json"]
Lines = Annotated[bool, Parameter(name=["--lines", "--all"])]
Select = Annotated[list[str] | None, Parameter(name="--select", negative=())]
Ignore = Annotated[list[str] | None, Parameter(name="--ignore", negative=())]
Fix = Annotated[Path | None, Parameter(name="--fix")]

# The most severe first.
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
# If these rules could be deselected, a file that perhop could not check would be "ok".
_NEVER_DESELECTED = frozenset({NOT_SUPPORTED, "scenario-invalid", "little-recognized"})


def check(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    output_format: Annotated[Format | None, Parameter(name="--output-format")] = None,
    json: Annotated[
        Json, Parameter(help="Print all findings as one JSON document. Short for --output-format json.")
    ] = False,
    sarif: Annotated[bool, Parameter(name="--sarif")] = False,
    fail_on: Annotated[FailOn | None, Parameter(name="--fail-on")] = None,
    strict: bool = False,
    lines: Lines = False,
    select: Select = None,
    ignore: Ignore = None,
    fix: Fix = None,
    platform: Platform = None,
    assume: Assume = None,
) -> Exit:
    """Check scenarios and router configurations without running them.

    Each finding names its rule; `perhop explain RULE` describes it. For several files, a folder or a pattern,
    the output is one line for each file and a total. The exit code is 1 if a finding has the severity of
    `--fail-on` or a higher one, and 2 if perhop cannot read a file or does not simulate its platform. A
    comment `! perhop: ignore RULE` before a command, or `# perhop: ignore RULE` in a scenario, suppresses a
    rule for that line and its indented block. The table [check] of the nearest perhop.toml has the defaults
    of --select, --ignore, --fail-on, --output-format and --platform.

    Parameters
    ----------
    files
        Scenarios; configurations of routers and switches (Cisco IOS, IOS XR and NX-OS, Junos); for Linux, tc
        commands or the output of `tc qdisc show`, `tc class show` and `tc filter show`, also with -j; folders
        of such files, or patterns such as 'sites/**/*.cfg'; - reads standard input.
    output_format
        full: all findings with their lines; concise: one line for each finding; github: commands of GitHub
        Actions; gitlab: a Code Quality report; sarif: SARIF 2.1.0; junit: JUnit XML; json: one document.
        Default for one file: full.
    sarif
        Print SARIF 2.1.0, which code hosts show next to the lines of a change. Short for --output-format
        sarif.
    fail_on
        The lowest severity that fails the check: error (the default), warning or note.
    strict
        Fail on warnings, such as lines that are not recognized or not modeled. Short for --fail-on warning.
    lines
        List every line of a router configuration, including modeled and irrelevant lines, and every note.
    select
        Apply only this rule, or several separated by commas. May be given several times.
    ignore
        Skip this rule, or several separated by commas. May be given several times.
    fix
        Write the configuration to this new file, with corrections of all lines that perhop can correct, and
        show the changes.

    """
    defaults = check_settings()
    if defaults.file is not None:
        # The settings can suppress rules, and no other output shows this.
        print_note(f"settings: {defaults.file}")
    chosen = chosen_files(files)
    failing = _failing(defaults, fail_on, strict=strict)
    shape = _format(chosen, output_format or defaults.output_format, json=json, sarif=sarif, lines=lines)
    if fix is not None and len(chosen.files) != 1:
        raise InvalidInputError(
            f"--fix accepts one configuration, not {len(chosen.files)}", "fix one file at a time"
        )
    assumed = assumptions(assume)
    detail: Detail = "policies" if shape == "json" else "lines" if lines or assumed or fix else "remarks"
    platform = platform or defaults.platform
    between = None
    if chosen.folders:
        from perhop.network.findings import between_devices  # lazy: PyYAML, for folders

        between = between_devices(chosen.folders, chosen.files, platform=platform, assume=assumed)
    work: Callable[[Path], Checked] = partial(
        check_file,
        platform=platform,
        assume=assumed,
        ignore=_left_out([*defaults.ignore, *(ignore or [])], select or list(defaults.select)),
        detail=detail,
        reported=between.report if between else None,
    )
    if between:
        work = _then(work, between.add_to)
    if shape == "json":
        members = between.report_members if between else None
        work = _then(work, partial(_documented, failing=failing, members=members))
    shown = {
        "full": partial(_show, lines=lines, failing=failing),
        "files": partial(_show_line, failing=failing),
    }.get(shape)
    checked, unreadable = _check_all(chosen, work, shown)
    if fix is not None:
        from perhop.command.fixing import write_fixed  # lazy: only for --fix

        write_fixed(checked[0], fix, quiet=shape not in ("full", "files"))
    if shape == "files":
        if rows := router_report.between_devices(checked, notes="counted"):
            show_lines("\n".join(["", *rows]))
        _show_total(checked, chosen)
    elif shape != "full":
        _print_as(shape, checked, failing, defaults.file)
    if unreadable or not all(is_usable(found) for found in checked):
        return Exit.INVALID_INPUT
    return Exit.OK if all(is_passed(found, failing) for found in checked) else Exit.FINDINGS


def _then(work: Callable[[Path], Checked], add: Callable[[Checked], Checked]) -> Callable[[Path], Checked]:
    """Return work on a file that adds further findings."""
    return lambda file: add(work(file))


def _failing(defaults: CheckSettings, fail_on: FailOn | None, *, strict: bool) -> tuple[Severity, ...]:
    """Return the severities of findings that fail."""
    least = fail_on or ("warning" if strict else defaults.fail_on or "error")
    if least not in _SEVERITIES:
        raise InvalidInputError(
            f"perhop.toml: `fail-on` is `{least}`, which is not a severity",
            f"one of {', '.join(_SEVERITIES)}",
        )
    return _SEVERITIES[: _SEVERITIES.index(least) + 1]


def _format(chosen: Chosen, given: str | None, *, json: bool, sarif: bool, lines: bool) -> str:
    """Return the format; `files` prints a line for each of several files."""
    named_formats = [name for name, is_given in (("json", json), ("sarif", sarif)) if is_given]
    if len(named_formats) == 2:
        raise InvalidInputError(
            "--json and --sarif both write to standard output", "give only one of the two"
        )
    if given is not None and given not in get_args(Format):
        raise InvalidInputError(
            f"perhop.toml: `output-format` is `{given}`", f"one of {', '.join(get_args(Format))}"
        )
    several = "full" if lines or not (chosen.is_search or len(chosen.files) > 1) else "files"
    return named_formats[0] if named_formats else given or several


def _left_out(ignore: Sequence[str], select: Sequence[str]) -> frozenset[str]:
    """Return the rules that are not applied; raises `UnknownNameError`."""
    left_out = named(ignore)
    return left_out | (frozenset(rules()) - named(select) - _NEVER_DESELECTED) if select else left_out


def is_usable(found: Checked) -> bool:
    """Return whether perhop could read a file and simulates its system; otherwise nothing was checked."""
    return found.kind is not None and (found.router is None or is_supported(found.router))


def is_passed(found: Checked, failing: Sequence[Severity]) -> bool:
    """Return whether no finding of a file has a severity that fails."""
    return not any(found.count(severity) for severity in failing)


def _check_all(
    chosen: Chosen, work: Callable[[Path], Checked], shown: Callable[[Checked], None] | None
) -> tuple[list[Checked], int]:
    """Check files on all processors and show them in order; return results and how many are unreadable."""
    if not chosen.is_search and len(chosen.files) == 1:
        found = work(chosen.files[0])
        if shown is not None:
            shown(found)
        return [found], 0
    checked, unreadable = [], 0
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        try:
            with deferred():
                futures = [pool.submit(work, file) for file in chosen.files]
            for future in futures:
                try:
                    found = future.result()
                except UnreadableFileError as error:
                    print_note(f"error: {error}")
                    unreadable += 1
                    continue
                checked.append(found)
                if shown is not None:
                    shown(found)
                    found.forget_lines()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return checked, unreadable


def _print_as(
    shape: str, checked: Sequence[Checked], failing: Sequence[Severity], settings: Path | None
) -> None:
    """Print all findings in a format of other tools."""
    match shape:
        case "json":
            stated = None if settings is None else str(settings)
            head = {"schema_version": 1, "settings": stated}
            print_json_texts(head, "files", (found.document for found in checked if found.document))
        case "sarif":
            from perhop.command.sarif import sarif_log  # lazy: only for this format

            print_json(sarif_log(checked))
        case "gitlab":
            print_json(check_formats.gitlab(checked))
        case "junit":
            print(check_formats.junit(checked, failing))
        case "github":
            _print_lines(check_formats.github(checked))
        case _:
            _print_lines(check_formats.concise(checked))


def _print_lines(text: str) -> None:
    if text:
        print(text)


def _show(found: Checked, *, lines: bool, failing: Sequence[Severity]) -> None:
    passed = is_passed(found, failing)
    if found.router is not None:
        show_lines(router_report.text(found, found.router, lines=lines, passed=passed))
        return
    if found.rendered is not None:
        plain, colored = found.rendered
        print(without_log_commands(colored if colors(sys.stderr) else plain), file=sys.stderr)
    else:
        for finding in found.findings:
            place = f"{found.file}:{finding.line}" if finding.line else str(found.file)
            print_note(f"{place}: {finding.severity}[{finding.rule}]: {finding.message}")
    verdict = f"{found.kind}, ok" if passed else "not ok"
    show_lines(f"{found.file}: {verdict}")


def _show_line(found: Checked, *, failing: Sequence[Severity]) -> None:
    """Print the line of a file: the verdict, findings by severity, and the first finding that fails."""
    show_lines(": ".join([str(found.file), *_parts(found, failing)]))


def _parts(found: Checked, failing: Sequence[Severity]) -> Iterator[str]:
    verdict = router_report.verdict(found, passed=is_passed(found, failing))
    yield f"{found.kind}, {verdict}" if found.kind else verdict
    counts = _counts([found])
    if counts:
        yield counts
    first = next((finding for finding in found.findings if finding.severity in failing), None)
    if first is not None:
        yield (f"line {first.line}: " if first.line else "") + f"{first.message} [{first.rule}]"


def _counts(checked: Sequence[Checked]) -> str:
    """Return the findings by severity, as in `2 errors, 14 notes`."""
    numbers = {severity: sum(found.count(severity) for found in checked) for severity in _SEVERITIES}
    return ", ".join(counted(number, severity) for severity, number in numbers.items() if number)


def _show_total(checked: Sequence[Checked], chosen: Chosen) -> None:
    total = sum(len(found.findings) for found in checked)
    counts = _counts(checked)
    text = f"Found {counted(total, 'finding')} in {counted(len(checked), 'file')}"
    text += f" ({counts})" if counts else ""
    if chosen.passed_over:
        text += f"; skipped: {counted(chosen.passed_over, 'other file')}"
    print(text)


def _documented(
    found: Checked, *, failing: Sequence[Severity], members: Callable[[Path], str | None] | None
) -> Checked:
    """Write the part of a file in the JSON document. `members` returns the members of a report as text."""
    head: dict[str, Any] = {"file": str(found.file), "valid": is_passed(found, failing), "holds": found.kind}
    findings = {"findings": [vars(finding) for finding in found.findings]}
    if found.router is None:
        found.document = json_text({**head, "diagnostics": found.diagnostics, **findings})
        return found
    head["attached_errors"] = router_report.attached_errors(found.router)
    # A report without policies is a report of a network.
    text = members(found.file) if members and "router" not in found.router else None
    if text is None:
        found.document = json_text({**head, **found.router, **findings})
    else:
        found.document = f"{json_text(head)[:-1]}, {text}, {json_text(findings)[1:]}"
    found.router = cast("RouterReport", {"platform": found.router.get("platform")})
    return found
