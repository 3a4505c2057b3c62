"""Queueing as a tree of HTB classes of Linux."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from perhop.convert import tc_htb, tc_native
from perhop.convert.ios_class import size
from perhop.convert.policies import Remark, one_line
from perhop.convert.tc_queue import discipline
from perhop.policy_rates import weight_of
from perhop.quantity import bits_per_second
from perhop.schema_types import ClassConfig

# Linux: levels of priority of HTB, and the quanta that it accepts without a warning (sch_htb.c).
_MOST_PRIORITY = 7
_SMALL_QUANTUM, _LEAST_QUANTUM, _MOST_QUANTUM = 1000, 1514, 200_000
# What a class gets that is promised nothing: a hundredth.
_LEAST_PART = 100


@dataclass
class Leaf:
    """A class with a queue: its number, and the condition of its packets as a list of conditions."""

    name: str
    minor: int
    matches: list[Mapping[str, Any]]

    @property
    def match(self) -> Mapping[str, Any] | None:
        """The condition of its packets; `None` for all that no other class takes."""
        if len(self.matches) < 2:
            return self.matches[0] if self.matches else None
        return {"all": self.matches}


@dataclass
class Inside:
    """What a queueing stands in."""

    parent: int
    #: What shares are parts of, and what a class may take while others leave it, both in bits per second.
    rate_bps: int
    most_bps: int
    priority: int
    where: str
    matches: list[Mapping[str, Any]] = field(default_factory=list)
    #: The class around it among its siblings: HTB lends by the quanta of leaves, however deep they are.
    scale: float = 1.0
    #: Whether nearly nothing is guaranteed here, because a class of higher priority has no bound.
    borrows: bool = False


class Tree:
    """The HTB classes and queues of one port."""

    def __init__(self, rate_bps: int, where: str) -> None:
        self.lines: list[str] = []
        #: The discipline around the classes, and what else it is told.
        self.kind, self.words = "htb", ""
        #: Whether packets that no class takes are sent by HTB itself, as the policy has it.
        self.has_direct = False
        self.leaves: list[Leaf] = []
        self.remarks: list[Remark] = []
        self._next = 1
        self._where = where
        self._rate_bps = rate_bps

    def add(self, queueing: Mapping[str, Any], rate_bps: int) -> None:
        """Add all classes of a port."""
        native = tc_native.whole_port(queueing, rate_bps)
        if native is not None:
            self.kind = native
            self.has_direct = any(map(tc_native.is_direct, queueing["classes"]))
            self.lines, self.words = tc_native.classes(queueing, native, rate_bps, self._native_leaf)
            return
        self.lines.append(
            f'tc class add dev "$DEV" parent 1: classid 1:1 htb rate {rate_bps}bit ceil {rate_bps}bit '
            f"quantum {_LEAST_QUANTUM}"
        )
        self._queueing(queueing, Inside(1, rate_bps, rate_bps, 0, self._where))

    def _queueing(self, queueing: Mapping[str, Any], inside: Inside) -> None:
        classes, scheduler = list(queueing["classes"]), queueing.get("scheduler", "fifo")
        if scheduler == "priority":
            self._priorities(classes, inside)
        elif scheduler == "htb":
            self._token_buckets(queueing, inside, queueing.get("rate-to-quantum") or tc_htb.RATE_TO_QUANTUM)
        elif scheduler == "fifo" and len(classes) > 1:
            self._shared(queueing, inside)
        else:
            self._weighted(classes, scheduler, inside)

    def _say(self, where: str, construct: str, why: str) -> None:
        remark = Remark(construct, where, why)
        if remark not in self.remarks:
            self.remarks.append(remark)

    def _priorities(self, classes: list[Any], inside: Inside) -> None:
        """Add classes in order of priority: what has a bound is guaranteed it, the last gets the rest."""
        left, borrows = inside.rate_bps, inside.borrows
        # Where nearly all is borrowed, a priority would hold against the classes around this one as well.
        step = 0 if borrows and inside.parent != 1 else 1
        if not step:
            self._say(
                inside.where, "priority inside a class below one without a bound",
                "it holds for the class's guarantee; what it borrows goes in turns",
            )  # fmt: skip
        for number, one in enumerate(classes):
            priority = inside.priority + step * number
            if priority > _MOST_PRIORITY:
                self._say(inside.where, f"{priority + 1} levels of priority", f"HTB has {_MOST_PRIORITY + 1}")
            below = replace(inside, rate_bps=left, priority=min(priority, _MOST_PRIORITY), borrows=borrows)
            inner = one.get("queueing")
            if number + 1 == len(classes) and inner and not one.get("match") and not one.get("shape"):
                self._queueing(inner, below)
                continue
            bound = _bound(one)
            # What is promised must not exceed the whole: HTB would send it all. A class without a bound gets
            # all but a hundredth, and what others leave of that first.
            most = left if number + 1 == len(classes) else max(left - left // _LEAST_PART, 1)
            rate = most if bound is None else min(bound, most)
            self._class(one, below, rate, _LEAST_QUANTUM)
            left = max(left - rate, 1)
            borrows = borrows or bound is None

    def _token_buckets(self, queueing: Mapping[str, Any], inside: Inside, divisor: int) -> None:
        """Add classes of HTB as they are written, and those inside them."""
        for one in queueing["classes"]:
            share, inner = one.get("share") or {}, one.get("queueing")
            where = f"{inside.where}, class {one['name']}"
            rate, ceil = tc_htb.rates(share, self._rate_bps)
            # Nobody lends to an outermost class, and here the port's would.
            ceil = min(rate, ceil) if inside.parent == 1 else ceil
            if share.get("direct"):
                self._say(where, "direct class", "up to the rate of the port: its class is around all others")
            has_turns = not inner or inner.get("scheduler") != "htb"
            said = tc_htb.words(share, rate, ceil)
            if has_turns:
                said += f" {tc_htb.turns(share, rate, divisor)}"
            self._next += 1
            minor = self._next
            self.lines += [
                f"# {one_line(one['name'])}",
                f'tc class add dev "$DEV" parent 1:{inside.parent:x} classid 1:{minor:x} htb {said}',
            ]
            matches = inside.matches + ([one["match"]] if one.get("match") else [])
            below = Inside(minor, rate, ceil, share.get("level") or 0, where, matches)
            if not has_turns:
                self._token_buckets(inner, below, divisor)
            elif inner:
                self._queueing(inner, below)
            else:
                self._leaf(one, minor, rate, where, matches)

    def _shared(self, queueing: Mapping[str, Any], inside: Inside) -> None:
        """Add one class for several that share a queue."""
        classes = queueing["classes"]
        names = ", ".join(one["name"] for one in classes)
        bounds = [bound for one in classes if (bound := _bound(one)) is not None]
        if bounds:
            self._say(
                inside.where, f"policers of {names}", "classes of one queue: one guarantee of their sum"
            )
        whole = {"name": names, "buffer": {"tail-drop": {"limit": queueing.get("limit") or "64 packets"}}}
        rate = min(sum(bounds), inside.rate_bps) if bounds else inside.rate_bps
        minor = self._class(whole, inside, rate, _LEAST_QUANTUM)
        self.leaves.pop()
        for one in classes:
            own = [one["match"]] if one.get("match") else []
            self.leaves.append(Leaf(one["name"], minor, inside.matches + own))

    def _weighted(self, classes: list[Any], scheduler: str, inside: Inside) -> None:
        rates = [self._promised(one, classes, scheduler, inside) for one in classes]
        if sum(rates) > inside.rate_bps:
            rates = [max(rate * inside.rate_bps // sum(rates), 1) for rate in rates]
        weights = [_excess(one, rate, scheduler) for one, rate in zip(classes, rates, strict=True)]
        quanta = self._quanta(weights, inside.where)
        if len(classes) > 1 and scheduler not in {"drr", "three-parameter"}:
            self._say(
                inside.where, f"scheduler {scheduler}",
                "HTB serves guaranteed rates first and shares what is left by quanta, in turns (DRR)",
            )  # fmt: skip
        if scheduler == "cbq":
            self._say(
                inside.where, "link sharing of cbq",
                "HTB lends by rates, without levels, idle time that is saved up, and extra delay",
            )  # fmt: skip
        if scheduler == "hfsc":
            self._say(
                inside.where, "service curves of hfsc",
                "HTB guarantees the rates of their last pieces and lends what is left, without deadlines",
            )  # fmt: skip
        if len(classes) > 1 and inside.parent != 1:
            self._say(
                inside.where, "classes that share inside a class",
                "what they borrow from above goes by the quanta of single queues",
            )  # fmt: skip
        if scheduler == "three-parameter":
            self._say(
                inside.where, "excess of a three-parameter scheduler",
                "HTB shares it by quanta among the classes of one priority that may borrow",
            )  # fmt: skip
        for one, rate, quantum in zip(classes, rates, quanta, strict=True):
            self._class(one, inside, rate, quantum)

    def _promised(self, one: Any, classes: list[Any], scheduler: str, inside: Inside) -> int:  # noqa: ANN401 - a class
        share = one.get("share") or {}
        if scheduler == "three-parameter":
            if share.get("minimum"):
                return round(bits_per_second(share["minimum"]))
            return max(inside.rate_bps // _LEAST_PART, 1)
        if share.get("fraction"):
            return max(round(self._rate_bps * float(share["fraction"])), 1)
        if share.get("bandwidth"):
            return max(round(bits_per_second(share["bandwidth"])), 1)
        if share.get("real-time"):
            return max(round(bits_per_second(share["real-time"]["m2"])), 1)
        if len(classes) == 1:
            return inside.rate_bps
        total = sum(weight_of(other) for other in classes)
        return max(round(inside.rate_bps * weight_of(one) / total), 1)

    def _quanta(self, weights: list[float], where: str) -> list[int]:
        """Return bytes in proportion to weights, a frame at least where that is possible."""
        least = min(max(_MOST_QUANTUM * min(weights) / max(weights), _SMALL_QUANTUM), _LEAST_QUANTUM)
        scale = least / min(weights)
        quanta = [round(weight * scale) for weight in weights]
        if max(quanta) > _MOST_QUANTUM:
            self._say(
                where, f"shares of the excess from {min(weights):g} to {max(weights):g}",
                f"HTB takes quanta up to {_MOST_QUANTUM} bytes: the largest are less",
            )  # fmt: skip
        return [min(quantum, _MOST_QUANTUM) for quantum in quanta]

    def _class(self, one: Mapping[str, Any], inside: Inside, rate: int, quantum: int) -> int:
        """Add a class and what is in it; return its number."""
        ceil = inside.most_bps
        where = f"{inside.where}, class {one['name']}"
        self._next += 1
        minor = self._next
        shape = one.get("shape")
        bursts = ""
        quantum = min(round(quantum * inside.scale), _MOST_QUANTUM)
        if (one.get("share") or {}).get("borrow") is False:
            ceil = min(rate, ceil)
        if shape:
            ceil = min(self._shaped(shape, where), ceil) if inside.parent != 1 else self._shaped(shape, where)
            rate = min(rate, ceil)
            bursts = f" burst {size(shape['burst'])[0]}b cburst {size(shape['burst'])[0]}b"
        ceil = self._policed(one, where, ceil)
        self.lines += [
            f"# {one_line(one['name'])}",
            f'tc class add dev "$DEV" parent 1:{inside.parent:x} classid 1:{minor:x} htb rate {rate}bit '
            f"ceil {ceil}bit{bursts} prio {inside.priority} quantum {quantum}",
        ]
        matches = inside.matches + ([one["match"]] if one.get("match") else [])
        inner = one.get("queueing")
        if inner:
            self._queueing(
                inner,
                Inside(
                    minor,
                    rate,
                    ceil,
                    inside.priority,
                    where,
                    matches,
                    quantum / _LEAST_QUANTUM,
                    inside.borrows,
                ),
            )
            return minor
        self._leaf(one, minor, rate, where, matches)
        return minor

    def _native_leaf(self, one: Mapping[str, Any], minor: int, rate: int, matches: list[Any]) -> str:
        self._leaf(one, minor, rate, f"{self._where}, class {one['name']}", matches)
        return self.lines.pop()

    def _leaf(self, one: Mapping[str, Any], minor: int, rate: int, where: str, matches: list[Any]) -> None:
        """Add the queue of a class."""
        own = discipline(one, rate, lambda construct, why: self._say(where, construct, why))
        self.lines.append(f'tc qdisc add dev "$DEV" parent 1:{minor:x} handle {minor + 0x100:x}: {own}')
        self.leaves.append(Leaf(one["name"], minor, matches))

    def _shaped(self, shape: Mapping[str, Any], where: str) -> int:
        rate = round(bits_per_second(shape["rate"]))
        burst, excess = (size(shape.get(key) or shape["burst"])[0] for key in ("burst", "excess"))
        if shape.get("form") == "peak":
            return rate * (burst + excess) // burst
        if excess > 0:
            self._say(where, f"excess burst of {excess} bytes", "HTB has one bucket: the committed burst")
        return rate

    def _policed(self, one: Mapping[str, Any], where: str, ceil: int) -> int:
        bound = _bound(one)
        if bound is None:
            return ceil
        police = one.get("police") or {}
        if police and police.get("when", "congested") == "congested":
            self._say(
                where, f"policer of {police['rate']} under congestion",
                "HTB guarantees the rate and lends more while others leave it; what waits longer is dropped "
                "by its queue",
            )  # fmt: skip
            return ceil
        self._say(where, f"limit of {bound} b/s", "HTB delays what exceeds it, up to the queue's limit")
        return min(bound, ceil)


def _bound(one: Mapping[str, Any]) -> int | None:
    """Return the rate that a policer or a cap of a class lets through, in bits per second."""
    limit = one.get("police") or (one.get("share") or {}).get("cap")
    return round(bits_per_second(limit["rate"])) if limit else None


def _excess(one: Mapping[str, Any], rate: int, scheduler: str) -> float:
    if scheduler == "hfsc":
        return weight_of(cast("ClassConfig", one))
    if scheduler == "three-parameter":
        return float((one.get("share") or {}).get("weight") or 1.0)
    return float(rate)
