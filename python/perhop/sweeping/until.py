"""Stop rules: replications are added until a confidence interval is narrow enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from perhop.errors import InvalidInputError
from perhop.metrics import resolve
from perhop.quantity import quantity

_RULE = re.compile(r"(?P<metric>.+?)\s+within\s+(?P<width>\S+(?:\s*\S+)?)\s*")
_EXAMPLE = "for example --until 'voice.delay_p99 within 1ms' or 'bulk.throughput within 5%'"


@dataclass(frozen=True)
class Until:
    """A stop rule: replications are added until the half-width of the interval is at most `half_width`."""

    class_name: str
    #: The column of `classes`.
    column: str
    #: The half-width in the column's unit, or as a fraction of the mean's magnitude.
    half_width: float
    relative: bool
    #: The maximum number of replications of a point.
    most: int

    @classmethod
    def parse(cls, text: str, most: int) -> Until:
        """Read a rule as `CLASS.METRIC within 1ms`, or `within 5%` of the mean.

        Raises:
            InvalidInputError: the text is not a stop rule.

        """
        found = _RULE.fullmatch(text)
        if found is None:
            raise InvalidInputError(f"`{text}` is not a stop rule", _EXAMPLE)
        name, column, unit = resolve(found["metric"])
        if name is None:
            raise InvalidInputError(f"`{found['metric']}` has no class", _EXAMPLE)
        width = found["width"].replace(" ", "")
        if relative := width.endswith("%") and unit != "%":
            value = quantity(width[:-1])
        else:
            value = quantity(width.removesuffix("%"))
            if value is not None and value[1] not in ("", unit):
                raise InvalidInputError(
                    f"`{width}` is not a width of `{column}`, whose unit is {unit}", _EXAMPLE
                )
        if value is None or not value[0] > 0:
            raise InvalidInputError(f"`{width}` is not a width of an interval", _EXAMPLE)
        if most < 2:
            raise InvalidInputError("an interval needs at least two replications", "give --at-most 2 or more")
        return cls(name, column, value[0] / 100 if relative else value[0], relative, most)

    def for_engines(self) -> tuple[str, str, float, bool, int]:
        """Return the rule in the form for engines."""
        return self.class_name, self.column, self.half_width, self.relative, self.most

    def to_json(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        return asdict(self)

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Until:
        """Return the rule that `to_json` described; raises `TypeError`."""
        return cls(**found)
