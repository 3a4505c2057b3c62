"""What the policies of an interface have otherwise than before, and which packets wait elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from perhop import _core
from perhop.differing.result import Changed, Moved
from perhop.draw import words
from perhop.errors import InvalidInputError
from perhop.tracing import Node

# What a class has besides its match and its name.
_PARTS = ("share", "police", "shape", "buffer", "fair-queueing", "precedence")
#: A part of an interface: what it has, in words, by name.
Parts = Mapping[str, Mapping[str, str]]


def moved(interface: str, before: Node, after: Node) -> list[Moved]:
    """Return for each pair of queues a packet that waits in the one before and in the other after.

    Raises:
        InvalidInputError: the conditions are too complex to be compared.

    """
    try:
        found: list[dict[str, Any]] = json.loads(_core.moved_packets(before.asked(), after.asked()))
    except ValueError as error:
        raise InvalidInputError(f"{interface}: {error}") from error
    return [Moved(interface, one["before"], one["after"], one["packet"]) for one in found]


def changed(interface: str, first: Parts, second: Parts) -> Iterator[Changed]:
    """Generate what the parts of an interface have otherwise than before."""
    for part in [*first, *(part for part in second if part not in first)]:
        old, new = first.get(part), second.get(part)
        if old is None or new is None:
            yield Changed(interface, part, "", _whole(old), _whole(new))
            continue
        for what in [*old, *(what for what in new if what not in old)]:
            if old.get(what) != new.get(what):
                yield Changed(interface, part, what, old.get(what), new.get(what))


def parts(side: str, policy: Mapping[str, Any] | None) -> dict[str, Mapping[str, str]]:
    """Return what each queue and conditioner of the `input` or `output` policy has, in words."""
    found: dict[str, Mapping[str, str]] = {}
    policy = policy or {}
    for index, conditioner in enumerate(policy.get("conditioners", [])):
        said = {key: value for key, value in conditioner.items() if key not in ("name", "match")}
        name = f"{side} conditioner {conditioner.get('name', index)}"
        found[name] = {key: words.values(value) for key, value in said.items()}
    if queueing := policy.get("queueing"):
        found.update(_queues(queueing, ""))
    return found


def _queues(queueing: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    for config in queueing["classes"]:
        name = f"{prefix}{config['name']}"
        has = {key: words.values(config[key]) for key in _PARTS if config.get(key)}
        yield f"queue {name}", {"scheduler": words.scheduler(queueing.get("scheduler", "fifo")), **has}
        if inner := config.get("queueing"):
            yield from _queues(inner, f"{name}/")


def _whole(part: Mapping[str, str] | None) -> str | None:
    if part is None:
        return None
    return "; ".join(f"{key} {value}" for key, value in part.items()) or "nothing"
