"""Assertions about a class of a run (`voice.delay_p99 < 20ms`): their parser, and their judgment."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.inputs import ASSERTIONS, read_input
from perhop.quantity import quantity as parsed
from perhop.verdicts.figures import Figure, listed
from perhop.verdicts.quantities import figure_of, units, why_not
from perhop.verdicts.verdict import Verdict

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_FORM = re.compile(r"(?P<name>.+)\.(?P<quantity>\w+)\s*(?P<sign>[<>=!]+)\s*(?P<value>[^<>=!]+)")
_EXAMPLE = "for example 'voice.delay_p99 < 20ms'"
_UNIT_WORDS = {
    "s": ("a time", "20ms"),
    "b/s": ("a rate", "1Mb/s"),
    "bytes": ("a size", "20kB"),
    "%": ("a part", "1%"),
}
#: The name that selects every class.
EVERY = "*"
# The maximum number of shown names.
_MOST = 12


@dataclass(frozen=True)
class Assertion:
    """An assertion about a quantity of a class."""

    #: The text of the assertion, unchanged.
    text: str
    #: The class; `*` means each class.
    name: str
    quantity: str
    sign: str
    #: The bound in the unit of the quantity.
    bound: Figure

    def is_met(self, value: float) -> bool:
        """Whether a value meets the assertion."""
        return _COMPARED[self.sign](value, self.bound.mean)


@dataclass(frozen=True)
class Judged:
    """An assertion with the measurement of one class."""

    assertion: Assertion
    name: str
    #: The measured value. If nothing was measured, it is `None`, `why` has the reason, and the assertion
    #: fails.
    measured: Figure | None
    why: str
    passed: bool

    @property
    def uncertain(self) -> bool:
        """Whether the bound is within the confidence interval, so that further runs may change the answer."""
        ends = self.measured.ci95 if self.measured else None
        return ends is not None and ends[0] < ends[1] and ends[0] <= self.assertion.bound.mean <= ends[1]

    @property
    def text(self) -> str:
        """The assertion with the judged class."""
        given = self.assertion
        return given.text if given.name != EVERY else f"{self.name}{given.text.removeprefix(EVERY)}"

    def to_json(self) -> dict[str, Any]:
        """Return the judgment as plain data."""
        return {
            "assertion": self.text,
            "class": self.name,
            "quantity": self.assertion.quantity,
            "operator": self.assertion.sign,
            "bound": self.assertion.bound.mean,
            "unit": self.assertion.bound.unit,
            "measured": self.measured and self.measured.to_json(),
            "why": self.why or None,
            "passed": self.passed,
            "uncertain": self.uncertain,
        }


def read(given: Iterable[str]) -> list[Assertion]:
    """Read assertions; `@FILE` means the lines of a file, in which `#` begins a comment.

    Raises:
        InvalidInputError: an assertion is not valid; the message has the line of a file.
        UnreadableFileError: a file cannot be read.

    """
    return [
        assertion
        for text in given
        for assertion in (_of_file(Path(text[1:])) if text[:1] == "@" else [parse(text)])
    ]


def _of_file(file: Path) -> Iterator[Assertion]:
    try:
        lines = read_input(file, ASSERTIONS).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"`{file}` is not UTF-8 text") from error
    for number, whole in enumerate(lines, 1):
        text = re.split(r"(?:^|\s)#", whole, maxsplit=1)[0].strip()
        if text:
            try:
                yield parse(text)
            except InvalidInputError as error:
                raise InvalidInputError(f"{file}:{number}: {error}", error.help) from error


def parse(text: str) -> Assertion:
    """Read one assertion, `CLASS.QUANTITY OPERATOR VALUE`; raises `InvalidInputError`."""
    found = _FORM.fullmatch(text.strip())
    if not found:
        raise InvalidInputError(
            f"`{text}` is not an assertion of the form CLASS.QUANTITY OPERATOR VALUE", _EXAMPLE
        )
    name, quantity, sign, value = (found[group].strip() for group in ("name", "quantity", "sign", "value"))
    if sign not in _COMPARED:
        signs = f"operators: {' '.join(_COMPARED)}"
        raise InvalidInputError(f"`{text}`: there is no operator `{sign}`", signs)
    known = units()
    if quantity not in known:
        raise InvalidInputError(
            f"`{text}`: there is no quantity `{quantity}`",
            _near(
                quantity, list(known), "quantities, among others: delay_p99, jitter, loss, throughput, mos"
            ),
        )
    bound = _bound(text, quantity, known[quantity], value)
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1]
    return Assertion(text.strip(), name, quantity, sign, bound)


def _bound(text: str, quantity: str, unit: str, value: str) -> Figure:
    """Return the value of an assertion in the unit of its quantity."""
    percent = re.fullmatch(r"(\S+?)\s*%", value)
    found = _percent(percent[1]) if percent else parsed(value)
    if found is None or not abs(found[0]) < float("inf"):
        raise InvalidInputError(f"`{text}`: `{value}` is not a number or a value with a unit", _EXAMPLE)
    number, given = found
    if given == unit or (given == "" and unit in ("", "packets", "1/s", "bytes")):
        return Figure(number, None, unit)
    if given == "" and unit == "%":
        # `loss < 0.01` is a ratio. A quantity with the unit in its name is in this unit.
        return Figure(number if quantity.endswith("_percent") else 100.0 * number, None, unit)
    if given == "" and number == 0.0:
        return Figure(0.0, None, unit)
    words, example = _UNIT_WORDS.get(unit, (f"a number{f' of {unit}' if unit else ''}", "1"))
    raise InvalidInputError(
        f"`{text}`: {quantity} is {words}, but `{value}` is not", f"for example {example}"
    )


def _percent(text: str) -> tuple[float, str] | None:
    try:
        return float(text), "%"
    except ValueError:
        return None


def require_classes(assertions: Sequence[Assertion], names: Sequence[str]) -> None:
    """Refuse assertions about classes that are not among `names`; raises `InvalidInputError`."""
    for assertion in assertions:
        if assertion.name != EVERY and named_class(assertion.name, names) is None:
            listing = f"classes: {', '.join(names[:_MOST])}{', …' if len(names) > _MOST else ''}"
            help = _near(assertion.name, names, listing)
            raise InvalidInputError(f"`{assertion.text}`: there is no class `{assertion.name}`", help)


def named_class(name: str, names: Sequence[str]) -> str | None:
    """Return the class with this name, or the only class that differs in case; `None` without one."""
    if name in names:
        return name
    alike = [candidate for candidate in names if candidate.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def judge(
    assertions: Sequence[Assertion], verdicts: Sequence[Verdict], summary: Mapping[str, Any]
) -> list[Judged]:
    """Judge assertions by the means over the replications; raises `InvalidInputError`."""
    names = [verdict.name for verdict in verdicts]
    require_classes(assertions, names)
    return [
        _judged(assertion, verdict, summary)
        for assertion in assertions
        for verdict in verdicts
        if assertion.name == EVERY or named_class(assertion.name, names) == verdict.name
    ]


def _judged(assertion: Assertion, verdict: Verdict, summary: Mapping[str, Any]) -> Judged:
    measured = figure_of(assertion.quantity, verdict, summary)
    why = "" if measured else why_not(assertion.quantity, verdict, summary)
    passed = measured is not None and assertion.is_met(measured.mean)
    return Judged(assertion, verdict.name, measured, why, passed)


def _near(name: str, known: Sequence[str], otherwise: str) -> str:
    near = get_close_matches(name, known, n=3)
    return f"did you mean {listed((f'`{candidate}`' for candidate in near), 'or')}?" if near else otherwise
