"""The rates that a policy promises its classes: guarantees and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perhop.quantity import bits_per_second, quantity

if TYPE_CHECKING:
    from perhop.schema_types import ClassConfig, ConditionerConfig, PolicyConfig, QueueingConfig


def guarantee_of(config: ClassConfig) -> float | None:
    """Return the rate that a class is guaranteed, in bits per second, if a rate is written."""
    share: Mapping[str, Any] = config.get("share") or {}
    written = share.get("minimum") or share.get("bandwidth") or share.get("rate")
    written = written or (share.get("real-time") or {}).get("m2")
    return bits_per_second(written) if written else None


def minimum_of(config: ClassConfig) -> float:
    """Return a guarantee apart from the share of the excess, as three-parameter schedulers have it, or 0."""
    share: Mapping[str, Any] = config.get("share") or {}
    return bits_per_second(share["minimum"]) if share.get("minimum") else 0.0


def weight_of(config: ClassConfig) -> float:
    """Return the weight of a class among its siblings: its bandwidth, quantum, fraction, slope or weight."""
    share: Mapping[str, Any] = config.get("share") or {}
    if share.get("minimum"):
        return float(share.get("weight") or 1.0)
    if share.get("fraction"):
        return float(share["fraction"])
    slope = (share.get("link-share") or {}).get("m2")
    written = (
        share.get("rate") or share.get("bandwidth") or share.get("quantum") or share.get("weight") or slope
    )
    found = quantity(str(written)) if written else None
    return found[0] if found else 1.0


def weight_of_rest(config: ClassConfig) -> float:
    """Return the weight by which a class shares the rest: 0 for one of HFSC that has a guarantee alone."""
    share: Mapping[str, Any] = config.get("share") or {}
    return 0.0 if share.get("real-time") and not share.get("link-share") else weight_of(config)


def shaper_of(config: ClassConfig) -> float | None:
    """Return the rate that a class is shaped to, by itself or by the CAKE in it, in bits/s."""
    shape: Mapping[str, Any] = config.get("shape") or {}
    cake: Mapping[str, Any] = (config.get("buffer") or {}).get("cake") or {}
    rates = [one for one in (shape.get("rate"), cake.get("bandwidth")) if one]
    return min((bits_per_second(one) for one in rates), default=None)


def limit_of(config: ClassConfig) -> float | None:
    """Return the lowest of the rates that a class is policed, capped, limited or shaped to, in bits/s."""
    share: Mapping[str, Any] = config.get("share") or {}
    written = [one["rate"] for one in (config.get("police"), share.get("cap")) if one]
    limit = (share.get("upper-limit") or {}).get("m2") or share.get("ceil") or share.get("rate")
    rates = [bits_per_second(one) for one in [*written, *([limit] if limit else [])]]
    shaper = shaper_of(config)
    return min([*rates, *([] if shaper is None else [shaper])], default=None)


def conditioner_limit(stage: ConditionerConfig) -> float | None:
    """Return the rate above which a conditioner drops, in bits per second, if it does."""
    meters: Mapping[str, Any] = stage.get("meter") or {}
    if not meters:
        return None
    meter = next(iter(meters.values()))
    if "drop" in (stage.get("yellow") or []):
        lowest = meter.get("cir") or meter.get("rate") or meter.get("ctr")
    elif "drop" in (stage.get("red") or []):
        lowest = (
            meter.get("pir") or meter.get("ptr") or meter.get("rate") or meter.get("cir") or meter.get("ctr")
        )
    else:
        return None
    return bits_per_second(lowest) if lowest else None


def conditioner_limits(policy: PolicyConfig | None) -> dict[str, float]:
    """Return the rates above which the conditioners of a policy drop, by class."""
    limits: dict[str, float] = {}
    for stage in (policy or {}).get("conditioners", []):
        limit = conditioner_limit(stage)
        if limit is not None:
            limits[(stage.get("name") or "").rpartition(".")[2]] = limit
    return limits


def by_level(queueing: QueueingConfig) -> list[ClassConfig]:
    """Return the classes of strict priority, the first to be served first: by levels, else as written."""
    return sorted(queueing["classes"], key=lambda one: (one.get("share") or {}).get("level") or 0)


def has_priority(queueing: QueueingConfig, config: ClassConfig) -> bool:
    """Whether a class has strict priority; the last one to be served holds those without."""
    return queueing.get("scheduler") == "priority" and config is not by_level(queueing)[-1]


def by_service_curves(classes: Sequence[ClassConfig], rate: float) -> list[float]:
    """Return what HFSC gives to classes that all want more, bits/s: their claims, or a part of the rest."""
    slopes = [weight_of_rest(one) for one in classes]
    sure = [min(guarantee_of(one) or 0.0, rate) for one in classes]
    sharing = [index for index, slope in enumerate(slopes) if slope]
    while True:
        left = max(rate - sum(one for index, one in enumerate(sure) if index not in sharing), 0.0)
        parts = {index: left * slopes[index] / sum(slopes[one] for one in sharing) for index in sharing}
        more = [index for index in sharing if parts[index] >= sure[index]]
        if len(more) == len(sharing):
            return [parts.get(index, one) for index, one in enumerate(sure)]
        sharing = more
