"""A scenario as a file for people: one line for each host, link and flow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

# What stands above all of it.
_HEAD = """\
# yaml-language-server: $schema=perhop.schema.json
# Written by `perhop init --from` around {file}. Of the router nothing is guessed: `perhop check {file}`
# says what becomes of every line. Guessed are {guessed}.
# Change them to what is there.
"""
_ORDER = ("perhop", "name", "duration", "hosts", "routers", "links", "traffic", "measure")
# What stands above a key.
_ABOVE = {
    "hosts": "Addresses are those that the router's access lists and subnets know.",
    "links": "Rates and framing of the router's interfaces are its own; the rate here is the other end's.",
    "traffic": "One kind for each class that the router tells apart. TCP takes what it gets; what is policed"
    "\n# as voice is fills half of its class.",
}
# Text that means itself in YAML, also between braces and commas.
_PLAIN = re.compile(r"[A-Za-z0-9/_.][A-Za-z0-9/_. %+-]*")
_NOT_TEXT = re.compile(r"(true|false|null|yes|no|on|off|~|[0-9._+-]+([eE][0-9+-]+)?|0[xo].*)", re.IGNORECASE)


def as_yaml(data: Mapping[str, Any], missing: Sequence[str], file: str) -> str:
    """Return the scenario as a file for people, with what was guessed said above it."""
    text = _HEAD.format(file=file, guessed="the hosts, the delay of the line and the traffic")
    text += "".join(f"# {line}\n" for line in missing)
    for key in _ORDER:
        value = data[key]
        if isinstance(value, (dict, list)):
            text += "\n"
        if key in _ABOVE:
            text += f"# {_ABOVE[key]}\n"
        text += f"{key}:{_block(value)}\n"
    return text


def _block(value: Any) -> str:  # noqa: ANN401 - whatever a scenario holds
    if isinstance(value, dict):
        return "".join(f"\n  {_flow(key)}: {_flow(one)}" for key, one in value.items())
    if isinstance(value, list):
        return "".join(f"\n  - {_flow(one)}" for one in value)
    return f" {_flow(value)}"


def _flow(value: Any) -> str:  # noqa: ANN401 - whatever a scenario holds
    if isinstance(value, dict):
        inner = ", ".join(f"{_flow(key)}: {_flow(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _NOT_TEXT.fullmatch(value):
        return value.strip() if value == value.strip() else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)
