"""The points of a sweep: every combination of values, values taken together, or a sample of ranges.

Points are computed from their number, so that the memory never contains all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from perhop.errors import InvalidInputError
from perhop.quantity import quantity

#: The methods of drawing points from ranges.
Method = Literal["sobol", "latin-hypercube"]
#: The kinds of designs.
KINDS = ("grid", "zip", "sobol", "latin-hypercube")

_OPENING, _CLOSING = "([{", ")]}"
_LOG = re.compile(r"log\(\s*(?P<arguments>[^()]*)\)")
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s.].*)?")
_WHOLE = re.compile(r"[+-]?\d+")
# The maximum number of values of one parameter. More values result from a mistake in the step.
_MOST = 1_000_000
#: The maximum number of points of a sweep, because each point needs rows in tables and memory.
MOST_POINTS = 10_000_000
# The number of significant digits of computed values.
_DIGITS = 6
_RANGES = "for example 1Mb/s:4Mb/s:500kb/s, 5:29:1 packets or log(1ms,1s,7)"


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`; `unit` is the text of their unit, as the user wrote it."""

    low: str
    high: str
    unit: str
    log: bool = False
    #: Whether the range has only whole numbers: both ends are whole, without a unit or in packets.
    whole: bool = False

    def at(self, part: float) -> str:
        """Return the value at a fraction of the range, from 0 to below 1, as text."""
        low, high = float(self.low), float(self.high)
        if self.whole and not self.log:
            return f"{min(math.floor(low + part * (high - low + 1)), int(high))}{self.unit}"
        value = low * (high / low) ** part if self.log else low + part * (high - low)
        if self.whole:
            return f"{round(value)}{self.unit}"
        return f"{_plain(float(f'{value:.{_DIGITS}g}'))}{self.unit}"


#: The values of a parameter: a list of texts, or a range to draw from.
Values = Sequence[str] | Range


@dataclass(frozen=True)
class Design:
    """The points of a sweep, each computed from its number."""

    kind: Literal["grid", "zip", "sobol", "latin-hypercube"]
    #: The values of each path; the values of the last path change fastest. Texts may be ranges with a step,
    #: as `1:9:2`.
    written: Mapping[str, Values]
    #: The number of points and the seed of a sample.
    sample: int = 0
    seed: int = 0

    @cached_property
    def values(self) -> Mapping[str, Values]:
        """The values of each path; ranges with a step are expanded."""
        found: dict[str, Values] = {}
        for path, choice in self.written.items():
            if isinstance(choice, Range):
                found[path] = choice
                continue
            texts = _expanded(choice, path)
            # A grid has each value once, even if it is given twice.
            found[path] = list(dict.fromkeys(texts)) if self.kind == "grid" else texts
        return found

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The paths that have several values."""
        return tuple(
            path for path, choice in self.values.items() if isinstance(choice, Range) or len(set(choice)) > 1
        )

    def __len__(self) -> int:
        """Return the number of points."""
        return self.count

    @cached_property
    def count(self) -> int:
        """The number of points, even if the number exceeds the maximum of `len`."""
        if self.kind == "grid":
            return math.prod(map(len, self.lists.values()))
        if self.kind == "zip":
            return max(map(len, self.lists.values()), default=0)
        return self.sample

    def __getitem__(self, number: int) -> dict[str, str]:
        """Return the values of point `number`, by path."""
        if not 0 <= number < self.count:
            raise IndexError(number)
        if self.kind == "grid":
            return {path: texts[number // stride % len(texts)] for path, texts, stride in self._strides}
        if self.kind == "zip":
            return {path: texts[number if len(texts) > 1 else 0] for path, texts in self.lists.items()}
        parts = iter(self._drawn[number])
        return {
            path: _drawn_value(choice, float(next(parts))) if path in self.parameters else _single(choice)
            for path, choice in self.values.items()
        }

    @cached_property
    def lists(self) -> Mapping[str, Sequence[str]]:
        """The values of each path with a list of values."""
        return {path: choice for path, choice in self.values.items() if not isinstance(choice, Range)}

    @cached_property
    def _strides(self) -> list[tuple[str, Sequence[str], int]]:
        """Each path of a grid with its values and the number of consecutive points with the same value."""
        found, stride = [], 1
        for path, texts in reversed(list(self.lists.items())):
            found.append((path, texts, stride))
            stride *= len(texts)
        return found[::-1]

    def texts(self, path: str) -> Iterator[str]:
        """Generate the values of a path; for a range, its ends."""
        choice = self.values[path]
        if isinstance(choice, Range):
            yield from (choice.low + choice.unit, choice.high + choice.unit)
        else:
            yield from dict.fromkeys(choice)

    @cached_property
    def _drawn(self) -> Any:  # noqa: ANN401 - an array of numpy
        """The sample: a row for each point, a column for each parameter, from 0 to below 1.

        Sobol points are scrambled (Owen 1998) by the seed; Latin hypercubes have one point in each of their
        layers (McKay, Beckman and Conover 1979).
        """
        try:
            from scipy.stats import qmc  # lazy: only drawn points need it
        except ModuleNotFoundError as error:
            raise InvalidInputError("drawing points needs scipy", "pip install 'perhop[sample]'") from error
        import warnings  # lazy: only samples need it

        dimensions = len(self.parameters)
        if self.kind == "latin-hypercube":
            return qmc.LatinHypercube(dimensions, rng=self.seed).random(self.sample)
        with warnings.catch_warnings():
            # The user may choose a number of points that is not a power of two.
            warnings.simplefilter("ignore", UserWarning)
            return qmc.Sobol(dimensions, rng=self.seed).random(self.sample)

    def to_json(self) -> dict[str, Any]:
        """Return the design as plain data."""
        values = {
            path: dict(vars(choice)) if isinstance(choice, Range) else list(choice)
            for path, choice in self.written.items()
        }
        drawn = {"sample": self.sample, "seed": self.seed} if self.sample else {}
        return {"kind": self.kind, "values": values, **drawn}

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Design:
        """Return the design that `to_json` described; raises `LookupError`, `TypeError` or `ValueError`."""
        values = {path: values_of(choice) for path, choice in found["values"].items()}
        design = cls(found["kind"], values, int(found.get("sample", 0)), int(found.get("seed", 0)))
        is_drawn = design.kind in ("sobol", "latin-hypercube")
        if not design.parameters or is_drawn != (design.sample > 0) or not 0 <= design.seed < 2**64:
            raise ValueError("no points")
        return design


def values_of(found: object) -> Values:
    """Parse the values of a parameter from the form of `to_json`; raises `TypeError` or `ValueError`."""
    if isinstance(found, dict):
        choice = Range(**found)
        texts = (choice.low, choice.high, choice.unit)
        if not all(isinstance(text, str) for text in texts) or _number(choice.low + choice.unit) is None:
            raise ValueError("no range")
        if not (isinstance(choice.log, bool) and isinstance(choice.whole, bool)):
            raise ValueError("no range")
        return choice
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise ValueError("no list of values")
    return found


def grid(lists: Mapping[str, Sequence[str]]) -> Design:
    """Return every combination of values; raises `InvalidInputError` if a range has no end."""
    return _valid(Design("grid", dict(lists)))


def zipped(lists: Mapping[str, Sequence[str]]) -> Design:
    """Return the first values of all lists together, then the second values, and so on.

    Raises:
        InvalidInputError: two lists with several values have unequal lengths, or a range has no end.

    """
    design = _valid(Design("zip", dict(lists)))
    lengths = {path: len(texts) for path, texts in design.lists.items() if len(texts) > 1}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{path} has {length}" for path, length in lengths.items())
        raise InvalidInputError(
            f"--zip: {listed} values", "give all parameters the same number of values, or one value"
        )
    return design


def sobol(ranges: Mapping[str, Sequence[str]], count: int, seed: int) -> Design:
    """Return the first points of a Sobol sequence, also of longer ones; `drawn_from` describes `ranges`."""
    return Design("sobol", drawn_from(ranges), count, seed)


def latin_hypercube(ranges: Mapping[str, Sequence[str]], count: int, seed: int) -> Design:
    """Return a Latin hypercube of `count` points; `drawn_from` describes `ranges`."""
    return Design("latin-hypercube", drawn_from(ranges), count, seed)


def drawn_from(ranges: Mapping[str, Sequence[str]]) -> dict[str, Values]:
    """Parse the values to draw from: `1Mb/s:4Mb/s`, `log(1ms,1s)`, or names.

    Raises:
        InvalidInputError: a text is not a range.

    """
    found: dict[str, Values] = {}
    for path, texts in ranges.items():
        parts = split(texts[0], path) if len(texts) == 1 else list(texts)
        parsed = _range(parts[0], path) if len(parts) == 1 else None
        found[path] = parts if parsed is None else parsed
    return found


def _valid(design: Design) -> Design:
    """Compute the values of a design, which reports errors now, and return the design."""
    assert design.values is not None
    return design


def _expanded(texts: Sequence[str], path: str) -> list[str]:
    """Return values, with `1:9:2` and `log(1ms,1s,7)` replaced by the values that they describe."""
    found: list[str] = []
    for text in texts:
        found += _stepped(text, path) or _spaced(text, path) or [text]
    return found


def split(text: str, path: str = "") -> list[str]:
    """Split values at commas; a comma within brackets or quotes is part of its value."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if letter == "," and not depth and not quote:
            parts.append("")
            continue
        parts[-1] += letter
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in _OPENING) - (letter in _CLOSING)
    parts = [part.strip() for part in parts]
    if not all(parts):
        where = f"{path}: " if path else ""
        raise InvalidInputError(
            f"{where}`{text}` contains an empty value", "separate values by single commas"
        )
    return parts


def _stepped(text: str, path: str) -> list[str] | None:
    """Return the values of `start:stop:step`; `None` for other text."""
    parts = _in_one_unit(text.split(":"))
    found = [_number(part) for part in parts]
    if len(parts) != 3 or any(number is None for number in found) or not _alike(parts):
        return None
    start, stop, step = (_exact(part) for part in parts)
    if step == 0 or (stop - start) * step < 0:
        raise InvalidInputError(f"{path}: the step of `{text}` leads away from its end", _RANGES)
    count = int((stop - start) / step) + 1
    if count == 1:
        raise InvalidInputError(f"{path}: `{text}` has one value: the step is larger than the range", _RANGES)
    if count > _MOST:
        raise InvalidInputError(f"{path}: `{text}` has {count:,} values; the limit is {_MOST:,}", _RANGES)
    written = _number(parts[0])
    # The unit includes the space before it, if any.
    unit = parts[0].strip().removeprefix(written[0]) if written else ""
    unit_size = _exact(f"1{unit}")
    return [f"{_text((start + place * step) / unit_size)}{unit}" for place in range(count)]


def _spaced(text: str, path: str) -> list[str] | None:
    """Return the values of `log(start,stop,n)`; `None` for other text."""
    found = _LOG.fullmatch(text)
    if found is None:
        return None
    parts = [part.strip() for part in found["arguments"].split(",")]
    if len(parts) != 3 or not parts[2].isdecimal() or int(parts[2]) < 2:
        raise InvalidInputError(f"{path}: `{text}` is not a list of values", _RANGES)
    ends = _ends(parts[:2], path, text, log=True)
    last = int(parts[2]) - 1
    if last >= _MOST:
        raise InvalidInputError(f"{path}: `{text}` has more than {_MOST:,} values", _RANGES)
    return list(dict.fromkeys(ends.at(place / last) for place in range(last + 1)))


def _range(text: str, path: str) -> Range | None:
    """Return the range of `low:high` or `log(low,high)`; `None` for other text."""
    found = _LOG.fullmatch(text)
    if found is not None:
        parts = [part.strip() for part in found["arguments"].split(",")]
        if len(parts) != 2:
            raise InvalidInputError(
                f"{path}: `{text}` is not a range to draw from", "for example log(1ms,1s)"
            )
        return _ends(parts, path, text, log=True)
    parts = _in_one_unit(text.split(":"))
    if len(parts) != 2 or any(_number(part) is None for part in parts) or not _alike(parts):
        return None
    return _ends(parts, path, text, log=False)


def _ends(parts: Sequence[str], path: str, text: str, *, log: bool) -> Range:
    """Return a range from the texts of its ends; both ends have the unit of the first text."""
    if any(_number(part) is None for part in parts) or not _alike(parts):
        raise InvalidInputError(f"{path}: `{text}` has ends of different kinds", _RANGES)
    written = _number(parts[0])
    unit = written[1] if written else ""
    low, high = (_exact(part) / _exact(f"1{unit}") for part in parts)
    if low == high or (log and min(low, high) <= 0):
        raise InvalidInputError(f"{path}: `{text}` is not a range", _RANGES)
    # Without a unit other than packets, whole ends give whole numbers.
    whole = all(_WHOLE.fullmatch(part.strip().removesuffix("packets").strip()) for part in parts)
    return Range(_text(low), _text(high), unit, log, whole)


def _number(text: str) -> tuple[str, str] | None:
    """Return a number and its unit as written; `None` for other text."""
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None or quantity(text) is None else (found[1], found[2] or "")


def _in_one_unit(parts: list[str]) -> list[str]:
    """Return numbers with the unit of the last, if only the last has a unit: `5:29:1 packets`."""
    found = [_number(part) for part in parts]
    *others, last = found
    if last is None or not last[1] or any(number is None or number[1] for number in others):
        return parts
    unit = parts[-1].strip().removeprefix(last[0])
    return [*(part.strip() + unit for part in parts[:-1]), parts[-1]]


def _alike(parts: Sequence[str]) -> bool:
    return len({found[1] for part in parts if (found := quantity(part)) is not None}) == 1


def _exact(text: str) -> Fraction:
    """Return a number in its base unit without rounding."""
    found = _number(text)
    assert found is not None, "it was read before"
    scale = quantity(f"1{found[1]}")
    assert scale is not None, "it was read before"
    return Fraction(Decimal(found[0])) * Fraction(Decimal(repr(scale[0])))


def _text(value: Fraction) -> str:
    """Return a number as text, exact if decimals allow it."""
    if value.denominator == 1:
        return str(value.numerator)
    return _plain(value.numerator / value.denominator)


def _plain(value: float) -> str:
    """Return a number without an exponent."""
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _drawn_value(values: Values, part: float) -> str:
    return (
        values.at(part)
        if isinstance(values, Range)
        else values[min(int(part * len(values)), len(values) - 1)]
    )


def _single(values: Values) -> str:
    assert not isinstance(values, Range), "a range has several values"
    return values[0]
