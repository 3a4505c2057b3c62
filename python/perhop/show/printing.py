"""`show policy-map interface` as routers print it, of IOS 15 and of IOS-XE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from perhop.core_types import ResolvedClass, ResolvedLimit, ResolvedPolice
from perhop.show.counters import Traffic
from perhop.show.early_drops import EarlyDrops
from perhop.show.rates import interval_words
from perhop.show.routers import InterfaceState
from perhop.show.state import ClassState, Policed, PoliceState, PolicyState, QueueState

StyleName = Literal["ios15", "ios-xe"]
STYLES: tuple[StyleName, ...] = get_args(StyleName)


def style_of(profile: str) -> StyleName:
    """Return the style of a platform's releases."""
    return "ios-xe" if profile == "ios-xe" else "ios15"


def interface_text(state: InterfaceState, style: StyleName) -> str:
    """Return the part of the output for one interface."""
    printer = _Printer(style, state.interface.load_interval_s)
    lines = [f" {state.interface.name}"]
    for side, policy in state.policies.items():
        lines += ["", f"  Service-policy {side}: {policy.config['name']}", *printer.policy(policy, 4)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def thousands(bps: float) -> str:
    """Return a rate as the router writes it: whole kilobits and three zeros, so `0000` for none."""
    return f"{round(bps / 1000)}000"


@dataclass(frozen=True)
class _Printer:
    style: StyleName
    load_interval_s: int

    def policy(self, state: PolicyState, indent: int) -> Iterator[str]:
        space = " " * indent
        has_levels = len(state.priorities) > 1 or any(_has_level(one.config) for one in state.classes)
        for priority in state.priorities:
            yield ""
            yield f"{space}queue stats for all priority classes:"
            yield f"{space}  Queueing"
            if has_levels:
                yield f"{space}  priority level {priority.limit['level']}"
            yield from _queue(priority.limit, priority.queue, indent + 2)
        for one in state.classes:
            yield ""
            yield f"{space}Class-map: {one.config['name']} ({one.config['combination']})"
            yield from self.one(one, indent + 2)

    def one(self, state: ClassState, indent: int) -> Iterator[str]:
        """Generate the lines of a class below its first."""
        space, config = " " * indent, state.config
        if state.classified is not None:
            yield f"{space}{_amount(state.classified)}"
            rates = (
                f"offered rate {thousands(state.offered_bps)} bps, drop rate {thousands(state.drop_bps)} bps"
            )
            yield f"{space}{interval_words(self.load_interval_s)} {rates}"
        yield from self.matches(state, indent)
        if config.get("drop"):
            yield f"{space}drop"
        yield from _priority(state, space)
        if state.queue is not None and not config["priority"]:
            yield f"{space}Queueing" if _asks_for_queue(config) else ""
            yield from _queue(config["queue_limit"], state.queue, indent)
        yield from _rates(config, space)
        if state.early_drops is not None:
            yield from _early_drops(state.early_drops, indent + 2, has_flows=bool(config["fair_queue"]))
        yield from self.marks(state, space)
        if config["fair_queue"]:
            yield f"{space}Fair-queue: per-flow queue limit {_flow_limit(config)} packets"
        if config["police"] and state.police:
            yield from _police(config["police"], state.police, indent)
        if state.policy is not None:
            yield from ["", f"{space}Service-policy : {state.policy.config['name']}"]
            yield from self.policy(state.policy, indent + 2)

    def matches(self, state: ClassState, indent: int) -> Iterator[str]:
        """Generate the match lines; those of match-any have counters of their own on IOS.

        A run counts classes, not lines: the counters are known for a single line, or where there is nothing.
        """
        lines = state.config["matches"]
        has_counters = (
            self.style == "ios15" and state.config["combination"] == "match-any" and lines != ["any"]
        )
        known = state.classified is not None and (len(lines) == 1 or not state.classified.packets)
        for line in lines:
            yield f"{' ' * indent}Match: {line}"
            if has_counters and known and state.classified is not None:
                yield f"{' ' * indent}  {_amount(state.classified)}"
                rate = int(thousands(state.offered_bps))
                yield f"{' ' * indent}  {interval_words(self.load_interval_s)} rate {rate} bps"

    def marks(self, state: ClassState, space: str) -> Iterator[str]:
        """Generate what the class marks; IOS-XE counts that only where `platform qos` asks for it."""
        if state.config["marks"]:
            yield f"{space}QoS Set"
        for mark in state.config["marks"]:
            yield f"{space}  {mark}"
            if self.style == "ios-xe":
                yield f"{space}    Marker statistics: Disabled"
            elif state.classified is not None:
                yield f"{space}    Packets marked {state.classified.packets}"


def _flow_limit(config: ResolvedClass) -> int:
    """Return the limit of a flow as printed: a quarter of the class's also beside WRED, which lifts it."""
    fair, limit = config["fair_queue"], config["queue_limit"]
    assert fair, "only a class with flows prints it"
    if config["random_detect"] and limit and limit["unit"] == "packets":
        return min(fair["flow_limit_packets"], limit["value"] // 4)
    return fair["flow_limit_packets"]


def _has_level(config: ResolvedClass) -> bool:
    priority = config["priority"]
    return priority is not None and priority.get("has_level", priority["level"] > 1)


def _asks_for_queue(config: ResolvedClass) -> bool:
    """Whether a feature of the class asks for its queue; class-default has one without."""
    return any((config["bandwidth"], config["shape"], config["fair_queue"], config["policy"]))


def _amount(traffic: Traffic) -> str:
    return f"{traffic.packets} packets, {round(traffic.bytes)} bytes"


def _pair(traffic: Traffic) -> str:
    return f"{traffic.packets}/{round(traffic.bytes)}"


def limit_words(limit: ResolvedLimit) -> str:
    """Return a queue's limit as the router writes it: one of time with its bytes."""
    if limit["unit"] in ("us", "ms"):
        return f"{limit['value']} {limit['unit']}/ {limit.get('bytes') or 0} bytes"
    return f"{limit['value']} {limit['unit']}"


def _queue(limit: ResolvedLimit | None, state: QueueState, indent: int) -> Iterator[str]:
    space = " " * indent
    if limit is not None:
        yield f"{space}queue limit {limit_words(limit)}"
    # A simulated router does not run out of buffers.
    names, numbers = "queue depth/total drops/no-buffer drops", f"{state.depth}/{state.drops.packets}/0"
    if state.flow_drops is not None:
        names, numbers = f"{names}/flowdrops", f"{numbers}/{state.flow_drops}"
    yield f"{space}({names}) {numbers}"
    yield f"{space}(pkts output/bytes output) {_pair(state.output)}"


def _priority(state: ClassState, space: str) -> Iterator[str]:
    priority = state.config["priority"]
    if priority is None:
        return
    kilobits, burst = (priority["rate_bps"] or 0) // 1000, priority["burst_bytes"]
    match priority["kind"]:
        case "percent":
            words = f"{priority['value']}% ({kilobits} kbps), burst bytes {burst}"
        case "kbps":
            words = f"{kilobits} kbps, burst bytes {burst}"
        case _:
            words = "Strict"
    yield f"{space}Priority: {words}, b/w exceed drops: {state.exceed_drops}"
    yield ""
    if _has_level(state.config):
        yield f"{space}Priority Level: {priority['level']}"


def _rates(config: ResolvedClass, space: str) -> Iterator[str]:
    shape, bandwidth = config["shape"], config["bandwidth"]
    if shape:
        bursts = f"bc {shape['bc_bits']}, be {shape['be_bits']}"
        yield f"{space}shape ({shape['kind']}) cir {shape['cir_bps']}, {bursts}"
        yield f"{space}target shape rate {shape['target_bps']}"
    if bandwidth:
        value = bandwidth["value"]
        words = {
            "kbps": f"{value} kbps",
            "percent": f"{value}% ({bandwidth['rate_bps'] // 1000} kbps)",
            "remaining-percent": f"remaining {value}%",
            "remaining-ratio": f"remaining ratio {value}",
        }
        yield f"{space}bandwidth {words[bandwidth['kind']]}"


def _early_drops(state: EarlyDrops, indent: int, *, has_flows: bool) -> Iterator[str]:
    space, config = " " * indent, state.config
    unit = next((row["unit"] for row in config["rows"]), "packets")
    yield f"{space}Exp-weight-constant: {config['exponent']} (1/{2 ** config['exponent']})"
    if config["ecn"]:
        yield f"{space}explicit congestion notification"
    if state.mean_depth is not None:
        yield f"{space}Mean queue depth: {int(state.mean_depth)} {unit}"
    key = "class" if config["basis"] == "precedence" else config["basis"]
    tail = "Tail/Flow drop" if has_flows else "Tail drop"
    yield space + _head(key, ("Transmitted", "Random drop", tail, "Minimum", "Maximum", "Mark"))
    yield space + _head("", (" pkts/bytes", "pkts/bytes", "pkts/bytes", " thresh", " thresh", "prob"))
    if unit != "packets":
        yield space + _head("", ("", "", "", f" {unit}", f" {unit}", ""))
    yield ""
    for row in state.rows:
        limits, least = row.config, f"1/{row.config['mark_denominator']}"
        counts = [_pair(one) for one in (row.transmitted, row.random, row.tail)]
        yield space + _row(limits["value"], (*counts, str(limits["min"]), str(limits["max"]), least))
    if config["ecn"]:
        yield f"{space}{f'{key} ':<10}{'ECN Mark':^20}"
        yield f"{space}{'':<10}{'pkts/bytes':^20}"
        for row in state.rows:
            yield f"{space}{row.config['value']:<10}{_pair(row.marked):^20}"


def _head(key: str, cells: tuple[str, ...]) -> str:
    widths = (20, 17, 19, 15, 12, 4)
    return f"{f'{key} ':<12}" + "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))


def _row(key: str, cells: tuple[str, ...]) -> str:
    widths = (17, 19, 17, 19, 12, 10)
    return f"{key:<10}" + " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths, strict=True))


def _police(config: ResolvedPolice, state: PoliceState, indent: int) -> Iterator[str]:
    space = " " * indent
    yield f"{space}police:"
    if config["kind"] == "percent":
        yield f"{space}    cir {config['value']} %"
    yield from (f"{space}    {line}" for line in _police_rates(config))
    named: list[tuple[str, Policed | None, list[str]]] = [
        ("conformed", state.conformed, config["conform"]),
        ("exceeded", state.exceeded, config["exceed"]),
        ("violated", state.violated, config["violate"]),
    ]
    rates = []
    for name, policed, actions in named:
        if policed is not None:
            yield f"{space}  {name} {_amount(policed.traffic)}; actions:"
            yield from (f"{space}    {action}" for action in actions)
            rates.append(f"{name} {thousands(policed.bps)} bps")
    yield f"{space}  {', '.join(rates)}"


def _police_rates(config: ResolvedPolice) -> Iterator[str]:
    cir, bc, pir, be = config["cir_bps"], config["bc_bytes"], config["pir_bps"], config["be_bytes"]
    if config["kind"] == "pps":
        yield f"rate {cir} pps, burst {bc} packets"
    elif pir is not None:
        yield f"cir {cir} bps, bc {bc} bytes"
        yield f"pir {pir} bps, be {be} bytes"
    elif config["colors"] == 3:
        yield f"cir {cir} bps, bc {bc} bytes, be {be} bytes"
    else:
        yield f"cir {cir} bps, bc {bc} bytes"
