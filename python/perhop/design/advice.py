"""A design: steps, each a formula with its numbers, and the resulting configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from perhop.errors import UnknownNameError


@dataclass(frozen=True)
class Step:
    """One quantity: its meaning, formula, value and unit, and the source of the formula."""

    name: str
    meaning: str
    formula: str
    value: float
    unit: str
    source: str

    def __str__(self) -> str:
        """Return `name = formula = value unit`."""
        return f"{self.name} = {self.formula} = {_as_text(self.value)} {self.unit}".rstrip()


@dataclass(frozen=True)
class Advice:
    """Parameters for a goal: consecutive steps, configuration lines and notes."""

    title: str
    steps: tuple[Step, ...]
    ios: str
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> float:
        """Return the value of a step; raises `UnknownNameError`."""
        for step in self.steps:
            if step.name == name:
                return step.value
        raise UnknownNameError(f"no step `{name}`", f"steps: {', '.join(step.name for step in self.steps)}")

    def __str__(self) -> str:
        """Return the steps, the notes and the configuration as text."""
        lines = [self.title, ""]
        for step in self.steps:
            lines += [f"  {step}", f"      {step.meaning} [{step.source}]"]
        lines += [""] + [f"  note: {note}" for note in self.notes] + [""] * bool(self.notes)
        return "\n".join([*lines, *(f"  {line}" for line in self.ios.splitlines())])

    def to_dict(self) -> dict[str, Any]:
        """Return the design as plain data."""
        steps = [{**step.__dict__} for step in self.steps]
        return {"title": self.title, "steps": steps, "notes": list(self.notes), "ios": self.ios}


def _as_text(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"
