"""The outcome of tests as JUnit XML, which pipelines show: a suite for each test, a case for each assertion.

The elements and attributes follow the schema that Jenkins' xUnit plugin publishes (junit-10.xsd).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from perhop.printable import printable
from perhop.quantity import number
from perhop.testing.running import Outcome
from perhop.verdicts.assertions import Judged


def junit(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes as an XML document."""
    root = ET.Element("testsuites", {"name": "perhop test", **_counts(outcomes)})
    for outcome in outcomes:
        suite = ET.SubElement(root, "testsuite", {"name": printable(outcome.test.name), **_counts([outcome])})
        if outcome.error:
            case = _case(suite, outcome, "the scenario runs", outcome.seconds)
            _problem(
                case,
                "error",
                outcome.error,
                outcome.error + (f"\nhelp: {outcome.help}" if outcome.help else ""),
            )
        # Several assertions may belong to one run, so only the first case has the time of the run.
        for place, judged in enumerate(outcome.judged):
            case = _case(suite, outcome, judged.text, outcome.seconds if place == 0 else 0.0)
            _result(case, judged)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    errors = sum(bool(outcome.error) for outcome in outcomes)
    return {
        "tests": str(sum(len(outcome.judged) for outcome in outcomes) + errors),
        "failures": str(sum(len(outcome.failed) for outcome in outcomes)),
        "errors": str(errors),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }


def _case(suite: ET.Element, outcome: Outcome, name: str, seconds: float) -> ET.Element:
    return ET.SubElement(
        suite,
        "testcase",
        name=printable(name),
        classname=printable(f"{outcome.test.file.name}.{outcome.test.name}"),
        time=f"{seconds:.3f}",
    )


def _result(case: ET.Element, judged: Judged) -> None:
    measured = judged.measured.shown() if judged.measured else f"not measured: {judged.why}"
    if not judged.passed:
        _problem(case, "failure", f"{judged.text}: {measured}", _numbers(judged))
    ET.SubElement(case, "system-out").text = printable(f"measured {measured}")


def _numbers(judged: Judged) -> str:
    """Return the measured mean and the bound with all digits, for readers of the log."""
    if judged.measured is None:
        return judged.why
    unit = judged.assertion.bound.unit
    text = f"measured {judged.measured.mean!r} {unit}, bound {judged.assertion.bound.mean!r} {unit}"
    ends = judged.measured.ci95
    return f"{text}, 95 % interval {number(ends[0], 6)} to {number(ends[1], 6)}" if ends else text


def _problem(case: ET.Element, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, kind, message=printable(message)).text = printable(text)
