"""Where a search begins: what the scenario has now, and what the published formulas advise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perhop import paths
from perhop.design import wred
from perhop.design.wred import DENOMINATORS
from perhop.document import Document, as_text
from perhop.errors import InvalidInputError, UnknownNameError
from perhop.tuning.question import Question
from perhop.tuning.space import Point

# What a queue may take on average where no goal says it: the paper of the WRED formulas tests with 100 ms.
_DELAY_S = 0.1
_NUMBER = r"(?:\d+|\{[^}]*\})"
_WRED = re.compile(
    rf"\s*random-detect\s+precedence\s+(?P<precedence>\d)\s+(?P<least>{_NUMBER})\s+(?P<most>{_NUMBER})"
    rf"(?:\s+(?P<denominator>{_NUMBER}))?\s*"
)
_BANDWIDTH = re.compile(r"\s*bandwidth\s+(?P<kilobits>\d+)\s*")
_CLASS = re.compile(r"\s*class\s+(?P<name>\S+)\s*")
_PLAIN = re.compile(r"\{(?P<name>[A-Za-z_]\w*)\}")


def starts(question: Question) -> list[Point]:
    """Return points to begin with: each may leave parameters out, which are then drawn."""
    return [one for one in (_present(question), _advised(question)) if one]


def _present(question: Question) -> Point:
    """Return what the scenario has now at the paths that are varied."""
    found = {}
    for one in question.space.parameters:
        if one.name in question.space.placeholders:
            continue
        try:
            found[one.name] = as_text(paths.at(dict(question.scenario), one.name))
        except UnknownNameError:
            # It is set at no point of the scenario: a default that is not written.
            continue
    return found


def _advised(question: Question) -> Point:
    """Return what the formulas of `perhop.design` give for placeholders in commands of IOS."""
    found: dict[str, str] = {}
    for path, text in question.space.fixed.items():
        if path.endswith(".configuration.add"):
            router = path.removesuffix(".configuration.add")
            lines = [one.strip() for one in text.strip("[] ").split(",")]
            for placeholder, value in _of_lines(lines, _bandwidths(question.scenario, router), question):
                if name := _PLAIN.fullmatch(placeholder):
                    found.setdefault(name["name"], value)
    return found


def _of_lines(
    lines: list[str], bandwidths: dict[str, float], question: Question
) -> Iterator[tuple[str, str]]:
    """Generate the values that formulas give for the arguments of some commands."""
    name = ""
    for line in lines:
        if entered := _CLASS.fullmatch(line):
            name = entered["name"]
        if (words := _WRED.fullmatch(line)) and name in bandwidths:
            try:
                advice = wred(bandwidths[name], _delay_s(question))
            except InvalidInputError:
                # The goal's delay is too short for thresholds in packets.
                continue
            yield words["least"], f"{advice['min_th']:.0f}"
            yield words["most"], f"{advice['max_th']:.0f}"
            usual = DENOMINATORS.get(int(words["precedence"]))
            if words["denominator"] and usual:
                yield words["denominator"], str(usual)


def _delay_s(question: Question) -> float:
    """Return the delay that the goals allow."""
    allowed = [
        one.value
        for one in question.conditions
        if one.kind == "<=" and one.unit == "s" and (one.column or "").startswith("delay")
    ]
    return min(allowed, default=_DELAY_S)


def _bandwidths(scenario: Document, router: str) -> dict[str, float]:
    """Return the bandwidth of each class in a router's configuration, in bits per second."""
    try:
        text = paths.at(dict(scenario), f"{router}.configuration.text")
    except UnknownNameError:
        return {}
    found: dict[str, float] = {}
    name = ""
    for line in str(text).splitlines():
        if entered := _CLASS.fullmatch(line):
            name = entered["name"]
        if words := _BANDWIDTH.fullmatch(line):
            found.setdefault(name, 1e3 * float(words["kilobits"]))
    return found
