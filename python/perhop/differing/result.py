"""The difference between two configurations of a router, or two scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from perhop.compare import Comparison
from perhop.compare.quantities import figures
from perhop.differing.felt import Felt

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Moved:
    """An arriving packet that waits in another queue than before; `None` stands for no queue."""

    #: The interface of a router; in a scenario the port, as `R1->R2`.
    interface: str
    #: The interface on which the packet arrives; `None` if no input policy applies to the packet.
    arrives: str | None
    before: str | None
    after: str | None
    packet: str


@dataclass(frozen=True)
class Changed:
    """A part of an interface's policy that has changed; `None` for a missing part."""

    #: The interface; empty for the device itself.
    interface: str
    part: str
    what: str
    before: str | None
    after: str | None
    #: For a changed match: a packet that only one of the two conditions matches.
    packet: str | None = None


@dataclass(frozen=True)
class Renamed:
    """A renamed part of an interface with the same meaning."""

    interface: str
    before: str
    after: str


@dataclass(frozen=True)
class Example:
    """A packet of a changed input conditioner, and its end before and after the change.

    An end has the leaving `packet`, whether the packet is `dropped`, and the name of its `queue`, or `None`.
    """

    arrives: str
    part: str
    leaves: str
    packet: str
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class LineChange:
    """A line that exists in one configuration only, was moved, or has changed words."""

    #: The enclosing lines, the outermost first.
    section: list[str]
    #: The number (`line`) and the `text` in the old configuration, or `None`.
    old: dict[str, Any] | None
    #: The number (`line`) and the `text` in the new configuration, or `None`.
    new: dict[str, Any] | None
    #: `irrelevant`, `same`, `compared`, `elsewhere` or `not-compared`.
    effect: str
    #: The changed parts that the line affects, each with `interface` and `part`.
    parts: list[dict[str, str]]
    #: The reason why the line is not compared.
    reason: str | None


@dataclass(frozen=True)
class Difference:
    """All differences between two configurations of a router, or two scenarios."""

    moved: list[Moved]
    changed: list[Changed]
    #: The parts that could not be compared, with the reasons.
    remarks: list[str] = field(default_factory=list)
    #: Figures of classes in simulations of both sides, in the form of `perhop compare`.
    simulated: list[dict[str, Any]] = field(default_factory=list)
    #: Renamed parts with the same meaning.
    renamed: list[Renamed] = field(default_factory=list)
    #: Example packets whose input conditioner has changed, with their paths.
    examples: list[Example] = field(default_factory=list)
    #: For router configurations: the changed lines that are irrelevant or in the compared model.
    lines: list[LineChange] = field(default_factory=list)
    #: For router configurations: the changed lines that the compared model does not contain.
    not_compared: list[LineChange] = field(default_factory=list)
    #: Assumptions in place of facts that the files do not contain.
    assumed: list[str] = field(default_factory=list)
    #: Parts of the files that the comparison ignores.
    not_looked_at: list[str] = field(default_factory=list)
    #: For router configurations: the effect on each class in short simulations; `None` without one.
    felt: Felt | None = None

    def __bool__(self) -> bool:
        """Whether a part other than irrelevant lines differs, or a simulated figure by more than chance."""
        found = self.moved or self.changed or self.renamed or self.not_compared
        return bool(found or self.relevant_lines() or any(map(_is_real, self.simulated)))

    def relevant_lines(self) -> list[LineChange]:
        """Return the changed lines in the compared model."""
        return [line for line in self.lines if line.effect in ("compared", "same")]

    def including(self, comparison: Comparison) -> Difference:
        """Return a copy with the figures of simulations of both sides."""
        rows = [row.to_json() for row in comparison.rows]
        first, second = (list(figures(results)) for results in (comparison.first, comparison.second))
        alone = [(name, "old") for name in first if name not in second]
        alone += [(name, "new") for name in second if name not in first]
        remarks = [f"only the {which} file has traffic of class {name}" for name, which in alone]
        return replace(self, simulated=rows, remarks=[*self.remarks, *remarks])

    def frame(self) -> pl.DataFrame:
        """Return a polars frame with a row for each packet that changes its queue and each changed part.

        `kind` is `moved` or `changed`; `before` and `after` are queues, or values of the part with unit; null
        if there is none. `packet` is a packet that changes its queue.
        """
        from perhop.frames import of_rows  # lazy: polars, which only frames need

        rows: list[dict[str, Any]] = [
            {"kind": "moved", "part": None, "what": "queue", **vars(move)} for move in self.moved
        ]
        rows += [{"kind": "changed", "arrives": None, **vars(change)} for change in self.changed]
        columns = ("kind", "interface", "arrives", "part", "what", "before", "after", "packet")
        return of_rows(rows, dict.fromkeys(columns, str))

    def simulated_frame(self) -> pl.DataFrame:
        """Return the simulated figures as a polars frame, a row for each class and figure.

        `before` and `after` are means in `unit` over the replications, `_low` and `_high` the ends of their
        95 % confidence intervals; `differs` is whether they differ by more than chance.
        """
        from perhop.frames import of_rows  # lazy: it loads polars

        columns: dict[str, type] = {"class": str, "quantity": str, "unit": str}
        for side in ("before", "after"):
            columns |= {side: float, f"{side}_low": float, f"{side}_high": float}
        columns["differs"] = bool
        return of_rows([_figure(row) for row in self.simulated], columns)


def _is_real(row: Mapping[str, Any]) -> bool:
    return row["inside_interval"] is False


def _figure(row: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: row[key] for key in ("class", "quantity", "unit")}
    for side, sample in (("before", row["first"]), ("after", row["second"])):
        low, high = sample["ci95"] or (None, None)
        found |= {side: sample["mean"], f"{side}_low": low, f"{side}_high": high}
    inside = row["inside_interval"]
    return {**found, "differs": None if inside is None else not inside}
