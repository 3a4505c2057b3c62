"""Paths into a scenario, as in `--set`: the value at a path, and the unit of a number there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from typing import Any

from perhop import _core
from perhop.errors import UnknownNameError

# Base units by the schema's type: as perhop names them, and as a scenario writes them.
_UNITS = {
    "Rate": ("b/s", "b/s"),
    "Time": ("s", "s"),
    "ByteSize": ("bytes", "B"),
    "PacketRate": ("1/s", "packets/s"),
}
_REFERENCE = "#/$defs/"


def at(data: Any, path: str) -> Any:  # noqa: ANN401 - any value of a scenario
    """Return the value at a path: keys, and in lists the `name` of an element or its index, counted from 0.

    A key or a name may contain dots: the longest match applies.

    Raises:
        UnknownNameError: there is no such value.

    """
    found, rest = data, path.split(".")
    while rest:
        for length in range(len(rest), 0, -1):
            present, value = _member(found, ".".join(rest[:length]))
            if present:
                found, rest = value, rest[length:]
                break
        else:
            raise UnknownNameError(
                f"`{path}`: the scenario has no `{rest[0]}` there", "write a path such as links.0.rate"
            )
    return found


def _member(found: Any, key: str) -> tuple[bool, Any]:  # noqa: ANN401 - any value of a scenario
    """Return whether a mapping or a list has a member, and the member."""
    if isinstance(found, Mapping):
        return key in found, found.get(key)
    if isinstance(found, list):
        for member in found:
            if isinstance(member, Mapping) and member.get("name") == key:
                return True, member
        if key.isascii() and key.isdigit() and int(key) < len(found):
            return True, found[int(key)]
    return False, None


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return a name for each path: the fewest last parts that keep all names distinct.

    An index alone has little meaning, so no name begins with an index.
    """
    every = dict.fromkeys(paths)
    found: dict[str, str] = {}
    for path in every:
        parts = path.split(".")
        others = [other.split(".") for other in every if other != path]
        for count in range(1, len(parts) + 1):
            name = parts[-count:]
            if not name[0].isdecimal() and all(other[-count:] != name for other in others):
                break
        found[path] = ".".join(name)
    return found


def base_unit(path: str) -> str:
    """Return the unit of numbers at a path: `b/s`, `s`, `bytes` or `1/s`; empty without a unit.

    The length of a queue has no unit, because it can be in packets or in bytes.
    """
    return _unit(path)[0]


def written(path: str, value: object) -> object:
    """Return a value in the form of a scenario: if the schema requires a unit, a number gets the base unit.

    The value is exact: 2e6 at `links.1.rate` is `2000000b/s`. Other values do not change.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    plain = int(value) if isinstance(value, Integral) else float(value)
    unit = _unit(path)[1]
    if not unit or not math.isfinite(plain):
        return plain
    # The shortest digits that give the number, without an exponent.
    text = f"{Decimal(repr(plain)):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + unit


@cache
def _unit(path: str) -> tuple[str, str]:
    schema = json.loads(_core.schema())
    found = set(_types(schema, schema["$defs"], path.split(".")))
    return _UNITS.get(found.pop(), ("", "")) if len(found) == 1 else ("", "")


def _types(node: Mapping[str, Any], types: Mapping[str, Any], rest: Sequence[str]) -> Iterator[str]:
    """Return the types of numbers and texts that the value at a path may have, as the schema names them."""
    reference = node.get("$ref", "").removeprefix(_REFERENCE)
    if reference in _UNITS or reference in ("QueueSize", "QueueDepth"):
        yield from [reference] if not rest else []
        return
    if reference:
        yield from _types(types[reference], types, rest)
        return
    for alternative in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield from _types(alternative, types, rest)
    if not rest:
        yield from [node["type"]] if node.get("type") in ("integer", "number") else []
        return
    if rest[0] in node.get("properties", {}):
        yield from _types(node["properties"][rest[0]], types, rest[1:])
        return
    # The names of list elements and user-defined keys may contain dots.
    for inner in (node.get("items"), node.get("additionalProperties")):
        if isinstance(inner, Mapping):
            for length in range(1, len(rest) + 1):
                yield from _types(inner, types, rest[length:])
