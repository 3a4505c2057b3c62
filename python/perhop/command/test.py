"""`perhop test`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from perhop import testing
from perhop.command.columns import Column, show
from perhop.command.ink import BAD, GOOD
from perhop.command.options import Json, Quiet, Threads
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_note, print_written, progress_bar
from perhop.errors import Exit, InvalidInputError
from perhop.quantity import counted, number
from perhop.saving import replace_file
from perhop.testing import Outcome, Test


def test(
    files: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    only: Annotated[list[str] | None, Parameter(name="--only", negative=())] = None,
    junit: Path | None = None,
    json: Json = False,
    quiet: Annotated[Quiet, Parameter(help="Show only tests that fail.")] = False,
    threads: Threads = None,
) -> Exit:
    """Run policy tests: assertions on the results of scenarios and router configurations.

    Parameters
    ----------
    files
        Test files, for example policy.tests.yaml.
    only
        Run the test of this name, or those that match a pattern such as 'voice*'. May be given several times.
    junit
        Write the results to this file as JUnit XML, for CI systems.

    """
    _check_target(junit)
    tests = _chosen([policy_test for file in files for policy_test in testing.read_tests(file)], only or [])
    outcomes = []
    for policy_test in tests:
        with progress_bar(policy_test.name, quiet=quiet) as progress:
            outcomes.append(testing.run(policy_test, threads, progress))
        if quiet:
            _report_failed(outcomes[-1])
        elif not json:
            _show(outcomes[-1])
    if junit is not None:
        replace_file(junit, testing.junit(outcomes))
        if not quiet:
            print_written(junit)
    if json:
        print_json(testing.to_json(outcomes))
    elif not quiet:
        _show_summary(outcomes)
    return testing.code(outcomes)


def _check_target(file: Path | None) -> None:
    """Refuse a file that cannot be written, before the tests run."""
    if file is not None and file.is_dir():
        raise InvalidInputError(f"`{file}` is a folder", "give the name of a file")
    if file is not None and not file.absolute().parent.is_dir():
        raise InvalidInputError(f"`{file.absolute().parent}` is not a folder", "create it first")


def _chosen(tests: Sequence[Test], patterns: Sequence[str]) -> list[Test]:
    """Return the tests whose names match a pattern; without a pattern, all tests."""
    names = ", ".join(policy_test.name for policy_test in tests)
    for pattern in patterns:
        if not any(fnmatchcase(policy_test.name, pattern) for policy_test in tests):
            raise InvalidInputError(f"--only: no test is named `{pattern}`", f"tests: {names}")
    return [
        policy_test
        for policy_test in tests
        if not patterns or any(fnmatchcase(policy_test.name, each) for each in patterns)
    ]


def _show(outcome: Outcome) -> None:
    """Print a test and its assertions."""
    from perhop.command.judging import show_judged  # lazy: with results, which a wrong file does not need
    from perhop.command.terminal import console  # lazy: rich

    console().print(f"{outcome.test.name} ({outcome.test.scenario})")
    if outcome.warnings:
        print_note(outcome.warnings)
    if outcome.error:
        console().print(f" ERROR {_explained(outcome)}", soft_wrap=True)
    else:
        show_judged(outcome.judged)
    print()


def _report_failed(outcome: Outcome) -> None:
    """Report on stderr the failures of a test."""
    from perhop.command.judging import measured_words  # lazy: with results, which a wrong file does not need

    if outcome.error:
        print_note(f"error: {outcome.test.name}: {_explained(outcome)}")
    for assertion in outcome.failed:
        print_note(f"failed: {outcome.test.name}: {assertion.text}: {measured_words(assertion)}")


def _explained(outcome: Outcome) -> str:
    why = outcome.error.removeprefix("error: ")
    return why + (f"\nhelp: {outcome.help}" if outcome.help else "")


def _show_summary(outcomes: Sequence[Outcome]) -> None:
    """Print a line for each test, and how many passed."""
    answers = [outcome.answer for outcome in outcomes]
    parts = [
        f"{answers.count(answer)} {answer}" for answer in ("passed", "failed", "error") if answer in answers
    ]
    seconds = [f"{outcome.seconds:.2f}" for outcome in outcomes]
    held = [
        f"{len(outcome.judged) - len(outcome.failed)} of {len(outcome.judged) or len(outcome.test.asserted)}"
        for outcome in outcomes
    ]
    columns = [
        Column(
            "outcome",
            answers,
            numeric=False,
            styles=[GOOD if answer == "passed" else BAD for answer in answers],
        ),
        Column("assertions\nthat hold", held),
        Column("replications", [number(outcome.replications) for outcome in outcomes]),
        Column("took\ns", seconds),
    ]
    names = Column("test", [outcome.test.name for outcome in outcomes], numeric=False)
    show(f"{counted(len(outcomes), 'test')}: {', '.join(parts)}", [names], columns)
