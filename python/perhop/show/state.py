"""The policies of a port with what a run counted at them, as `show policy-map interface` presents it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from perhop.core_types import CountedBytes, ResolvedClass, ResolvedPolicy, ResolvedPriorityLimit
from perhop.schema_types import PrecedenceSource
from perhop.show.counters import (
    BY_QUEUE,
    NOTHING,
    POLICED,
    TAIL,
    Counters,
    PrecedenceCounts,
    Traffic,
    total,
)
from perhop.show.early_drops import EarlyDrops, early_drops
from perhop.show.rates import averaged

Side = Literal["input", "output"]
CLASS_DEFAULT = "class-default"
_DEFAULT: ResolvedClass = {
    "name": CLASS_DEFAULT,
    "line": 0,
    "combination": "match-any",
    "matches": ["any"],
    "queue": None,
    "conditioner": None,
    "bandwidth": None,
    "priority": None,
    "police": None,
    "shape": None,
    "queue_limit": None,
    "fair_queue": None,
    "random_detect": None,
    "marks": [],
    "policy": None,
}


@dataclass(frozen=True)
class QueueState:
    """A queue, or the queues of all classes inside a class."""

    depth: int = 0
    drops: Traffic = NOTHING
    #: Of the drops, those at the limit of a flow; `None` without flows.
    flow_drops: int | None = None
    output: Traffic = NOTHING

    def __add__(self, other: QueueState) -> QueueState:
        return QueueState(
            self.depth + other.depth, self.drops + other.drops, None, self.output + other.output
        )


@dataclass(frozen=True)
class Policed:
    """What a policer gave one color."""

    traffic: Traffic
    bps: float


@dataclass(frozen=True)
class PoliceState:
    """What a policer counted."""

    conformed: Policed
    exceeded: Policed
    #: `None` with two colors.
    violated: Policed | None


@dataclass(frozen=True)
class ClassState:
    """A class and its counters."""

    config: ResolvedClass
    #: All packets of the class before any drop; `None` where the run counts them with another class only.
    classified: Traffic | None
    #: What its conditioner, its queue, and the classes inside it dropped.
    dropped: Traffic
    offered_bps: float
    drop_bps: float
    queue: QueueState | None
    #: Packets dropped by the policer of its priority.
    exceed_drops: int
    police: PoliceState | None
    early_drops: EarlyDrops | None
    policy: PolicyState | None


@dataclass(frozen=True)
class PriorityState:
    """The queue that the priority classes of a level share."""

    limit: ResolvedPriorityLimit
    queue: QueueState


@dataclass(frozen=True)
class PolicyState:
    """A policy and its classes."""

    config: ResolvedPolicy
    priorities: list[PriorityState]
    classes: list[ClassState]


@dataclass(frozen=True)
class Place:
    """Where a policy is attached, and how what passes there is counted."""

    node: str
    #: The other end of the link; `None` for an interface that the run has no link for.
    neighbor: str | None
    side: Side
    #: Bytes that the platform counts on each packet besides those of IP.
    counted: CountedBytes
    load_interval_s: int
    #: How long the traffic has lasted; `None` for long enough.
    after_s: float | None
    #: The codepoints of packets in the run, by their names.
    seen: frozenset[str]
    #: What each queue takes for the drop precedence of a packet.
    sources: Mapping[str, PrecedenceSource]


def policy_state(policy: ResolvedPolicy, place: Place, counters: Counters) -> PolicyState:
    """Return the policy with what was counted at `place`."""
    counting = _Counting(place, counters)
    return counting.policy(policy, counting.all())


@dataclass(frozen=True)
class _Counting:
    place: Place
    counters: Counters

    def all(self) -> Traffic | None:
        """Return all packets at the place, dropped or not."""
        place = self.place
        if place.neighbor is None:
            return None
        count = self.counters.arrived if place.side == "input" else self.counters.handed
        return self._in_class(count(place.node, place.neighbor))

    def policy(self, policy: ResolvedPolicy, whole: Traffic | None) -> PolicyState:
        """Return a policy that was given `whole`; `None` where that is not known."""
        configs = policy["classes"]
        if not any(config["name"] == CLASS_DEFAULT for config in configs):
            # Every policy has it, and routers show it, whether it is written or not.
            configs = [*configs, _DEFAULT]
        classes = [self.one(config) for config in configs]
        classes = self._with_the_rest(self._without_guests(classes), whole)
        return PolicyState(policy, _priorities(policy, classes), classes)

    def _with_the_rest(self, classes: list[ClassState], whole: Traffic | None) -> list[ClassState]:
        """Give the one class that nothing counts, if there is one, the packets that no other class has."""
        uncounted = [one for one in classes if one.classified is None]
        if len(uncounted) != 1 or whole is None:
            return classes
        if self.place.side == "output" and uncounted[0].config["name"] != CLASS_DEFAULT:
            # Its packets were counted in class-default's queue.
            return classes
        rest = whole - total(one.classified for one in classes if one.classified)
        return [
            self._with_rates(replace(one, classified=rest)) if one is uncounted[0] else one for one in classes
        ]

    def one(self, config: ResolvedClass) -> ClassState:
        stage = self._stage(config["conditioner"])
        counts = self._counts(config["queue"], "classes")
        inside = None
        if config["policy"]:
            whole = _sum(counts, lambda one: one.arrived) if counts else None
            inside = self.policy(config["policy"], whole)
        police = self._police(config, stage) if config["police"] else None
        policed = Traffic() if police is None else _dropped_by(police, config)
        exceed = _sum(counts, lambda one: one.drops([POLICED]))
        queue = self._queue(config)
        if queue is None and inside:
            queue = _sum_of_queues(inside.classes)
        classified = _classified(config, stage, counts, inside)
        if config.get("drop"):
            policed = classified or Traffic()
        own = _sum(counts, lambda one: one.drops(BY_QUEUE))
        inner = total(one.dropped for one in inside.classes) if inside else Traffic()
        return self._with_rates(
            ClassState(
                config=config,
                classified=classified,
                dropped=policed + own + exceed + inner,
                offered_bps=0.0,
                drop_bps=0.0,
                queue=queue,
                exceed_drops=exceed.packets,
                police=police,
                early_drops=self._early_drops(config),
                policy=inside,
            )
        )

    def _with_rates(self, state: ClassState) -> ClassState:
        offered = self._bps(state.classified) if state.classified else 0.0
        return replace(state, offered_bps=offered, drop_bps=self._bps(state.dropped))

    def _bps(self, traffic: Traffic) -> float:
        seconds = self.counters.seconds
        rate = traffic.bytes * 8 / seconds if seconds else 0.0
        return averaged(rate, self.place.load_interval_s, self.place.after_s)

    def _stage(self, name: str | None) -> dict[str, Traffic]:
        place = self.place
        if name is None or place.neighbor is None:
            return {}
        found = self.counters.stage(place.node, place.neighbor, place.side, name)
        return {color: self._in_class(traffic) for color, traffic in found.items()}

    def _in_class(self, traffic: Traffic) -> Traffic:
        return traffic.with_overhead(self.place.counted["classes"])

    def _counts(
        self, name: str | None, counted_as: Literal["classes", "queues"]
    ) -> dict[int, PrecedenceCounts]:
        """Return what a queue counted by drop precedence, with the bytes that classes or queues count."""
        if name is None or self.place.neighbor is None:
            return {}
        overhead = self.place.counted[counted_as]
        found = self.counters.queue(self._port, name)
        return {precedence: counts.with_overhead(overhead) for precedence, counts in found.items()}

    @property
    def _port(self) -> str:
        return f"{self.place.node}->{self.place.neighbor}"

    def _queue(self, config: ResolvedClass) -> QueueState | None:
        name = config["queue"]
        if name is None:
            return None
        counts = self._counts(name, "queues")
        arrived = _sum(counts, lambda one: one.arrived)
        output = _sum(counts, lambda one: one.sent)
        tail = _sum(counts, lambda one: one.drops(TAIL))
        drops = _sum(counts, lambda one: one.drops(BY_QUEUE))
        policed = _sum(counts, lambda one: one.drops([POLICED]))
        sample = self.counters.occupancy(self._port, name)
        balance = (arrived - output - drops - policed).packets
        return QueueState(
            depth=sample.packets if sample else balance,
            drops=drops,
            flow_drops=tail.packets if config["fair_queue"] else None,
            output=output,
        )

    def _police(self, config: ResolvedClass, stage: dict[str, Traffic]) -> PoliceState:
        def policed(*colors: str) -> Policed:
            traffic = total(stage.get(color, Traffic()) for color in colors)
            return Policed(traffic, self._bps(traffic))

        if config["police"] and config["police"]["colors"] == 2:
            return PoliceState(policed("green"), policed("yellow", "red"), None)
        return PoliceState(policed("green"), policed("yellow"), policed("red"))

    def _early_drops(self, config: ResolvedClass) -> EarlyDrops | None:
        detect = config["random_detect"]
        if detect is None:
            return None
        sample = self.counters.occupancy(self._port, config["queue"]) if config["queue"] else None
        source = self.place.sources.get(config["queue"] or "")
        counts = self._counts(config["queue"], "queues")
        return early_drops(detect, counts, sample, source=source, seen=self.place.seen)

    def _without_guests(self, classes: list[ClassState]) -> list[ClassState]:
        """Take the classes that wait in class-default's queue out of what class-default classified.

        A class without bandwidth, shaper or priority has no queue of its own.
        """
        guests = total(
            one.classified - one.dropped
            for one in classes
            if one.config["queue"] is None and one.policy is None and one.classified
        )
        return [
            self._with_rates(replace(one, classified=one.classified - guests))
            if one.config["name"] == CLASS_DEFAULT
            and one.config["queue"]
            and not one.config["conditioner"]
            and one.classified
            else one
            for one in classes
        ]


def _classified(
    config: ResolvedClass,
    stage: dict[str, Traffic],
    counts: dict[int, PrecedenceCounts],
    inside: PolicyState | None,
) -> Traffic | None:
    """Return what the class classified: what met its policy, its conditioner or its queue first."""
    parts = [one.classified for one in inside.classes] if inside else []
    if parts and None not in parts:
        return total(part for part in parts if part)
    if config["conditioner"]:
        return total(stage.values())
    if config["queue"]:
        return _sum(counts, lambda one: one.arrived)
    return None


def _dropped_by(police: PoliceState, config: ResolvedClass) -> Traffic:
    actions = config["police"]
    assert actions, "the state of a policer comes from one"
    dropping = (
        (police.conformed, actions["conform"]),
        (police.exceeded, actions["exceed"]),
        (police.violated, actions["violate"]),
    )
    return total(policed.traffic for policed, words in dropping if policed and "drop" in words)


def _sum(counts: dict[int, PrecedenceCounts], of: Callable[[PrecedenceCounts], Traffic]) -> Traffic:
    return total(of(one) for one in counts.values())


def _sum_of_queues(classes: Iterable[ClassState]) -> QueueState | None:
    queues = [one.queue for one in classes if one.queue]
    return sum(queues[1:], queues[0]) if queues else None


def _priorities(policy: ResolvedPolicy, classes: list[ClassState]) -> list[PriorityState]:
    found = []
    for limit in policy["priority_limits"]:
        queues = [
            one.queue
            for one in classes
            if one.queue and one.config["priority"] and one.config["priority"]["level"] == limit["level"]
        ]
        found.append(PriorityState(limit, sum(queues, QueueState())))
    return found
