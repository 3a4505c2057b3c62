"""Parts of a scenario in a few words, for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop import _core
from perhop.core_types import QueueDescription
from perhop.palette import PRECEDENCES, of_precedences
from perhop.ports import Queue
from perhop.quantity import scale
from perhop.schema_types import (
    ClassConfig,
    ConditionerConfig,
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
    "guarantee-excess": "guarantee and excess",
}


def scheduler(config: object) -> str:
    """Return a scheduler's name."""
    name, settings = _kind(config)
    return " ".join(filter(None, [_SCHEDULERS.get(name, name), values(settings)]))


def queueing(config: QueueingConfig) -> list[tuple[str, str]]:
    """Return lines about a scheduler and the common limit of its queues, each with the role of its color."""
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
    settings = [values(config.get("share") or {})]
    if config.get("shape"):
        settings.append(f"shaped {values(config['shape'])}")
    return ", ".join(filter(None, settings))


def overhead(config: PolicyConfig | None) -> str:
    """Return the addition to a title for a policy that counts more or less than IP bytes."""
    count = (config or {}).get("overhead")
    return f", counts IP {'+' if count > 0 else '-'} {abs(count)} B" if count else ""


def description(described: QueueDescription | None) -> list[tuple[str, str]]:
    """Return the lines of a queue's description, each with the role of its color."""
    lines = described["lines"] if described else []
    known = [line["precedence"] for line in lines if line["precedence"] is not None]
    roles = of_precedences(max(known, default=-1) + 1)
    found = []
    for line in lines:
        role = "muted" if line["precedence"] is None else roles[line["precedence"]][0]
        found.append((line["text"], role if role in PRECEDENCES else "muted"))
    return found


def policer(queue: Queue) -> list[tuple[str, str]]:
    """Return a line about the policer of a queue, if any."""
    police = queue.config.get("police")
    if not police:
        return []
    when = ", while congested" if police.get("when") == "congested" else ""
    settings = {key: value for key, value in police.items() if key != "when"}
    return [(f"policed: {values(settings)}{when}", "muted")]


def stage(config: ConditionerConfig, number: int) -> list[tuple[str, str]]:
    """Return lines about a conditioning stage: match, meter, and actions by color."""
    lines = [(config.get("name") or f"stage {number + 1}", "head")]
    if config.get("match"):
        lines.append((values(config["match"]), "muted"))
    if config.get("meter"):
        name, settings = _kind(config["meter"])
        lines.append((" ".join(filter(None, [name, values(settings)])), "muted"))
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
    name, settings = _kind(config)
    parts = [name]
    if "rate" in settings:
        parts.append(quantity(str(settings["rate"])))
    if isinstance(settings.get("packet"), Mapping):
        parts.append(values(settings["packet"]))
    if "on-time" in settings:
        parts.append(f"{quantity(settings['on-time'])} on, {quantity(settings['off-time'])} off")
    if isinstance(settings.get("tcp"), Mapping) and settings["tcp"].get("profile"):
        parts.append(f"TCP {values(settings['tcp']['profile'])}")
    return ", ".join(parts)


def values(settings: object) -> str:
    """Return a part of a scenario as text: `rate 6Mb/s, burst 30kB`."""
    if isinstance(settings, Mapping):
        return ", ".join(
            key if inner == "" else f"{key} {inner}"
            for key, inner in (
                (str(key), values(value)) for key, value in settings.items() if value is not None
            )
        )
    if isinstance(settings, list):
        return ", ".join(map(values, settings))
    return f"{settings:g}" if isinstance(settings, float) else quantity(str(settings))


def wire(link: Mapping[str, Any]) -> str:
    """Return the headers around a packet on a link, from outside in: `ethernet-wire, vlan, gre`."""
    headers = [
        header if isinstance(header, str) else next(iter(header)) for header in link.get("headers", [])
    ]
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
        name, settings = next(iter(config.items()))
        return str(name), settings if isinstance(settings, Mapping) else {}
    return str(config), {}
