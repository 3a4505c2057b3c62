"""The profiles of platforms: the queueing rules of routers, with the source of each value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from perhop import _core
from perhop.errors import UnknownNameError

#: A number, a word, or a word under `kind` with numbers.
Value = int | str | dict[str, int | str]
Certainty = Literal["documented", "printed", "measured", "inferred", "recalled"]


@dataclass(frozen=True)
class PlatformRule:
    """A rule of a platform's profile."""

    rule: str
    #: The subject of the rule, with the unit of a number.
    meaning: str
    value: Value
    certainty: Certainty
    #: The document and section, the output of a router, or the measurement.
    source: str
    #: The value as text.
    note: str | None = None

    @property
    def text(self) -> str:
        """The value as text: `64`, `link-header`, `interval, microseconds 4000`."""
        if not isinstance(self.value, dict):
            return str(self.value)
        parts = [str(self.value["kind"])]
        return ", ".join(parts + [f"{key} {value}" for key, value in self.value.items() if key != "kind"])


def platform_rules(name: str) -> list[PlatformRule]:
    """Return the rules of the platform called `name`; raises `UnknownNameError`."""
    try:
        found = json.loads(_core.platform_rules(name))
    except ValueError as error:
        raise UnknownNameError(*error.args) from error
    return [PlatformRule(**rule) for rule in found]


def has_rules(name: str) -> bool:
    """Whether perhop has data about the rules of the platform called `name`."""
    try:
        return bool(platform_rules(name))
    except UnknownNameError:
        return False
