"""Running tests of policies: a run, and a judgment of its assertions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from perhop.errors import Exit, PerhopError, ScenarioError
from perhop.policy_tests import Test
from perhop.running import FITTING, Progress
from perhop.scenario import Scenario
from perhop.verdicts import Verdict, assertions, document
from perhop.verdicts.assertions import Judged


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test."""

    test: Test
    judged: Sequence[Judged]
    verdicts: Sequence[Verdict]
    #: The reason why the test could not run; empty if it ran.
    error: str
    #: The correction, if known.
    help: str | None
    #: Seed and replications of the run.
    seed: int | None
    replications: int | None
    #: The warnings of the scenario.
    warnings: str
    #: Wall-clock time of the test, in seconds.
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the test ran and every assertion is true."""
        return not self.error and all(judged.passed for judged in self.judged)

    @property
    def failed(self) -> list[Judged]:
        """The false assertions."""
        return [judged for judged in self.judged if not judged.passed]

    @property
    def answer(self) -> str:
        """`passed`, `failed` or `error`."""
        return "error" if self.error else "passed" if self.passed else "failed"

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "name": self.test.name,
            "file": str(self.test.file),
            "line": self.test.line,
            "scenario": str(self.test.scenario),
            "outcome": self.answer,
            "error": {"message": self.error, "help": self.help} if self.error else None,
            "seed": self.seed,
            "replications": self.replications,
            "warnings": self.warnings or None,
            "assertions": [judged.to_json() for judged in self.judged],
            "verdicts": [document(verdict) for verdict in self.verdicts],
        }


def run(
    test: Test, threads: int | None = None, progress: Callable[[Progress], None] | None = None
) -> Outcome:
    """Run a test. Errors in its scenario or its assertions give an outcome, not an exception."""
    started = time.monotonic()
    try:
        of_router: dict[str, Any] = {**test.of_router}
        scenario = Scenario.load(
            test.scenario,
            test.changes,
            **of_router,
            assume=test.assume or None,
            traffic=test.traffic,
            load=test.load,
        )
        times: int | Literal["fitting"] = test.replications or scenario.get("replications") or FITTING
        results = scenario.run(test.seed, times, threads, progress)
        verdicts = results.judged(test.telephony)
        judged = assertions.judge(test.asserted, verdicts, results.summary)
    except PerhopError as error:
        help = None if isinstance(error, ScenarioError) else error.help
        seconds = time.monotonic() - started
        return Outcome(test, (), (), str(error), help, test.seed, test.replications, "", seconds)
    seconds = time.monotonic() - started
    warnings = str(scenario.warnings or "")
    return Outcome(test, judged, verdicts, "", None, results.seed, results.replications, warnings, seconds)


def code(outcomes: Sequence[Outcome]) -> Exit:
    """Return the exit code: 2 if a test could not run, otherwise 4 if an assertion is not met."""
    if any(outcome.error for outcome in outcomes):
        return Exit.INVALID_INPUT
    return Exit.OK if all(outcome.passed for outcome in outcomes) else Exit.NOT_MET


def to_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the outcomes of tests as one document."""
    answers = [outcome.answer for outcome in outcomes]
    return {
        "schema_version": 1,
        **{answer: answers.count(answer) for answer in ("passed", "failed", "error")},
        "tests": [outcome.to_json() for outcome in outcomes],
    }
