"""What a design consists of: steps, each a formula with its numbers, and the configuration that follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """One quantity: what it means, the formula that gives it, its value, and where the formula stands."""

    name: str
    meaning: str
    formula: str
    value: float
    unit: str
    source: str

    def __str__(self) -> str:
        """Return `name = formula = value unit`."""
        return f"{self.name} = {self.formula} = {_shown(self.value)} {self.unit}".rstrip()


@dataclass(frozen=True)
class Advice:
    """Parameters for a goal: steps that follow from each other, a router's lines, what to keep in mind."""

    title: str
    steps: tuple[Step, ...]
    ios: str
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> float:
        """Return the value of the step called `name`."""
        for step in self.steps:
            if step.name == name:
                return step.value
        raise KeyError(name)

    def __str__(self) -> str:
        """Return the steps, the notes and the configuration, for people."""
        lines = [self.title, ""]
        for step in self.steps:
            lines += [f"  {step}", f"      {step.meaning} [{step.source}]"]
        lines += [""] + [f"  note: {note}" for note in self.notes] + [""] * bool(self.notes)
        return "\n".join([*lines, *(f"  {line}" for line in self.ios.splitlines())])

    def to_dict(self) -> dict[str, Any]:
        """Return the same for programs."""
        steps = [{**step.__dict__} for step in self.steps]
        return {"title": self.title, "steps": steps, "notes": list(self.notes), "ios": self.ios}


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"
