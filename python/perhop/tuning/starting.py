"""The initial points of a search: the values of the scenario, and values of published formulas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from perhop import _core, paths
from perhop.design import wred
from perhop.design.wred import DENOMINATORS
from perhop.document import Document, as_text
from perhop.errors import InvalidInputError, UnknownNameError
from perhop.tuning.question import Question
from perhop.tuning.space import Point

# The average queueing delay without a goal. The paper of the WRED formulas tests with 100 ms.
_DELAY_S = 0.1
_PLAIN = re.compile(r"\{(?P<name>[A-Za-z_]\w*)\}")


def starts(question: Question) -> list[Point]:
    """Return initial points; parameters that a point omits are drawn."""
    return [point for point in (_present(question), _advised(question)) if point]


def _present(question: Question) -> Point:
    """Return the values of the scenario at the varied paths."""
    found = {}
    for parameter in question.space.parameters:
        if parameter.name in question.space.placeholders:
            continue
        try:
            found[parameter.name] = as_text(paths.at(dict(question.scenario), parameter.name))
        except UnknownNameError:
            # The scenario does not set this value, so the default applies.
            continue
    return found


def _advised(question: Question) -> Point:
    """Return the thresholds of `perhop.design` for placeholders in commands."""
    found: dict[str, str] = {}
    for path, text in question.space.fixed.items():
        if path.endswith(".configuration.add"):
            commands = [command.strip() for command in text.strip("[] ").split(",")]
            configuration = _text(question.scenario, path.removesuffix(".add"))
            for placeholder, value in _of_commands(commands, configuration, question):
                if name := _PLAIN.fullmatch(placeholder):
                    found.setdefault(name["name"], value)
    return found


def _text(scenario: Document, configuration: str) -> str:
    """Return the text of a configuration; empty if the text is in a file."""
    try:
        return str(paths.at(dict(scenario), f"{configuration}.text"))
    except UnknownNameError:
        return ""


def _of_commands(commands: list[str], text: str, question: Question) -> Iterator[tuple[str, str]]:
    """Generate the values that formulas give for the arguments of some commands."""
    for threshold in json.loads(_core.open_thresholds(text, commands)):
        try:
            advice = wred(float(threshold["rate_bps"]), _delay_s(question))
        except InvalidInputError:
            # The goal's delay is too short for thresholds in packets.
            continue
        yield threshold["min"], f"{advice['min_th']:.0f}"
        yield threshold["max"], f"{advice['max_th']:.0f}"
        usual = DENOMINATORS.get(threshold["precedence"])
        if threshold["denominator"] and usual:
            yield threshold["denominator"], str(usual)


def _delay_s(question: Question) -> float:
    """Return the delay that the goals allow."""
    allowed = [
        condition.value
        for condition in question.conditions
        if condition.kind == "<=" and condition.unit == "s" and (condition.column or "").startswith("delay")
    ]
    return min(allowed, default=_DELAY_S)
