"""The outcome of each class of a run as one colored line: a word, the verdict and the relevant figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perhop.quantity import number, scale
from perhop.verdicts import Verdict, line


@dataclass(frozen=True)
class ClassOutcome:
    """The outcome of a class."""

    name: str
    #: `good`, `fair` or `bad`; empty if nothing was sent, and for replies.
    tone: str
    #: The outcome in a word, which the color repeats.
    word: str
    verdict: str
    #: Figures with their names, as `0 % lost`.
    figures: list[str]


def outcomes(
    verdicts: Sequence[Verdict], summary: Mapping[str, Any], delays: Mapping[str, float], where: str
) -> list[ClassOutcome]:
    """Return the outcome of each class that has a verdict; `delays` are guaranteed `where`."""
    groups = {group["class"]: group for group in summary["classes"]}
    return [
        ClassOutcome(
            verdict.name,
            tone_of(verdict),
            _word_of(verdict),
            line(verdict),
            _figures(groups[verdict.name], delays.get(verdict.name), where),
        )
        for verdict in verdicts
    ]


def tone_of(verdict: Verdict) -> str:
    """Return the tone of a verdict: good if the class is fit for its role, bad if unfit, otherwise fair."""
    if verdict.state == "idle" or verdict.fitness.role is None:
        return ""
    tones = {"fit": "good", "unfit": "bad"}
    return tones.get(verdict.fitness.answer or "", "fair")


def _word_of(verdict: Verdict) -> str:
    if verdict.state == "idle":
        return "idle"
    return verdict.fitness.answer or ("replies" if verdict.fitness.role is None else "not known")


def _figures(group: Mapping[str, Any], delay: float | None, where: str) -> list[str]:
    found = [_with_unit(group["throughput_bps"]["mean"], "b/s")]
    if group["dropped_percent"]["mean"] is not None:
        found.append(f"{number(group['dropped_percent']['mean'], 3)} % lost")
    if group["delay_p99_s"]["mean"] is not None:
        found.append(f"99 % within {_with_unit(group['delay_p99_s']['mean'], 's')}")
    if delay is not None:
        found.append(f"guaranteed {where}: {_with_unit(delay, 's')} at most")
    return found


def _with_unit(value: float | None, unit: str) -> str:
    divisor, shown = scale(unit, abs(value or 0.0))
    return f"{number((value or 0.0) / divisor)} {shown}"
