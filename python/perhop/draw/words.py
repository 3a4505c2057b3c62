"""What a policy says, in the few words that fit into a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop.plot.palette import PRECEDENCES, of_precedences
from perhop.ports import RED_FAMILY, Queue
from perhop.quantity import scale

_SCHEDULERS = {
    "fifo": "FIFO",
    "priority": "strict priority",
    "wrr": "WRR",
    "drr": "DRR",
    "scfq": "SCFQ",
    "wfq": "WFQ",
    "wf2q-plus": "WF²Q+",
}


def scheduler(config: object) -> str:
    """Return a scheduler's name."""
    name, said = _kind(config)
    return " ".join(filter(None, [_SCHEDULERS.get(name, name), values(said)]))


def matches(config: Mapping[str, Any]) -> str:
    """Return the packets that a class takes."""
    match = config.get("match")
    return values(match) if match else "all else"


def share(config: Mapping[str, Any]) -> str:
    """Return what a class asks of the scheduler above it."""
    said = [values(config.get("share") or {})]
    if config.get("shape"):
        said.append(f"shaped {values(config['shape'])}")
    return ", ".join(filter(None, said))


def buffer(queue: Queue, precedences: list[dict[str, Any]] | None) -> list[tuple[str, str]]:
    """Return lines about who may join a queue, each with the role of its color."""
    fair = queue.config.get("fair-queueing")
    if fair is not None:
        return _fair(fair)
    kind, config = queue.buffer
    limit = quantity(queue.limit) if queue.limit else None
    if kind not in RED_FAMILY:
        return [(f"tail drop, {f'at most {limit}' if limit else 'no limit'}", "muted")]
    name = kind.upper() if kind != "mred" else f"RED family, {config.get('averages') or 'single'} averages"
    lines = [(f"{name}{f', at most {limit}' if limit else ''}", "muted")]
    roles = of_precedences(len(precedences or []))
    for number, (one, (role, _)) in enumerate(zip(precedences or [], roles, strict=True)):
        (low, _), (high, probability) = one["shared"][1], one["shared"][2]
        unit = "KiB" if one["unit"] == "bytes" else "packets"
        divisor = 1024.0 if one["unit"] == "bytes" else 1.0
        said = f"{number}: {low / divisor:g} to {high / divisor:g} {unit}, up to {100 * probability:g} %"
        lines.append((said, role if role in PRECEDENCES else "muted"))
    return lines


def policer(queue: Queue) -> list[tuple[str, str]]:
    """Return a line about what may not join a queue at all."""
    police = queue.config.get("police")
    if not police:
        return []
    when = ", while packets wait" if police.get("when") == "congested" else ""
    said = {key: value for key, value in police.items() if key != "when"}
    return [(f"policed: {values(said)}{when}", "muted")]


def _fair(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return lines about a queue that consists of one for each flow."""
    said = {key: value for key, value in config.items() if key not in ("limit", "flow-limit")}
    limits = [
        f"at most {quantity(str(config[key]))}{of}"
        for key, of in (("flow-limit", " of a flow"), ("limit", " in all"))
        if config.get(key)
    ]
    lines = [" ".join(filter(None, ["fair queueing", values(said)])), ", ".join(limits)]
    return [(line, "muted") for line in lines if line]


def stage(config: Mapping[str, Any], number: int) -> list[tuple[str, str]]:
    """Return lines about a stage of conditioning: whom it takes, how it meters, what it does by color."""
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


def ring(config: Mapping[str, Any] | None) -> str:
    """Return what the transmit ring holds."""
    config = config or {}
    if isinstance(config.get("particles"), Mapping):
        particles = config["particles"]
        return f"{particles['count']} particles of {quantity(str(particles['size']))}"
    packets = config.get("packets", 1)
    return "1 packet" if packets == 1 else f"{packets} packets" if "packets" in config else values(config)


def source(config: Mapping[str, Any]) -> str:
    """Return what a source sends and when."""
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
    """Return a part of a scenario as words: `rate 6Mb/s, burst 30kB`."""
    if isinstance(said, Mapping):
        return ", ".join(
            key if inner == "" else f"{key} {inner}"
            for key, inner in ((str(key), values(value)) for key, value in said.items() if value is not None)
        )
    if isinstance(said, list):
        return ", ".join(map(values, said))
    return f"{said:g}" if isinstance(said, float) else quantity(str(said))


def quantity(text: str) -> str:
    """Return a rate in the unit that suits it, other quantities with a space before theirs, else the text."""
    from perhop import _core

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
    """Return the name of a choice and what is said of it."""
    if isinstance(config, Mapping) and config:
        name, said = next(iter(config.items()))
        return str(name), said if isinstance(said, Mapping) else {}
    return str(config), {}
