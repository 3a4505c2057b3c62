"""The plan of a sweep: a scenario, its points, and their common properties."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from perhop.document import Document
from perhop.engines import Assignment, Task
from perhop.manifest import json_text
from perhop.quantity import quantity
from perhop.sampling import Design
from perhop.sweeping.until import Until

# Whole numbers that fit into a column of 64 bits.
_WHOLE = re.compile(r"[+-]?\d{1,18}")
#: The version of the layout of a sweep's files. A change that could break a reader increments the version.
SCHEMA_VERSION = 3
#: The file that identifies the folder of a sweep.
FILE = "sweep.json"


@dataclass(frozen=True)
class Column:
    """The form of a swept parameter in tables: a number in a base unit, or the original text."""

    path: str
    kind: Literal["whole", "number", "text"]
    #: `b/s`, `s`, `bytes`, or empty.
    unit: str = ""

    def value(self, text: str) -> float | int | str:
        """Return a value of the parameter in the form of its column."""
        if self.kind == "whole":
            return int(text)
        found = quantity(text) if self.kind == "number" else None
        return text if found is None else found[0]


@dataclass(frozen=True)
class Plan:
    """All values on which the results of a sweep depend."""

    #: The scenario that every point changes, with the texts of router configurations in it.
    scenario: Document
    design: Design
    #: Seed of every point; `None` for the scenario's own.
    seed: int | None = None
    replications: int | None = None
    until: Until | None = None
    #: The tables of results that are kept for every point.
    tables: tuple[str, ...] = ("classes",)
    #: Whether each point has a separate seed, derived from `seed` and the number of the point. With common
    #: random numbers (the default), differences between points have narrower intervals than the points.
    independent: bool = False

    @property
    def task(self) -> Task:
        """The task for engines."""
        return Task(
            self.scenario.to_json(),
            str(self.scenario.base),
            self.tables,
            None if self.independent else self.seed,
            self.replications,
            self.until.for_engines() if self.until else None,
        )

    @property
    def first_seed(self) -> int:
        """The seed of every point. With `independent`, the seed from which the seeds of the points derive."""
        seed: int = self.scenario["seed"] if self.seed is None else self.seed
        return seed

    @property
    def least_replications(self) -> int:
        """The number of replications of each point; with a stop rule, the minimum."""
        found: int = self.scenario.get("replications", 1) if self.replications is None else self.replications
        return found

    def at(self, base: Path) -> Plan:
        """Return the plan with another base folder for relative paths of traces."""
        return replace(self, scenario=Document(dict(self.scenario), base))

    def changes(self, number: int) -> dict[str, str]:
        """Return the changes of the scenario at point `number`, by path."""
        found = dict(self.design[number])
        if self.independent:
            found["seed"] = str(_derived(self.first_seed, number))
        return found

    def assignments(self, numbers: Iterator[int]) -> Iterator[Assignment]:
        """Generate the points for engines."""
        for number in numbers:
            yield number, list(self.changes(number).items())

    def columns(self) -> list[Column]:
        """Return the columns of the swept parameters in tables."""
        return [_column(path, self.design.texts(path)) for path in self.design.parameters]

    def to_json(self) -> dict[str, Any]:
        """Return the plan without the scenario, in the form of sweep.json."""
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": self.scenario["name"],
            "seed": self.first_seed,
            "replications": self.least_replications,
            "until": self.until.to_json() if self.until else None,
            "seeds": "independent" if self.independent else "common",
            "tables": list(self.tables),
            "parameters": list(self.design.parameters),
            "points": len(self.design),
            "design": self.design.to_json(),
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any], scenario: Document) -> Plan:
        """Return the plan that `to_json` described; raises `KeyError`, `TypeError` or `ValueError`."""
        design = Design.of_json(found["design"])
        return cls(
            scenario,
            design,
            None if "seed" in design.written else found["seed"],
            None if "replications" in design.written else found["replications"],
            Until.of_json(found["until"]) if found["until"] else None,
            tuple(found["tables"]),
            found["seeds"] == "independent",
        )

    def texts(self) -> dict[str, str]:
        """Return the files that describe the plan, by name; equal plans have equal files."""
        return {FILE: json_text(self.to_json()), "scenario.json": json_text(dict(self.scenario))}


def _derived(seed: int, number: int) -> int:
    """Return the seed of a point: 63 bits of a hash, so that points do not share random numbers."""
    digest = hashlib.sha256(f"{seed} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _column(path: str, texts: Iterator[str]) -> Column:
    units, whole = set(), True
    for text in texts:
        found = quantity(text)
        if found is None:
            return Column(path, "text")
        units.add(found[1])
        whole = whole and _WHOLE.fullmatch(text) is not None
    if len(units) > 1:
        return Column(path, "text")
    return Column(path, "whole" if whole else "number", units.pop())
