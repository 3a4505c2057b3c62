"""The outcome of each class of a run as one colored line: a word, the verdict and the figures that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perhop.quantity import number, scale
from perhop.verdicts import Verdict, line

# The word of a tone; the color repeats it.
_WORDS = {"good": "fit", "fair": "fit in part", "bad": "unfit", "": "idle"}


@dataclass(frozen=True)
class ClassOutcome:
    """The outcome of a class."""

    name: str
    #: `good`, `fair`, `bad`, or empty where nothing was sent.
    tone: str
    word: str
    verdict: str
    #: Figures with their words, as `0 % lost`.
    figures: list[str]


def outcomes(
    verdicts: Sequence[Verdict], summary: Mapping[str, Any], delays: Mapping[str, float], where: str
) -> list[ClassOutcome]:
    """Return the outcome of each class that has a verdict; `delays` are guaranteed `where`."""
    groups = {group["class"]: group for group in summary["classes"]}
    return [
        ClassOutcome(
            one.name,
            tone_of(one),
            _WORDS[tone_of(one)],
            line(one),
            _figures(groups[one.name], delays.get(one.name), where),
        )
        for one in verdicts
    ]


def tone_of(verdict: Verdict) -> str:
    """Return the tone of a verdict: good where it is fit for every use, bad where for none."""
    if verdict.state == "idle":
        return ""
    if verdict.state in ("waiting", "starved"):
        return "fair" if verdict.state == "waiting" else "bad"
    fit = [one for one in verdict.fit.values() if one is not None]
    return "good" if all(fit) else "fair" if any(fit) else "bad"


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
