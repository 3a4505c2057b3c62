"""A policy as policy-maps of IOS: conditioners and queues of one class together, in an order that holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import gcd
from typing import Any, cast

from perhop.codepoints import in_words_of_ios
from perhop.convert.conditions import same
from perhop.convert.ios_class import queue_lines, rate_words, shape_line, share_lines, size
from perhop.convert.ios_conditioner import TableMaps, is_rate_limit, stage_lines
from perhop.convert.ios_match import ClassMaps, InexpressibleError, ios_name
from perhop.convert.policies import Remark, one_line
from perhop.policy_rates import weight_of
from perhop.quantity import bits_per_second
from perhop.schema_types import ClassConfig

CLASS_DEFAULT = "class-default"
# Stages that the router has by itself: a new tag without a class of service, no discard class.
_BY_ITSELF = ("new tag", "discard class 0")
# Stages that give packets the color with which a policer behind them takes them.
_COLORING = ("conform-color", "exceed-color", "colors")
# Queues of interfaces without a policy.
_PLAIN = ("fifo", "fair-queue", "random-detect")
_LEVELS = {"pre-hqf": 1, "7500-vip": 1}


@dataclass
class Class:
    """A class of a policy-map in the making."""

    name: str
    match: Mapping[str, Any] | None
    lines: list[str] = field(default_factory=list)
    queue: Mapping[str, Any] | None = None
    level: int | None = None
    #: The classes of a policy inside it that marks and polices before it does.
    inside: list[Class] = field(default_factory=list)


@dataclass(frozen=True)
class Choice:
    """What a policy may leave unsaid: which classes without a need have no `bandwidth` line."""

    #: class-default.
    default: bool
    #: Classes that shape or queue flows fairly.
    shaped: bool
    #: Bytes that the first class with a rate counts besides those of the link.
    account: int = 0


#: Every choice, the one that says least first.
CHOICES = (Choice(True, True), Choice(True, False), Choice(False, True), Choice(False, False))


class Writer:
    """Writes policies of one router as lines of its configuration."""

    def __init__(self, profile: str, choice: Choice = CHOICES[0]) -> None:
        self.profile, self.choice = profile, choice
        self.class_maps, self.tables = ClassMaps(), TableMaps()
        #: What IOS does not have.
        self.remarks: list[Remark] = []
        self._policies: list[list[str]] = []
        self._depth = 0

    def lines(self) -> list[str]:
        """Return tables, access lists, class-maps and policy-maps."""
        policies = [line for one in self._policies for line in one]
        return [*self.tables.lines(), *self.class_maps.lines(), *policies]

    def policy(self, name: str, config: Mapping[str, Any], rate_bps: int | None, where: str) -> str | None:
        """Write a policy; return the name of its policy-map, `None` where it needs none."""
        config = in_words_of_ios(config)
        stages = [
            stage
            for stage in config.get("conditioners") or []
            if not is_rate_limit(stage) and stage.get("name") not in _BY_ITSELF
        ]
        queueing = config.get("queueing")
        if queueing and _is_plain(queueing):
            queueing = None
        if not stages and not queueing:
            return None
        classes = self._classes(stages, queueing, where)
        return self._policy_map(ios_name(name), classes, rate_bps, where)

    def _remark(self, where: str, error: InexpressibleError) -> None:
        self.remarks.append(Remark(error.construct, where, error.why))

    def _attempt(self, where: str, lines: Callable[[], list[str]]) -> list[str]:
        try:
            return lines()
        except InexpressibleError as error:
            self._remark(where, error)
            return []

    def _classes(self, stages: list[Any], queueing: Any, where: str) -> list[Class]:  # noqa: ANN401 - parts of a policy
        labels: dict[int, Mapping[str, Any] | None] = {}
        classes: list[Class] = []
        queues = self._queues(queueing, where) if queueing else []
        by_label = any(_labels(one.match) for one in queues)
        names = [str(stage.get("name") or "") for stage in stages]
        colors: dict[str, Mapping[str, Any] | None] = {}
        for number, stage in enumerate(stages, start=1):
            name = str(stage.get("name") or f"class-{number}")
            owner, _, color = name.rpartition(" ")
            if color in _COLORING and owner.removesuffix(" other") in names[number:]:
                colors[color] = stage.get("match")
                continue
            own, label = _without_label(stage) if by_label else (stage, None)
            if label is not None:
                labels[label] = stage.get("match")
            inner = name.rpartition(".")[0] in names[number:]
            known = self._colored(name, own, colors, f"{where}, class {name}")
            lines = self._attempt(
                f"{where}, class {name}", partial(stage_lines, known, self.tables, inner=inner)
            )
            classes.append(Class(name, stage.get("match"), lines))
        return _merged(_nested(classes), queues, labels)

    def _colored(
        self, name: str, stage: Mapping[str, Any], colors: dict[str, Mapping[str, Any] | None], where: str
    ) -> Mapping[str, Any]:
        """Return a stage whose meter knows the class-maps of the colors with which packets come."""
        if "conform-color" not in colors:
            return stage
        found = {}
        for color in ("conform-color", "exceed-color"):
            match = colors.get(color)
            own = _within(match, stage.get("match")) if match else None
            if own:
                try:
                    found[color] = self.class_maps.define(f"{name}-{color}", own)
                except InexpressibleError as error:
                    self._remark(where, error)
        colors.clear()
        ((kind, parameters),) = stage["meter"].items()
        return {**stage, "meter": {kind: {**parameters, "class-maps": found}}}

    def _queues(self, queueing: Mapping[str, Any], where: str) -> list[Class]:
        """Return the classes that queue, those with priority first."""
        classes, scheduler = queueing["classes"], queueing.get("scheduler", "fifo")
        if queueing.get("limit"):
            common = f"limit {queueing['limit']} of all queues together"
            self.remarks.append(Remark(common, where, "IOS limits each queue"))
        if scheduler == "priority":
            return self._under_priority(classes, where)
        if scheduler in {"wrr", "drr", "wfq", "wf2q-plus", "cbq", "hfsc", "htb"}:
            self.remarks.append(Remark(
                f"scheduler {scheduler}", where,
                "IOS shares by its own scheduler, which perhop has as scfq or three-parameter"))  # fmt: skip
        if scheduler == "cbq":
            classes = [self._without_links(one, where) for one in classes]
        if scheduler == "hfsc":
            classes = [self._without_curves(one, where) for one in classes]
        elif scheduler == "htb":
            classes = [self._without_buckets(one, where) for one in classes]
        return [Class(one["name"], one.get("match"), queue=one) for one in _with_ratios(classes)]

    def _without_links(self, one: dict[str, Any], where: str) -> dict[str, Any]:
        """Return a class of CBQ with its allotment alone."""
        share = dict(one.get("share") or {})
        for key in ("level", "borrow", "max-idle", "extra-delay"):
            if key in share:
                said = f"{key} {share.pop(key)} of cbq".lower()
                self.remarks.append(Remark(said, f"{where}, class {one['name']}", "IOS shares no links"))
        if "fraction" in share:
            share = {"weight": round(100 * share["fraction"], 6)}
        return {**one, "share": share}

    def _without_curves(self, one: dict[str, Any], where: str) -> dict[str, Any]:
        """Return a class of HFSC with its slope in the long run alone."""
        share: dict[str, Any] = one.get("share") or {}
        for key in ("real-time", "upper-limit"):
            if key in share:
                said = f"{key} {one_line(str(share[key]))} of hfsc"
                self.remarks.append(Remark(said, f"{where}, class {one['name']}", "no such curves in IOS"))
        return {**one, "share": {"weight": round(weight_of(cast("ClassConfig", one)) / 1000, 6)}}

    def _without_buckets(self, one: dict[str, Any], where: str) -> dict[str, Any]:
        """Return a class of HTB with its guaranteed rate alone."""
        share = dict(one.get("share") or {})
        rate = share.pop("rate", None)
        for key, value in share.items():
            said = f"{key} {value} of htb".lower()
            self.remarks.append(Remark(said, f"{where}, class {one['name']}", "IOS has the guaranteed rate"))
        return {**one, "share": {"bandwidth": rate} if rate else {}}

    def _under_priority(self, classes: list[Any], where: str) -> list[Class]:
        found: list[Class] = []
        *priorities, others = classes
        if others.get("match"):
            priorities, others = classes, None
        level = 0
        for one in priorities:
            level += 1
            several = (one.get("queueing") or {}).get("classes") or [one]
            found += [Class(two["name"], two.get("match"), queue=two, level=level) for two in several]
        most = _LEVELS.get(self.profile, 2)
        if level > most:
            self.remarks.append(Remark(
                f"{level} levels of priority", where, f"a router of {self.profile} has {most}"))  # fmt: skip
        if others is None:
            return found
        inner = others.get("queueing")
        if inner and not (others.get("shape") or others.get("police")):
            return found + self._queues(inner, where)
        return [*found, Class(CLASS_DEFAULT, None, queue=others)]

    def _policy_map(self, name: str, classes: list[Class], rate_bps: int | None, where: str) -> str:
        lines, inner = [f"policy-map {name}"], list[list[str]]()
        self._depth += 1
        for one in classes:
            place = f"{where}, class {one.name}"
            called = CLASS_DEFAULT
            if one.match is not None:
                try:
                    called = self.class_maps.define(one.name, one.match)
                except InexpressibleError as error:
                    self._remark(place, error)
                    continue
            elif one.name != CLASS_DEFAULT:
                called = self.class_maps.define(one.name, {})
            own = [*one.lines, *self._queue(one, rate_bps, place, f"{name}-{ios_name(one.name)}", inner)]
            if one.inside:
                before = len(self._policies)
                child = self._policy_map(f"{name}-{ios_name(one.name)}", one.inside, rate_bps, place)
                inner += self._policies[before:]
                del self._policies[before:]
                own.append(f"service-policy {child}")
            if own or one.match is not None:
                lines += [f" class {called}", *(f"  {line}" for line in own)]
        self._depth -= 1
        if self.choice.account and not self._depth:
            at = next((at for at, line in enumerate(lines) if re.match(r"  (bandwidth|shape) ", line)), None)
            if at is not None:
                lines[at] += f" account user-defined {self.choice.account}"
        self._policies += [*inner, [*lines, "!"]]
        return name

    def _queue(
        self, one: Class, rate_bps: int | None, where: str, name: str, inner: list[list[str]]
    ) -> list[str]:
        queue = one.queue
        if queue is None:
            return []
        lines: list[str] = []
        if one.level is not None:
            lines += self._attempt(where, lambda: _priority(queue, one.level or 1, rate_bps))
        elif not self._is_silent(one, queue):
            lines += self._attempt(
                where, lambda: share_lines(queue.get("share") or {}, self.profile, rate_bps)
            )
        below = rate_bps
        if queue.get("shape"):
            lines.append(shape_line(queue["shape"]))
            below = round(bits_per_second(queue["shape"]["rate"]))
        elif (share := queue.get("share") or {}).get("bandwidth"):
            below = round(bits_per_second(share["bandwidth"]))
        if queue.get("police") and (one.level is None or queue["police"].get("when") == "always"):
            police = queue["police"]
            rate, burst = round(bits_per_second(police["rate"])), size(police["burst"])[0]
            lines.append(f"police cir {rate} bc {burst}")
        nested = queue.get("queueing")
        if nested and one.level is None:
            before = len(self._policies)
            classes = self._queues(nested, where)
            child = self._policy_map(name, _merged([], classes, {}), below, where)
            inner += self._policies[before:]
            del self._policies[before:]
            return [*lines, f"service-policy {child}"]
        is_priority = one.level is not None
        return lines + self._attempt(where, lambda: queue_lines(queue, self.profile, priority=is_priority))

    def _is_silent(self, one: Class, queue: Mapping[str, Any]) -> bool:
        if one.match is None:
            return self.choice.default
        is_shaped = bool(queue.get("shape") or queue.get("fair-queueing") or queue.get("queueing"))
        return is_shaped and self.choice.shaped


def _priority(queue: Mapping[str, Any], level: int, rate_bps: int | None) -> list[str]:
    words = "priority" if level == 1 else f"priority level {level}"
    police = queue.get("police")
    if not police or police.get("when") == "always":
        return [words]
    rate = bits_per_second(police["rate"])
    burst = size(police["burst"])[0]
    usual = max(int(rate * 0.2 / 8), 1)
    return [f"{words} {rate_words(rate, rate_bps)}" + ("" if burst == usual else f" {burst}")]


def _with_ratios(classes: list[Any]) -> list[Any]:
    """Return classes that share by quanta of bytes with ratios in their place."""
    quanta = [(one.get("share") or {}).get("quantum") for one in classes]
    if not all(quanta):
        return classes
    sizes = [size(str(quantum))[0] for quantum in quanta]
    least = gcd(*sizes)
    return [{**one, "share": {"weight": bytes_ / least}} for one, bytes_ in zip(classes, sizes, strict=True)]


def _is_plain(queueing: Mapping[str, Any]) -> bool:
    """Whether an interface has these queues without a policy."""
    classes = queueing["classes"]
    if len(classes) != 1 or classes[0].get("match") or queueing.get("scheduler", "fifo") != "fifo":
        return False
    only = classes[0]
    limit = str(((only.get("buffer") or {}).get("tail-drop") or {}).get("limit", ""))
    done_by_interface = limit.endswith(" packets") and not (only.get("shape") or only.get("police"))
    return only["name"] in _PLAIN or (done_by_interface and not only.get("queueing"))


def _labels(match: Any) -> list[int]:  # noqa: ANN401 - a condition
    value = match.get("label") if isinstance(match, Mapping) and set(match) == {"label"} else None
    return [] if value is None else value if isinstance(value, list) else [value]


def _without_label(stage: Mapping[str, Any]) -> tuple[Mapping[str, Any], int | None]:
    """Return a stage without the label by which a queue knows its packets, and that label.

    It is the last one: a group that the router sets comes before it.
    """
    label, own = None, dict(stage)
    for key in ("actions", "green", "yellow", "red"):
        actions = list(stage.get(key) or [])
        places = [at for at, one in enumerate(actions) if isinstance(one, Mapping) and "label" in one]
        if places:
            label = actions.pop(places[-1])["label"]
            own[key] = actions
    return own, label


def _within(match: Mapping[str, Any] | None, outer: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return what a condition asks besides that of a class around it; `None` is nothing."""
    if match is None or match == outer:
        return None
    if set(match) == {"all"} and len(match["all"]) == 2:
        first, second = match["all"]
        if first == outer:
            return _within(second, None)
        if set(second) == {"not"}:
            return _within(first, outer)
    return match


def _nested(classes: list[Class]) -> list[Class]:
    """Return the classes with those of policies inside a class in it: `outer.inner` stands before `outer`."""
    found: list[Class] = []
    for one in classes:
        inside = [other for other in found if other.name.rpartition(".")[0] == one.name]
        for other in inside:
            other.name = other.name.rpartition(".")[2]
            other.match = _within(other.match, one.match)
        one.inside = [other for other in inside if other.match is not None]
        for other in inside:
            if other.match is None:
                one.inside.append(Class(CLASS_DEFAULT, None, other.lines))
        found = [other for other in found if all(other is not two for two in inside)] + [one]
    return found


def _merged(
    stages: list[Class], queues: list[Class], labels: Mapping[int, Mapping[str, Any] | None]
) -> list[Class]:
    """Return the classes of both, each once, so that the first that a packet meets is the right one."""
    if not stages:
        return _ordered(queues)
    found = list(stages)
    for queue in queues:
        known = next((one for one in found if one.name == queue.name and one.queue is None), None)
        if known is not None:
            known.queue, known.level = queue.queue, queue.level
            continue
        by_label = [labels[label] for label in _labels(queue.match) if label in labels]
        if by_label:
            queue.match = by_label[0] if len(by_label) == 1 else {"any": by_label}
        elif any(_excludes(queue, others) for others in _groups(found)):
            queue.match = (queue.match or {})["all"][0]
        found.append(queue)
    return [one for one in found if one.match is not None] + [one for one in found if one.match is None]


def _groups(classes: list[Class]) -> list[list[Class]]:
    """Return the classes whose packets a later one does not see: all, or those without a queue."""
    return [classes, [one for one in classes if one.queue is None]]


def _ordered(classes: list[Class]) -> list[Class]:
    """Return the classes with those that exclude others behind these, and without the exclusion."""
    ordered = [one for one in classes if one.match is not None and one.level is None]
    for one in (one for one in classes if one.match is not None and one.level is not None):
        at = next((at for at in range(len(ordered), 0, -1) if _excludes(one, ordered[:at])), 0)
        if at:
            one.match = (one.match or {})["all"][0]
        # Priority classes keep their order among each other, and come before all that they do not exclude.
        while at < len(ordered) and ordered[at].level is not None:
            at += 1
        ordered.insert(at, one)
    return ordered + [one for one in classes if one.match is None]


def _excludes(one: Class, others: list[Class]) -> bool:
    """Whether a class takes what meets its own condition and none of some others."""
    match = one.match or {}
    if set(match) != {"all"} or len(match["all"]) != 2 or set(match["all"][1]) != {"not"}:
        return False
    conditions = [other.match for other in others if other.level is None]
    if not conditions:
        return False
    return same(match["all"][1]["not"], conditions[0] if len(conditions) == 1 else {"any": conditions})
