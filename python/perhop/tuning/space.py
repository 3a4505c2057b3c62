"""The parameters of a tuner: paths of the scenario or placeholders in other values, with their ranges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

from perhop import sampling
from perhop.errors import InvalidInputError
from perhop.quantity import quantity
from perhop.sampling import Design, Range

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A placeholder with an optional factor: `{min}`, `{2*min}`.
_PLACEHOLDER = re.compile(r"\{(?:(?P<factor>\d+(?:\.\d+)?)\*)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_EXAMPLE = "for example --vary links.1.rate=1Mb/s:4Mb/s, or --vary min=2:60 with {min} in a --set"
#: A point of the space: the text of each parameter.
Point = Mapping[str, str]


@dataclass(frozen=True)
class Parameter:
    """The values of one parameter."""

    name: str
    values: Range | tuple[str, ...]

    @property
    def unit(self) -> str:
        """The base unit of the parameter's numbers: `b/s`, `s`, `bytes`, or empty."""
        found = quantity(self.ends[0])
        return found[1] if found else ""

    @property
    def ends(self) -> tuple[str, ...]:
        """The two ends of a range, or every value."""
        if isinstance(self.values, Range):
            return (self.values.low + self.values.unit, self.values.high + self.values.unit)
        return self.values

    @cached_property
    def is_ordered(self) -> bool:
        """Whether the values are numbers, so that neighbors are similar."""
        return all(quantity(end) is not None for end in self.ends)

    def number(self, text: str) -> float | None:
        """Return a value in the base unit; `None` if the value is not a number."""
        found = quantity(text) if self.is_ordered else None
        return found[0] if found else None

    def place(self, text: str) -> float | None:
        """Return the position of a value: its fraction of a range or its index in a list; `None` outside."""
        if not isinstance(self.values, Range):
            same = [
                at
                for at, choice in enumerate(self.values)
                if choice == text or quantity(choice) == quantity(text)
            ]
            return float(same[0]) if same else None
        value, low, high = (self.number(value_text) for value_text in (text, *self.ends))
        if value is None or low is None or high is None:
            return None
        part = self._part(value, low, high)
        return part if 0 <= part < 1 else None

    def _part(self, value: float, low: float, high: float) -> float:
        assert isinstance(self.values, Range)
        if self.values.log:
            return min(log(value / low) / log(high / low), 1 - 1e-9) if value > 0 else -1.0
        if self.values.whole:
            # The middle of the interval that gives this number.
            return (value - low + 0.5) / (high - low + 1)
        return min((value - low) / (high - low), 1 - 1e-9) if value <= high else 1.0


@dataclass(frozen=True)
class Space:
    """The parameters, and the values of the scenario that they change."""

    parameters: tuple[Parameter, ...]
    #: The values that are set at every point, by path; placeholders in these values represent parameters.
    fixed: Mapping[str, str]

    @cached_property
    def units(self) -> dict[str, str]:
        """The base unit of each parameter."""
        return {parameter.name: parameter.unit for parameter in self.parameters}

    @property
    def placeholders(self) -> set[str]:
        """The parameters that are placeholders."""
        return {found["name"] for text in self.fixed.values() for found in _PLACEHOLDER.finditer(text)}

    def changes(self, point: Point) -> dict[str, str]:
        """Return the values that a trial of `point` sets in the scenario, by path."""
        paths = {parameter.name for parameter in self.parameters} - self.placeholders
        return {path: filled(text, point) for path, text in self.fixed.items()} | {
            name: point[name] for name in point if name in paths
        }

    def to_json(self) -> dict[str, Any]:
        """Return the space as plain data."""
        values = {
            parameter.name: dict(vars(parameter.values))
            if isinstance(parameter.values, Range)
            else list(parameter.values)
            for parameter in self.parameters
        }
        return {"vary": values, "set": dict(self.fixed)}

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Space:
        """Return the space that `to_json` described; raises `TypeError` or `ValueError`."""
        parameters = [
            Parameter(name, choices if isinstance(choices, Range) else tuple(choices))
            for name, values in found["vary"].items()
            for choices in [sampling.values_of(values)]
        ]
        return cls(tuple(parameters), dict(found["set"]))


def space(vary: Mapping[str, str], fixed: Mapping[str, str]) -> Space:
    """Return the space of parameters.

    Args:
        vary: maps a path or the name of a placeholder to its values: `low:high`, `low:high:step`,
            `log(low,high)`, or single values with commas between them.
        fixed: maps a path to the value that every point sets. Each `{placeholder}` in it is replaced by the
            point's value of that parameter.

    Raises:
        InvalidInputError: `vary` is empty; a name in it is neither a path nor a placeholder; a range is
        invalid; a placeholder of `fixed` is not in `vary`; or a path is in both mappings.

    """
    if not vary:
        raise InvalidInputError("no parameter is varied", _EXAMPLE)
    found = Space(tuple(_parameter(name, text) for name, text in vary.items()), dict(fixed))
    names = {parameter.name for parameter in found.parameters}
    for unknown in sorted(found.placeholders - names):
        raise InvalidInputError(f"`{{{unknown}}}` is not varied", f"add --vary {unknown}=LOW:HIGH")
    for name in sorted(names - found.placeholders):
        # A path has dots, except for a few top-level keys such as `duration`, which are checked with the
        # scenario.
        if name in fixed:
            raise InvalidInputError(f"`{name}` is both set and varied", "give only one of the two")
    return found


def filled(text: str, point: Point) -> str:
    """Replace the placeholders in a value. The product of a factor and a whole number is rounded."""

    def value(found: re.Match[str]) -> str:
        written = point[found["name"]]
        if found["factor"] is None:
            return written
        parts = re.fullmatch(r"([\d.]+)\s*(.*)", written)
        if parts is None:
            raise InvalidInputError(f"`{found[0]}`: `{written}` is not a number", "leave out the factor")
        product = float(found["factor"]) * float(parts[1])
        whole = parts[1].isdecimal() and not parts[2]
        return f"{round(product) if whole else f'{product:.6g}'}{parts[2]}"

    return _PLACEHOLDER.sub(value, text)


def _parameter(name: str, text: str) -> Parameter:
    if "." not in name and not _NAME.fullmatch(name):
        raise InvalidInputError(f"`{name}` is neither a path nor a placeholder", _EXAMPLE)
    choices = sampling.drawn_from({name: [text]})[name]
    if isinstance(choices, Range):
        low, high = (quantity(end + choices.unit) for end in (choices.low, choices.high))
        if low is not None and high is not None and low[0] > high[0]:
            choices = Range(choices.high, choices.low, choices.unit, choices.log, choices.whole)
        return Parameter(name, choices)
    # A range with a step is a list.
    values = tuple(Design("grid", {name: list(choices)}).values[name])  # type: ignore[arg-type]
    if len(values) < 2:
        raise InvalidInputError(f"`{name}={text}`: a single value is not a range", _EXAMPLE)
    return Parameter(name, values)
