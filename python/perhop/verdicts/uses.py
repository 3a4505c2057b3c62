"""What uses demand of a class: bounds of loss, delay and jitter, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perhop.verdicts.figures import Figure

#: R from which on telephony is fit: "medium", some users dissatisfied (G.109, Table 1).
LEAST_R = 70.0


@dataclass(frozen=True)
class Bound:
    """The greatest value of a quantity."""

    #: The column of `classes`; loss is that of packets that arrived or were dropped.
    column: str
    #: The quantity in words.
    words: str
    greatest: float
    unit: str

    def exceeded(self, value: float) -> str | None:
        """Return what exceeds the bound, in words, if `value` does."""
        if value <= self.greatest:
            return None
        most = Figure(self.greatest, None, self.unit).shown()
        # Of losses, a verdict has said how many.
        found = "" if self.unit == "%" else f" {Figure(value, None, self.unit).shown()}"
        return f"{self.words}{found} > {most}"


@dataclass(frozen=True)
class Use:
    """A use of a network and its bounds."""

    name: str
    words: str
    bounds: tuple[Bound, ...]
    source: str


def _loss(percent: float) -> Bound:
    return Bound("loss", "loss", percent, "%")


def _delay(seconds: float) -> Bound:
    return Bound("delay_p99_s", "p99 of delay", seconds, "s")


#: Uses other than telephony, which G.107 rates.
USES = (
    Use(
        "video",
        "interactive video",
        (_loss(1.0), _delay(0.15), Bound("ipdv_mean_abs_s", "jitter", 0.03, "s")),
        "Cisco, Enterprise QoS Solution Reference Network Design Guide 3.3 (2005), chapter 1",
    ),
    Use(
        "streaming",
        "streaming video",
        (_loss(5.0), _delay(5.0)),
        "Cisco, Enterprise QoS Solution Reference Network Design Guide 3.3 (2005), chapter 1",
    ),
    # At 5 % the square-root formula leaves TCP a window of sqrt(1.5 / 0.05) = 5.5 segments, little above the
    # four without which there are no three duplicate acknowledgments, but timeouts.
    Use(
        "bulk",
        "bulk data",
        (_loss(5.0),),
        "perhop's own, from Mathis et al. (1997) and RFC 5681, section 3.2",
    ),
)

# ITU-T Y.1541, Table 1: class, mean delay (IPTD) and delay variation (IPDV) in seconds; 5 has no bounds.
_Y1541 = ((0, 0.1, 0.05), (1, 0.4, 0.05), (2, 0.1, None), (3, 0.4, None), (4, 1.0, None))
_Y1541_LOSS_PERCENT = 0.1
_Y1541_WITHOUT_BOUNDS = 5


def y1541(group: Mapping[str, Any], loss_percent: float | None) -> int | None:
    """Return the first class of ITU-T Y.1541 whose bounds a class of a summary keeps; `None` without delays.

    IPDV is the 99.9th percentile of delay less the least delay. Errored packets (IPER) do not exist here.
    """
    mean, late, least = (group[f"delay_{one}_s"]["mean"] for one in ("mean", "p999", "min"))
    if loss_percent is None or mean is None:
        return None
    if loss_percent > _Y1541_LOSS_PERCENT:
        return _Y1541_WITHOUT_BOUNDS
    kept = (
        number
        for number, delay, variation in _Y1541
        if mean <= delay and (variation is None or late - least <= variation)
    )
    return next(kept, _Y1541_WITHOUT_BOUNDS)


def unmet(use: Use, group: Mapping[str, Any], loss_percent: float | None) -> list[str] | None:
    """Return the bounds of a use that a class of a summary exceeds; `None` where that cannot be told."""
    values = list(_values(use, group, loss_percent))
    exceeded = [words for bound, value in values if value is not None and (words := bound.exceeded(value))]
    if exceeded or all(value is not None for _, value in values):
        return exceeded
    return None


def _values(
    use: Use, group: Mapping[str, Any], loss_percent: float | None
) -> Iterator[tuple[Bound, float | None]]:
    for bound in use.bounds:
        yield bound, loss_percent if bound.column == "loss" else group[bound.column]["mean"]
