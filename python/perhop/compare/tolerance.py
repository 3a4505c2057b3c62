"""Up to which difference two figures mean the same in practice."""

from __future__ import annotations

from dataclasses import dataclass

from perhop.compare.quantities import GOODPUT_SHARE, SHARE, Quantity


@dataclass(frozen=True)
class Tolerance:
    """Up to which difference two figures mean the same in practice."""

    #: In the figure's unit,
    absolute: float
    #: or as a share of the first of the two.
    relative: float = 0.0
    #: Whether the two must be so near, whatever chance explains; else it is enough that they are either.
    binding: bool = False

    def allows(self, first: float, second: float) -> bool:
        """Whether the two are near enough."""
        return abs(second - first) <= self.width(first)

    def width(self, first: float) -> float:
        """Return how far a figure may be from `first`, in its unit."""
        return max(self.absolute, self.relative * abs(first))

    def __str__(self) -> str:
        """Say it in words, the unit left aside."""
        share = f" or {100 * self.relative:g} %" if self.relative else ""
        return f"{self.absolute:g}{share}"


@dataclass(frozen=True)
class Tolerances:
    """The tolerances of a comparison."""

    #: Percentage points of shares and of drops, where there are only datagrams
    udp_points: float = 2.0
    #: and where there is TCP, to whose choices all that shares a queue with it is exposed.
    tcp_points: float = 10.0
    #: Of delays and their variation: seconds, or a share.
    delay_s: float = 1e-3
    delay_share: float = 0.05
    #: Of rates, a share.
    rate_share: float = 0.05

    def of(self, quantity: Quantity, *, tcp: bool) -> Tolerance:
        """Return that of one quantity, with or without TCP in the scenario.

        Binding for shares, and without TCP for drops and mean delays.
        """
        if quantity.unit == "%":
            binding = quantity in (SHARE, GOODPUT_SHARE) or not tcp
            return Tolerance(self.tcp_points if tcp else self.udp_points, binding=binding)
        if quantity.unit == "s":
            binding = quantity.key == "delay_mean_s" and not tcp
            return Tolerance(self.delay_s, self.delay_share, binding=binding)
        return Tolerance(0.0, self.rate_share)
