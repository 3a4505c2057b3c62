"""Judging the classes of a run: state, fitness, and the causes of losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perhop.ports import ports
from perhop.verdicts.classifying import queues_by_class
from perhop.verdicts.fitness import Fitness, fitness
from perhop.verdicts.places import Queue, causes_of, holder_of, limit_of, port_of_drops, queue_of
from perhop.verdicts.pools import pool_holder_of
from perhop.verdicts.telephony import Call, Heard, Telephony, calls
from perhop.verdicts.verdict import OBTAINED, State, Traffic, Verdict
from perhop.verdicts.y1541 import y1541

if TYPE_CHECKING:
    from perhop.schema_types import ScenarioConfig

# The fractions of its offered load below which a class starves: with an unfulfilled guarantee, and without a
# guarantee.
_STARVED_PART, _STARVED_PART_WITHOUT = 0.5, 0.1
_OF_POOL = "shared_memory"
_IN_QUEUES = ("queue_full", "early_random", "early_forced", "shared_memory", "port_memory")


def judge(
    summary: Mapping[str, Any],
    scenario: ScenarioConfig,
    heard: Heard,
    telephony: Telephony,
) -> list[Verdict]:
    """Return the verdict on each class of a run, from its summary and columns of its tables."""
    rated = calls(heard, telephony)
    # An inferred scenario has the queue of each class, even if the codepoint alone does not determine the
    # queue.
    inferred = summary.get("inferred", {}).get("queues", {})
    waits = {**queues_by_class(scenario), **{name: [tuple(place)] for name, place in inferred.items()}}
    names = [str(group["class"]) for group in summary["classes"]]
    overheads = {port.name: int((port.policy or {}).get("overhead") or 0) for port in ports(scenario)}
    queues = {name: queue_of(name, summary, waits.get(name), overheads) for name in names}
    promised = {name: queue.guaranteed_bps if queue else None for name, queue in queues.items()}
    fit = fitness(summary, {name: call.r for name, call in rated.items()}, promised)
    return [
        _verdict(group, summary, rated[name], queues[name], fit.get(name, Fitness()))
        for name, group in zip(names, summary["classes"], strict=True)
    ]


def _verdict(
    group: Mapping[str, Any], summary: Mapping[str, Any], call: Call, queue: Queue | None, fit: Fitness
) -> Verdict:
    name = str(group["class"])
    traffic = _traffic(group, summary["duration_s"] - summary["warmup_s"])
    causes = causes_of(group)
    others_get = any(_mean(other["throughput_bps"]) for other in summary["classes"])
    state = _state(traffic, causes, queue, others_get=others_get)
    cause, part = causes[0] if causes else (None, None)
    port = port_of_drops(cause, queue, summary["ports"]) if cause else queue.port if queue else None
    is_short = state == "starved" or (state == "congested" and _is_short(queue, traffic.offered_bps))
    return Verdict(
        name=name,
        state=state,
        call=call,
        traffic=traffic,
        queue=queue,
        fitness=fit,
        y1541=y1541(group, traffic.loss_percent),
        cause=cause,
        cause_percent=part,
        port=port if cause else None,
        limit_bps=limit_of(name, queue, traffic.offered_bps, summary) if state == "policed" else None,
        holder=holder_of(port, queue, summary) if port and is_short else None,
        pool_holder=pool_holder_of(port, summary) if cause == _OF_POOL else None,
    )


def _traffic(group: Mapping[str, Any], seconds: float) -> Traffic:
    delivered, dropped = (_mean(group[f"{counter}_packets"]) for counter in ("delivered", "dropped"))
    offered = _mean(group["offered_packets"])
    return Traffic(
        offered_packets=offered,
        offered_bps=8.0 * _mean(group["offered_bytes"]) / seconds,
        obtained_bps=_mean(group["throughput_bps"]),
        loss_percent=_mean(group["dropped_percent"]) if delivered or dropped else None,
        unseen_percent=100.0 * _mean(group["in_network_packets"]) / offered if offered else 0.0,
    )


def _state(
    traffic: Traffic, causes: Sequence[tuple[str, float]], queue: Queue | None, *, others_get: bool
) -> State:
    if not traffic.offered_packets:
        return "idle"
    if not causes and not traffic.obtained_bps and not (queue and others_get):
        return "waiting"
    main = causes[0][0] if causes else None
    if main is not None and main not in _IN_QUEUES:
        return "policed" if main == "policed" else "lossy"
    if _is_starved(traffic, queue):
        return "starved"
    return "congested" if main else "clean"


def _is_starved(traffic: Traffic, queue: Queue | None) -> bool:
    """Whether a class starves: its throughput is low, and below its guarantee if the guarantee is known."""
    if traffic.served is None:
        return False
    if queue is None or queue.guaranteed_bps is None:
        return traffic.served < _STARVED_PART_WITHOUT
    return traffic.served < _STARVED_PART and _is_below(queue)


def _is_short(queue: Queue | None, offered_bps: float) -> bool:
    """Whether a queue obtains less than its guarantee, although its class offers more."""
    return (
        queue is not None and _is_below(queue) and queue.obtained_bps < OBTAINED * queue.counted * offered_bps
    )


def _is_below(queue: Queue | None) -> bool:
    """Whether a queue obtains less than its guarantee, while its port sends at least the guarantee."""
    if queue is None or queue.guaranteed_bps is None:
        return False
    sure = OBTAINED * queue.guaranteed_bps
    # A port that sends less is not busy: the queue obtains less because of its bursts.
    return queue.obtained_bps < sure <= queue.counted * queue.port_bps


def _mean(value: Mapping[str, Any]) -> float:
    return float(value["mean"] or 0.0)
