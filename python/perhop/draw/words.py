"""Parts of a scenario in a few words, for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perhop import _core
from perhop.core_types import DropPrecedence
from perhop.palette import PRECEDENCES, of_precedences
from perhop.ports import RED_FAMILY, Queue
from perhop.quantity import scale
from perhop.schema_types import (
    ClassConfig,
    ConditionerConfig,
    FairQueueingConfig,
    PolicyConfig,
    QueueingConfig,
    RingConfig,
    SourceConfig,
)

_SCHEDULERS = {
    "fifo": "FIFO",
    "priority": "strict priority",
    "wrr": "WRR",
    "drr": "DRR",
    "scfq": "SCFQ",
    "wfq": "WFQ",
    "wf2q-plus": "WF²Q+",
    "three-parameter": "minimum and excess",
    "cbq": "CBQ",
    "hfsc": "HFSC",
    "htb": "HTB",
}
# The names of buffer managers that go by waits, and their limits where none is written.
_CODEL = {"codel": ("CoDel", "1000 packets"), "fq-codel": ("FQ-CoDel", "10240 packets")}


def scheduler(config: object) -> str:
    """Return a scheduler's name."""
    name, said = _kind(config)
    return " ".join(filter(None, [_SCHEDULERS.get(name, name), values(said)]))


def queueing(config: QueueingConfig) -> list[tuple[str, str]]:
    """Return lines about a scheduler and what its queues hold together, each with the role of its color."""
    lines = [(scheduler(config["scheduler"]), "muted")]
    if sharing := config.get("link-sharing"):
        lines.append((values(sharing), "muted"))
    if divisor := config.get("rate-to-quantum"):
        lines.append((f"quantum: rate / {divisor}", "muted"))
    if limit := config.get("limit"):
        lines.append((f"at most {quantity(limit)} in all", "muted"))
    return lines


def matches(config: ClassConfig) -> str:
    """Return the match condition of a class."""
    match = config.get("match")
    return values(match) if match else "all other"


def share(config: ClassConfig) -> str:
    """Return the scheduler parameters of a class."""
    said = [values(config.get("share") or {})]
    if config.get("shape"):
        said.append(f"shaped {values(config['shape'])}")
    return ", ".join(filter(None, said))


def overhead(config: PolicyConfig | None) -> str:
    """Return the addition to a title for a policy that counts more or less than IP bytes."""
    count = (config or {}).get("overhead")
    return f", counts IP {'+' if count > 0 else '-'} {abs(count)} B" if count else ""


def buffer(queue: Queue, precedences: Sequence[DropPrecedence] | None, unit: str) -> list[tuple[str, str]]:
    """Return lines about a queue's buffer manager, each with the role of its color."""
    fair = queue.config.get("fair-queueing")
    if fair is not None:
        return _fair(fair)
    kind, config = queue.buffer
    limit = quantity(queue.limit) if queue.limit else None
    if kind == "weighted-tail-drop":
        limits = [quantity(str(one)) for one in config["limits"]]
        return [("weighted tail drop, at most", "muted")] + [
            (f"{number}: {limit}", role if role in PRECEDENCES else "muted")
            for number, (limit, (role, _)) in enumerate(zip(limits, of_precedences(len(limits)), strict=True))
        ]
    if kind in _CODEL:
        name, most = _CODEL[kind]
        law = f" ({config['law']})" if config.get("law") else ""
        target, interval = config.get("target", "5ms"), config.get("interval", "100ms")
        return [
            (f"{name}{law}, at most {limit or most}", "muted"),
            (f"target {quantity(target)}, interval {quantity(interval)}", "muted"),
        ]
    if kind == "pie":
        return _pie("PIE", config, limit or "1000 packets")
    if kind == "fq-pie":
        return _pie("FQ-PIE", config, limit or "10240 packets")
    if kind == "dualpi2":
        return _dualpi2(config, limit)
    if kind == "cake":
        return _cake(config)
    if kind not in RED_FAMILY:
        return [(f"tail drop, {f'at most {limit}' if limit else 'no limit'}", "muted")]
    name = kind.upper() if kind != "mred" else f"RED family, {config.get('averages') or 'single'} averages"
    if config.get("law"):
        name += f" ({config['law']})"
    lines = [(f"{name}{f', at most {limit}' if limit else ''}", "muted")]
    roles = of_precedences(len(precedences or []))
    for number, (one, (role, _)) in enumerate(zip(precedences or [], roles, strict=True)):
        (low, _), (high, probability) = one["shared"][1], one["shared"][2]
        shown, divisor = ("KiB", 1024.0) if unit == "bytes" else ("packets", 1.0)
        said = f"{number}: {low / divisor:g} to {high / divisor:g} {shown}, up to {100 * probability:g} %"
        lines.append((said, role if role in PRECEDENCES else "muted"))
    return lines


def _pie(name: str, config: Mapping[str, Any], limit: str) -> list[tuple[str, str]]:
    """Return lines about PIE, of one queue or of those of flows."""
    target = quantity(str(config.get("target") or "15ms"))
    lines = [f"{name} ({config.get('law') or 'rfc'}), at most {limit}", f"steers towards {target}"]
    if config.get("ecn", "ignore") != "ignore":
        lines.append("marks ECN-capable packets")
    return [(line, "muted") for line in lines]


def _dualpi2(config: Mapping[str, Any], limit: str | None) -> list[tuple[str, str]]:
    """Return lines about DualPI2."""
    is_linux = config.get("law") == "linux"
    most = limit or ("10000 packets" if is_linux else "250 ms of its rate")
    target = quantity(str(config.get("target") or "15ms"))
    ramp = {"ramp": {"from": "800us", "width": "400us"}}
    native = config.get("native") or ({"step": "1ms"} if is_linux else ramp)
    if config.get("queues") == "one":
        first = f"PI2 ({config.get('law') or 'rfc'}), at most {most}"
        return [(first, "muted"), (f"steers towards {target}; ECT(1) and CE marked more", "muted")]
    lines = [
        f"DualPI2 ({config.get('law') or 'rfc'}), at most {most}",
        f"classic queue: steers towards {target}",
        f"low latency ({_low_latency(config.get('low-latency') or {})}): {values(native)}",
    ]
    return [(line, "muted") for line in lines]


def _low_latency(config: Mapping[str, Any]) -> str:
    named = config.get("dscp") or []
    others = [str(one) for one in (named if isinstance(named, list) else [named])]
    fields = ["ECT(0)"] if config.get("ecn") == "any-ect" else []
    return ", ".join([*fields, "ECT(1)", "CE", *others])


def _cake(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return lines about CAKE."""
    bandwidth = config.get("bandwidth")
    shaped = f"shaped to {quantity(str(bandwidth))}" if bandwidth else "not shaped"
    lines = [
        f"CAKE, {shaped}",
        f"{config.get('tins') or 'diffserv3'}, {config.get('isolation') or 'triple-isolate'}",
        f"round trips of {quantity(str(config.get('rtt') or '100ms'))}",
    ]
    return [(line, "muted") for line in lines]


def policer(queue: Queue) -> list[tuple[str, str]]:
    """Return a line about the policer of a queue, if any."""
    police = queue.config.get("police")
    if not police:
        return []
    when = ", while congested" if police.get("when") == "congested" else ""
    said = {key: value for key, value in police.items() if key != "when"}
    return [(f"policed: {values(said)}{when}", "muted")]


def _fair(config: FairQueueingConfig) -> list[tuple[str, str]]:
    """Return lines about a queue with fair queueing of flows."""
    said = {key: value for key, value in config.items() if key not in ("limit", "flow-limit")}
    limits = [
        f"at most {quantity(limit)}{scope}"
        for limit, scope in ((config.get("flow-limit"), " of a flow"), (config.get("limit"), " in all"))
        if limit
    ]
    lines = [" ".join(filter(None, ["fair queueing", values(said)])), ", ".join(limits)]
    return [(line, "muted") for line in lines if line]


def stage(config: ConditionerConfig, number: int) -> list[tuple[str, str]]:
    """Return lines about a conditioning stage: match, meter, and actions by color."""
    lines = [(config.get("name") or f"stage {number + 1}", "head")]
    if config.get("match"):
        lines.append((values(config["match"]), "muted"))
    if config.get("meter"):
        name, said = _kind(config["meter"])
        lines.append((" ".join(filter(None, [name, values(said)])), "muted"))
    for color in ("actions", "green", "yellow", "red"):
        actions = config.get(color)
        if actions:
            said_of = values(actions)
            lines.append(
                (
                    said_of if color == "actions" else f"{color}: {said_of}",
                    "" if color == "actions" else color,
                )
            )
    return lines


def ring(config: RingConfig | None) -> str:
    """Return the capacity of the transmit ring."""
    config = config or {}
    if particles := config.get("particles"):
        held = f"{particles['count']} particles of {quantity(str(particles['size']))}"
        return f"{held} behind the packet sent" if particles.get("release") == "first-bit" else held
    packets = config.get("packets", 1)
    return "1 packet" if packets == 1 else f"{packets} packets" if "packets" in config else values(config)


def source(config: SourceConfig) -> str:
    """Return kind and parameters of a source."""
    name, said = _kind(config)
    parts = [name]
    if "rate" in said:
        parts.append(quantity(str(said["rate"])))
    if isinstance(said.get("packet"), Mapping):
        parts.append(values(said["packet"]))
    if "on-time" in said:
        parts.append(f"{quantity(said['on-time'])} on, {quantity(said['off-time'])} off")
    if isinstance(said.get("tcp"), Mapping) and said["tcp"].get("profile"):
        parts.append(f"TCP {values(said['tcp']['profile'])}")
    return ", ".join(parts)


def values(said: object) -> str:
    """Return a part of a scenario as text: `rate 6Mb/s, burst 30kB`."""
    if isinstance(said, Mapping):
        return ", ".join(
            key if inner == "" else f"{key} {inner}"
            for key, inner in ((str(key), values(value)) for key, value in said.items() if value is not None)
        )
    if isinstance(said, list):
        return ", ".join(map(values, said))
    return f"{said:g}" if isinstance(said, float) else quantity(str(said))


def wire(link: Mapping[str, Any]) -> str:
    """Return what surrounds a packet on a link, from outside in: `ethernet-wire, vlan, gre`."""
    headers = [one if isinstance(one, str) else next(iter(one)) for one in link.get("headers", [])]
    return ", ".join([values(link.get("framing") or "raw"), *reversed(headers)])


def quantity(text: str) -> str:
    """Return a rate in a suitable unit, another quantity with a space before its unit, else the text."""
    found = _core.quantity(text)
    if found is None:
        return text
    value, unit = found
    if unit == "b/s":
        divisor, shown = scale(unit, value)
        return f"{value / divisor:.4g} {shown}"
    digits = len(text.rstrip("".join(set(text) - set("0123456789."))))
    return f"{text[:digits]} {text[digits:].strip()}"


def _kind(config: object) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a choice and its parameters."""
    if isinstance(config, Mapping) and config:
        name, said = next(iter(config.items()))
        return str(name), said if isinstance(said, Mapping) else {}
    return str(config), {}
