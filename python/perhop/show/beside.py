"""A router's `show policy-map interface` beside that of a run: where the two part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from perhop.show.measured import Measured, measured
from perhop.show.reading import ClassReading, PolicyReading

Verdict = Literal["agrees", "differs", "not-comparable"]
Kind = Literal["configured", "measured"]

# Configured numbers: their words, their unit, and whether a router that says nothing means something else.
_CONFIGURED: dict[str, tuple[str, str, bool]] = {
    "limit_packets": ("queue limit", "packets", False),
    "limit_bytes": ("queue limit", "bytes", False),
    "limit_us": ("queue limit", "us", False),
    "limit_ms": ("queue limit", "ms", False),
    "flow_limit_packets": ("queue limit of a flow", "packets", True),
    "shape_cir_bps": ("shape cir", "b/s", True),
    "shape_bc_bits": ("shape bc", "bits", True),
    "shape_be_bits": ("shape be", "bits", True),
    "shape_target_bps": ("target shape rate", "b/s", True),
    "bandwidth_percent": ("bandwidth", "%", False),
    "bandwidth_kbps": ("bandwidth", "kb/s", True),
    "remaining_percent": ("bandwidth remaining", "%", True),
    "remaining_ratio": ("bandwidth remaining ratio", "", True),
    "priority_percent": ("priority", "%", False),
    "priority_kbps": ("priority", "kb/s", True),
    "priority_burst_bytes": ("priority burst", "bytes", True),
    "priority_level": ("priority level", "", False),
    "police_percent": ("police", "%", False),
    "police_cir_bps": ("police cir", "b/s", True),
    "police_bc_bytes": ("police bc", "bytes", True),
    "police_pir_bps": ("police pir", "b/s", True),
    "police_be_bytes": ("police be", "bytes", True),
    "exponent": ("WRED exponent", "", False),
}
# Routers print rates in whole kilobits.
_ROUNDING_BPS = 1000.0


@dataclass(frozen=True)
class Tolerances:
    """Differences between measured numbers that do not count."""

    #: Of rates and packet sizes, percent of the router's.
    percent: float = 5.0
    #: Of shares, percentage points.
    points: float = 2.0


@dataclass(frozen=True)
class Row:
    """One number of one class, of the router and of the run; `None` where one does not say."""

    class_name: str
    quantity: str
    unit: str
    kind: Kind
    router: float | None
    simulated: float | None
    #: The largest difference that does not count, in the unit.
    tolerance: float
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {"class": self.class_name} | {
            name: value for name, value in vars(self).items() if name != "class_name"
        }


@dataclass(frozen=True)
class BesidePolicy:
    """A policy of the router and of the run."""

    interface: str
    side: str
    name: str
    rows: list[Row]
    #: Classes that only one of the two has.
    only_router: list[str]
    only_simulated: list[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        whole = not (self.only_router or self.only_simulated)
        return whole and all(row.verdict != "differs" for row in self.rows)


@dataclass(frozen=True)
class Beside:
    """All policies of a router's output, and those of the run that belong to them."""

    policies: list[BesidePolicy]
    #: Policies of the router that the run does not have, as `interface side name`.
    missing: list[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.missing and all(policy.agrees for policy in self.policies)

    def counted(self) -> dict[str, int]:
        """Return the number of rows by verdict."""
        verdicts = [row.verdict for policy in self.policies for row in policy.rows]
        return {answer: verdicts.count(answer) for answer in ("agrees", "differs", "not-comparable")}

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "schema_version": 1,
            "agrees": self.agrees,
            "figures": self.counted(),
            "missing": self.missing,
            "policies": [
                {
                    "interface": policy.interface,
                    "side": policy.side,
                    "policy": policy.name,
                    "agrees": policy.agrees,
                    "only_router": policy.only_router,
                    "only_simulated": policy.only_simulated,
                    "rows": [row.to_json() for row in policy.rows],
                }
                for policy in self.policies
            ],
        }


def beside(
    router: Sequence[PolicyReading], simulated: Sequence[PolicyReading], tolerances: Tolerances
) -> Beside:
    """Lay a router's policies beside those of a run, class by class.

    A policy is looked for at the interface of the same name, else wherever it is attached.
    """
    found, missing = [], []
    for policy in router:
        same = [one for one in simulated if (one.side, one.name) == (policy.side, policy.name)]
        there = [one for one in same if one.interface.lower() == policy.interface.lower()] or same
        if there:
            found.append(_policy(policy, there[0], tolerances))
        else:
            missing.append(f"{policy.interface} {policy.side} {policy.name}")
    return Beside(found, missing)


def _policy(router: PolicyReading, simulated: PolicyReading, tolerances: Tolerances) -> BesidePolicy:
    ours = {one.path: one for one in simulated.classes}
    theirs = {one.path: one for one in router.classes}
    both = [(one, ours[path]) for path, one in theirs.items() if path in ours]
    rows: list[Row] = []
    for one, other in both:
        rows += _configured(one, other)
        rows += _early_drops(one, other)
        rows += _measured(one, measured(router, one), measured(simulated, other), tolerances)
    return BesidePolicy(
        interface=router.interface,
        side=router.side,
        name=router.name,
        rows=rows,
        only_router=[one.name for path, one in theirs.items() if path not in ours],
        only_simulated=[one.name for path, one in ours.items() if path not in theirs],
    )


def _configured(router: ClassReading, simulated: ClassReading) -> Iterator[Row]:
    for key, (words, unit, is_telling) in _CONFIGURED.items():
        values = router.numbers.get(key), simulated.numbers.get(key)
        if values != (None, None):
            yield _exact(router.name, words, unit, values, is_telling=is_telling)


def _exact(
    name: str, words: str, unit: str, values: tuple[int | None, int | None], *, is_telling: bool
) -> Row:
    verdict: Verdict = "agrees" if values[0] == values[1] else "differs"
    if None in values and not is_telling:
        verdict = "not-comparable"
    return Row(name, words, unit, "configured", *values, tolerance=0.0, verdict=verdict)


def _early_drops(router: ClassReading, simulated: ClassReading) -> Iterator[Row]:
    for value, one in router.early_drops.items():
        other = simulated.early_drops.get(value)
        if other is not None:
            for words, pair in (
                ("minimum", (one.min, other.min)),
                ("maximum", (one.max, other.max)),
                ("mark denominator", (one.mark_denominator, other.mark_denominator)),
            ):
                yield _exact(router.name, f"WRED {value} {words}", "", pair, is_telling=True)


def _measured(
    one: ClassReading, router: Measured, simulated: Measured, tolerances: Tolerances
) -> Iterator[Row]:
    for quantity in router:
        unit, value = quantity.unit, router[quantity]
        other = simulated.get(quantity)
        if other is None:
            continue
        if unit == "%":
            tolerance = tolerances.points
        else:
            rounding = _ROUNDING_BPS if unit == "b/s" else 0.0
            tolerance = max(tolerances.percent / 100 * value, rounding)
        verdict: Verdict = "agrees" if abs(other - value) <= tolerance else "differs"
        yield Row(one.name, quantity.words, unit, "measured", value, other, tolerance, verdict)
