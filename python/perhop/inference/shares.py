"""The queues of an output policy, and what each gets while all of them are busy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from perhop.policy_rates import (
    by_level,
    by_service_curves,
    conditioner_limits,
    has_priority,
    limit_of,
    minimum_of,
    shaper_of,
    weight_of_rest,
)
from perhop.ports import Tin, tins_of
from perhop.schema_types import ClassConfig, MatchConfig, PolicyConfig, QueueingConfig

# The part of a rate taken for priority classes without a limit: Cisco's advice for low-latency queueing
# (Enterprise QoS Solution Reference Network Design Guide 3.3, chapter 1, "33 percent LLQ rule").
_UNLIMITED_PRIORITY = 1 / 3
#: The part of a priority class's limit that is offered to it, so that its policer stays idle.
FILLED = 0.8


@dataclass(frozen=True)
class Leaf:
    """A queue of an output policy: a class without child classes."""

    #: The names of its classes from the outermost in, as in results.
    path: str
    name: str
    #: The match conditions of the class and its parents, which must all hold.
    matches: list[MatchConfig]
    config: ClassConfig
    #: Whether it has strict priority.
    priority: bool
    #: What it gets while all classes are busy, in bits per second.
    share: float
    #: Of a tin of CAKE: what it surely gets, and soon, however busy the others are, in bits per second.
    part: float | None = None


def leaves(policy: PolicyConfig, rate: float) -> list[Leaf]:
    """Return the queues of a policy at a wire of `rate` bits per second, in the order of results."""
    queueing = policy.get("queueing")
    policers = conditioner_limits(policy)
    return list(_leaves(queueing, "", [], rate, policers, first=False)) if queueing else []


def _leaves(
    queueing: QueueingConfig,
    prefix: str,
    matches: list[MatchConfig],
    rate: float,
    policers: Mapping[str, float],
    *,
    first: bool,
) -> Iterator[Leaf]:
    shares = _shares(queueing, rate, policers, first=first)
    for config, share in zip(queueing["classes"], shares, strict=True):
        path = f"{prefix}{config['name']}"
        match, inner = config.get("match"), config.get("queueing")
        here = [*matches, match] if match else matches
        is_first = first or has_priority(queueing, config)
        if inner:
            yield from _leaves(inner, f"{path}/", here, share, policers, first=is_first)
        else:
            yield from _tins(Leaf(path, config["name"], here, config, is_first, share))


def _tins(leaf: Leaf) -> Iterator[Leaf]:
    """Generate the queues of a class: itself, or the tins of CAKE.

    With a bandwidth each tin but the first comes before the others up to its part of it; without, the parts
    are weights. What it has by weight, a tin gets soon in both cases, as all parts are more than the whole.
    """
    tins = tins_of(leaf.config)
    if not tins:
        yield leaf
        return
    first, *others = tins
    rate = min(leaf.share, limit_of(leaf.config) or leaf.share)
    whole = first.part + sum(tin.part for tin in others)
    parts = [rate * tin.part / whole for tin in others]
    yield _tin(leaf, first, rate - FILLED * sum(parts), None)
    yield from (_tin(leaf, tin, FILLED * part, part) for tin, part in zip(others, parts, strict=True))


def _tin(leaf: Leaf, tin: Tin, share: float, part: float | None) -> Leaf:
    return replace(leaf, path=f"{leaf.path}/{tin.name}", name=tin.name, share=share, part=part)


def capacity(queueing: QueueingConfig, rate: float) -> float:
    """Return how much of `rate` bits per second all classes together may use: shapers limit it."""
    used = 0.0
    for config in queueing["classes"]:
        inner = config.get("queueing")
        most = min(rate, shaper_of(config) or rate)
        used += capacity(inner, most) if inner else most
    return min(rate, used)


def _shares(
    queueing: QueueingConfig, rate: float, policers: Mapping[str, float], *, first: bool
) -> list[float]:
    """Return what each class gets of `rate` while all are busy, those with priority at 0.8 of their limit.

    With `first`, all classes have priority: they share a queue that does.
    """
    classes = by_level(queueing) if queueing.get("scheduler") == "priority" else queueing["classes"]
    ahead = [one for one in classes if first or has_priority(queueing, one)]
    unlimited = sum(_limit(one, policers) is None for one in ahead)
    shares: list[float] = []
    for config in ahead:
        limit = _limit(config, policers)
        wanted = _UNLIMITED_PRIORITY * rate / unlimited if limit is None else FILLED * limit
        shares.append(min(wanted, rate - sum(shares)))
    shares += _filled(queueing, classes[len(ahead) :], rate - sum(shares))
    share_of = {config["name"]: share for config, share in zip(classes, shares, strict=True)}
    return [share_of[config["name"]] for config in queueing["classes"]]


def _limit(config: ClassConfig, policers: Mapping[str, float]) -> float | None:
    """Return the limit of a class, or the sum of those of its child classes, if each has one.

    `policers` are the limits of conditioners before the queues, by class.
    """
    own = [one for one in (limit_of(config), policers.get(config["name"])) if one is not None]
    inner = config.get("queueing")
    if own or not inner:
        return min(own, default=None)
    limits = [_limit(one, policers) for one in inner["classes"]]
    return None if None in limits else sum(limit or 0.0 for limit in limits)


def _filled(queueing: QueueingConfig, classes: Sequence[ClassConfig], rate: float) -> list[float]:
    """Share `rate` among `classes`: guarantees first, then the rest by weight, no class beyond its limit."""
    is_by_curves = queueing.get("scheduler") == "hfsc"
    minima = by_service_curves(classes, rate) if is_by_curves else [minimum_of(one) for one in classes]
    scale = min(1.0, rate / sum(minima)) if sum(minima) else 1.0
    limits = [min(limit_of(one) or rate, rate) for one in classes]
    shares = [min(scale * least, most) for least, most in zip(minima, limits, strict=True)]
    weights = [weight_of_rest(one) for one in classes]
    # Each round fills a class at least, or gives everything away.
    for _ in classes:
        rest = rate - sum(shares)
        hungry = [place for place, most in enumerate(limits) if shares[place] < most]
        total = sum(weights[place] for place in hungry)
        if not total:
            # HFSC: who has no slope of link-sharing gets the guarantee alone.
            break
        for place in hungry:
            shares[place] = min(shares[place] + rest * weights[place] / total, limits[place])
    return shares
