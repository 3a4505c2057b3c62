"""The configured rate of each queue beside the rate that it obtained in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from perhop.configuration import examined_as
from perhop.core_types import RecognizedPlatform, ResolvedClass, ResolvedGuarantee, RouterReport
from perhop.policy_rates import (
    by_level,
    by_service_curves,
    conditioner_limits,
    guarantee_of,
    has_priority,
    limit_of,
    weight_of,
)
from perhop.ports import ports, queue_names, resolved
from perhop.quantity import bits_per_second

if TYPE_CHECKING:
    from perhop.schema_types import QueueingConfig, ScenarioConfig

# The kinds of `bandwidth` that are rates.
_GUARANTEES = ("kbps", "percent")
# Schedulers whose weights share bytes; WRR's share packets.
_BY_WEIGHT = ("drr", "scfq", "wfq", "wf2q-plus")


@dataclass(frozen=True)
class Configured:
    """What a policy says about the rate of a queue, in bits per second."""

    at_least: float | None = None
    at_most: float | None = None
    #: Its part of what is left over, as written: `40 %`, `ratio 2`.
    remaining: str | None = None
    #: Whether it has strict priority.
    priority: bool = False


def rates(
    scenario: ScenarioConfig | Mapping[str, Any], summary: Mapping[str, Any], samples: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a row for each queue of each port whose policy has several queues, or limits the only one.

    Obtained is what the queue sent, in IP bits per second. What is still queued is known if the queue was
    sampled at the end: `samples` are the columns of the table `queues`.
    """
    seconds = summary["duration_s"] - summary["warmup_s"]
    said_by_routers = _said_by_routers(scenario)
    queued = _queued(samples, summary["duration_s"])
    rows = []
    for port in ports(scenario):
        rate = bits_per_second(port.rate)
        written = dict(_written(port.queueing, "", rate, first=False)) if port.queueing else {}
        limits = conditioner_limits(port.policy)
        written = {
            queue: _limited(one, limits.get(queue.rpartition("/")[2])) for queue, one in written.items()
        }
        said = said_by_routers.get((port.sender, port.interface.get("name")), {})
        found = {queue: said.get(queue, one) for queue, one in written.items()}
        if len(found) > 1 or any(one.at_most is not None for one in found.values()):
            sent = _sent(port.name, summary, seconds)
            rows += [
                {
                    "port": port.name,
                    "queue": queue,
                    "priority": one.priority,
                    "guaranteed_bps": one.at_least,
                    "limit_bps": one.at_most,
                    "remaining": one.remaining,
                    "obtained_bps": sent.get(queue) or {"mean": None, "ci95": None, "unit": "b/s"},
                    "queued_packets": queued.get((port.name, queue)),
                }
                for queue, one in found.items()
            ]
    return rows


def policers(scenario: ScenarioConfig | Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each conditioner that drops above a rate: where it is, and the rate."""
    policies = resolved(scenario).get("policies", {})
    rows = []
    for port in ports(scenario):
        for side in ("input", "output"):
            policy = policies.get(str(port.interface.get(side)))
            rows += [
                {
                    "node": port.sender,
                    "neighbor": port.receiver,
                    "side": side,
                    "class": name,
                    "limit_bps": limit,
                }
                for name, limit in conditioner_limits(policy).items()
            ]
    return rows


def platforms(scenario: ScenarioConfig | Mapping[str, Any]) -> dict[str, RecognizedPlatform]:
    """Return the platforms of the routers that have a configuration, as far as they are known."""
    found = {name: report.get("platform") for name, report in _reports(scenario)}
    return {name: platform for name, platform in found.items() if platform is not None}


def _queued(samples: Mapping[str, Any], end_s: float) -> dict[tuple[str, str], float]:
    """Return the packets in each sampled queue at the end of the run, their mean over the replications."""
    if not len(samples["time_s"]):
        return {}
    ports, queues = samples["port"], samples["queue"]
    last = (samples["time_s"] == end_s) & (samples["precedence"] == 0)
    found: dict[tuple[str, str], list[float]] = {}
    rows = zip(ports[0][last], queues[0][last], samples["packets"][last], strict=True)
    for port, queue, packets in rows:
        found.setdefault((ports[1][port], queues[1][queue]), []).append(float(packets))
    return {place: sum(values) / len(values) for place, values in found.items()}


def _written(
    queueing: QueueingConfig, prefix: str, rate: float | None, *, first: bool
) -> Iterator[tuple[str, Configured]]:
    """Return what the policy of a scenario says about its queues, of `rate` bits per second, if known."""
    for config, least in zip(queueing["classes"], _guarantees(queueing, rate), strict=True):
        path = f"{prefix}{config['name']}"
        is_first = first or has_priority(queueing, config)
        if inner := config.get("queueing"):
            most = limit_of(config)
            # The allotments of CBQ inside CBQ are parts of the wire as well, and the rates of HTB its own.
            is_link_shared = queueing["scheduler"] == inner["scheduler"] in {"cbq", "htb"}
            known = [one for one in (rate if is_link_shared else least, most) if one is not None]
            yield from _written(inner, f"{path}/", min(known, default=None), first=is_first)
        else:
            most = limit_of(config)
            sure = None if is_first or (least and most and most <= least) else least
            names = queue_names(config, path)
            # Tins share what their class has: none is sure of a rate, each may have all of it.
            said = Configured(sure if names == [path] else None, most, priority=is_first)
            yield from ((name, said) for name in names)


def _limited(one: Configured, limit: float | None) -> Configured:
    if limit is None or (one.at_most is not None and one.at_most <= limit):
        return one
    return replace(one, at_most=limit)


def _guarantees(queueing: QueueingConfig, rate: float | None) -> list[float | None]:
    """Return the rate that each class is sure of: written, or its weight's part of `rate`."""
    classes = queueing["classes"]
    if queueing.get("scheduler") in _BY_WEIGHT:
        total = sum(weight_of(one) for one in classes)
        parts = [None if rate is None else rate * weight_of(one) / total for one in classes]
        return [guarantee_of(one) or part for one, part in zip(classes, parts, strict=True)]
    if queueing.get("scheduler") == "cbq" and rate:
        total = max(sum((guarantee_of(one) or rate * weight_of(one)) / rate for one in classes), 1.0)
        return [(guarantee_of(one) or rate * weight_of(one)) / total for one in classes]
    if queueing.get("scheduler") == "hfsc" and rate is not None:
        return [*by_service_curves(classes, rate)]
    if queueing.get("scheduler") == "priority":
        *ahead, last = by_level(queueing)
        limits = {one["name"]: limit_of(one) for one in ahead}
        known = rate is not None and None not in limits.values()
        rest = max((rate or 0.0) - sum(limit or 0.0 for limit in limits.values()), 0.0)
        sure = {**limits, last["name"]: rest if known else None}
        return [sure[one["name"]] for one in classes]
    return [guarantee_of(one) or (rate if len(classes) == 1 else None) for one in classes]


def _sent(port: str, summary: Mapping[str, Any], seconds: float) -> dict[str, dict[str, Any]]:
    """Return what each queue of a port sent; of several drop precedences, the sum without interval."""
    found: dict[str, dict[str, Any]] = {}
    for row in summary["ports"]:
        if row["port"] == port:
            mean, ends = row["sent_bytes"]["mean"], row["sent_bytes"]["ci95"]
            before = found.get(row["queue"])
            found[row["queue"]] = {
                "mean": 8 * mean / seconds + (before["mean"] if before else 0.0),
                "ci95": None if before or ends is None else [8 * end / seconds for end in ends],
                "unit": "b/s",
            }
    return found


def _reports(scenario: ScenarioConfig | Mapping[str, Any]) -> Iterator[tuple[str, RouterReport]]:
    """Return what the configurations say whose text the scenario holds."""
    for name, router in scenario.get("routers", {}).items():
        configuration = router.get("configuration")
        if configuration and configuration.get("text"):
            text = "\n".join([str(configuration["text"]).rstrip("\n"), *configuration.get("add", []), ""])
            yield name, examined_as(text, configuration)


def _said_by_routers(
    scenario: ScenarioConfig | Mapping[str, Any],
) -> dict[tuple[str, str | None], dict[str, Configured]]:
    """Return what routers themselves say about their queues, by node and interface."""
    return {
        (name, port["name"]): dict(of_classes(policies["output"]["classes"]))
        for name, report in _reports(scenario)
        for port in report["router"]["ports"]
        if (policies := port.get("policies")) and policies["output"]
    }


def of_classes(classes: Sequence[ResolvedClass]) -> Iterator[tuple[str, Configured]]:
    """Return what a router's resolved policy says about the queues of its classes, and of their children."""
    for one in classes:
        bandwidth, priority = one.get("bandwidth"), one.get("priority")
        shape, police = one.get("shape"), one.get("police")
        limits = (
            priority and priority["rate_bps"],
            shape and shape["target_bps"],
            police and police["kind"] != "pps" and (police["pir_bps"] or police["cir_bps"]),
        )
        if one["queue"] and (bandwidth or priority or shape or police):
            kind = bandwidth["kind"] if bandwidth else None
            yield (
                one["queue"],
                Configured(
                    at_least=bandwidth["rate_bps"] if bandwidth and kind in _GUARANTEES else None,
                    at_most=min((limit for limit in limits if limit), default=None),
                    remaining=_remaining(bandwidth) if bandwidth else None,
                    priority=priority is not None,
                ),
            )
        if inner := one.get("policy"):
            yield from of_classes(inner["classes"])


def _remaining(bandwidth: ResolvedGuarantee) -> str | None:
    """Return a part of what is left over as it is written."""
    if bandwidth["kind"] == "remaining-percent":
        return f"{bandwidth['value']} %"
    return f"ratio {bandwidth['value']}" if bandwidth["kind"] == "remaining-ratio" else None
