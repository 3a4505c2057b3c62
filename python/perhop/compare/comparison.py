"""Comparing two results of one scenario, usually of a simulation and of a live run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from perhop import _core, disk, manifest
from perhop.compare.quantities import Quantity, figures
from perhop.compare.tolerance import Tolerance, Tolerances
from perhop.errors import InvalidInputError
from perhop.manifest import json_text
from perhop.results import Results
from perhop.saved import Saved
from perhop.saving import whole_folder

SCHEMA_VERSION = 1
#: The file that identifies the folder of a comparison. The two results are in folders next to this file.
FILE = "comparison.json"

#: Whether two figures agree: within the tolerance or, unless the tolerance binds, within random variation.
Answer = Literal["agrees", "differs", "not-comparable"]


@dataclass(frozen=True)
class Sample:
    """One figure over the replications of one result."""

    mean: float
    #: 95 % confidence interval of the mean, from two replications on.
    ci95: tuple[float, float] | None
    replications: int

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Sample:
        """Return the sample of one value per replication; NaN if nothing was measured."""
        measured = [value for value in values if not math.isnan(value)]
        found = _core.confidence_95(measured)
        mean = math.fsum(measured) / len(measured) if measured else math.nan
        return cls(mean, None if found is None else found[1:], len(measured))

    @property
    def half(self) -> float | None:
        """Half the confidence interval."""
        return None if self.ci95 is None else (self.ci95[1] - self.ci95[0]) / 2


@dataclass(frozen=True)
class Row:
    """One figure of one class in both results."""

    class_name: str
    quantity: Quantity
    first: Sample
    second: Sample
    #: The first figure over only those replications that have the random draws, and so the offered traffic,
    #: of the second result; equal to `first` if the draws are unknown.
    same_draws: Sample
    tolerance: Tolerance

    @property
    def difference(self) -> float:
        """The second figure minus the first figure with the same draws."""
        return self.second.mean - self.same_draws.mean

    @property
    def by_chance(self) -> float | None:
        """The difference that random variation explains at 95 % confidence; `None` without two replications.

        For two means with an interval each: the root of the sum of the squared half intervals. For a mean and
        a single run: the prediction interval of one more run.
        """
        first, second = self.first.half, self.second.half
        if first is not None and second is not None:
            return math.hypot(first, second)
        for half, sample, other in ((first, self.first, self.second), (second, self.second, self.first)):
            if half is not None and other.replications == 1:
                return half * math.sqrt(sample.replications + 1)
        return None

    @property
    def inside(self) -> bool | None:
        """Whether random variation explains the difference; `None` if one of the two is unknown."""
        expected, difference = self.by_chance, self.second.mean - self.first.mean
        if expected is None or math.isnan(difference):
            return None
        # Allow for the rounding of sums of many doubles.
        return abs(difference) <= expected + 1e-9 * abs(self.first.mean)

    @property
    def within(self) -> bool | None:
        """Whether the difference is within the tolerance; `None` if a figure was not measured."""
        if math.isnan(self.difference):
            return None
        return self.tolerance.allows(self.same_draws.mean, self.second.mean)

    @property
    def verdict(self) -> Answer:
        """Whether the figures agree, within the tolerance or, unless it binds, within random variation."""
        if self.within is None:
            return "not-comparable"
        near = self.within or (not self.tolerance.binding and self.inside)
        return "agrees" if near else "differs"

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            "class": self.class_name,
            "quantity": self.quantity.key,
            "unit": self.quantity.unit,
            "first": _sample_json(self.first),
            "second": _sample_json(self.second),
            "first_same_draws": _number(self.same_draws.mean),
            "difference": _number(self.difference),
            "by_chance": self.by_chance,
            "inside_interval": self.inside,
            "tolerance": str(self.tolerance),
            "binding": self.tolerance.binding,
            "within_tolerance": self.within,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Comparison:
    """Two results of one scenario, figure by figure."""

    first: Results
    second: Results
    rows: tuple[Row, ...]

    @property
    def kinds(self) -> tuple[str, str]:
        """The kinds of the two results: `simulated` or `live`, numbered if they are equal."""
        kinds = [_kind_of(results) for results in (self.first, self.second)]
        return (kinds[0], kinds[1]) if kinds[0] != kinds[1] else (f"{kinds[0]} 1", f"{kinds[1]} 2")

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.first.summary["scenario"])

    @property
    def fidelity_warnings(self) -> list[str]:
        """Fidelity warnings of the live runs: reasons not to trust them."""
        found = [results.summary.get("fidelity") or {} for results in (self.first, self.second)]
        return [warning for fidelity in found for warning in fidelity.get("doubts", [])]

    @property
    def agrees(self) -> bool:
        """Whether every figure with a binding tolerance is within it, and there is no fidelity warning."""
        binding = (row for row in self.rows if row.tolerance.binding)
        return not self.fidelity_warnings and all(row.verdict != "differs" for row in binding)

    def counted(self) -> dict[str, int]:
        """Return the number of figures by verdict."""
        verdicts = [row.verdict for row in self.rows]
        return {answer: verdicts.count(answer) for answer in ("agrees", "differs", "not-comparable")}

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        sides = [
            {"kind": kind, "replications": results.replications, "seed": results.seed}
            for kind, results in zip(self.kinds, (self.first, self.second), strict=True)
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "perhop": _core.__version__,
            "scenario": self.name,
            "first": sides[0],
            "second": sides[1],
            "agrees": self.agrees,
            "doubts": self.fidelity_warnings,
            "fidelity_warnings": self.fidelity_warnings,
            "figures": self.counted(),
            "rows": [row.to_json() for row in self.rows],
        }

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> None:
        """Write the comparison and both results into a folder, which appears complete or not at all.

        With `force`, a folder with other content is renamed.

        Raises:
            InvalidInputError: the folder cannot be used, or has other content.
            OSError: a file cannot be written.

        """
        with whole_folder(Path(folder), "comparison", force=force) as new:
            for name, results in zip(self.folders, (self.first, self.second), strict=True):
                (new / name).mkdir()
                results.write_into(new / name)
            disk.write(new / FILE, json_text(self.to_json()))
            manifest.seal(new, "comparison", {})

    @property
    def folders(self) -> tuple[str, str]:
        """The names of the folders of the two results."""
        first, second = self.kinds
        return first.replace(" ", "-"), second.replace(" ", "-")


def load(folder: str | PathLike[str]) -> Comparison:
    """Read a comparison that `save` wrote.

    Raises:
        InvalidInputError: the folder contains no comparison.
        UnreadableFileError: a file is damaged or cannot be read.

    """
    saved = Saved.open(folder, "comparison")
    content = saved.json(FILE, {"first": {"kind": str}, "second": {"kind": str}})
    kinds = [content[side]["kind"] for side in ("first", "second")]
    first, second = (Results.from_saved(saved.within(kind.replace(" ", "-"))) for kind in kinds)
    return compare(first, second)


def _kind_of(results: Results) -> str:
    """Return whether results are `simulated` or `live`."""
    return str(results.summary.get("kind", "simulated"))


def compare(first: Results, second: Results, tolerances: Tolerances | None = None) -> Comparison:
    """Compare two results of one scenario, the first being the reference.

    Raises:
        InvalidInputError: the results have no class in common.

    """
    tolerances = tolerances or Tolerances()
    both = [figures(results) for results in (first, second)]
    names = [class_name for class_name in both[0] if class_name in both[1]]
    if not names:
        raise InvalidInputError(
            "the two results have no class in common",
            f"classes of the first: {', '.join(both[0])}; of the second: {', '.join(both[1])}",
        )
    tcp = first.tcp.height > 0
    # Replications with equal seed and number have equal draws.
    drawn = second.replications if first.seed == second.seed else first.replications
    rows = [
        Row(
            name,
            quantity,
            Sample.from_values(both[0][name][quantity]),
            Sample.from_values(both[1][name][quantity]),
            Sample.from_values(both[0][name][quantity][:drawn]),
            tolerances.for_quantity(quantity, tcp=tcp),
        )
        for name in names
        for quantity in both[0][name]
        if quantity in both[1][name]
    ]
    return Comparison(first, second, tuple(row for row in rows if _is_shown(row)))


def _is_shown(row: Row) -> bool:
    """Whether a row is shown: figures that no result measured, and causes without drops, are omitted."""
    if math.isnan(row.first.mean) and math.isnan(row.second.mean):
        return False
    return not row.quantity.is_cause or row.first.mean > 0 or row.second.mean > 0


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _sample_json(sample: Sample) -> dict[str, Any]:
    return {
        "mean": _number(sample.mean),
        "ci95": None if sample.ci95 is None else list(sample.ci95),
        "replications": sample.replications,
    }
