"""The memory of a switch's queue for a burst: the multiplier, and the ratio of its class."""

from __future__ import annotations

import math
import os
import re
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

from perhop.configuration import read
from perhop.design import quantity
from perhop.design.advice import Advice, Step
from perhop.design.microburst import Microburst
from perhop.errors import InvalidInputError
from perhop.switch_memory import PortMemory, QueueMemory, SwitchMemory, memory_in_text, ports_named

_GROWTH = "the queue grows by the difference of the rates"
_UNITS = "Cisco TAC 218444: a frame occupies whole units of 256 bytes"
_DIVISION = "perhop buffers --rules"
_SIMULATION = "docs/algorithms/shared-memory.md"
# `qos queue-softmax-multiplier`, percent (Cisco EasyQoS guide).
_LEAST_MULTIPLIER, _MOST_MULTIPLIER = 100, 1200
_MULTIPLIER = re.compile(r"^\s*qos queue-softmax-multiplier\b.*\n?", re.MULTILINE)


@dataclass(frozen=True)
class _Switch:
    """A switch, and the queue that a burst enters."""

    text: str
    model: str | None
    port_units: int | None
    interface: str
    queue: str | None

    def memory(self, text: str) -> SwitchMemory:
        return memory_in_text(text, model=self.model, port_units=self.port_units)

    def port(self, text: str) -> PortMemory:
        ports = ports_named(self.memory(text), [self.interface])
        if ports["unknown"]:
            raise InvalidInputError(ports["unknown"][0]["reason"], "give --port-units")
        port = ports["ports"][0]
        if "has_qos" in port:
            raise InvalidInputError(
                "this switch has neither a multiplier nor ratios",
                "change its queue-set: `perhop buffers` shows it",
            )
        if port["multiplier_percent"] is None:
            raise InvalidInputError(
                "this switch has neither a multiplier nor ratios",
                "`perhop buffers` shows the limits of its queues",
            )
        return port

    def chosen(self, port: PortMemory) -> QueueMemory:
        """Return the queue of the class; by default the last one."""
        if self.queue is None:
            return port["queues"][-1]
        found = [queue for queue in port["queues"] if self.queue in (queue["class"], str(queue["number"]))]
        if not found:
            known = ", ".join(queue["class"] for queue in port["queues"])
            raise InvalidInputError(f"the port has no queue `{self.queue}`", f"queues: {known}")
        return found[0]

    def lost(self, text: str, burst: Microburst) -> int:
        """Return the frames of a burst that a simulation drops."""
        port = self.port(text)
        return burst.lost(port, self.chosen(port), self.memory(text)["unit_bytes"])

    def limit(self, text: str) -> int:
        """Return the length, units, at which packets without a threshold of their own are dropped."""
        return self.chosen(self.port(text))["thresholds"][-1]["units"] or 0

    def refuses(self, text: str) -> bool:
        """Whether the switch refuses the ratios of the policy."""
        return any("the switch refuses" in assumed for assumed in self.port(text)["assumed"])


def buffers(
    file: str | os.PathLike[str],
    burst: str | float,
    arrival: str | float,
    *,
    interface: str,
    queue: str | None = None,
    model: str | None = None,
    port_units: int | None = None,
    frame: int = 1518,
) -> Advice:
    """Return the multiplier, or else the ratio of the class, with which a burst fits into a queue.

    Parameters
    ----------
    file
        The configuration of a Catalyst with a UADP chip.
    burst
        The burst, `200kB` or bytes of frames.
    arrival
        The rate at which it arrives, `10Gb/s` or bits per second: the sum of all senders.
    interface
        The port through which it leaves.
    queue
        The class or the number of the queue; by default the last.
    model, port_units
        As in `perhop.switch_memory.switch_memory`.
    frame
        The length of a frame, bytes with Ethernet header and check sequence.

    Raises
    ------
    InvalidInputError
        The file, the port or the queue cannot be used, or no setting is enough.

    """
    text = read(Path(file))
    switch = _Switch(text, model, port_units, interface, queue)
    port = switch.port(text)
    if port["rate_bps"] is None:
        raise InvalidInputError("an output of a switch has no policy to change", "give its configuration")
    arrival_bps, line_bps = quantity.rate("arrival", arrival), float(port["rate_bps"])
    if arrival_bps <= line_bps:
        raise InvalidInputError(
            f"arrival: no frame waits, because the line sends {line_bps / 1e6:g} Mb/s",
            "give the sum of the senders' rates",
        )
    burst_bytes = quantity.size("burst", burst)
    backlog = burst_bytes * (1 - line_bps / arrival_bps)
    frames = math.ceil(backlog / frame)
    unit_bytes = switch.memory(text)["unit_bytes"]
    needed = frames * math.ceil(frame / unit_bytes)
    own, now = switch.chosen(port), switch.limit(text)
    lines, result, changed = _setting(switch, own, port, needed, now)
    name = own["class"]
    microburst = Microburst(burst_bytes, arrival_bps, frame)
    lost = [switch.lost(version, microburst) for version in (text, changed)]
    growth = "burst · (1 - line / arrival)"
    steps = (
        Step("backlog", "bytes that wait at the end of the burst", growth, backlog, "B", _GROWTH),
        Step("frames", "frames of the backlog", "ceil(backlog / frame)", frames, "", _GROWTH),
        Step("need", "memory for these frames", "frames · ceil(frame / unit)", needed, "units", _UNITS),
        Step("now", f"limit of {name} in the file", "perhop buffers FILE", now, "units", _DIVISION),
        result,
        Step(
            "after",
            "limit with the lines below",
            "perhop buffers FILE",
            switch.limit(changed),
            "units",
            _DIVISION,
        ),
        Step("lost", "frames that a simulation of the file drops", "simulated", lost[0], "", _SIMULATION),
        Step("left", "frames that it drops with the lines below", "simulated", lost[1], "", _SIMULATION),
    )
    notes = (
        "during the burst, the line sends only from this queue: queues that are served before it increase "
        "the need",
        "the limit is not a reservation: other ports use the memory of the chip too, and it must have room",
        "only this queue is simulated: the other queues of the port are empty, and the memory has room",
    )
    title = f"{port['interface']}, {name}: a burst of {burst_bytes:,} bytes at {arrival_bps / 1e9:g} Gb/s"
    return Advice(title, steps, lines, notes)


def _setting(
    switch: _Switch, own: QueueMemory, port: PortMemory, needed: int, now: int
) -> tuple[str, Step, str]:
    """Return the lines to add, the step of the value, and the configuration with these lines."""
    multiplier = port["multiplier_percent"] or _LEAST_MULTIPLIER
    if now >= needed:
        step = Step("multiplier", "it is enough", "as in the file", multiplier, "%", _DIVISION)
        return "! no change: the burst fits", step, switch.text
    percents = range(multiplier, _MOST_MULTIPLIER + 1)
    place = bisect_left(
        percents, needed, key=lambda percent: switch.limit(_with_multiplier(switch.text, percent))
    )
    if place < len(percents):
        percent = percents[place]
        line = f"qos queue-softmax-multiplier {percent}"
        step = Step(
            "multiplier", "the smallest that is enough", "need / now · multiplier", percent, "%", _DIVISION
        )
        return line, step, _with_multiplier(switch.text, percent)
    return _ratio(switch, own, port, needed)


def _ratio(switch: _Switch, own: QueueMemory, port: PortMemory, needed: int) -> tuple[str, Step, str]:
    """Return lines, step and configuration for the ratio of the class at the greatest multiplier."""
    widest = _with_multiplier(switch.text, _MOST_MULTIPLIER)
    policy = port["policy"]
    if own["line"] is not None and policy is not None:
        ratios = range(1, 101)
        place = bisect_left(ratios, needed, key=lambda ratio: switch.limit(_with_ratio(widest, own, ratio)))
        if place < len(ratios) and not switch.refuses(changed := _with_ratio(widest, own, ratios[place])):
            lines = (
                f"qos queue-softmax-multiplier {_MOST_MULTIPLIER}\npolicy-map {policy}\n"
                f" class {own['class']}\n  queue-buffers ratio {ratios[place]}"
            )
            formula = "need / (units · 400 % · multiplier)"
            meaning = "the smallest that is enough at the greatest multiplier"
            return (
                lines,
                Step("ratio", meaning, formula, ratios[place], "%", _DIVISION),
                changed,
            )
    most = switch.limit(widest)
    named = [limit["line"] for limit in own["thresholds"] if limit["line"] is not None]
    help = f"at the greatest multiplier the queue has {most} units"
    if policy is None:
        help += "; a policy with only class-default and `queue-buffers ratio 100` gives it the whole port"
    if len(named) == 3:
        help += f"; its third queue-limit (line {max(named)}) lowers the ceiling from 400 %"
    raise InvalidInputError(f"no combination of multiplier and ratio gives the queue {needed} units", help)


def _with_multiplier(text: str, percent: int) -> str:
    return f"qos queue-softmax-multiplier {percent}\n" + _MULTIPLIER.sub("\n", text)


def _with_ratio(text: str, own: QueueMemory, ratio: int) -> str:
    """Return the text with the ratio of a class; an added first line moved the class down."""
    lines = text.split("\n")
    opening = own["line"] or 0
    indent = len(lines[opening]) - len(lines[opening].lstrip())
    end = next(
        (n for n in range(opening + 1, len(lines)) if len(lines[n]) - len(lines[n].lstrip()) <= indent),
        len(lines),
    )
    kept = [line for line in lines[opening + 1 : end] if not line.strip().startswith("queue-buffers ")]
    own_line = f"{' ' * (indent + 1)}queue-buffers ratio {ratio}"
    return "\n".join([*lines[: opening + 1], own_line, *kept, *lines[end:]])
