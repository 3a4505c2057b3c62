"""Tolerances: differences that do not matter in practice."""

from __future__ import annotations

from dataclasses import dataclass

from perhop.compare.quantities import GOODPUT_SHARE, SHARE, Quantity


@dataclass(frozen=True)
class Tolerance:
    """A difference between two figures that does not matter in practice."""

    #: The tolerance in the figure's unit. The greater of `absolute` and `relative` applies.
    absolute: float
    #: The tolerance as a share of the first figure.
    relative: float = 0.0
    #: Whether the tolerance binds. Otherwise, two figures also
    #: agree if random variation explains the difference.
    binding: bool = False

    def allows(self, first: float, second: float) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(second - first) <= self.width(first)

    def width(self, first: float) -> float:
        """Return the largest allowed difference from `first`, in the unit of the figure."""
        return max(self.absolute, self.relative * abs(first))

    def __str__(self) -> str:
        """Return the tolerance as text, without the unit."""
        share = f" or {100 * self.relative:g} %" if self.relative else ""
        return f"{self.absolute:g}{share}"


@dataclass(frozen=True)
class Tolerances:
    """The tolerances of a comparison."""

    #: The tolerance of shares and drops in percentage points, for scenarios without TCP.
    udp_points: float = 2.0
    #: The same tolerance for scenarios with TCP, which affects all traffic that shares a queue with it.
    tcp_points: float = 10.0
    #: The tolerances of delays and delay variation: in seconds, and as a share.
    delay_s: float = 1e-3
    delay_share: float = 0.05
    #: The tolerance of rates, as a share.
    rate_share: float = 0.05

    def for_quantity(self, quantity: Quantity, *, tcp: bool) -> Tolerance:
        """Return the tolerance of a quantity; `tcp` is whether the scenario has TCP traffic.

        The tolerance binds for shares, and without TCP for drops and mean delays.
        """
        if quantity.unit == "%":
            binding = quantity in (SHARE, GOODPUT_SHARE) or not tcp
            return Tolerance(self.tcp_points if tcp else self.udp_points, binding=binding)
        if quantity.unit == "s":
            binding = quantity.key == "delay_mean_s" and not tcp
            return Tolerance(self.delay_s, self.delay_share, binding=binding)
        return Tolerance(0.0, self.rate_share)
